import assert from 'node:assert/strict';
import { sinkConfig, sourceConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database, ownBroker, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

interface Message {
  readonly table: string;
  readonly columns: readonly { name: string; type: string }[];
  readonly data: readonly Readonly<Record<string, unknown>>[];
}

const rowsOf = (texts: readonly string[]) => texts.flatMap((text) => (JSON.parse(text) as Message).data);

describe('a source loses nothing', function () {
  const opened: { close(): Promise<void> }[] = [];
  const workers: WorkerProcess[] = [];

  async function setUp(): Promise<{
    db: TestDatabase;
    sql: SqlClient;
    kafka: KafkaTraffic;
    sluice: WorkerProcess;
    prefix: string;
  }> {
    const [db, kafka, sluice] = await Promise.all([database('source'), KafkaTraffic.shared(), WorkerProcess.start()]);
    workers.push(sluice);
    const sql = new SqlClient(db);
    opened.push(sql);
    return { db, sql, kafka, sluice, prefix: uniqueName('out') };
  }

  const topicOf = (prefix: string, db: TestDatabase, table: string) => `${prefix}-${db.database}-${table}-json_db`;

  afterEach(async () => {
    await Promise.all(workers.splice(0).map((each) => each.discard()));
    await Promise.all(opened.splice(0).map((each) => each.close()));
  });

  it('of rows that share one timestamp across the fetch limit, with a key', async () => {
    const { db, sql, kafka, sluice, prefix } = await setUp();
    await sql.run(
      'create table ties (ts timestamptz not null, host text not null, n int8, primary key (ts, host))',
      `insert into ties select timestamptz '2026-01-01 00:00:00Z' + (i / 700) * interval '1 second', 'h' || i, i from generate_series(0, 1999) i`,
    );
    await sluice.rest.create(
      'ties',
      sourceConfig(db, { 'topic.prefix': prefix, 'fetch.max.rows': '100', 'fetch.max.rows.auto': 'false' }),
    );
    const rows = rowsOf(await kafka.texts(topicOf(prefix, db, 'ties'), 2000));
    assert.deepEqual(
      rows.map(({ n }) => n).sort((a, b) => Number(a) - Number(b)),
      Array.from({ length: 2000 }, (_, i) => i),
    );
    const times = rows.map(({ ts }) => Number(ts));
    assert.deepEqual(
      times,
      [...times].sort((a, b) => a - b),
    );
  });

  it('of rows that share one timestamp across the fetch limit, without a key, equal rows among them', async () => {
    const { db, sql, kafka, sluice, prefix } = await setUp();
    await sql.run(
      'create table plain (ts timestamptz, n int8)',
      `insert into plain select timestamptz '2026-01-01 00:00:00Z', i / 2 from generate_series(0, 499) i`,
      `insert into plain select timestamptz '2026-01-02 00:00:00Z', 1000 from generate_series(1, 30) i`,
    );
    await sluice.rest.create(
      'plain',
      sourceConfig(db, { 'topic.prefix': prefix, 'fetch.max.rows': '70', 'fetch.max.rows.auto': 'false' }),
    );
    const rows = rowsOf(await kafka.texts(topicOf(prefix, db, 'plain'), 530));
    const expected = [...Array.from({ length: 500 }, (_, i) => Math.floor(i / 2)), ...Array<number>(30).fill(1000)];
    assert.deepEqual(
      rows.map(({ n }) => n).sort((a, b) => Number(a) - Number(b)),
      expected,
    );
  });

  it('of NULLs, int64 extremes, unicode and NaN', async () => {
    const { db, sql, kafka, sluice, prefix } = await setUp();
    await sql.run(
      'create table odd (ts timestamptz(3) not null, i int8, f float8, t text, b bool, k int4 not null, primary key (ts, k))',
      `insert into odd values ('2026-01-01 00:00:00.123Z', 9223372036854775807, 'NaN', 'Zürich 漢字 😀 "\\', true, 1),
        ('2026-01-01 00:00:00.124Z', -9223372036854775808, '-Infinity', '', false, 2),
        ('2026-01-01 00:00:00.125Z', null, null, null, null, 3)`,
    );
    await sluice.rest.create('odd', sourceConfig(db, { 'topic.prefix': prefix }));
    const texts = await kafka.texts(topicOf(prefix, db, 'odd'), 3);
    assert.match(texts[0] ?? '', /"i":9223372036854775807[,}]/);
    assert.match(texts[1] ?? '', /"i":-9223372036854775808[,}]/);
    const [first, second, third] = rowsOf(texts);
    assert.deepEqual(
      [first?.['ts'], first?.['t'], first?.['b'], first?.['f']],
      [1767225600123, 'Zürich 漢字 😀 "\\', true, 'NaN'],
    );
    assert.deepEqual([second?.['t'], second?.['f']], ['', '-Infinity']);
    assert.deepEqual(third, { ts: 1767225600125, i: null, f: null, t: null, b: null, k: 3 });
  });

  it('to line protocol: a sink reads back what it wrote into an equal table', async () => {
    const { db, sql, kafka, sluice, prefix } = await setUp();
    const name = uniqueName('lines');
    const table = (called: string) => [
      `create table ${called} (k_timestamp timestamptz(3) not null, n int8, f float8, b bool, t varchar(50), site varchar(64) not null, primary key (k_timestamp, site))`,
      `comment on column ${called}.site is 'sluice:primary-tag'`,
    ];
    await sql.run(
      ...table('wrote'),
      `insert into wrote select timestamptz '2026-01-01 00:00:00Z' + i * interval '1 ms', i * 100000000000000, i / 7.0, i % 2 = 0, 'a "b", c=d \\ ' || i, 'o s,l=o' || i % 3 from generate_series(0, 499) i`,
      `insert into wrote values ('2026-01-02 00:00:00Z', 9223372036854775807, null, null, null, 'x')`,
    );
    await sluice.rest.create(name, sourceConfig(db, { 'topic.prefix': prefix, 'out.format': 'line_lp' }));
    const topic = `${prefix}-${db.database}-wrote-line_lp`;
    assert.equal((await kafka.texts(topic, 501)).length, 501);
    await sluice.rest.delete(`/connectors/${name}`);
    await sql.run('alter table wrote rename to original', ...table('wrote'));
    await sluice.rest.create(uniqueName('back'), sinkConfig(db, { topics: topic, 'protocol.type': 'line_lp' }));
    await until(async () => (await sql.number('select count(*) from wrote')) === 501, 'all rows have returned');
    const differing =
      '(select * from original except select * from wrote) union all (select * from wrote except select * from original)';
    assert.deepEqual(await sql.rows(differing), []);
  });

  it('of a table that appears later, and of rows inserted while it idles', async () => {
    const { db, sql, kafka, sluice, prefix } = await setUp();
    await sluice.rest.create('later', sourceConfig(db, { 'topic.prefix': prefix, 'tasks.max': '2' }));
    await until(
      async () => (await sluice.rest.status('later')).connector.state === 'RUNNING',
      'it runs without a table',
    );
    await sql.run(
      'create table first (ts timestamptz primary key, n int4)',
      `insert into first values (now() - interval '1 hour', 1)`,
    );
    assert.equal(rowsOf(await kafka.texts(topicOf(prefix, db, 'first'), 1))[0]?.['n'], 1);
    await sql.run(
      `insert into first values (now() - interval '1 minute', 2)`,
      'create table second (ts timestamptz primary key, n int4)',
      `insert into second values (now(), 7)`,
    );
    assert.equal(rowsOf(await kafka.texts(topicOf(prefix, db, 'second'), 1))[0]?.['n'], 7);
    assert.deepEqual(
      rowsOf(await kafka.texts(topicOf(prefix, db, 'first'), 2)).map(({ n }) => n),
      [1, 2],
    );
    await sluice.rest.untilState('later', 'RUNNING', 2);
  });

  it('when the worker is killed with -9 in mid-stream, and continues from the stored offset', async () => {
    const { db, sql, kafka, sluice, prefix } = await setUp();
    await sql.run(
      'create table big (ts timestamptz not null, n int8 primary key)',
      `insert into big select timestamptz '2026-01-01 00:00:00Z' + i * interval '1 ms', i from generate_series(0, 29999) i`,
    );
    const topic = topicOf(prefix, db, 'big');
    await sluice.rest.create(
      'big',
      sourceConfig(db, { 'topic.prefix': prefix, 'fetch.max.rows': '200', 'fetch.max.rows.auto': 'false' }),
    );
    await kafka.texts(topic, 5000);
    await sluice.kill();
    await sluice.start();
    const seen = (count: number) => (records: readonly { value: Buffer | null }[]) =>
      records.length >= count && new Set(records.map(({ value }) => value?.toString())).size >= count;
    const records = await kafka.read(topic, seen(30_000), 60_000);
    const numbers = rowsOf(records.map(({ value }) => value?.toString() ?? '')).map(({ n }) => Number(n));
    assert.equal(new Set(numbers).size, 30_000);
    assert.ok(numbers.length < 60_000, `it continued, it did not start over (${String(numbers.length)} records)`);
  });

  it('when the broker is killed while rows are sent, and started again: each is there once, in order, with exactly-once delivery', async () => {
    const broker = await ownBroker();
    try {
      const db = await database('source');
      const sql = new SqlClient(db);
      opened.push(sql);
      const kafka = new KafkaTraffic(broker.bootstrapServers);
      const properties = { 'bootstrap.servers': broker.bootstrapServers, 'exactly.once.source.support': 'enabled' };
      const sluice = await WorkerProcess.start({ properties });
      workers.push(sluice);
      const rows = 20_000;
      await sql.run(
        'create table sent (ts timestamptz primary key, n int8)',
        `insert into sent select timestamptz '2026-01-01 00:00:00Z' + i * interval '1 ms', i from generate_series(0, ${String(rows - 1)}) i`,
      );
      const prefix = uniqueName('out');
      await sluice.rest.create(
        'sent',
        sourceConfig(db, { 'topic.prefix': prefix, 'fetch.max.rows': '20', 'fetch.max.rows.auto': 'false' }),
      );
      const topic = topicOf(prefix, db, 'sent');
      const isolation = { 'isolation.level': 'read_committed' };
      const before = await kafka.read(topic, ({ length }) => length > 0);
      await broker.kill();
      assert.ok(before.length < rows, `killed in mid-stream, at ${String(before.length)} rows`);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await broker.start();
      const records = await kafka.read(topic, ({ length }) => length >= rows, 60_000, isolation);
      assert.deepEqual(
        rowsOf(records.map(({ value }) => value?.toString() ?? '')).map(({ n }) => n),
        Array.from({ length: rows }, (_, i) => i),
      );
      await sluice.rest.untilState('sent', 'RUNNING', 1);
    } finally {
      await Promise.all(workers.splice(0).map((each) => each.discard()));
      await broker.discard();
    }
  });
});
