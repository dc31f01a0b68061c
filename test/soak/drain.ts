import { setTimeout as delay } from 'node:timers/promises';
import { drain as drainWorker } from '../../src/console/drain.ts';
import { createKafkaClient } from '../../src/kafka/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { broker, database, uniqueName } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerCluster } from '../support/worker-cluster.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';

const DEFAULT_TASKS = 200;
/** Each sink has a topic with as many partitions as tasks. */
const TASKS_OF_A_SINK = 4;
const EVERY_MS = 1000;
const QUIET_MS = 10_000;
const START_MS = 300_000;

/**
 * Of three workers with small exactly-once sinks under load one is drained: how long each row takes from its producer into its
 * table, and for how long each task stores nothing. The table has no key, so rows that come twice are seen.
 */
export const drain: Repeat = {
  unit: 'tasks',
  defaultCount: DEFAULT_TASKS,
  async run({ count = DEFAULT_TASKS, print }: RepeatOptions): Promise<boolean> {
    const properties = { 'task.threads': '1', 'offset.flush.interval.ms': '1000' };
    const [cluster, db, kafka] = await Promise.all([
      WorkerCluster.start(3, properties),
      database('drain'),
      KafkaTraffic.shared(),
    ]);
    const sql = new SqlClient(db);
    const names = Array.from({ length: Math.ceil(count / TASKS_OF_A_SINK) }, () => uniqueName('drain'));
    let load: TimedLoad | undefined;
    try {
      await sql.run(
        'create table rows (k_timestamp timestamptz(3) not null, id int8, category varchar(64) not null, at timestamptz default clock_timestamp())',
      );
      await sql.run("comment on column rows.category is 'sluice:primary-tag'");
      for (const name of names) {
        await kafka.createTopic(name, TASKS_OF_A_SINK);
        const shape = { 'protocol.type': 'line_lp', 'timestamp.precision': 'ms', delivery: 'exactly-once' };
        await cluster
          .rest(0)
          .create(name, sinkConfig(db, { topics: name, 'tasks.max': String(TASKS_OF_A_SINK), ...shape }));
      }
      const all = { timeoutMs: START_MS };
      for (const name of names) await cluster.untilRuns(name, TASKS_OF_A_SINK, [0, 1, 2], all);
      await until(() => isQuiet(cluster), 'no rebalance goes on', all);
      load = await TimedLoad.start(names);
      await until(() => isFlowing(sql, count), 'rows of all tasks flow', all);
      await delay(QUIET_MS);
      await report('before', sql, new Date(Date.now() - QUIET_MS / 2), new Date(), print);

      const worker = new URL(cluster.worker(1).url).host;
      const from = new Date();
      await drainWorker({ url: cluster.worker(0).url, worker, undo: false, noWait: false }, print);
      print(`drained in ${String(Date.now() - from.getTime())} ms`);
      for (const name of names) await cluster.untilRuns(name, TASKS_OF_A_SINK, [0, 2], all);
      await delay(QUIET_MS / 2);
      await report('drain', sql, from, new Date(), print);

      const ended = new Date();
      await cluster.worker(1).terminate();
      await delay(QUIET_MS / 2);
      await report('stop of the drained worker', sql, ended, new Date(), print);
      const started = new Date();
      await cluster.worker(1).start();
      await until(async () => (await tasksOf(cluster, 1)) > 0, 'the new worker takes work', all);
      await delay(QUIET_MS);
      await report('start of the new worker', sql, started, new Date(), print);

      const rows = await load.stop();
      await until(async () => (await sql.number('select count(*) from rows')) >= rows, `${String(rows)} rows`, all);
      const [found = []] = await sql.rows('select count(*), count(distinct id) from rows');
      print(`${String(rows)} rows produced, ${String(found[0])} stored, ${String(found[1])} different ones`);
      return found[0] === String(rows) && found[1] === String(rows);
    } finally {
      await load?.stop();
      await cluster.discard();
      await sql.close();
    }
  },
};

async function isQuiet(cluster: WorkerCluster): Promise<boolean> {
  const views = await Promise.all(cluster.workers.map(({ rest }) => rest.get<{ rebalancing: boolean }>('/cluster')));
  return views.every(({ body }) => !body.rebalancing);
}

/** A row of each task within the last two seconds. */
async function isFlowing(sql: SqlClient, tasks: number): Promise<boolean> {
  const fresh = "select count(distinct category) from rows where k_timestamp > now() - interval '2 seconds'";
  return (await sql.number(fresh)) >= tasks;
}

async function tasksOf(cluster: WorkerCluster, worker: number): Promise<number> {
  return (await cluster.rest(worker).get<{ tasks: string[] }>('/cluster')).body.tasks.length;
}

/** Of rows that were produced in a stretch of time; the gaps are those in which a partition, one for each task, had no row stored. */
async function report(
  what: string,
  sql: SqlClient,
  from: Date,
  to: Date,
  print: (line: string) => void,
): Promise<void> {
  const [latency = []] = await sql.rows(
    `select count(*), round(percentile_disc(0.5) within group (order by ms)), round(percentile_disc(0.99) within group (order by ms)), round(max(ms))
    from (select extract(epoch from at - k_timestamp) * 1000 as ms from rows where k_timestamp between $1 and $2) rows`,
    [from.toISOString(), to.toISOString()],
  );
  const [gaps = []] = await sql.rows(
    `select count(*), round(percentile_disc(0.5) within group (order by ms)), round(percentile_disc(0.99) within group (order by ms)), round(max(ms)), count(*) filter (where ms > 2000)
    from (select category, max(gap) as ms from (select category, k_timestamp, extract(epoch from at - lag(at) over (partition by category order by at)) * 1000 as gap from rows) rows
      where k_timestamp between $1 and $2 group by category) tasks`,
    [from.toISOString(), to.toISOString()],
  );
  print(
    `${what}: ${String(latency[0])} rows, latency p50 ${String(latency[1])}, p99 ${String(latency[2])}, max ${String(latency[3])} ms; longest gap of each of ${String(gaps[0])} tasks: p50 ${String(gaps[1])}, p99 ${String(gaps[2])}, max ${String(gaps[3])} ms, ${String(gaps[4])} above 2 s`,
  );
}

/** A row into each partition of each topic, again and again, with the time at which it was produced. */
class TimedLoad {
  readonly #running: Promise<void>;
  #count = 0;
  #stopped = false;

  private constructor(topics: readonly string[], producer: Awaited<ReturnType<typeof openProducer>>) {
    this.#running = (async () => {
      while (!this.#stopped) {
        const until = Date.now() + EVERY_MS;
        const records = topics.flatMap((topic) =>
          Array.from({ length: TASKS_OF_A_SINK }, (_, partition) => {
            const value = `rows,category=${topic}-${String(partition)} id=${String(this.#count++)}i ${String(Date.now())}`;
            return { topic, partition, key: null, value: Buffer.from(value), timestamp: null, headers: [] };
          }),
        );
        await producer.send(records);
        await delay(Math.max(0, until - Date.now()));
      }
      await producer.close();
    })();
  }

  static async start(topics: readonly string[]): Promise<TimedLoad> {
    return new TimedLoad(topics, await openProducer());
  }

  /** Resolves with the number of rows. */
  async stop(): Promise<number> {
    this.#stopped = true;
    await this.#running;
    return this.#count;
  }
}

async function openProducer() {
  const producer = createKafkaClient(
    { 'bootstrap.servers': (await broker()).bootstrapServers },
    silentLogger,
  ).producer();
  await producer.connect();
  return producer;
}
