import assert from 'node:assert/strict';
import { sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic, type TestMessage } from '../support/kafka-traffic.ts';
import { database, ownBroker, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const START_MS = 1_700_000_000_000;
const TABLE = `create table readings (
  k_timestamp timestamptz(3) not null, id int8, value float8, category varchar(64) not null,
  primary key (k_timestamp, category))`;
const TAG = `comment on column readings.category is 'sluice:primary-tag'`;

/** Rows `from` to `to` as line protocol, spread over four partitions. */
function lines(from: number, to: number): TestMessage[] {
  return Array.from({ length: to - from }, (_, i) => {
    const id = from + i;
    const value = `readings,category=c${String(id % 100)} id=${String(id)}i,value=${String(id / 4)} ${String(START_MS + id)}`;
    return { value, partition: id % 4 };
  });
}

/** So that the group need not wait 45 s for the members that were killed. */
const SHORT_SESSION = {
  'consumer.override.session.timeout.ms': '6000',
  'consumer.override.heartbeat.interval.ms': '1000',
};

function lineSink(target: TestDatabase, topic: string, more: Record<string, string> = {}): Record<string, string> {
  return sinkConfig(target, { topics: topic, 'protocol.type': 'line_lp', 'timestamp.precision': 'ms', ...more });
}

/** Every id exactly once, each with its own time and value. */
async function assertAllThere(sql: SqlClient, rows: number): Promise<void> {
  const check = await sql.rows(`select count(*), count(distinct id), min(id), max(id),
    count(*) filter (where value = id / 4.0 and k_timestamp = timestamptz 'epoch' + (${String(START_MS)} + id) * interval '1 ms')
    from readings`);
  const all = String(rows);
  assert.deepEqual(check, [[all, all, '0', String(rows - 1), all]]);
}

describe('a sink loses nothing, and with a key duplicates nothing,', function () {
  const opened: { close(): Promise<void> }[] = [];
  const workers: WorkerProcess[] = [];
  // Each test has its own group, because a killed member stays in its group until its session expires.
  let name = '';

  beforeEach(() => {
    name = uniqueName('sink');
  });

  async function target(): Promise<{ db: TestDatabase; sql: SqlClient }> {
    const db = await database('sink');
    const sql = new SqlClient(db);
    opened.push(sql);
    await sql.run(TABLE, TAG);
    return { db, sql };
  }

  async function worker(properties: Record<string, string> = {}): Promise<WorkerProcess> {
    const started = await WorkerProcess.start({ properties });
    workers.push(started);
    return started;
  }

  const count = (sql: SqlClient) => sql.number('select count(*) from readings');
  const arrived = (sql: SqlClient, rows: number) =>
    until(async () => (await count(sql)) >= rows, `${String(rows)} rows arrived`, { timeoutMs: 60_000 });

  afterEach(async () => {
    await Promise.all(workers.splice(0).map((each) => each.discard()));
    await Promise.all(opened.splice(0).map((each) => each.close()));
  });

  it('when the worker is killed with -9 in mid-stream and started again', async () => {
    const [{ db, sql }, kafka, sluice] = await Promise.all([target(), KafkaTraffic.shared(), worker()]);
    const topic = uniqueName('killed');
    await kafka.createTopic(topic, 4);
    await sluice.rest.create(
      name,
      lineSink(db, topic, { ...SHORT_SESSION, 'tasks.max': '2', 'batch.size': '200', 'batch.size.auto': 'false' }),
    );
    const producing = (async () => {
      for (let from = 0; from < 60_000; from += 3000) await kafka.produce(topic, lines(from, from + 3000));
    })();
    await until(async () => (await count(sql)) > 5000, 'rows flow');
    await sluice.kill();
    const atKill = await count(sql);
    assert.ok(atKill < 60_000, `killed in mid-stream, at ${String(atKill)} rows`);
    await producing;
    await sluice.start();
    await arrived(sql, 60_000);
    await assertAllThere(sql, 60_000);
    await sluice.rest.untilState(name, 'RUNNING', 2);
  });

  it('when the broker is stopped for 3 s and started again', async () => {
    const broker = await ownBroker();
    try {
      const { db, sql } = await target();
      const kafka = new KafkaTraffic(broker.bootstrapServers);
      const sluice = await worker({ 'bootstrap.servers': broker.bootstrapServers });
      await kafka.createTopic('stopped-broker', 4);
      await sluice.rest.create(name, lineSink(db, 'stopped-broker', { 'tasks.max': '2' }));
      await kafka.produce('stopped-broker', lines(0, 10_000));
      await arrived(sql, 10_000);
      await broker.stop();
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      await broker.start();
      await kafka.produce('stopped-broker', lines(10_000, 20_000));
      await arrived(sql, 20_000);
      await assertAllThere(sql, 20_000);
      await sluice.rest.untilState(name, 'RUNNING', 2);
    } finally {
      await Promise.all(workers.splice(0).map((each) => each.discard()));
      await broker.discard();
    }
  });

  it('when a second task joins while rows flow', async () => {
    const [{ db, sql }, kafka, sluice] = await Promise.all([target(), KafkaTraffic.shared(), worker()]);
    const topic = uniqueName('joined');
    await kafka.createTopic(topic, 4);
    const config = lineSink(db, topic, { 'tasks.max': '1', 'batch.size': '200', 'batch.size.auto': 'false' });
    await sluice.rest.create(name, config);
    const producing = (async () => {
      for (let from = 0; from < 40_000; from += 2000) await kafka.produce(topic, lines(from, from + 2000));
    })();
    await until(async () => (await count(sql)) > 2000, 'rows flow');
    const answer = await sluice.rest.put(`/connectors/${name}/config`, { ...config, 'tasks.max': '2' });
    assert.equal(answer.status, 200);
    await sluice.rest.untilState(name, 'RUNNING', 2);
    await producing;
    await arrived(sql, 40_000);
    await assertAllThere(sql, 40_000);
  });

  it('over pause and resume, and moves nothing while it is paused', async () => {
    const [{ db, sql }, kafka, sluice] = await Promise.all([target(), KafkaTraffic.shared(), worker()]);
    const topic = uniqueName('paused');
    await kafka.createTopic(topic, 4);
    await sluice.rest.create(name, lineSink(db, topic));
    await kafka.produce(topic, lines(0, 5000));
    await arrived(sql, 5000);
    assert.equal((await sluice.rest.put(`/connectors/${name}/pause`)).status, 202);
    await sluice.rest.untilState(name, 'PAUSED', 1);
    await kafka.produce(topic, lines(5000, 10_000));
    await until(
      async () => (await kafka.committed(`connect-${name}`)) >= 5000,
      'the offsets of what was read are committed',
    );
    assert.equal(await count(sql), 5000);
    assert.equal((await sluice.rest.put(`/connectors/${name}/resume`)).status, 202);
    await sluice.rest.untilState(name, 'RUNNING', 1);
    await arrived(sql, 10_000);
    await assertAllThere(sql, 10_000);
  });

  it('of lines without a time, which have that of their record, so that delivering them again changes nothing', async () => {
    const [{ db, sql }, kafka, sluice] = await Promise.all([target(), KafkaTraffic.shared(), worker()]);
    const topic = uniqueName('timeless');
    await kafka.createTopic(topic);
    await kafka.produce(topic, [{ value: 'readings,category=a id=0i,value=0' }]);
    const [record] = await kafka.read(topic, ({ length }) => length === 1);
    for (const each of [name, uniqueName('sink')]) {
      await sluice.rest.create(each, lineSink(db, topic));
      await until(async () => (await kafka.committed(`connect-${each}`)) === 1, 'the record is stored');
    }
    const rows = await sql.rows('select (extract(epoch from k_timestamp) * 1000)::int8 from readings');
    assert.deepEqual(rows, [[String(record?.timestamp)]]);
  });

  it('when deleted and created again under its name: it continues at the committed offset', async () => {
    const [{ db, sql }, kafka, sluice] = await Promise.all([target(), KafkaTraffic.shared(), worker()]);
    const topic = uniqueName('again');
    await kafka.createTopic(topic, 4);
    await sluice.rest.create(name, lineSink(db, topic));
    await kafka.produce(topic, lines(0, 5000));
    await arrived(sql, 5000);
    assert.equal((await sluice.rest.delete(`/connectors/${name}`)).status, 204);
    await until(async () => (await sluice.rest.get(`/connectors/${name}/status`)).status === 404, 'its status is gone');
    assert.equal(await kafka.committed(`connect-${name}`), 5000);
    // Rows read a second time would come back.
    await sql.run('delete from readings where id < 100');
    await sluice.rest.create(name, lineSink(db, topic));
    await kafka.produce(topic, lines(5000, 6000));
    await until(async () => (await sql.number('select max(id) from readings')) === 5999, 'the new rows arrived');
    await until(async () => (await kafka.committed(`connect-${name}`)) === 6000, 'they are committed');
    assert.equal(await sql.number('select min(id) from readings'), 100);
    assert.equal(await count(sql), 5900);
  });
});
