import type { BenchContext } from './bench-context.ts';
import { CopyFiles } from './copy-files.ts';
import { median, rangeOf, rounded, type Range } from './figures.ts';
import { RowTopic } from './row-topic.ts';
import { envelope, lineOf, type TextOf } from './rows.ts';
import { rowsPerSecond } from './stretch.ts';
import { seriesTable } from './tables.ts';

type LimitFigures = Readonly<Record<string, number | Range>>;

const TABLE = 'bench_limit';

/**
 * `limit`: the upper limits of this machine. Loads the rows by psql's `\copy`, as text and binary, over 1 and 2
 * connections into the table of `sink-lines`. Reads the topics of `sink-lines` and `sink-struct-…` without processing
 * the records.
 */
export async function limit(context: BenchContext): Promise<LimitFigures> {
  const figures: Record<string, number | Range> = {};
  for (const format of ['text', 'binary'] as const) {
    for (const connections of [1, 2]) {
      Object.assign(figures, await copyLimit(context, format, connections));
    }
  }
  Object.assign(figures, await consumeLimit(context, 'lines', lineOf(TABLE)));
  Object.assign(figures, await consumeLimit(context, 'envelopes', envelope));
  return { rows_per_s: figures['copy_text_1_rows_per_s'] ?? NaN, ...figures };
}

async function copyLimit(
  { services, rows, runs }: BenchContext,
  format: 'text' | 'binary',
  connections: number,
): Promise<LimitFigures> {
  const files = await CopyFiles.write(seriesTable, rows, { format, connections });
  const rates: number[] = [];
  const cpu: number[] = [];
  try {
    for (let run = 0; run < runs; run++) {
      await services.createTable(TABLE, seriesTable);
      const before = await services.databaseCpuSeconds();
      rates.push(await files.load(services, TABLE));
      cpu.push((((await services.databaseCpuSeconds()) - before) * 1e6) / rows);
    }
    if ((await services.number(`select count(*) from ${TABLE}`)) !== rows) throw new Error('not all rows were copied');
  } finally {
    await files.discard();
    await services.dropTable(TABLE);
  }
  const name = `copy_${format}_${String(connections)}`;
  return {
    [`${name}_rows_per_s`]: Math.round(median(rates)),
    [`${name}_range`]: rangeOf(rates),
    [`${name}_cpu_s_per_million`]: rounded(median(cpu)),
  };
}

async function consumeLimit(
  { services, rows, runs }: BenchContext,
  kind: string,
  textOf: TextOf,
): Promise<LimitFigures> {
  const topic = await RowTopic.produce(services, `bench-limit-${kind}`, rows, textOf);
  const rates: number[] = [];
  const cpu: number[] = [];
  try {
    for (let run = -1; run < runs; run++) {
      const before = process.cpuUsage();
      const rate = rowsPerSecond(await topic.consume(rows));
      const { user, system } = process.cpuUsage(before);
      if (run < 0) continue;
      rates.push(rate);
      cpu.push((user + system) / rows);
    }
  } finally {
    await topic.delete();
  }
  return {
    [`consume_${kind}_rows_per_s`]: Math.round(median(rates)),
    [`consume_${kind}_range`]: rangeOf(rates),
    [`consume_${kind}_cpu_s_per_million`]: rounded(median(cpu)),
  };
}
