import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKafkaClient } from '../../../src/kafka/client/client.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import type { BrokerCluster } from '../../support/broker-cluster.ts';
import { REPLICATED_WORKER } from '../../support/cluster-load.ts';
import { sinkConfig } from '../../support/connectors.ts';
import { findJavaConnect, JavaWorker } from '../../support/java-worker.ts';
import { database, uniqueName } from '../../support/services.ts';
import { useBrokers } from '../../support/shared-brokers.ts';
import { createTable, line } from '../../support/sink-kills.ts';
import { SqlClient } from '../../support/sql-client.ts';
import { until } from '../../support/until.ts';
import { WorkerProcess } from '../../support/worker-process.ts';

/** Records that both replicas have, that only the first leader has, and that the leader elected uncleanly takes. */
const [COMMON, CUT, LATER] = [207, 200, 809];
/** Ids of the last begin here. */
const LATER_IDS = 10_000;
const STRINGS = 'org.apache.kafka.connect.storage.StringConverter';
const SLOW = { timeoutMs: 60_000 };

/** A Java worker whose sink writes a topic into a file: a consumer of Java's in a group. */
async function javaConsumer(
  cluster: BrokerCluster,
  topic: string,
  file: string,
): Promise<{ readonly worker: JavaWorker; read(): Promise<readonly string[]> } | undefined> {
  const java = await findJavaConnect();
  if (typeof java === 'string') return undefined;
  const worker = await JavaWorker.create(java, {
    'bootstrap.servers': cluster.bootstrapServers,
    ...REPLICATED_WORKER,
    'group.id': uniqueName('java'),
    'config.storage.topic': uniqueName('java-configs'),
    'offset.storage.topic': uniqueName('java-offsets'),
    'status.storage.topic': uniqueName('java-statuses'),
    'key.converter': STRINGS,
    'value.converter': STRINGS,
  });
  await worker.start();
  await worker.rest.create(uniqueName('java-sink'), { 'connector.class': 'FileStreamSink', topics: topic, file });
  const read = async (): Promise<string[]> => (await readFile(file, 'utf8').catch(() => '')).split('\n').slice(0, -1);
  return { worker, read };
}

describe('an unclean election (L2)', function () {
  const brokers = useBrokers();

  it('costs a sink none of the new leader’s records, in both deliveries, running or stopped, beside a Java consumer', async () => {
    const cluster = brokers();
    const topic = uniqueName('unclean');
    const settings = { 'unclean.leader.election.enable': 'true', 'min.insync.replicas': '1' };
    await cluster.createTopic(topic, { replicas: [[1, 2]], settings });
    const properties = { 'bootstrap.servers': cluster.bootstrapServers, ...REPLICATED_WORKER };
    const folder = await mkdtemp(join(tmpdir(), 'sluice-unclean-'));
    const [sluice, java] = await Promise.all([
      WorkerProcess.start({ properties }),
      javaConsumer(cluster, topic, join(folder, 'lines')),
    ]);
    const producer = createKafkaClient({ 'bootstrap.servers': cluster.bootstrapServers }, silentLogger).producer();
    const sinks: { readonly name: string; readonly sql: SqlClient; readonly isStopped: boolean }[] = [];
    const produce = async (from: number, count: number): Promise<void> => {
      const nothing = { topic, partition: 0, key: null, timestamp: null, headers: [] };
      const ids = Array.from({ length: count }, (_none, index) => from + index);
      await producer.send(ids.map((id) => ({ ...nothing, value: Buffer.from(String(line('u', id).value)) })));
    };
    const stored = ({ sql }: { sql: SqlClient }, from = 0) =>
      sql.number(`select count(distinct id) from u where id >= ${String(from)}`);
    const allStored = async (of: typeof sinks, count: number, from = 0): Promise<void> => {
      for (const sink of of) {
        await until(async () => (await stored(sink, from)) >= count, `${sink.name} has ${String(count)} rows`, SLOW);
      }
    };
    try {
      for (const delivery of ['exactly-once', 'at-least-once']) {
        for (const isStopped of [false, true]) {
          const db = await database('unclean');
          const sql = new SqlClient(db);
          await createTable(sql, 'u', false);
          const name = `${topic}-${delivery}-${isStopped ? 'stopped' : 'running'}`;
          const format = { 'protocol.type': 'line_lp', 'timestamp.precision': 'ms' };
          await sluice.rest.create(name, sinkConfig(db, { topics: topic, ...format, delivery }));
          sinks.push({ name, sql, isStopped });
        }
      }
      await produce(0, COMMON);
      await allStored(sinks, COMMON);
      await cluster.stop(2);
      await produce(COMMON, CUT);
      await allStored(sinks, COMMON + CUT);
      if (java !== undefined)
        await until(async () => (await java.read()).length === COMMON + CUT, 'Java has them', SLOW);
      for (const { name, isStopped } of sinks) {
        if (!isStopped) continue;
        await sluice.rest.put(`/connectors/${name}/stop`);
        await sluice.rest.untilState(name, 'STOPPED', 0, SLOW);
      }
      await cluster.kill(1);
      await cluster.start(2);
      assert.equal(await until(async () => (await cluster.leaderOf(topic)) === 2 && 2, 'broker 2 leads', SLOW), 2);
      await produce(LATER_IDS, LATER);
      await allStored(
        sinks.filter(({ isStopped }) => !isStopped),
        LATER,
        LATER_IDS,
      );
      for (const { name, isStopped } of sinks) {
        if (isStopped)
          await until(async () => (await sluice.rest.put(`/connectors/${name}/resume`)).status === 202, name);
      }
      await allStored(sinks, LATER, LATER_IDS);
      for (const { name, sql } of sinks) {
        const [counts] = await sql.rows('select count(*), count(distinct id) from u');
        const all = String(COMMON + CUT + LATER);
        assert.deepEqual(counts, [all, all], `each record once, those that were taken back too, of ${name}`);
      }
      const told = `${String(CUT)} records that were read from offset ${String(COMMON)} on are no longer in the log`;
      const warnings = sluice.log.split('\n').filter((text) => text.includes(told));
      for (const { name } of sinks)
        assert.ok(
          warnings.some((text) => text.includes(name)),
          `${name}: ${warnings.join()}`,
        );
      if (java !== undefined) {
        const later = async () =>
          (await java.read()).filter((text) => Number(/ id=(\d+)i/.exec(text)?.[1]) >= LATER_IDS);
        await until(async () => (await later()).length === LATER, 'Java has them all', SLOW);
      }
    } finally {
      await Promise.all([
        java?.worker.discard(),
        sluice.discard(),
        producer.close(),
        ...sinks.map(({ sql }) => sql.close()),
      ]);
      await rm(folder, { recursive: true, force: true });
    }
  });
});
