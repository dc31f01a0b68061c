import { setTimeout as delay } from 'node:timers/promises';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import type { ProducedRecord } from '../../src/kafka/api.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { sinkConfig } from '../support/connectors.ts';
import type { ConnectRest, ConnectorStatus } from '../support/rest.ts';
import { until } from '../support/until.ts';
import type { BenchContext } from './bench-context.ts';
import { benchPlugins, discardConfig } from './discard-sink.ts';
import { rounded } from './figures.ts';
import { RowTopic } from './row-topic.ts';
import { envelope } from './rows.ts';
import { ENVELOPES } from './sinks.ts';
import { SteadyLoad } from './steady-load.ts';
import { commitsOf, firstCommitsOf, type Arrival } from './stretch.ts';

/** One topic and table for each of the three working sinks. The sink that hangs has another topic. */
const TABLES = ['bench_hangs_1', 'bench_hangs_2', 'bench_hangs_3'];
/** The table has no key, so rows that a task repeats after its thread has ended are stored twice. */
const LAYOUT = { columns: 'id int8, category text, value float8, ts timestamptz(3)', comments: {} };
const PER_SECOND = 2000;
const HANG_TIMEOUT_MS = 2000;
const WARM_UP_MS = 5_000;
const ASK_EVERY_MS = 50;

type Figure = number | 'never';

/**
 * `one-hangs`: four connectors with one task each read topics that get equal rows at a constant rate. Then one task
 * enters an endless loop. The commit times of the database show the effect on the other three.
 */
export async function oneHangs(context: BenchContext): Promise<Readonly<Record<string, Figure>>> {
  const { services, seconds, overrides } = context;
  const worker = await context.startWorker({
    ...benchPlugins,
    'task.hang.timeout.ms': String(HANG_TIMEOUT_MS),
  });
  const { rest } = worker;
  const producer = createKafkaClient({ 'bootstrap.servers': services.bootstrapServers }, silentLogger).producer();
  await producer.connect();
  const topics = await newTopics(context);
  const [hanging, ...others] = topics as [RowTopic, ...RowTopic[]];
  try {
    await rest.create(hanging.name, discardConfig(hanging.name, { 'tasks.max': '1', 'hang.at.key': 'hang' }));
    for (const [index, { name }] of others.entries()) {
      const table = TABLES[index] ?? '';
      await services.createTable(table, LAYOUT);
      const struct = { ...ENVELOPES, 'protocol.type': 'struct', 'table.name.format': table };
      const options = { topics: name, 'tasks.max': '1', ...struct, ...overrides };
      await rest.create(name, sinkConfig({ ...services.database, url: '' }, options));
    }
    for (const { name } of topics) await rest.untilState(name, 'RUNNING', 1);
    const load = new SteadyLoad(producer, (id) => recordOf(id, topics), PER_SECOND * topics.length);
    await delay(WARM_UP_MS + seconds * 1000);
    const hangsMs = performance.now();
    await producer.send([{ ...recordOf(0, [hanging]), key: Buffer.from('hang') }]);
    const asking = endOf(rest, hanging.name, seconds);
    await delay(seconds * 1000);
    await load.stop();
    const endedMs = await asking;
    const commits: Commits[] = [];
    let twice = 0;
    for (const table of TABLES) {
      commits.push({ first: await firstCommitsOf(services, table), all: await commitsOf(services, table) });
      twice += await services.number(`select count(*) - count(distinct id) from ${table}`);
    }
    return { ...figuresOf(commits, hangsMs, endedMs, seconds * 1000), rows_of_others_stored_twice: twice };
  } finally {
    await worker.stop();
    await producer.close();
    for (const topic of topics) await topic.delete();
    for (const table of TABLES) await services.dropTable(table);
  }
}

async function newTopics({ services }: BenchContext): Promise<readonly RowTopic[]> {
  const topics: RowTopic[] = [];
  while (topics.length <= TABLES.length) {
    topics.push(await RowTopic.produce(services, `bench-hangs-${String(topics.length)}`, 0, envelope));
  }
  return topics;
}

/** Returns the records in this order: row 0 for every topic, then row 1, and so on. */
function recordOf(id: number, topics: readonly RowTopic[]): ProducedRecord {
  const topic = topics[id % topics.length];
  if (topic === undefined) throw new Error('no topic');
  return topic.record(Math.floor(id / topics.length), envelope);
}

/**
 * Returns the time at which the worker reports that the task no longer runs; `undefined` if it does not do so in time.
 */
async function endOf(rest: ConnectRest, name: string, seconds: number): Promise<number | undefined> {
  const hasEnded = async (): Promise<boolean> => {
    const signal = AbortSignal.timeout(1000);
    const status = (await (await fetch(`${rest.url}/connectors/${name}/status`, { signal })).json()) as ConnectorStatus;
    return status.tasks[0]?.state !== 'RUNNING';
  };
  return until(hasEnded, `${name} is ended`, { timeoutMs: seconds * 1000, everyMs: ASK_EVERY_MS }).then(
    () => performance.now(),
    () => undefined,
  );
}

/**
 * Commits of one table. `first` contains only rows that were not stored before, `all` also rows that were stored twice.
 */
interface Commits {
  readonly first: readonly Arrival[];
  readonly all: readonly Arrival[];
}

function figuresOf(
  commits: readonly Commits[],
  hangsMs: number,
  endedMs: number | undefined,
  spanMs: number,
): Record<string, Figure> {
  const figures: Record<string, Figure> = {};
  const changes: number[] = [];
  for (const [index, { first }] of commits.entries()) {
    const before = rateIn(first, hangsMs - spanMs, hangsMs);
    const after = rateIn(first, hangsMs, hangsMs + spanMs);
    changes.push(rounded((after / before - 1) * 100));
    const name = `other_${String(index + 1)}`;
    figures[`${name}_rows_per_s_before`] = Math.round(before);
    figures[`${name}_rows_per_s_after`] = Math.round(after);
    figures[`${name}_longest_pause_ms`] = Math.round(longestPause(first, hangsMs, hangsMs + spanMs));
  }
  return {
    worst_change_percent: Math.min(...changes),
    hang_to_end_of_task_ms: endedMs === undefined ? 'never' : Math.round(endedMs - hangsMs),
    others_move_rows_after_end_ms: againAfter(
      endedMs,
      commits.map(({ all }) => all),
    ),
    others_move_new_rows_after_end_ms: againAfter(
      endedMs,
      commits.map(({ first }) => first),
    ),
    ...figures,
  };
}

/** Returns the time from the end of the task until all other connectors store rows again. */
function againAfter(endedMs: number | undefined, tables: readonly (readonly Arrival[])[]): Figure {
  if (endedMs === undefined) return 'never';
  const times = tables.map((arrivals) => arrivals.find(({ atMs }) => atMs >= endedMs)?.atMs ?? Infinity);
  const lastMs = Math.max(...times);
  return lastMs === Infinity ? 'never' : Math.round(lastMs - endedMs);
}

function rateIn(arrivals: readonly Arrival[], fromMs: number, toMs: number): number {
  const rows = arrivals.reduce((sum, { rows, atMs }) => (atMs >= fromMs && atMs < toMs ? sum + rows : sum), 0);
  return (rows * 1000) / (toMs - fromMs);
}

/** Returns the longest time without a commit. */
function longestPause(arrivals: readonly Arrival[], fromMs: number, toMs: number): number {
  const times = arrivals.map(({ atMs }) => atMs).filter((atMs) => atMs > fromMs && atMs < toMs);
  const marks = [fromMs, ...times, toMs];
  return Math.max(...marks.slice(1).map((mark, index) => mark - (marks[index] ?? mark)));
}
