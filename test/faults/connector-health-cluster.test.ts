import assert from 'node:assert/strict';
import { sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database, uniqueName } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerCluster } from '../support/worker-cluster.ts';

interface Health {
  readonly verdict: string;
  readonly sentence: string;
  readonly silentWorkers: readonly string[];
  readonly tasks: readonly { readonly worker: string; readonly lag: number | null }[];
}

interface Summary {
  readonly status: string;
  readonly connectors: Readonly<Record<string, number>>;
  readonly attention: readonly { readonly name: string; readonly verdict: string; readonly sentence: string }[];
  readonly silentWorkers: readonly string[];
}

/** Longer than a worker waits for the others, with room for a busy machine. */
const BOUND_MS = 15_000;

describe('the health of connectors on several workers', function () {
  let cluster: WorkerCluster;
  let kafka: KafkaTraffic;
  let sql: SqlClient;
  let name: string;

  before(async () => {
    const [workers, traffic, db] = await Promise.all([
      WorkerCluster.start(2, { 'offset.flush.interval.ms': '200', 'session.timeout.ms': '60000' }),
      KafkaTraffic.shared(),
      database('health-cluster'),
    ]);
    [cluster, kafka, sql] = [workers, traffic, new SqlClient(db)];
    name = uniqueName('health');
    await sql.run(`create table "${name}" (ts timestamptz not null, v int)`);
    await kafka.createTopic(name, 2);
    await cluster
      .rest(0)
      .create(
        name,
        sinkConfig(db, { topics: name, 'tasks.max': '2', 'protocol.type': 'line_lp', 'stall.after.ms': '2000' }),
      );
    await until(async () => {
      const places = await cluster.places(name);
      return places?.length === 3 && places[1] !== places[2];
    }, 'a task on each worker');
  });

  after(async () => {
    await Promise.all([cluster.discard(), sql.close()]);
  });

  const summary = async (worker: number, query = '') => cluster.rest(worker).get<Summary>(`/health?connectors${query}`);

  it('combines the figures of all workers, whichever one answers', async () => {
    await kafka.produce(
      name,
      [0, 1].map((partition) => ({ value: `${name} v=1i`, partition })),
    );
    for (const asked of [0, 1]) {
      const { verdict, tasks } = await until(
        async () => {
          const { body } = await cluster.rest(asked).get<Health>(`/connectors/${name}/health`);
          return body.tasks.every(({ lag }) => lag === 0) && body;
        },
        `worker ${String(asked)} knows the lag of both tasks`,
      );
      assert.equal(verdict, 'RUNNING');
      assert.equal(new Set(tasks.map(({ worker }) => worker)).size, 2);
      const { status, body } = await summary(asked, '&fail=failed,stalled');
      assert.deepEqual([status, body.status, body.connectors['RUNNING'], body.attention], [200, 'healthy', 1, []]);
    }
  });

  it('counts with local=true the connectors with tasks on this worker', async () => {
    for (const asked of [0, 1]) {
      const { body } = await summary(asked, '&local=true');
      assert.deepEqual([body.connectors['RUNNING'], body.silentWorkers], [1, []]);
    }
  });

  it('names a worker that does not answer, in time, and calls its connectors STALLED later', async () => {
    const silent = cluster.worker(1);
    const { pid } = silent;
    assert.ok(pid !== undefined);
    const id = new URL(silent.url).host;
    process.kill(pid, 'SIGSTOP');
    try {
      const first = await fetch(`${cluster.worker(0).url}/health?connectors`, {
        signal: AbortSignal.timeout(BOUND_MS),
      });
      assert.deepEqual(((await first.json()) as Summary).silentWorkers, [id]);
      const { body } = await until(async () => {
        const answer = await summary(0, '&fail=STALLED');
        return answer.status === 503 && answer;
      }, 'the connector of a worker that is silent for long is STALLED');
      assert.equal(body.status, 'unhealthy');
      assert.match(
        body.attention[0]?.sentence ?? '',
        new RegExp(`^Task \\d: its worker ${id} has not answered for \\d+ s`),
      );
      const health = await cluster.rest(0).get<Health>(`/connectors/${name}/health`);
      assert.deepEqual(health.body.silentWorkers, [id]);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await until(async () => (await summary(0, '&fail=STALLED')).status === 200, 'the worker answers again');
  });

  it('names the leader too, when that does not answer', async () => {
    const leader = cluster.worker(0);
    assert.ok((await leader.rest.get<{ is_leader: boolean }>('/cluster')).body.is_leader);
    const { pid } = leader;
    assert.ok(pid !== undefined);
    process.kill(pid, 'SIGSTOP');
    try {
      const { body } = await summary(1);
      assert.deepEqual(body.silentWorkers, [new URL(leader.url).host]);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await until(async () => (await summary(1)).body.silentWorkers.length === 0, 'the leader answers again');
  });
});
