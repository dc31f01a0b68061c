import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { drain as drainWorker } from '../../src/cli/messages/drain.ts';
import type { Consumer, Producer } from '../../src/kafka/api.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { sinkConfig, sourceConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { broker, database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerCluster } from '../support/worker-cluster.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';

const SINKS = 45;
/** Number of tasks of each sink, and of partitions of its topic. */
const TASKS_OF_A_SINK = 4;
/** Number of source connectors, with one task and one table each. */
const SOURCES = 20;
const TASKS = SINKS * TASKS_OF_A_SINK + SOURCES;
const EVERY_MS = 1000;
const QUIET_MS = 10_000;
const AFTER_MS = 4000;
const LONGEST_GAP_MS = 2000;
const ALL = { timeoutMs: 300_000 };

/** Reduces the number of requests without data, so that the load leaves CPU time for the measured work. */
const CALM = { 'consumer.override.fetch.max.wait.ms': '1000', 'consumer.override.heartbeat.interval.ms': '5000' };

/**
 * Performs a rolling upgrade of three workers with 200 tasks under load: 180 of sinks (half of them exactly once) and
 * 20 of sources. Each worker is drained, stopped and started again. Prints the time of each record from its producer to
 * its table or topic, the gaps of the tasks, and the load of the machine, before, during and after the upgrade. The
 * tables have no key, so duplicate rows are visible. A gap is the time between two deliveries of a task, without delays
 * of the sender. While a worker is drained and stopped, it must not exceed two seconds. If it is already longer before
 * the upgrade, the machine is too small for a result.
 */
export const drain: Repeat = {
  unit: 'rounds',
  defaultCount: 1,
  async run({ count = 1, print }: RepeatOptions): Promise<boolean> {
    const [cluster, db] = await Promise.all([
      WorkerCluster.start(3, { 'task.threads': '1', 'offset.flush.interval.ms': '5000' }),
      database('drain'),
    ]);
    const sql = new SqlClient(db);
    let load: TimedLoad | undefined;
    try {
      const sinks = Array.from({ length: SINKS }, () => uniqueName('drained-sink'));
      const prefix = uniqueName('drained');
      await create(cluster, db, sql, sinks, prefix);
      const topics = Array.from({ length: SOURCES }, (_, n) => `${prefix}-${db.database}-source_${String(n)}-json_db`);
      load = await TimedLoad.start(sql, sinks, topics);
      const { deliveries } = load;
      await until(async () => (await deliveries.tasksSince(Date.now() - 2500)) >= TASKS, 'all tasks deliver', ALL);
      const report = async (what: string, from: number): Promise<number> => deliveries.report(what, from, print);
      let longestBefore = 0;
      let longest = 0;
      let longestAtStart = 0;
      for (let round = 0; round < count; round++) {
        for (const [number, worker] of cluster.workers.entries()) {
          const other = cluster.worker(number + 1).url;
          const id = new URL(worker.url).host;
          await delay(QUIET_MS);
          longestBefore = Math.max(longestBefore, await report('before', Date.now() - QUIET_MS));

          const from = Date.now();
          await drainWorker({ url: other, worker: id, undo: false, noWait: false }, () => undefined);
          print(`drained ${id} in ${String(Date.now() - from)} ms`);
          await delay(AFTER_MS);
          longest = Math.max(longest, await report('drain', from));
          const ended = Date.now();
          await worker.terminate();
          await delay(AFTER_MS);
          longest = Math.max(longest, await report('stop', ended));
          const started = Date.now();
          await worker.start();
          const share = Math.floor(TASKS / cluster.workers.length);
          await until(async () => (await tasksOf(cluster, number)) >= share, 'the new worker has its share', ALL);
          print(`back with its share in ${String(Date.now() - started)} ms`);
          await delay(AFTER_MS);
          longestAtStart = Math.max(longestAtStart, await report('start', started));
        }
      }
      await delay(QUIET_MS);
      await report('after', Date.now() - QUIET_MS);
      for (const what of ['before', 'drain', 'stop', 'start', 'after']) deliveries.sumUp(what, print);
      const { lost, doubled, doubledOnce, sent } = await load.end();
      const ofThem = `${String(doubledOnce)} of them of sinks with delivery=exactly-once`;
      print(`${String(sent)} records, ${String(lost)} lost, ${String(doubled)} doubled, ${ofThem}`);
      const [before, left, came] = [longestBefore, longest, longestAtStart].map((ms) => `${ms.toFixed(0)} ms`);
      print(
        `the longest gap: ${String(before)} before, ${String(left)} while a worker left, ${String(came)} while one came`,
      );
      const isSlow = longest > LONGEST_GAP_MS && longestBefore <= LONGEST_GAP_MS;
      return lost === 0 && doubledOnce === 0 && !isSlow;
    } finally {
      await load?.close();
      await cluster.discard();
      await sql.close();
    }
  },
};

async function create(
  cluster: WorkerCluster,
  db: TestDatabase,
  sql: SqlClient,
  sinks: readonly string[],
  prefix: string,
): Promise<void> {
  const kafka = await KafkaTraffic.shared();
  await sql.run(
    'create table rows (k_timestamp timestamptz(3) not null, id int8, category varchar(64) not null, at timestamptz default clock_timestamp())',
  );
  await sql.run("comment on column rows.category is 'sluice:primary-tag'");
  const rest = cluster.rest(0);
  for (const [number, name] of sinks.entries()) {
    await kafka.createTopic(name, TASKS_OF_A_SINK);
    const delivery = isExactlyOnce(number) ? { delivery: 'exactly-once' } : {};
    const shape = { 'protocol.type': 'line_lp', 'timestamp.precision': 'ms', ...delivery, ...CALM };
    await rest.create(name, sinkConfig(db, { topics: name, 'tasks.max': String(TASKS_OF_A_SINK), ...shape }));
  }
  for (let number = 0; number < SOURCES; number++) {
    const table = `source_${String(number)}`;
    await sql.run(`create table ${table} (ts timestamptz(3) not null, id int8 primary key)`);
    await sql.run(`create index on ${table} (ts)`);
    const shape = { 'topic.prefix': prefix, 'table.include': table };
    await rest.create(`${prefix}-${String(number)}`, sourceConfig(db, shape));
  }
  for (const name of sinks) await cluster.untilRuns(name, TASKS_OF_A_SINK, [0, 1, 2], ALL);
  for (let number = 0; number < SOURCES; number++)
    await cluster.untilRuns(`${prefix}-${String(number)}`, 1, [0, 1, 2], ALL);
  await until(() => isQuiet(cluster), 'no rebalance is in progress', ALL);
}

function isExactlyOnce(sink: number): boolean {
  return sink % 2 === 0;
}

async function isQuiet(cluster: WorkerCluster): Promise<boolean> {
  const views = await Promise.all(cluster.workers.map(({ rest }) => rest.get<{ rebalancing: boolean }>('/cluster')));
  return views.every(({ body }) => !body.rebalancing);
}

async function tasksOf(cluster: WorkerCluster, worker: number): Promise<number> {
  return (await cluster.rest(worker).get<{ tasks: string[] }>('/cluster')).body.tasks.length;
}

interface Delivery {
  readonly task: string;
  readonly id: number;
  readonly sentAt: number;
  readonly at: number;
}

/** The deliveries so far: rows of sinks in the table, and records of sources that a consumer has read. */
class Deliveries {
  readonly #sql: SqlClient;
  readonly #records: Delivery[] = [];
  readonly #stretches = new Map<string, readonly Stretch[]>();
  #cpu = cpuTicks();

  constructor(sql: SqlClient) {
    this.#sql = sql;
  }

  add(delivery: Delivery): void {
    this.#records.push(delivery);
  }

  /** Returns deliveries in the order of arrival. */
  async since(from: number): Promise<readonly Delivery[]> {
    const rows = await this.#sql.rows(
      'select category, id, extract(epoch from k_timestamp) * 1000, extract(epoch from at) * 1000 from rows where k_timestamp >= $1',
      [new Date(from).toISOString()],
    );
    const ofSinks = rows.map(([task, ...numbers]) => {
      const [id = 0, sentAt = 0, at = 0] = numbers.map(Number);
      return { task: String(task), id, sentAt, at };
    });
    return [...ofSinks, ...this.#records.filter(({ sentAt }) => sentAt >= from)].sort((a, b) => a.at - b.at);
  }

  async tasksSince(from: number): Promise<number> {
    return new Set((await this.since(from)).map(({ task }) => task)).size;
  }

  /**
   * Prints figures of the messages sent since `from`, with the CPU use since the last report. Resolves with the longest
   * gap of a task.
   */
  async report(what: string, from: number, print: (line: string) => void): Promise<number> {
    const [busy, all] = cpuTicks();
    const cpu = (100 * (busy - this.#cpu[0])) / (all - this.#cpu[1]);
    // The first gap begins with the last record before the period.
    const deliveries = await this.since(from - 2 * EVERY_MS);
    const gaps = new Map<string, number>();
    const lastAt = new Map<string, number>();
    for (const { task, at, sentAt } of deliveries) {
      const previous = lastAt.get(task);
      lastAt.set(task, at);
      if (previous === undefined || at < from) continue;
      const gap = at - Math.max(previous, sentAt - EVERY_MS);
      gaps.set(task, Math.max(gaps.get(task) ?? 0, gap));
    }
    const latencies = deliveries.filter(({ sentAt }) => sentAt >= from).map(({ at, sentAt }) => at - sentAt);
    const stretch = { latencies: sorted(latencies), gaps: sorted(gaps.values()), cpu };
    this.#stretches.set(what, [...(this.#stretches.get(what) ?? []), stretch]);
    print(`${what}: ${stretchText(stretch)}`);
    this.#cpu = cpuTicks();
    return stretch.gaps.at(-1) ?? 0;
  }

  /** Prints the figures of all reports with this name together. */
  sumUp(what: string, print: (line: string) => void): void {
    const all = this.#stretches.get(what) ?? [];
    const cpu = all.reduce((sum, each) => sum + each.cpu, 0) / all.length;
    const latencies = sorted(all.flatMap((each) => each.latencies));
    print(`in sum, ${what}: ${stretchText({ latencies, gaps: sorted(all.flatMap(({ gaps }) => gaps)), cpu })}`);
  }
}

/** Both lists are in ascending order. */
interface Stretch {
  readonly latencies: readonly number[];
  readonly gaps: readonly number[];
  readonly cpu: number;
}

function stretchText({ latencies, gaps, cpu }: Stretch): string {
  const above = gaps.filter((gap) => gap > LONGEST_GAP_MS).length;
  return `${String(latencies.length)} records, latency ${quantiles(latencies)} ms; longest gap of each of ${String(gaps.length)} tasks ${quantiles(gaps)} ms, ${String(above)} above 2 s; CPU ${cpu.toFixed(0)} %`;
}

function sorted(values: Iterable<number>): number[] {
  return [...values].sort((a, b) => a - b);
}

function quantiles(values: readonly number[]): string {
  const at = (share: number) =>
    (values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0).toFixed(0);
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, p99.9 ${at(0.999)}, max ${at(1)}`;
}

/** Returns the busy and the total CPU ticks of the whole machine; zeros if the system does not report them. */
function cpuTicks(): readonly [number, number] {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
    const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
    const all = ticks.reduce((sum, each) => sum + each, 0);
    return [all - (ticks[3] ?? 0) - (ticks[4] ?? 0), all];
  } catch {
    return [0, 0];
  }
}

/** Repeatedly sends a record with its send time to each task: to partitions for sinks, and to tables for sources. */
class TimedLoad {
  readonly deliveries: Deliveries;
  readonly #sql: SqlClient;
  readonly #sinks: readonly string[];
  readonly #producer: Producer;
  readonly #consumer: Consumer;
  readonly #running: Promise<unknown>;
  #records = 0;
  #rows = 0;
  readonly #arrived = new Map<number, number>();
  #isEnding = false;
  #isClosed = false;

  private constructor(sql: SqlClient, sinks: readonly string[], producer: Producer, consumer: Consumer) {
    this.#sql = sql;
    this.#sinks = sinks;
    this.#producer = producer;
    this.#consumer = consumer;
    this.deliveries = new Deliveries(sql);
    this.#running = Promise.all([this.#send(), this.#receive()]);
  }

  static async start(sql: SqlClient, sinks: readonly string[], topics: readonly string[]): Promise<TimedLoad> {
    const client = createKafkaClient({ 'bootstrap.servers': (await broker()).bootstrapServers }, silentLogger);
    const kafka = await KafkaTraffic.shared();
    for (const topic of topics) await kafka.createTopic(topic, 1);
    const producer = client.producer();
    await producer.connect();
    const consumer = client.consumer({ 'auto.offset.reset': 'earliest' });
    consumer.assign(topics.map((topic) => ({ topic, partition: 0 })));
    return new TimedLoad(sql, sinks, producer, consumer);
  }

  async end(): Promise<{ sent: number; lost: number; doubled: number; doubledOnce: number }> {
    this.#isEnding = true;
    const stored = () => this.#sql.number('select count(distinct id) from rows');
    await until(
      async () => (await stored()) >= this.#records && this.#arrived.size >= this.#rows,
      'all has arrived',
      ALL,
    ).catch(() => undefined);
    const distinct = await stored();
    const all = await this.#sql.number('select count(*) from rows');
    const once = this.#sinks.filter((_, number) => isExactlyOnce(number));
    const topics = `select '^(' || string_agg(name, '|') || ')-' from unnest(string_to_array($1, ' ')) name`;
    const [row = []] = await this.#sql.rows(
      `select count(*) - count(distinct id) from rows where category ~ (${topics})`,
      [once.join(' ')],
    );
    const received = [...this.#arrived.values()].reduce((sum, each) => sum + each, 0);
    await this.close();
    return {
      sent: this.#records + this.#rows,
      lost: this.#records - distinct + this.#rows - this.#arrived.size,
      doubledOnce: Number(row[0]),
      doubled: all - distinct + received - this.#arrived.size,
    };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isEnding = true;
    this.#isClosed = true;
    await this.#running;
    await Promise.all([this.#producer.close(), this.#consumer.close(1000)]);
  }

  /** Sends to one tenth of the tasks at a time, so that the load is even. */
  async #send(): Promise<void> {
    const places = this.#sinks.flatMap((topic) =>
      Array.from({ length: TASKS_OF_A_SINK }, (_, partition) => ({ topic, partition })),
    );
    const sendSlice = async (slice: number): Promise<void> => {
      const records = places
        .filter((_, index) => index % 10 === slice)
        .map(({ topic, partition }) => {
          const value = `rows,category=${topic}-${String(partition)} id=${String(this.#records++)}i ${String(Date.now())}`;
          return { topic, partition, key: null, value: Buffer.from(value), timestamp: null, headers: [] };
        });
      const tables = Array.from({ length: SOURCES }, (_, index) => index).filter((index) => index % 10 === slice);
      const inserts = tables.map(
        (table) => `insert into source_${String(table)} values (clock_timestamp(), ${String(this.#rows++)})`,
      );
      await Promise.all([this.#producer.send(records), this.#sql.run(...inserts)]);
    };
    for (let slice = 0; !this.#isEnding; slice = (slice + 1) % 10) {
      const next = Date.now() + EVERY_MS / 10;
      await sendSlice(slice);
      await delay(Math.max(0, next - Date.now()));
    }
  }

  async #receive(): Promise<void> {
    while (!this.#isClosed) {
      for (const { topic, value } of await this.#consumer.poll(100)) {
        const at = Date.now();
        const { data } = JSON.parse(value?.toString() ?? '') as {
          data: readonly { id: number; ts: number | string }[];
        };
        for (const { id, ts } of data) {
          this.#arrived.set(id, (this.#arrived.get(id) ?? 0) + 1);
          this.deliveries.add({ task: topic, id, sentAt: new Date(ts).getTime(), at });
        }
      }
    }
  }
}
