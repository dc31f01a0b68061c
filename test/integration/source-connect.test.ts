import assert from 'node:assert/strict';
import { sourceConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

interface Part {
  readonly name: string;
  readonly state: string;
  readonly error?: string;
  readonly counts: Readonly<Record<string, number>>;
}
interface Offsets {
  readonly offsets: readonly {
    readonly partition: { readonly table: string };
    readonly offset: Readonly<Record<string, unknown>>;
  }[];
}

describe('a source on a worker', function () {
  let db: TestDatabase;
  let sql: SqlClient;
  let kafka: KafkaTraffic;
  let sluice: WorkerProcess;

  before(async () => {
    [db, kafka, sluice] = await Promise.all([database('source'), KafkaTraffic.shared(), WorkerProcess.start()]);
    sql = new SqlClient(db);
  });
  after(async () => {
    await sluice.discard();
    await sql.close();
  });

  /** A source of some tables, whose name is the prefix of its topics. */
  async function start(tables: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    const name = uniqueName('source');
    await sluice.rest.create(name, sourceConfig(db, { 'topic.prefix': name, 'table.include': tables, ...more }));
    return name;
  }

  const topicOf = (name: string, table: string) => `${name}-${db.database}-${table}-json_db`;

  async function rows(name: string, table: string, count: number): Promise<number[]> {
    const texts = await kafka.texts(topicOf(name, table), count);
    return texts.flatMap((text) => (JSON.parse(text) as { data: { n: number }[] }).data.map(({ n }) => n));
  }

  /** The parts of all tasks, with the number of their task. */
  async function parts(name: string): Promise<Map<string, Part & { task: number }>> {
    const { tasks } = await sluice.rest.status(name);
    const lists = await Promise.all(
      tasks.map(async ({ id }) => {
        const { body } = await sluice.rest.get<Part[]>(`/connectors/${name}/tasks/${String(id)}/parts`);
        return body.map((part) => ({ ...part, task: id }));
      }),
    );
    return new Map(lists.flat().map((part) => [part.name, part]));
  }

  it('shows a table that it may not read in REST and metrics while the task runs', async () => {
    const role = `denied_${db.database}`;
    await sql.run(
      'create table denied_a (ts timestamptz primary key, n int8)',
      'create table denied_b (ts timestamptz primary key, n int8)',
      `insert into denied_a values ('2026-01-01', 1)`,
      `create role ${role} login password 'x'`,
      `grant select on denied_a to ${role}`,
    );
    try {
      const name = await start('denied_.', { 'connection.user': role, 'connection.password': 'x' });
      assert.deepEqual(await rows(name, 'denied_a', 1), [1]);
      const failed = await until(async () => {
        const part = (await parts(name)).get('denied_b');
        return part?.state === 'FAILED' ? part : undefined;
      }, 'it shows as FAILED');
      assert.match(failed.error ?? '', /permission denied for table denied_b/);
      assert.equal((await parts(name)).get('denied_a')?.state, 'RUNNING');
      const page = await (await fetch(`${sluice.url}/metrics`)).text();
      const of = (part: string) => `{connector="${name}",task="0",part="${part}"`;
      for (const sample of [
        `kafka_connect_source_task_part_status${of('denied_b')},status="failed"} 1`,
        `kafka_connect_source_task_part_status${of('denied_a')},status="running"} 1`,
        `kafka_connect_source_task_part_rows_total${of('denied_a')}} 1`,
        `kafka_connect_source_task_part_late_rows_total${of('denied_a')}} 0`,
      ]) {
        assert.ok(page.includes(`${sample}\n`), sample);
      }
      await sluice.rest.untilState(name, 'RUNNING', 1);
      assert.equal((await sluice.rest.get(`/connectors/${name}/tasks/7/parts`)).status, 404);
      await sluice.rest.delete(`/connectors/${name}`);
    } finally {
      await sql.run(`drop owned by ${role}`, `drop role ${role}`);
    }
  });

  it('does not restart tasks whose tables stay the same when others are added or removed', async () => {
    const create = (table: string) => [
      `create table ${table} (ts timestamptz primary key, n int8)`,
      `insert into ${table} values ('2026-01-01', 1)`,
    ];
    await sql.run(...['a', 'b', 'c', 'd'].flatMap((letter) => create(`deal_${letter}`)));
    const name = await start('deal_.', { 'tasks.max': '2' });
    for (const letter of ['a', 'b', 'c', 'd']) await rows(name, `deal_${letter}`, 1);
    const before = await parts(name);
    await sql.run(...create('deal_e'));
    assert.deepEqual(await rows(name, 'deal_e', 1), [1]);
    const between = await until(async () => {
      const now = await parts(name);
      return now.size === 5 ? now : undefined;
    }, 'both tasks run');
    const task = between.get('deal_e')?.task;
    const others = [...before.values()].filter((part) => part.task !== task);
    assert.equal(others.length, 2);
    // Counts restart with the task.
    for (const part of others) assert.deepEqual(between.get(part.name), part);
    await sql.run('drop table deal_e');
    const after = await until(async () => {
      const now = await parts(name);
      return now.size === 4 ? now : undefined;
    }, 'the table is forgotten');
    for (const part of others) assert.deepEqual(after.get(part.name), part);
    await sluice.rest.delete(`/connectors/${name}`);
  });

  it('has offsets by table, which can be read, altered while it is stopped, and deleted; it continues from them', async () => {
    await sql.run(
      'create table moved (ts timestamptz primary key, n int8)',
      `insert into moved select timestamptz '2026-01-01 00:00:00Z' + i * interval '1 hour', i from generate_series(0, 9) i`,
    );
    const name = await start('moved');
    assert.deepEqual(await rows(name, 'moved', 10), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const stop = async () => {
      await sluice.rest.put(`/connectors/${name}/stop`);
      await sluice.rest.untilState(name, 'STOPPED', 0);
    };
    await stop();
    const { body } = await sluice.rest.get<Offsets>(`/connectors/${name}/offsets`);
    const [stored] = body.offsets;
    assert.deepEqual(stored?.partition, { table: 'moved' });
    assert.equal(stored.offset['timestamp_us'], Date.UTC(2026, 0, 1, 9) * 1000);
    assert.equal(stored.offset['key'], '[]');

    const alter = (offset: unknown, partition: unknown = { table: 'moved' }) =>
      sluice.rest.request<{ message: string }>('PATCH', `/connectors/${name}/offsets`, {
        offsets: [{ partition, offset }],
      });
    const refused = [await alter({ timestamp_ms: 5 }), await alter({ timestamp_us: 5 }, { topic: 'moved' })];
    assert.deepEqual(
      refused.map(({ status }) => status >= 400),
      [true, true],
    );
    assert.match(refused[0]?.body.message ?? '', /table moved: the offset .* is not of the form/);
    assert.equal((await alter({ timestamp: '2026-01-01 08:00:00' })).status, 200);
    await sluice.rest.put(`/connectors/${name}/resume`);
    assert.deepEqual((await rows(name, 'moved', 12)).slice(10), [8, 9]);

    await stop();
    assert.equal((await sluice.rest.delete(`/connectors/${name}/offsets`)).status, 200);
    await sluice.rest.put(`/connectors/${name}/resume`);
    assert.deepEqual((await rows(name, 'moved', 22)).slice(12), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    await sluice.rest.delete(`/connectors/${name}`);
  });

  it('reads nothing while it is paused, and everything afterwards', async () => {
    await sql.run(
      'create table paused (ts timestamptz primary key, n int8)',
      `insert into paused values ('2026-01-01', 1)`,
    );
    const name = await start('paused');
    await rows(name, 'paused', 1);
    await sluice.rest.put(`/connectors/${name}/pause`);
    await sluice.rest.untilState(name, 'PAUSED', 1);
    await sql.run(`insert into paused values (now(), 2)`);
    await new Promise((resolve) => setTimeout(resolve, 600));
    assert.equal((await kafka.all(topicOf(name, 'paused'))).length, 1);
    await sluice.rest.put(`/connectors/${name}/resume`);
    assert.deepEqual(await rows(name, 'paused', 2), [1, 2]);
    await sluice.rest.delete(`/connectors/${name}`);
  });

  it('names topics, creates them and sets keys as configured', async () => {
    await sql.run(
      'create table named_a (ts timestamptz primary key, site text, n int8)',
      'create table named_b (ts timestamptz primary key, site text, n int8)',
      `insert into named_a values ('2026-01-01', 'oslo', 1), ('2026-01-02', null, 2)`,
      `insert into named_b values ('2026-01-01', 'bergen', 3)`,
    );
    const name = await start('named_.', {
      'topic.delimiter': '.',
      'topic.per.stable': 'false',
      'topic.ignore.db': 'true',
      'key.columns': 'site,n',
      'topic.creation.default.partitions': '3',
    });
    const records = await kafka.read(`${name}.json_db`, ({ length }) => length >= 3);
    assert.deepEqual(records.map(({ key }) => key?.toString()).sort(), [
      '["bergen","3"]',
      '["oslo","1"]',
      '[null,"2"]',
    ]);
    const one = await start('named_.', { 'key.columns': 'site' });
    const keys = (await kafka.read(topicOf(one, 'named_a'), ({ length }) => length >= 2)).map(({ key }) =>
      key?.toString(),
    );
    assert.deepEqual(keys, ['oslo', undefined]);
    await Promise.all([name, one].map((each) => sluice.rest.delete(`/connectors/${each}`)));
  });

  it('passes the object of a JSON format to JsonConverter, and its text to StringConverter (M11)', async () => {
    await sql.run(
      'create table object_a (ts timestamptz primary key, n int8)',
      `insert into object_a values ('2026-01-01', 1)`,
    );
    const converter = 'org.apache.kafka.connect.json.JsonConverter';
    const plain = await start('object_a', { 'value.converter': converter, 'value.converter.schemas.enable': 'false' });
    const enveloped = await start('object_a', { 'value.converter': converter });
    const text = await start('object_a');
    const [expected = ''] = await kafka.texts(topicOf(text, 'object_a'), 1);
    assert.equal((JSON.parse(expected) as { table: string }).table, 'object_a');
    assert.deepEqual(await kafka.texts(topicOf(plain, 'object_a'), 1), [expected]);
    assert.deepEqual(await kafka.texts(topicOf(enveloped, 'object_a'), 1), [`{"schema":null,"payload":${expected}}`]);
    await Promise.all([plain, enveloped, text].map((each) => sluice.rest.delete(`/connectors/${each}`)));
  });

  it('skips and logs a row that is too large for the broker with errors.tolerance=all', async () => {
    await sql.run(
      'create table huge (ts timestamptz, n int8, body text, primary key (ts, n))',
      `insert into huge select '2026-01-01', i, repeat('x', case i when 7 then 300000 else 10 end) from generate_series(1, 9) i`,
    );
    const name = await start('huge', {
      'producer.override.max.request.size': '200000',
      'errors.tolerance': 'all',
      'errors.log.enable': 'true',
    });
    assert.deepEqual(await rows(name, 'huge', 8), [1, 2, 3, 4, 5, 6, 8, 9]);
    await sluice.rest.untilState(name, 'RUNNING', 1);
    const named = /table huge, row ts=2026-01-01 00:00:00\+00, n=7: .* 300\d\d\d bytes/;
    await until(() => named.test(sluice.log), 'the log names the row');
    await sluice.rest.delete(`/connectors/${name}`);
  });
});
