import { setTimeout as delay } from 'node:timers/promises';
import { sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database, uniqueName } from '../support/services.ts';
import { assertEachOnce, createTable, line, SHORT_SESSION } from '../support/sink-kills.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerCluster } from '../support/worker-cluster.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';

const DEFAULT_SECONDS = 60;
const PARTITIONS = 6;
const ROWS = 20;
const EVERY_MS = 20;

/**
 * Suspends each of three workers in turn under load and resumes it later. Meanwhile another worker takes over its task,
 * which delivers exactly once into a table without a key. The resumed task must not write anything.
 */
export const clusterSuspended: Repeat = {
  unit: 'seconds',
  defaultCount: DEFAULT_SECONDS,
  async run({ count = DEFAULT_SECONDS, print }: RepeatOptions): Promise<boolean> {
    const properties = { 'scheduled.rebalance.max.delay.ms': '0' };
    const [cluster, db, kafka] = await Promise.all([
      WorkerCluster.start(3, properties),
      database('suspended'),
      KafkaTraffic.shared(),
    ]);
    const sql = new SqlClient(db);
    const load = new LineLoad(kafka, uniqueName('suspended'));
    try {
      await createTable(sql, 'rows', false);
      await kafka.createTopic(load.topic, PARTITIONS);
      const delivery = { 'protocol.type': 'line_lp', 'timestamp.precision': 'ms', delivery: 'exactly-once' };
      const shape = { topics: load.topic, 'tasks.max': '3', ...delivery, ...SHORT_SESSION };
      await cluster.rest(0).create(load.topic, sinkConfig(db, shape));
      await cluster.untilRuns(load.topic, 3);
      const loading = load.run();
      for (const sleeper of cluster.workers.keys()) await suspend(cluster, sleeper, count, { load, sql, print });
      load.stop();
      await loading;
      await arrived(sql, load.count);
      await assertEachOnce(sql, 'rows', load.count);
      print(`${String(load.count)} rows, each once`);
    } finally {
      load.stop();
      await cluster.discard();
      await sql.close();
    }
    return true;
  },
};

interface Scene {
  readonly load: LineLoad;
  readonly sql: SqlClient;
  readonly print: (line: string) => void;
}

async function suspend(cluster: WorkerCluster, sleeper: number, seconds: number, scene: Scene): Promise<void> {
  const { load, sql, print } = scene;
  await cluster.settled();
  await cluster.untilRuns(load.topic, 3);
  await arrived(sql, load.count);
  const pid = cluster.worker(sleeper).pid ?? 0;
  const rest = [...cluster.workers.keys()].filter((index) => index !== sleeper);
  process.kill(pid, 'SIGSTOP');
  const stoppedAt = Date.now();
  try {
    await cluster.untilRuns(load.topic, 3, rest, { timeoutMs: 30_000 });
    const runsMs = Date.now() - stoppedAt;
    await delay(Math.max(0, stoppedAt + seconds * 1000 - Date.now()));
    await arrived(sql, load.count);
    process.kill(pid, 'SIGCONT');
    const wokenAt = Date.now();
    await until(() => backIn(cluster, sleeper), 'it is in the group again', { timeoutMs: 30_000 });
    print(
      `worker ${String(sleeper)} suspended for ${String(seconds)} s: its task ran elsewhere after ${String(runsMs)} ms; back in the group ${String(Date.now() - wokenAt)} ms after it woke up`,
    );
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

async function backIn(cluster: WorkerCluster, sleeper: number): Promise<boolean> {
  const views = await Promise.all(
    cluster.workers.map(({ rest }) => rest.get<{ generation: number; rebalancing: boolean }>('/cluster')),
  );
  const generation = views[sleeper]?.body.generation;
  return views.every(({ body }) => !body.rebalancing && body.generation === generation);
}

async function arrived(sql: SqlClient, rows: number): Promise<void> {
  await until(async () => (await sql.number('select count(*) from rows')) >= rows, `${String(rows)} rows`, {
    timeoutMs: 60_000,
  });
}

/** Produces lines with ids from 0 on, until it is stopped. */
class LineLoad {
  readonly topic: string;
  readonly #kafka: KafkaTraffic;
  #count = 0;
  #stopped = false;

  constructor(kafka: KafkaTraffic, topic: string) {
    this.#kafka = kafka;
    this.topic = topic;
  }

  get count(): number {
    return this.#count;
  }

  async run(): Promise<void> {
    while (!this.#stopped) {
      const lines = Array.from({ length: ROWS }, (_, i) => line('rows', this.#count + i, PARTITIONS));
      await this.#kafka.produce(this.topic, lines);
      this.#count += ROWS;
      await delay(EVERY_MS);
    }
  }

  stop(): void {
    this.#stopped = true;
  }
}
