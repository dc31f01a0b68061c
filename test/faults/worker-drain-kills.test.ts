import assert from 'node:assert/strict';
import { drain } from '../../src/cli/messages/drain.ts';
import { sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { RowLoad } from '../support/row-load.ts';
import { database, uniqueName } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerCluster } from '../support/worker-cluster.ts';

const PARTITIONS = 24;
const SHARE = 8;
const LONG = { timeoutMs: 60_000 };

describe('a drain in which a worker is killed', () => {
  let cluster: WorkerCluster;
  let kafka: KafkaTraffic;
  let sql: SqlClient;
  const name = uniqueName('killed-drain');

  before(async () => {
    const db = await database('killed-drain');
    [kafka, cluster] = await Promise.all([
      KafkaTraffic.shared(),
      WorkerCluster.start(3, { 'scheduled.rebalance.max.delay.ms': '2000', 'session.timeout.ms': '6000' }),
    ]);
    sql = new SqlClient(db);
    await sql.run('create table rows (k_timestamp timestamptz(3) not null, id int8, category varchar(64) not null)');
    await sql.run("comment on column rows.category is 'sluice:primary-tag'");
    await kafka.createTopic(name, PARTITIONS);
    const options = {
      topics: name,
      'tasks.max': String(PARTITIONS),
      'protocol.type': 'line_lp',
      'timestamp.precision': 'ms',
      delivery: 'exactly-once',
    };
    await cluster.rest(0).create(name, sinkConfig(db, options));
  });

  after(async () => {
    await cluster.discard();
    await sql.close();
  });

  beforeEach(async () => {
    await sql.run('truncate rows');
    await until(async () => (await tasksOf(0)) === SHARE, 'worker 0 has its share', LONG);
    await until(async () => (await tasksOf(1)) === SHARE, 'worker 1 has its share', LONG);
    await cluster.untilRuns(name, PARTITIONS, [0, 1, 2], LONG);
  });

  const idOf = (worker: number) => new URL(cluster.worker(worker).url).host;
  const tasksOf = async (worker: number) =>
    (await cluster.rest(worker).get<{ tasks: string[] }>('/cluster')).body.tasks.length;

  /** Worker 1 is drained, `killed` is killed when worker 1 has given something up: all runs on the others, each row once. */
  async function killWhileDrained(killed: number, left: readonly number[]): Promise<void> {
    const load = new RowLoad(kafka, name, 'rows', PARTITIONS);
    try {
      const options = { url: cluster.worker(0).url, worker: idOf(1), undo: false, noWait: true };
      await drain(options, () => undefined);
      await until(async () => (await tasksOf(1)) < SHARE, 'the first part has gone', LONG);
      await cluster.worker(killed).kill();
      await cluster.untilRuns(name, PARTITIONS, left, { ...LONG, asked: 0 });
    } finally {
      const rows = await load.stop();
      const stored = () => sql.rows('select count(*), count(distinct id), max(id) from rows');
      await until(async () => Number((await stored())[0]?.[0]) >= rows, 'all rows are there', LONG);
      assert.deepEqual(await stored(), [[String(rows), String(rows), String(rows - 1)]]);
    }
  }

  it('ends on the others when it is the one that is drained, each row once', async () => {
    await killWhileDrained(1, [0, 2]);
    await cluster.worker(1).start();
  }).timeout(150_000);

  it('continues with the remaining workers when it is one that takes work, each row once', async () => {
    await killWhileDrained(2, [0]);
    const { body } = await cluster
      .rest(0)
      .get<{ worker_id: string; state: string; tasks: number }[]>('/cluster/workers');
    const { state, tasks } = body.find(({ worker_id: id }) => id === idOf(1)) ?? {};
    assert.deepEqual({ state, tasks }, { state: 'drained', tasks: 0 });
  }).timeout(150_000);
});
