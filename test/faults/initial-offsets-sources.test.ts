import assert from 'node:assert/strict';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { sinkConfig, sourceConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

interface Preview {
  readonly again: number | null;
  readonly skipped: number | null;
  readonly offsets: readonly unknown[];
}

const READ_COMMITTED = { 'isolation.level': 'read_committed' };

describe('chosen offsets of a source', function () {
  let kafka: KafkaTraffic;
  let db: TestDatabase;
  let sql: SqlClient;
  const workers: WorkerProcess[] = [];

  before(async () => {
    [kafka, db] = await Promise.all([KafkaTraffic.shared(), database('chosen')]);
    sql = new SqlClient(db);
  });

  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker.discard();
  });

  after(async () => {
    await sql.close();
  });

  async function start(options: Parameters<typeof WorkerProcess.start>[0]): Promise<WorkerProcess> {
    const worker = await WorkerProcess.start(options);
    workers.push(worker);
    return worker;
  }

  const topicOf = (name: string) => `${name}-${db.database}-${name}-json_db`;

  /** The ids of all rows that a consumer of committed records sees, in their order. */
  const idsIn = async (name: string) => {
    const records = await kafka.all(topicOf(name), READ_COMMITTED);
    return records.flatMap(({ value }) => {
      const { data } = JSON.parse(value?.toString() ?? '{}') as { data: readonly { id: number }[] };
      return data.map(({ id }) => id);
    });
  };

  const untilIds = (name: string, ids: readonly number[]) =>
    until(async () => (await idsIn(name)).length >= ids.length, `${String(ids.length)} rows of ${name}`).then(
      async () => {
        assert.deepEqual(await idsIn(name), ids);
      },
    );

  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);

  it('given as a time predict the number of rows that are sent again or skipped; nothing is written before', async () => {
    const { rest } = await start({ properties: { 'offset.flush.interval.ms': '200' } });
    const name = uniqueName('chosen').replaceAll('-', '_');
    const begin = Date.UTC(2026, 0, 31, 8);
    const insert = (from: number, to: number) =>
      sql.run(
        `insert into "${name}" select i, '2026-01-31T08:00:00Z'::timestamptz + i * '1 s'::interval from generate_series(${String(from)}, ${String(to)}) i`,
      );
    await sql.run(`create table "${name}" (id int primary key, ts timestamptz not null)`);
    await insert(1, 10);
    await rest.create(name, sourceConfig(db, { 'topic.prefix': name, 'table.include': name }));
    await untilIds(name, range(1, 10));
    const preview = async (body: unknown) => {
      const answer = await rest.post<Preview>(`/connectors/${name}/offsets/preview`, body);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body;
    };
    await until(async () => (await preview({ to: 'earliest' })).again === 10, 'the offset of all rows');
    const counts = async (body: unknown) => {
      const { again, skipped } = await preview(body);
      return [again, skipped];
    };
    // Row i has the time `begin` and i seconds.
    assert.deepEqual(await counts({ time: begin + 8000 }), [3, 0]);
    assert.deepEqual(await counts({ time: begin + 8001 }), [2, 0]);
    assert.deepEqual(await counts({ time: '2026-01-31T08:00:04Z' }), [7, 0]);
    assert.deepEqual(await counts({ time: '2026-01-31T10:00:04+02:00' }), [7, 0]);
    assert.deepEqual(await counts({ to: 'latest' }), [0, 0]);
    const { body: before } = await rest.get(`/connectors/${name}/offsets`);
    assert.equal((await rest.put(`/connectors/${name}/stop`)).status, 204);
    await rest.untilState(name, 'STOPPED', 0);
    await insert(11, 15);
    assert.deepEqual(await counts({ time: begin + 14_000 }), [0, 3]);
    assert.deepEqual(await counts({ to: 'latest' }), [0, 5]);
    assert.deepEqual((await rest.get(`/connectors/${name}/offsets`)).body, before);
    const { offsets } = await preview({ time: begin + 8000 });
    const altered = await rest.request('PATCH', `/connectors/${name}/offsets`, { offsets });
    assert.equal(altered.status, 200, JSON.stringify(altered.body));
    assert.equal((await rest.put(`/connectors/${name}/resume`)).status, 202);
    await untilIds(name, [...range(1, 10), ...range(8, 15)]);
  });

  it('are where an exactly-once source begins, regardless of an earlier source of its name, and no row is sent twice', async () => {
    const worker = await start({ properties: { 'exactly.once.source.support': 'enabled' } });
    const { rest } = worker;
    const name = uniqueName('chosen').replaceAll('-', '_');
    await sql.run(
      `create table "${name}" (id bigint primary key)`,
      `insert into "${name}" select generate_series(1, 10)`,
    );
    const create = async (incrementing: number, more: Record<string, string> = {}) => {
      const options = {
        'topic.prefix': name,
        'table.include': name,
        mode: 'incrementing',
        'exactly.once.support': 'required',
      };
      const config = { name, ...sourceConfig(db, { ...options, ...more }) };
      const initial_offsets = [{ partition: { table: name }, offset: { incrementing } }];
      const answer = await rest.post('/connectors', { name, config, initial_offsets });
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
    };
    await create(7);
    await untilIds(name, range(8, 10));
    assert.equal((await rest.delete(`/connectors/${name}`)).status, 204);
    await create(4);
    await untilIds(name, [...range(8, 10), ...range(5, 10)]);
    // It continues from the last transaction, not from the initial offsets.
    await worker.kill();
    await sql.run(`insert into "${name}" values (11)`);
    await worker.start();
    await untilIds(name, [...range(8, 10), ...range(5, 11)]);
    assert.equal((await rest.delete(`/connectors/${name}`)).status, 204);
    // With a topic of its own for offsets, in which the one before has left nothing.
    await create(9, { 'offsets.storage.topic': `${name}-offsets` });
    await untilIds(name, [...range(8, 10), ...range(5, 11), ...range(10, 11)]);
  });

  it('are not overwritten by tasks that a deleted exactly-once source of that name left running', async () => {
    const worker = await start({ properties: { 'exactly.once.source.support': 'enabled' } });
    const { rest } = worker;
    const name = uniqueName('chosen').replaceAll('-', '_');
    await sql.run(
      `create table "${name}" (id bigint primary key)`,
      `insert into "${name}" select generate_series(1, 10)`,
    );
    const options = { 'topic.prefix': name, 'table.include': name, mode: 'incrementing' };
    const config = { name, ...sourceConfig(db, options) };
    await rest.create(name, config);
    await untilIds(name, range(1, 10));
    assert.equal((await rest.delete(`/connectors/${name}`)).status, 204);
    // As a task of another worker that has not ended yet.
    const servers = worker.properties['bootstrap.servers'] ?? '';
    const client = createKafkaClient({ 'bootstrap.servers': servers }, silentLogger);
    const id = `${worker.properties['group.id'] ?? ''}-${name}-0`;
    const zombie = client.transactionalProducer({ 'transactional.id': id });
    await zombie.connect();
    try {
      await zombie.init();
      zombie.begin();
      const nothing = { key: null, timestamp: null, headers: [] };
      await zombie.send([{ topic: topicOf(name), partition: 0, value: Buffer.from('{}'), ...nothing }]);
      const initial_offsets = [{ partition: { table: name }, offset: { incrementing: 8 } }];
      const answer = await rest.post('/connectors', { name, config, initial_offsets, initial_state: 'STOPPED' });
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      await assert.rejects(zombie.commit(), /There is a newer producer with the same transactionalId/);
    } finally {
      await zombie.close(0);
    }
    assert.equal((await rest.put(`/connectors/${name}/resume`)).status, 202);
    await untilIds(name, [...range(1, 10), 9, 10]);
  });

  it('in the file of a standalone worker apply only to the first start, of a source and of a sink', async () => {
    const name = uniqueName('chosen').replaceAll('-', '_');
    const sink = `${name}_sink`;
    await sql.run(
      `create table "${name}" (id bigint primary key)`,
      `insert into "${name}" select generate_series(1, 5)`,
      `create table "${sink}" (ts timestamptz not null, v bigint)`,
    );
    await kafka.createTopic(sink, 1);
    const lines = (from: number, to: number) =>
      kafka.produce(
        sink,
        range(from, to).map((v) => ({ value: `${sink} v=${String(v)}i` })),
      );
    await lines(0, 4);
    const options = { 'topic.prefix': name, 'table.include': name, mode: 'incrementing' };
    const worker = await start({
      properties: { 'offset.flush.interval.ms': '200' },
      standalone: [
        {
          name,
          config: sourceConfig(db, options),
          initial_offsets: [{ partition: { table: name }, offset: { incrementing: 3 } }],
        },
        {
          name: sink,
          config: sinkConfig(db, { topics: sink, 'protocol.type': 'line_lp' }),
          initial_offsets: [{ partition: { kafka_topic: sink, kafka_partition: 0 }, offset: { kafka_offset: 2 } }],
        },
      ],
    });
    const values = async () => (await sql.rows(`select v from "${sink}" order by v`)).flat().map(Number);
    await untilIds(name, [4, 5]);
    await until(async () => (await values()).length >= 3, 'three rows');
    assert.equal(await worker.terminate(), 0);
    await sql.run(`insert into "${name}" values (6)`);
    await lines(5, 5);
    await worker.start();
    await untilIds(name, [4, 5, 6]);
    await until(async () => (await values()).length >= 4, 'four rows');
    assert.deepEqual(await values(), [2, 3, 4, 5]);
    assert.match(worker.log, new RegExp(`Connector ${name} already has offsets and continues from these`));
  });

  it('in the file of a standalone worker fail its start if they are invalid, with the reason in the log', async () => {
    const name = uniqueName('chosen').replaceAll('-', '_');
    await sql.run(`create table "${name}" (id bigint primary key)`);
    const config = sourceConfig(db, { 'topic.prefix': name, 'table.include': name, mode: 'incrementing' });
    for (const [offsets, text] of [
      [[], /Partitions \/ offsets need to be provided in initial_offsets/],
      [{ table: name }, /initial_offsets/],
      [[{ partition: { table: name }, offset: { incrementing: 'x' } }], /connector-0\.json: .*incrementing/],
    ] as const) {
      await assert.rejects(
        start({ standalone: [{ name, config, initial_offsets: offsets }], properties: {} }).then(async (worker) => {
          // It is healthy as soon as it is up; its connectors come then.
          await until(() => worker.log.includes('could not start'), 'it has ended', { timeoutMs: 20_000 });
          throw new Error(worker.log);
        }),
        ({ message }: Error) => text.test(message),
        String(text),
      );
    }
  });
});
