import assert from 'node:assert/strict';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { broker, database, uniqueName, type TestDatabase } from '../support/services.ts';
import { createTable, line } from '../support/sink-kills.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const OLD = 607;
const NEW = 1249;
/** Ids of rows of the first topic begin here. */
const OLD_IDS = 100_000;

describe('a sink with delivery=exactly-once whose topic is deleted and created again (L1)', function () {
  let sluice: WorkerProcess;
  let db: TestDatabase;
  let kafka: KafkaTraffic;
  let scenarios: Readonly<Record<'running' | 'paused' | 'stopped' | 'again', Promise<void>>>;

  before(async () => {
    [sluice, db, kafka] = await Promise.all([WorkerProcess.start(), database('reborn'), KafkaTraffic.shared()]);
    // They wait more than they work, and so run at the same time.
    scenarios = {
      running: scenario('running', () => Promise.resolve(() => Promise.resolve())),
      paused: scenario('paused', async (name) => {
        await sluice.rest.put(`/connectors/${name}/pause`);
        await sluice.rest.untilState(name, 'PAUSED', 1);
        return () => sluice.rest.put(`/connectors/${name}/resume`);
      }),
      stopped: scenario('stopped', async (name) => {
        await sluice.rest.put(`/connectors/${name}/stop`);
        await sluice.rest.untilState(name, 'STOPPED', 0);
        return () => sluice.rest.put(`/connectors/${name}/resume`);
      }),
      again: scenario('again', async (name, config) => {
        await until(async () => (await sluice.rest.delete(`/connectors/${name}`)).status === 204, `${name} is deleted`);
        return () => sluice.rest.create(name, config);
      }),
    };
    for (const each of Object.values(scenarios)) each.catch(() => undefined);
  });

  after(async () => {
    await Promise.allSettled(Object.values(scenarios));
    await sluice.discard();
  });

  async function createAgain(topic: string): Promise<void> {
    const admin = createKafkaClient({ 'bootstrap.servers': (await broker()).bootstrapServers }, silentLogger).admin();
    await admin.deleteTopics([topic]);
    for (;;) {
      if (await admin.createTopic({ name: topic, partitions: 1, replicationFactor: 1, settings: {} })) break;
    }
    await admin.close();
  }

  const lines = (table: string, from: number, count: number) =>
    Array.from({ length: count }, (_none, index) => ({ ...line(table, from + index), partition: 0 }));

  /** Brings the connector out of the way first, and back when there is a new topic. */
  async function scenario(
    table: string,
    away: (name: string, config: Record<string, string>) => Promise<() => Promise<unknown>>,
  ): Promise<void> {
    const sql = new SqlClient(db);
    try {
      await scenarioOn(sql, table, away);
    } finally {
      await sql.close();
    }
  }

  async function scenarioOn(
    sql: SqlClient,
    table: string,
    away: (name: string, config: Record<string, string>) => Promise<() => Promise<unknown>>,
  ): Promise<void> {
    const topic = uniqueName(table);
    await kafka.createTopic(topic, 1);
    await createTable(sql, table, false);
    await kafka.produce(topic, lines(table, OLD_IDS, OLD));
    const name = uniqueName(table);
    const format = { 'protocol.type': 'line_lp', 'timestamp.precision': 'ms' };
    const config = sinkConfig(db, { topics: topic, ...format, delivery: 'exactly-once' });
    await sluice.rest.create(name, config);
    const count = () => sql.number(`select count(*) from ${table}`);
    await until(async () => (await count()) >= OLD, `the first ${String(OLD)} rows of ${table}`);
    const back = await away(name, config);
    await createAgain(topic);
    await kafka.produce(topic, lines(table, 0, NEW));
    await back();
    await until(async () => (await count()) >= OLD + NEW, `all rows of ${table}`, { timeoutMs: 45_000 });
    const perId = `select count(*), count(distinct id), count(*) filter (where id < ${String(NEW)}) from ${table}`;
    const all = String(OLD + NEW);
    assert.deepEqual(await sql.rows(perId), [[all, all, String(NEW)]]);
    const offset = `select next_offset, length(topic_id) from sluice_offsets where topic = '${topic}'`;
    await until(
      async () => (await sql.rows(offset))[0]?.join() === `${String(NEW)},22`,
      `${table} has moved its offset`,
    );
    const warnings = sluice.log
      .split('\n')
      .filter((text) => text.includes(`Topic ${topic} has been deleted and recreated`));
    assert.equal(warnings.length, 1, warnings.join('\n'));
  }

  it('reads it from the beginning while running', () => scenarios.running);

  it('reads it from the beginning after a pause', () => scenarios.paused);

  it('reads it from the beginning after a stop', () => scenarios.stopped);

  it('reads it from the beginning if the connector was also recreated', () => scenarios.again);
});
