import type { Cell, ColumnCells, RowBatch } from '../../../src/data/row-batch.ts';
import type { DecodedRows, Precision } from './format.ts';

/**
 * What becomes of the nanoseconds of lines and points, which a time of PostgreSQL does not hold. floor: they are dropped, and points
 * within one microsecond are one row; spread: a point takes the next microsecond that its series has free in the same request;
 * column: they are kept in the column `k_nanos`, which belongs to the key.
 */
export type NanosecondRule = 'floor' | 'spread' | 'column';

export const NANOSECOND_RULES = ['floor', 'spread', 'column'] as const satisfies readonly NanosecondRule[];

/** Name of the column that holds the nanoseconds beyond the time's microseconds, 0 to 999. */
export const NANOS_COLUMN = 'k_nanos';

const MINUS = 45;
const ZERO = 48;

/** The nanoseconds that `unixMicros` floors away of the integer at [start, end), 0 to 999. */
export function nanosBeyondMicros(text: string, start: number, end: number, precision: Precision): number {
  if (precision !== 'ns') return 0;
  const isNegative = text.charCodeAt(start) === MINUS;
  let rest = 0;
  for (let at = Math.max(isNegative ? start + 1 : start, end - 3); at < end; at++) {
    rest = rest * 10 + (text.charCodeAt(at) - ZERO);
  }
  return isNegative && rest > 0 ? 1000 - rest : rest;
}

/** Points of a request whose places are remembered one by one; beyond it a series only knows its latest microsecond. */
const MAX_REMEMBERED = 20_000;
/** Series of a request; beyond it those met first are forgotten, and points may share a microsecond with earlier ones. */
const MAX_SERIES = 100_000;

/** The times that a series has taken in this request. */
interface SeriesTimes {
  latest: number;
  /** Microseconds by time and nanoseconds as they came: a point that comes again is the same point. */
  places: Map<string, number>;
  /** By taken microsecond: one that may be free, behind it. */
  next: Map<number, number>;
  /** `places` and `next` know all that was taken. */
  isWhole: boolean;
}

/**
 * The rule `spread`, for the rows of one request, or of many records that are requests of their own. Points of one series with
 * different nanoseconds in one microsecond get microseconds of their own, in the order of the request, so that sending it again
 * gives the same rows. Takes the column of nanoseconds out of the rows.
 */
export class NanosecondSpread {
  readonly #series = new Map<string, SeriesTimes>();
  #remembered = 0;

  /** `requestOf`: what tells the requests of rows apart; absent: they are all of the same. */
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
      times[row] = this.#place(JSON.stringify(parts), micros, Number(nanos.cells[row] ?? 0));
    }
    this.#forgetSome();
    return {
      ...decoded,
      batch: { ...batch, columns: batch.columns.filter((column) => column !== nanos) },
      shape: shape && { ...shape, columns: shape.columns.filter((column) => !isNanos(column)) },
    };
  }

  /** To be called between records that are requests of their own. */
  clear(): void {
    this.#series.clear();
    this.#remembered = 0;
  }

  #place(key: string, micros: number, nanos: number): number {
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { latest: Number.NEGATIVE_INFINITY, places: new Map(), next: new Map(), isWhole: true };
      this.#series.set(key, series);
    }
    const point = `${String(micros)} ${String(nanos)}`;
    const known = series.places.get(point);
    if (known !== undefined) return known;
    const place = micros > series.latest ? micros : series.isWhole ? free(series.next, micros) : series.latest + 1;
    series.latest = Math.max(series.latest, place);
    series.places.set(point, place);
    series.next.set(place, place + 1);
    this.#remembered++;
    return place;
  }

  /** Bounds what is remembered of a long request. */
  #forgetSome(): void {
    if (this.#remembered > MAX_REMEMBERED) {
      for (const series of this.#series.values()) {
        series.places = new Map();
        series.next = new Map();
        series.isWhole = false;
      }
      this.#remembered = 0;
    }
    for (const key of this.#series.keys()) {
      if (this.#series.size <= MAX_SERIES) return;
      this.#series.delete(key);
    }
  }
}

/** The first free microsecond from `from` on; shortens the way for the next who ask. */
function free(next: Map<number, number>, from: number): number {
  let found = from;
  for (let behind = next.get(found); behind !== undefined; behind = next.get(found)) found = behind;
  for (let at = from; at !== found;) {
    const behind = next.get(at) ?? found;
    next.set(at, found);
    at = behind;
  }
  return found;
}

/** A derived primary tag stands for all tags. */
function seriesColumns({ columns }: RowBatch): readonly ColumnCells[] {
  const tags = columns.filter(({ role }) => role === 'tag' || role === 'primary-tag');
  const primary = tags.find(({ role, cells }) => role === 'primary-tag' && !cells.includes(null));
  return primary === undefined ? tags : [primary];
}

function isNanos({ role }: { readonly role: ColumnCells['role'] }): boolean {
  return role === 'nanos';
}
