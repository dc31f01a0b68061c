import type { SqlResult } from './sql-api.ts';

const NUMERIC = /^(?:INT[248]|FLOAT[48]|NUMERIC|DECIMAL|OID)/i;

export function isNumeric(type: string): boolean {
  return NUMERIC.test(type);
}

const TIMES = /^(?:TIMESTAMP|DATE)/i;

export interface ChartColumns {
  readonly time: number;
  readonly values: readonly number[];
  /** Text columns; each value of such a column can become a separate line of the chart. */
  readonly labels: readonly number[];
}

const TEXTS = /^(?:TEXT|VARCHAR|CHAR|BPCHAR|NAME|UUID|BOOL)/i;

/**
 * Chooses the columns of a chart: the first time column, all numeric columns, and all text columns as labels. Returns `undefined` if there
 * is no time column, no numeric column, or fewer than two rows.
 */
export function chartColumns({ columns, rows }: Pick<SqlResult, 'columns' | 'rows'>): ChartColumns | undefined {
  const time = columns.findIndex(({ type }) => TIMES.test(type));
  const matching = (kind: RegExp) => columns.flatMap(({ type }, index) => (kind.test(type) ? [index] : []));
  const values = matching(NUMERIC);
  return time < 0 || values.length === 0 || rows.length < 2 ? undefined : { time, values, labels: matching(TEXTS) };
}

/** A line of a chart. It has one value for each element of `ChartData.times`; `undefined` where the row belongs to another line. */
interface Series {
  readonly label: string;
  readonly values: readonly (number | null | undefined)[];
}

export interface ChartData {
  /** Seconds since the epoch with fractions, one for each row that is drawn. If several rows have the same time, the time is repeated. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** Number of lines that are not drawn. */
  readonly more: number;
}

const MAX_SERIES = 12;

/**
 * Makes one point of each row, sorted by time. Rows with the same time stay separate points; rows without a time are left out. `label`:
 * the column whose values become separate lines.
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
  // Points of other lines are `undefined`, because `null` would interrupt this line with a gap.
  const series = shown.map((name) => ({
    label: name,
    values: drawn.map((point) => (point.name === name ? point.number : undefined)),
  }));
  return { times: drawn.map(({ at }) => at), series, more: names.length - shown.length };
}

/** Parses a time of the database into seconds. `Date` drops microseconds, so they are added afterwards. */
function secondsOf(text: string): number | undefined {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return undefined;
  const [, micros = ''] = /\.\d{3}(\d{1,6})/.exec(text) ?? [];
  return ms / 1000 + (micros === '' ? 0 : Number(`0.000${micros}`));
}

/** Converts PostgreSQL's position, which counts characters from 1, to a line and column from 1 and an index in UTF-16 code units. */
export function placeOf(
  text: string,
  position: number,
): { readonly line: number; readonly column: number; readonly index: number } {
  const before = [...text].slice(0, position - 1).join('');
  const lines = before.split('\n');
  return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1, index: before.length };
}
