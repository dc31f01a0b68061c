import type { BenchContext, Workload } from './bench-context.ts';
import { median, rangeOf, rounded } from './figures.ts';
import { measure, type Run } from './measured-run.ts';
import { RowTopic } from './row-topic.ts';
import { sinkOnce } from './sink-run.ts';
import type { SinkWorkload } from './sink-workload.ts';
import { BATCHES, SINKS } from './sinks.ts';

/**
 * `defaults-struct-upsert` and similar: the sink processes the same backlog with its default settings, and with
 * `batch.size` and `consumer.override.max.poll.records` of 10,000, in turn. Each ratio compares two runs of the same
 * round.
 */
export const defaultsStructUpsert = besideLargeBatches(SINKS.structUpsert);
export const defaultsStructInsert = besideLargeBatches(SINKS.structInsert);
export const defaultsJson = besideLargeBatches(SINKS.json);
export const defaultsLines = besideLargeBatches(SINKS.lines);

function besideLargeBatches(sink: SinkWorkload): Workload {
  return (context) => compareSizes(context, sink);
}

async function compareSizes(context: BenchContext, sink: SinkWorkload): Promise<object> {
  const { services } = context;
  const { table, layout, options } = sink;
  const workers = [await context.startWorker(), await context.startWorker()] as const;
  const topic = await RowTopic.produce(services, table.replaceAll('_', '-'), context.rows, sink.textOf);
  const run = async (worker: (typeof workers)[number], batches: Readonly<Record<string, string>>): Promise<Run> => {
    await services.createTable(table, layout);
    const job = { table, options: { ...batches, ...options } };
    return measure(context, worker, () => sinkOnce(context, worker, topic.name, job));
  };
  const defaults: Run[] = [];
  const large: Run[] = [];
  try {
    for (let round = -1; round < context.runs; round++) {
      const [first, second] = [await run(workers[0], {}), await run(workers[1], BATCHES)];
      if (round < 0) continue;
      defaults.push(first);
      large.push(second);
    }
    const rates = [defaults, large].map((runs) => runs.map(({ rowsPerS }) => rowsPerS)) as [number[], number[]];
    const ratios = rates[0].map((rate, round) => rounded(rate / (rates[1][round] ?? NaN)));
    return {
      rows_per_s: Math.round(median(rates[0])),
      rows_per_s_range: rangeOf(rates[0]),
      rows_per_s_at_10000: Math.round(median(rates[1])),
      ratio: median(ratios),
      ratio_range: [Math.min(...ratios), Math.max(...ratios)],
      cpu_s_per_million: rounded(median(defaults.map(({ cpu }) => cpu))),
      cpu_s_per_million_at_10000: rounded(median(large.map(({ cpu }) => cpu))),
      database_cpu_s_per_million: rounded(median(defaults.map(({ databaseCpu }) => databaseCpu))),
      database_cpu_s_per_million_at_10000: rounded(median(large.map(({ databaseCpu }) => databaseCpu))),
      peak_rss_mb: await workers[0].peakRssMb(),
      peak_rss_mb_at_10000: await workers[1].peakRssMb(),
    };
  } finally {
    for (const worker of workers) await worker.stop();
    await topic.delete();
    await services.dropTable(table);
  }
}
