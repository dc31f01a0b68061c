import type { SqlResult } from './sql-api.ts';

const NUMERIC = /^(?:INT[248]|FLOAT[48]|NUMERIC|DECIMAL|OID)/i;

export function isNumeric(type: string): boolean {
  return NUMERIC.test(type);
}

const TIMES = /^(?:TIMESTAMP|DATE)/i;

export interface ChartColumns {
  readonly time: number;
  readonly values: readonly number[];
}

/** The columns of a chart: the first column with times, and all columns with numbers; `undefined` if one of them is missing. */
export function chartColumns({ columns, rows }: Pick<SqlResult, 'columns' | 'rows'>): ChartColumns | undefined {
  const time = columns.findIndex(({ type }) => TIMES.test(type));
  const values = columns.flatMap(({ type }, index) => (isNumeric(type) ? [index] : []));
  return time < 0 || values.length === 0 || rows.length < 2 ? undefined : { time, values };
}

/** Points by time, in seconds; rows without a time are left out, and of one time the last value counts. */
export function chartPoints(
  { rows }: Pick<SqlResult, 'rows'>,
  time: number,
  value: number,
): readonly [times: number[], values: (number | null)[]] {
  const points = rows.flatMap((row): [number, number | null][] => {
    const at = Date.parse(String(row[time])) / 1000;
    const cell = row[value] ?? null;
    const number = cell === null ? null : Number(cell);
    return Number.isNaN(at) ? [] : [[at, number !== null && Number.isFinite(number) ? number : null]];
  });
  const sorted = [...new Map(points)].sort(([a], [b]) => a - b);
  return [sorted.map(([at]) => at), sorted.map(([, number]) => number)];
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
