import assert from 'node:assert/strict';
import { drain } from '../../src/cli/messages/drain.ts';
import { sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { RowLoad } from '../support/row-load.ts';
import { database, uniqueName } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerCluster } from '../support/worker-cluster.ts';

const PARTITIONS = 6;
const WORKERS = 3;

interface WorkerView {
  readonly worker_id: string;
  readonly state: string;
  readonly is_leader: boolean;
  readonly connectors: number;
  readonly tasks: number;
}

interface ClusterBody {
  readonly is_leader: boolean;
  readonly draining: boolean;
  readonly last_rebalance: { readonly assigned: readonly string[]; readonly revoked: readonly string[] };
}

/** Whether the last that each task has said of its consumer group is the same generation. */
function isComplete(logs: readonly string[]): boolean {
  const generations = new Map<number, number>();
  const joined = /"task":(\d+),[^\n]*"generationId":(\d+),[^\n]*"msg":"Joined the group"/g;
  for (const [, task, generation] of logs.flatMap((log) => [...log.matchAll(joined)])) {
    generations.set(Number(task), Number(generation));
  }
  return generations.size === PARTITIONS && new Set(generations.values()).size === 1;
}

describe('a worker that is drained', () => {
  let cluster: WorkerCluster;
  let kafka: KafkaTraffic;
  let sql: SqlClient;
  const name = uniqueName('drained');

  before(async () => {
    const db = await database('drain');
    [kafka, cluster] = await Promise.all([KafkaTraffic.shared(), WorkerCluster.start(WORKERS, {})]);
    sql = new SqlClient(db);
    await sql.run('create table rows (k_timestamp timestamptz(3) not null, id int8, category varchar(64) not null)');
    await sql.run("comment on column rows.category is 'sluice:primary-tag'");
    await kafka.createTopic(name, PARTITIONS);
    await cluster.rest(0).create(
      name,
      sinkConfig(db, {
        topics: name,
        'tasks.max': String(PARTITIONS),
        'protocol.type': 'line_lp',
        'timestamp.precision': 'ms',
        delivery: 'exactly-once',
      }),
    );
    await cluster.untilRuns(name, PARTITIONS);
    await cluster.settled();
    await until(() => isComplete(cluster.workers.map(({ log }) => log)), 'all tasks are in the same generation');
  });

  after(async () => {
    await cluster.discard();
    await sql.close();
  });

  const idOf = (worker: number) => new URL(cluster.worker(worker).url).host;
  const views = async (asked: number) => (await cluster.rest(asked).get<WorkerView[]>('/cluster/workers')).body;
  const viewOf = async (worker: number, asked: number) =>
    (await views(asked)).find(({ worker_id: id }) => id === idOf(worker));
  const clusterOf = async (worker: number) => (await cluster.rest(worker).get<ClusterBody>('/cluster')).body;

  it('hands its work over to the others without losing or duplicating a row, shows that it has none, and its end moves nothing', async () => {
    const leads = await Promise.all(cluster.workers.map(async (_, worker) => (await clusterOf(worker)).is_leader));
    const leader = leads.indexOf(true);
    const [drained = -1, other = -1] = [0, 1, 2].filter((worker) => worker !== leader);
    const load = new RowLoad(kafka, name, 'rows', PARTITIONS);
    const interruptions = () =>
      [leader, other].map((worker) => cluster.worker(worker).log.split('"Partitions revoked"').length - 1);
    const interrupted = interruptions();
    try {
      const lines: string[] = [];
      const options = { url: cluster.worker(other).url, worker: idOf(drained), undo: false, noWait: false };
      await drain(options, (line) => lines.push(line));
      assert.match(lines.at(-1) ?? '', /: drained, 0 connectors and 0 tasks left$/);
      assert.equal((await clusterOf(drained)).draining, true);
      const { state, connectors, tasks } = (await viewOf(drained, drained)) ?? {};
      assert.deepEqual({ state, connectors, tasks }, { state: 'drained', connectors: 0, tasks: 0 });
      const places = await cluster.untilRuns(name, PARTITIONS, [leader, other]);
      const goneOn = () =>
        cluster.workers.map(({ log }) => log.split('"Resumed the membership of the group"').length - 1);
      await until(() => goneOn().reduce((sum, each) => sum + each, 0) === 2, 'its two tasks continue in their places');
      assert.deepEqual(interruptions(), interrupted, 'no other task of the connector is interrupted');
      const moved = (await clusterOf(leader)).last_rebalance;

      assert.equal(await cluster.worker(drained).terminate(), 0);
      await until(async () => (await views(leader)).length === WORKERS - 1, 'the group knows that it is gone');
      const { assigned, revoked } = (await clusterOf(leader)).last_rebalance;
      assert.deepEqual({ assigned, revoked }, { assigned: [], revoked: [] }, JSON.stringify(moved));
      assert.deepEqual(await cluster.places(name, leader), places);

      const rows = await load.stop();
      const stored = () => sql.rows('select count(*), count(distinct id), max(id) from rows');
      await until(async () => Number((await stored())[0]?.[0]) >= rows, 'all rows are there', { timeoutMs: 30_000 });
      assert.deepEqual(await stored(), [[String(rows), String(rows), String(rows - 1)]]);
    } finally {
      await load.stop();
    }

    const begun = await cluster.rest(other).put(`/cluster/workers/${idOf(leader)}/drain`);
    assert.equal(begun.status, 202, 'the leader may be drained too');
    await until(async () => (await clusterOf(leader)).draining, 'it knows');
    const last = await cluster.rest(other).put<{ message: string }>(`/cluster/workers/${idOf(other)}/drain`, {});
    assert.equal(last.status, 409);
    assert.match(last.body.message, /cannot be drained, because no other worker takes work/);
    await until(async () => (await viewOf(leader, other))?.state === 'drained', 'the leader has no work left');

    await cluster.worker(drained).start();
    await cluster.untilRuns(name, PARTITIONS, [drained, other]);
    await until(async () => ((await viewOf(drained, other))?.tasks ?? 0) > 0, 'a worker that starts again takes work');
    const undone = await cluster.rest(other).delete<WorkerView>(`/cluster/workers/${idOf(leader)}/drain`);
    assert.deepEqual([undone.status, undone.body.state], [202, 'running']);
    await until(async () => ((await viewOf(leader, other))?.tasks ?? 0) > 0, 'it takes work again');
    assert.equal((await cluster.rest(other).put('/cluster/workers/nobody:1/drain', { drain: true })).status, 404);
    assert.equal((await cluster.rest(other).put(`/cluster/workers/${idOf(other)}/drain`, { drain: 'no' })).status, 400);
  }).timeout(60_000);
});
