import { setTimeout as delay } from 'node:timers/promises';
import type { BenchContext } from './bench-context.ts';
import { median, rangeOf, type Range } from './figures.ts';
import { emptyTopic, idleSink, withConnectors } from './idle-connectors.ts';
import { measureRuns } from './measured-run.ts';
import { RowTopic } from './row-topic.ts';
import { envelope } from './rows.ts';
import { sinkOnce } from './sink-run.ts';
import { BATCHES, structOptions } from './sinks.ts';
import { keyedTable } from './tables.ts';

const TABLE = 'bench_memory';

interface MemoryFigures extends NewWorkerFigures, BusyWorkerFigures {}

interface NewWorkerFigures {
  /** Milliseconds from the start of the process to the first 200 of `/health`. */
  readonly ready_ms: number;
  readonly ready_ms_range: Range;
  readonly idle_rss_mb: number;
  readonly rss_mb_with_50_connectors: number;
}

interface BusyWorkerFigures {
  /** Median and maximum with two tasks at full speed. */
  readonly busy_rss_mb: number;
  readonly busy_peak_rss_mb: number;
  readonly after_work_rss_mb: number;
}

/**
 * `memory`: the resident memory of a new worker, with 50 idle connectors, with two busy tasks, and some time after
 * their work.
 */
export async function memory(context: BenchContext): Promise<MemoryFigures> {
  return { ...(await newWorker(context)), ...(await busyWorker(context)) };
}

async function newWorker(context: BenchContext): Promise<NewWorkerFigures> {
  const { services, seconds, runs } = context;
  const readyMs: number[] = [];
  for (let run = 1; run < runs; run++) {
    const worker = await context.startWorker();
    readyMs.push(worker.startMs);
    await worker.stop();
  }
  const worker = await context.startWorker();
  readyMs.push(worker.startMs);
  const topic = await emptyTopic(services);
  const rssInAWhile = async (): Promise<number> => {
    await delay(seconds * 1000);
    return worker.rssMb();
  };
  try {
    return {
      ready_ms: Math.round(median(readyMs)),
      ready_ms_range: rangeOf(readyMs),
      idle_rss_mb: await rssInAWhile(),
      rss_mb_with_50_connectors: await withConnectors(worker.rest, idleSink(services, topic.name), rssInAWhile),
    };
  } finally {
    await worker.stop();
    await topic.delete();
  }
}

async function busyWorker(context: BenchContext): Promise<BusyWorkerFigures> {
  const { services, rows, seconds } = context;
  const worker = await context.startWorker();
  const topic = await RowTopic.produce(services, 'bench-memory', rows, envelope);
  const options = { ...BATCHES, ...structOptions(TABLE, 'upsert') };
  try {
    const runs = await measureRuns(
      context,
      worker,
      () => services.createTable(TABLE, keyedTable),
      () => sinkOnce(context, worker, topic.name, { table: TABLE, options }),
    );
    const peak = await worker.peakRssMb();
    await delay(seconds * 1000);
    return {
      busy_rss_mb: median(runs.flatMap(({ rssMb }) => rssMb)),
      busy_peak_rss_mb: peak,
      after_work_rss_mb: await worker.rssMb(),
    };
  } finally {
    await worker.stop();
    await topic.delete();
    await services.dropTable(TABLE);
  }
}
