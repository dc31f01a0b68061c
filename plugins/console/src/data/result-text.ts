import type { SqlResult } from './sql-api.ts';

const NUMERIC = /^(?:INT[248]|FLOAT[48]|NUMERIC|DECIMAL|OID)/i;

export function isNumeric(type: string): boolean {
  return NUMERIC.test(type);
}

const TIMES = /^(?:TIMESTAMP|DATE)/i;

export interface ChartColumns {
  readonly time: number;
  readonly values: readonly number[];
  /** Columns with texts, whose values may be lines of their own. */
  readonly labels: readonly number[];
}

const TEXTS = /^(?:TEXT|VARCHAR|CHAR|BPCHAR|NAME|UUID|BOOL)/i;

/** The columns of a chart: the first column with times, and all columns with numbers; `undefined` if one of them is missing. */
export function chartColumns({ columns, rows }: Pick<SqlResult, 'columns' | 'rows'>): ChartColumns | undefined {
  const time = columns.findIndex(({ type }) => TIMES.test(type));
  const matching = (kind: RegExp) => columns.flatMap(({ type }, index) => (kind.test(type) ? [index] : []));
  const values = matching(NUMERIC);
  return time < 0 || values.length === 0 || rows.length < 2 ? undefined : { time, values, labels: matching(TEXTS) };
}

/** A line of a chart, with a value for each of the times. */
interface Series {
  readonly label: string;
  readonly values: readonly (number | null | undefined)[];
}

export interface ChartData {
  /** Seconds, with the fractions that the database has; a time occurs once for each row of a line that has it. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** Lines that are not drawn. */
  readonly more: number;
}

const MAX_SERIES = 12;

/**
 * Points by time. Each row is a point, also where several have the same time; only rows without a time are left out. `label`: the
 * column whose texts are lines of their own.
 */
export function chartData(
  { rows }: Pick<SqlResult, 'rows'>,
  { time, value, label }: { readonly time: number; readonly value: number; readonly label: number | undefined },
): ChartData {
  const points = rows
    .flatMap((row) => {
      const at = secondsOf(String(row[time]));
      const cell = row[value] ?? null;
      const number = cell === null ? null : Number(cell);
      const name = label === undefined ? '' : String(row[label] ?? 'NULL');
      return at === undefined ? [] : [{ at, name, number: number !== null && Number.isFinite(number) ? number : null }];
    })
    .sort((a, b) => a.at - b.at);
  const names = [...new Set(points.map(({ name }) => name))];
  const shown = names.slice(0, MAX_SERIES);
  const drawn = points.filter(({ name }) => shown.includes(name));
  // Another line has no value at this point, which is not a gap: undefined, where null would be one.
  const series = shown.map((name) => ({
    label: name,
    values: drawn.map((point) => (point.name === name ? point.number : undefined)),
  }));
  return { times: drawn.map(({ at }) => at), series, more: names.length - shown.length };
}

/** A time as the database writes it, with microseconds, which Date does not keep. */
function secondsOf(text: string): number | undefined {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return undefined;
  const [, micros = ''] = /\.\d{3}(\d{1,6})/.exec(text) ?? [];
  return ms / 1000 + (micros === '' ? 0 : Number(`0.000${micros}`));
}

/** Line and column of a character, from 1. PostgreSQL counts characters, but editors count UTF-16 code units. */
export function placeOf(
  text: string,
  position: number,
): { readonly line: number; readonly column: number; readonly index: number } {
  const before = [...text].slice(0, position - 1).join('');
  const lines = before.split('\n');
  return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1, index: before.length };
}
