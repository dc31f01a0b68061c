import type { BenchContext, Workload } from './bench-context.ts';
import { benchPlugins, discardOnce } from './discard-sink.ts';
import { median, rangeOf, rounded, type Range } from './figures.ts';
import { measure, type Run } from './measured-run.ts';
import { RowTopic } from './row-topic.ts';
import { envelope } from './rows.ts';
import { sinkOnce } from './sink-run.ts';
import { BATCHES, ENVELOPES, structOptions } from './sinks.ts';
import type { Stretch } from './stretch.ts';
import type { WorkerUnderTest } from './worker-under-test.ts';

const TABLE = 'bench_transforms';
const LAYOUT = {
  columns: 'id int8 primary key, category text, reading float4, ts timestamptz(3), origin text',
  comments: {},
};

const TRANSFORMS = {
  transforms: 'cast,insert,mask,replace',
  ...transform('cast', 'Cast', { spec: 'value:float32' }),
  ...transform('insert', 'InsertField', { 'static.field': 'origin', 'static.value': 'bench' }),
  ...transform('mask', 'MaskField', { fields: 'category' }),
  ...transform('replace', 'ReplaceField', { renames: 'value:reading' }),
};

interface TransformFigures {
  readonly rows_per_s_1_task: number;
  readonly rows_per_s_1_task_range: Range;
  readonly rows_per_s_2_tasks: number;
  readonly rows_per_s_2_tasks_range: Range;
  /** The median of the runs' own ratios. */
  readonly ratio_2_tasks_to_1: number;
  readonly ratio_range: Range;
  readonly cpu_s_per_million_1_task: number;
  readonly cpu_s_per_million_2_tasks: number;
  readonly peak_rss_mb: number;
}

/** `transforms-discard`: envelopes through four transforms into a sink that stores nothing, with one task and with two. */
export const transformsDiscard: Workload = (context) => {
  const options = { ...ENVELOPES, ...TRANSFORMS };
  return compareTasks(context, (worker, topic, tasks) =>
    discardOnce(context, worker, topic, { ...BATCHES, ...options, ...tasks }),
  );
};

/** `transforms-upsert`: the same into a table with primary key `id`. */
export const transformsUpsert: Workload = async (context) => {
  const { services } = context;
  const options = { ...BATCHES, ...structOptions(TABLE, 'upsert'), ...TRANSFORMS };
  try {
    return await compareTasks(context, async (worker, topic, tasks) => {
      await services.createTable(TABLE, LAYOUT);
      return sinkOnce(context, worker, topic, { table: TABLE, options: { ...options, ...tasks } });
    });
  } finally {
    await services.dropTable(TABLE);
  }
};

function transform(name: string, type: string, options: Readonly<Record<string, string>>): Record<string, string> {
  const all = { type: `org.apache.kafka.connect.transforms.${type}$Value`, ...options };
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [`transforms.${name}.${key}`, value]));
}

type MoveAll = (worker: WorkerUnderTest, topic: string, tasks: Readonly<Record<string, string>>) => Promise<Stretch>;

/** One task and two in turn, in every run. */
async function compareTasks(context: BenchContext, moveAll: MoveAll): Promise<TransformFigures> {
  const { services, rows } = context;
  const worker = await context.startWorker(benchPlugins);
  const topic = await RowTopic.produce(services, 'bench-transforms', rows, envelope);
  const run = (tasks: string): Promise<Run> =>
    measure(context, worker, () => moveAll(worker, topic.name, { 'tasks.max': tasks }));
  const ones: Run[] = [];
  const twos: Run[] = [];
  try {
    for (let round = -1; round < context.runs; round++) {
      const [one, two] = [await run('1'), await run('2')];
      if (round < 0) {
        context.stretches.length = 0;
        continue;
      }
      ones.push(one);
      twos.push(two);
    }
    const rates = [ones, twos].map((runs) => runs.map(({ rowsPerS }) => rowsPerS)) as [number[], number[]];
    const ratios = rates[1].map((rate, round) => rounded(rate / (rates[0][round] ?? NaN)));
    return {
      rows_per_s_1_task: Math.round(median(rates[0])),
      rows_per_s_1_task_range: rangeOf(rates[0]),
      rows_per_s_2_tasks: Math.round(median(rates[1])),
      rows_per_s_2_tasks_range: rangeOf(rates[1]),
      ratio_2_tasks_to_1: median(ratios),
      ratio_range: [Math.min(...ratios), Math.max(...ratios)],
      cpu_s_per_million_1_task: rounded(median(ones.map(({ cpu }) => cpu))),
      cpu_s_per_million_2_tasks: rounded(median(twos.map(({ cpu }) => cpu))),
      peak_rss_mb: await worker.peakRssMb(),
    };
  } finally {
    await worker.stop();
    await topic.delete();
  }
}
