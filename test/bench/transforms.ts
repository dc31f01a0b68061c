import type { BenchContext, Workload } from './bench-context.ts';
import { benchPlugins, discardOnce } from './discard-sink.ts';
import { median, rangeOf, rounded, type Range } from './figures.ts';
import { measure, type Run } from './measured-run.ts';
import { RowTopic } from './row-topic.ts';
import { envelope } from './rows.ts';
import { sinkOnce } from './sink-run.ts';
import { BATCHES, ENVELOPES, structOptions } from './sinks.ts';
import type { Stretch } from './stretch.ts';
import { keyedTable, type TableLayout } from './tables.ts';
import type { WorkerUnderTest } from './worker-under-test.ts';

const TABLE = 'bench_transforms';

type Options = Readonly<Record<string, string>>;

/** Transforms of fields, and the table for the resulting rows. */
const FIELDS = {
  transforms: {
    transforms: 'cast,insert,mask,replace',
    ...transform('cast', 'Cast$Value', { spec: 'value:float32' }),
    ...transform('insert', 'InsertField$Value', { 'static.field': 'origin', 'static.value': 'bench' }),
    ...transform('mask', 'MaskField$Value', { fields: 'category' }),
    ...transform('replace', 'ReplaceField$Value', { renames: 'value:reading' }),
  },
  layout: {
    columns: 'id int8 primary key, category text, reading float4, ts timestamptz(3), origin text',
    comments: {},
  },
};

/** Transforms of the topic, the key and a time. The table has the key that they produce. */
const ROUTING = {
  transforms: {
    transforms: 'route,key,id,time',
    ...transform('route', 'RegexRouter', { regex: '.*', replacement: TABLE }),
    ...transform('key', 'ValueToKey', { fields: 'id' }),
    ...transform('id', 'ExtractField$Key', { field: 'id' }),
    ...transform('time', 'TimestampConverter$Value', {
      field: 'ts',
      'target.type': 'string',
      format: "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'",
    }),
    'table.name.format': '${topic}',
    'pk.mode': 'record_key',
  },
  layout: { columns: 'id int8 primary key, category text, value float8, ts text', comments: {} },
};

interface TransformFigures {
  readonly rows_per_s_1_task: number;
  readonly rows_per_s_1_task_range: Range;
  readonly rows_per_s_2_tasks: number;
  readonly rows_per_s_2_tasks_range: Range;
  /** The median of the ratios of the runs, like all ratios. */
  readonly ratio_2_tasks_to_1: number;
  readonly ratio_range: Range;
  readonly cpu_s_per_million_1_task: number;
  readonly cpu_s_per_million_2_tasks: number;
  readonly peak_rss_mb: number;
}

/** Figures of runs with the same transforms. */
type Figures = Readonly<Record<string, number | Range>>;

/**
 * `transforms-discard`: envelopes through four transforms into a sink that stores nothing, with one task and with two
 * tasks.
 */
export const transformsDiscard: Workload = (context) =>
  withTopic(context, async (worker, topic) => {
    const discard = (tasks: string) => () =>
      discardOnce(context, worker, topic, {
        ...BATCHES,
        ...ENVELOPES,
        ...FIELDS.transforms,
        'tasks.max': tasks,
      });
    const [ones, twos] = await inTurn(context, worker, [discard('1'), discard('2')]);
    return compareTasks(worker, ones ?? [], twos ?? []);
  });

/** `transforms-upsert`: the same into a table with primary key `id`, compared with other transforms and with none. */
export const transformsUpsert: Workload = async (context) => {
  const { services } = context;
  try {
    return await withTopic(context, async (worker, topic) => {
      const upsert =
        (tasks: string, transforms: Options, layout: Pick<TableLayout, 'columns' | 'comments'>) => async () => {
          await services.createTable(TABLE, layout);
          const options = { ...BATCHES, ...structOptions(TABLE, 'upsert'), ...transforms, 'tasks.max': tasks };
          return sinkOnce(context, worker, topic, { table: TABLE, options });
        };
      const [ones = [], twos = [], without = [], routing = []] = await inTurn(context, worker, [
        upsert('1', FIELDS.transforms, FIELDS.layout),
        upsert('2', FIELDS.transforms, FIELDS.layout),
        upsert('2', {}, keyedTable),
        upsert('2', ROUTING.transforms, ROUTING.layout),
      ]);
      return {
        ...(await compareTasks(worker, ones, twos)),
        ...costOf(without, 'without'),
        ...costOf(routing, 'routing'),
        ...partOf(twos, without, 'fields'),
        ...partOf(routing, without, 'routing'),
      };
    });
  } finally {
    await services.dropTable(TABLE);
  }
};

function transform(name: string, type: string, options: Options): Record<string, string> {
  const all = { type: `org.apache.kafka.connect.transforms.${type}`, ...options };
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [`transforms.${name}.${key}`, value]));
}

/** Calls `run` with a topic and a worker, which are removed at the end. */
async function withTopic<T>(
  context: BenchContext,
  run: (worker: WorkerUnderTest, topic: string) => Promise<T>,
): Promise<T> {
  const worker = await context.startWorker(benchPlugins);
  const topic = await RowTopic.produce(context.services, 'bench-transforms', context.rows, envelope);
  try {
    return await run(worker, topic.name);
  } finally {
    await worker.stop();
    await topic.delete();
  }
}

/** Runs all variants in turn, once to warm up and then the given number of times. */
async function inTurn(
  context: BenchContext,
  worker: WorkerUnderTest,
  variants: readonly (() => Promise<Stretch>)[],
): Promise<readonly Run[][]> {
  const runs = variants.map((): Run[] => []);
  for (let round = -1; round < context.runs; round++) {
    for (const [index, variant] of variants.entries()) {
      const run = await measure(context, worker, variant);
      if (round >= 0) runs[index]?.push(run);
    }
    if (round < 0) context.stretches.length = 0;
  }
  return runs;
}

async function compareTasks(
  worker: WorkerUnderTest,
  ones: readonly Run[],
  twos: readonly Run[],
): Promise<TransformFigures> {
  const rates = [ones, twos].map((runs) => runs.map(({ rowsPerS }) => rowsPerS)) as [number[], number[]];
  const ratios = ratiosOf(twos, ones);
  return {
    rows_per_s_1_task: Math.round(median(rates[0])),
    rows_per_s_1_task_range: rangeOf(rates[0]),
    rows_per_s_2_tasks: Math.round(median(rates[1])),
    rows_per_s_2_tasks_range: rangeOf(rates[1]),
    ratio_2_tasks_to_1: median(ratios),
    ratio_range: [Math.min(...ratios), Math.max(...ratios)],
    cpu_s_per_million_1_task: cpuOf(ones),
    cpu_s_per_million_2_tasks: cpuOf(twos),
    peak_rss_mb: await worker.peakRssMb(),
  };
}

/** Returns the rate divided by the rate without transforms in the same round. */
function partOf(runs: readonly Run[], without: readonly Run[], name: string): Figures {
  const ratios = ratiosOf(runs, without);
  return {
    [`${name}_part_of_without`]: median(ratios),
    [`${name}_part_range`]: [Math.min(...ratios), Math.max(...ratios)],
  };
}

function costOf(runs: readonly Run[], name: string): Figures {
  return {
    [`${name}_rows_per_s`]: Math.round(median(runs.map(({ rowsPerS }) => rowsPerS))),
    [`${name}_cpu_s_per_million`]: cpuOf(runs),
  };
}

function cpuOf(runs: readonly Run[]): number {
  return rounded(median(runs.map(({ cpu }) => cpu)));
}

function ratiosOf(runs: readonly Run[], others: readonly Run[]): readonly number[] {
  return runs.map(({ rowsPerS }, round) => rounded(rowsPerS / (others[round]?.rowsPerS ?? NaN)));
}
