import type { Cell, ColumnCells, RowBatch } from '../../../src/data/row-batch.ts';
import type { DecodedRows, Precision } from './format.ts';

/**
 * Determines what happens to the nanoseconds of lines and points, which PostgreSQL's timestamps cannot store.
 * - floor: they are dropped, and points of a series within the same microsecond become one row.
 * - spread: each point gets the next free microsecond of its series in the request.
 * - column: they are stored in the column `k_nanos`, which is part of the key.
 */
export type NanosecondRule = 'floor' | 'spread' | 'column';

export const NANOSECOND_RULES = ['floor', 'spread', 'column'] as const satisfies readonly NanosecondRule[];

/** Name of the column for the nanoseconds within the microsecond, 0 to 999. */
export const NANOS_COLUMN = 'k_nanos';

const MINUS = 45;
const ZERO = 48;

/**
 * Returns the nanoseconds, 0 to 999, that `unixMicros` (unix-time.ts) drops from the integer at [start, end), which it
 * rounds down.
 */
export function nanosBeyondMicros(text: string, start: number, end: number, precision: Precision): number {
  if (precision !== 'ns') return 0;
  const isNegative = text.charCodeAt(start) === MINUS;
  let rest = 0;
  for (let at = Math.max(isNegative ? start + 1 : start, end - 3); at < end; at++) {
    rest = rest * 10 + (text.charCodeAt(at) - ZERO);
  }
  return isNegative && rest > 0 ? 1000 - rest : rest;
}

/**
 * Number of points per request whose assigned times are stored; beyond it, only the latest microsecond of each series
 * is stored.
 */
const MAX_REMEMBERED = 20_000;
/** Maximum number of series per request. Beyond it, the oldest are forgotten, and points may share a microsecond. */
const MAX_SERIES = 100_000;

/** Times assigned to a series in this request. */
interface SeriesTimes {
  latest: number;
  /** The microsecond assigned to each original time, so that a repeated point gets the same microsecond. */
  assigned: Map<string, number>;
  /** For each assigned microsecond, a later microsecond that may be free. */
  next: Map<number, number>;
  /** True if `assigned` and `next` contain all assigned times. */
  isComplete: boolean;
}

/**
 * Implements the rule `spread` for one request, or for many records, each of which is a request. Points of a series
 * with different nanoseconds in the same microsecond get separate microseconds in the order of the request, so that
 * repeating the request produces the same rows. The nanoseconds column is removed from the rows.
 */
export class NanosecondSpread {
  readonly #series = new Map<string, SeriesTimes>();
  #remembered = 0;

  /** `requestOf` identifies the request of a row; by default, all rows belong to the same one. */
  apply(decoded: DecodedRows, requestOf: (row: number) => string = () => ''): DecodedRows {
    const { batch, shape } = decoded;
    const nanos = batch.columns.find(isNanos);
    if (nanos === undefined) return decoded;
    const times = batch.columns.find(({ role }) => role === 'time')?.cells ?? [];
    const tags = seriesColumns(batch);
    for (let row = 0; row < batch.rowCount; row++) {
      const micros = times[row];
      if (typeof micros !== 'number') continue;
      const parts: Cell[] = [batch.table.name, requestOf(row)];
      for (const { cells } of tags) parts.push(cells[row] ?? null);
      times[row] = this.#assign(JSON.stringify(parts), micros, Number(nanos.cells[row] ?? 0));
    }
    this.#forgetSome();
    return {
      ...decoded,
      batch: { ...batch, columns: batch.columns.filter((column) => column !== nanos) },
      shape: shape && { ...shape, columns: shape.columns.filter((column) => !isNanos(column)) },
    };
  }

  /** Forgets the assigned times. Must be called between records that are separate requests. */
  clear(): void {
    this.#series.clear();
    this.#remembered = 0;
  }

  #assign(key: string, micros: number, nanos: number): number {
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { latest: Number.NEGATIVE_INFINITY, assigned: new Map(), next: new Map(), isComplete: true };
      this.#series.set(key, series);
    }
    const point = `${String(micros)} ${String(nanos)}`;
    const known = series.assigned.get(point);
    if (known !== undefined) return known;
    const micro = micros > series.latest ? micros : series.isComplete ? free(series.next, micros) : series.latest + 1;
    series.latest = Math.max(series.latest, micro);
    series.assigned.set(point, micro);
    series.next.set(micro, micro + 1);
    this.#remembered++;
    return micro;
  }

  /** Limits the memory for a long request. */
  #forgetSome(): void {
    if (this.#remembered > MAX_REMEMBERED) {
      for (const series of this.#series.values()) {
        series.assigned = new Map();
        series.next = new Map();
        series.isComplete = false;
      }
      this.#remembered = 0;
    }
    for (const key of this.#series.keys()) {
      if (this.#series.size <= MAX_SERIES) return;
      this.#series.delete(key);
    }
  }
}

/** Returns the first free microsecond at or after `from`, and shortens the path for later lookups. */
function free(next: Map<number, number>, from: number): number {
  let found = from;
  for (let after = next.get(found); after !== undefined; after = next.get(found)) found = after;
  for (let at = from; at !== found;) {
    const after = next.get(at) ?? found;
    next.set(at, found);
    at = after;
  }
  return found;
}

/** Returns the columns that identify a series. A primary tag that all rows have represents all tags. */
function seriesColumns({ columns }: RowBatch): readonly ColumnCells[] {
  const tags = columns.filter(({ role }) => role === 'tag' || role === 'primary-tag');
  const primary = tags.find(({ role, cells }) => role === 'primary-tag' && !cells.includes(null));
  return primary === undefined ? tags : [primary];
}

function isNanos({ role }: { readonly role: ColumnCells['role'] }): boolean {
  return role === 'nanos';
}
