import type { Cell } from '../../../src/data/row-batch.ts';
import { roundMicros } from '../sql/cell-text.ts';

/** A column of a key: its cells, and the unit to which the table's column rounds times (1: no rounding). */
export interface KeyPart {
  readonly cells: readonly Cell[];
  readonly unit: number;
}

/** Row keys numbered from 0. */
export interface NumberedKeys {
  /** The number of each row's key, by position in the list of rows. */
  readonly ids: Int32Array;
  readonly count: number;
}

/** The rows of a batch for one statement. Their keys are unique, unless all rows are inserted or rows are merged. */
export interface RowSelection {
  /** Indexes of the rows, in batch order. */
  readonly rows: Int32Array;
  /**
   * For each row, the row with the same key that it replaces, or -1. If the replacing row is refused, the replaced row
   * is written instead.
   */
  readonly fallbackRows: Int32Array | undefined;
}

/**
 * Selects one row per key, the last or the first of the batch, because the server rejects a statement that affects a
 * row twice (21000). Keys that only the database considers equal (collations, `char` padding) are not detected.
 */
export function selectRows(candidates: Int32Array, key: readonly KeyPart[], prefer: 'last' | 'first'): RowSelection {
  const numbered = numberKeys(candidates, key);
  if (numbered === undefined) return { rows: candidates, fallbackRows: undefined };
  const { ids, count } = numbered;
  const chosen = new Int32Array(count).fill(-1);
  const fallbackRows = new Int32Array((candidates.at(-1) ?? -1) + 1).fill(-1);
  const isReplaced = new Uint8Array(fallbackRows.length);
  const last = candidates.length - 1;
  for (let visit = 0; visit <= last; visit++) {
    // The row visited last is selected, so `first` starts from the end.
    const position = prefer === 'last' ? visit : last - visit;
    const row = candidates[position] ?? 0;
    const id = ids[position] ?? 0;
    const earlier = chosen[id] ?? -1;
    chosen[id] = row;
    if (earlier < 0) continue;
    fallbackRows[row] = earlier;
    isReplaced[earlier] = 1;
  }
  return { rows: candidates.filter((row) => isReplaced[row] === 0), fallbackRows };
}

/** All row indexes of a batch except the excluded ones. */
export function remainingRows(rowCount: number, excluded: ReadonlySet<number>): Int32Array {
  const rows = new Int32Array(rowCount - excluded.size);
  let count = 0;
  for (let row = 0; row < rowCount; row++) {
    if (excluded.size === 0 || !excluded.has(row)) rows[count++] = row;
  }
  return rows;
}

/** Splits the rows into two parts in order; `undefined` for a single row. */
export function halvesOf(rows: Int32Array): readonly Int32Array[] | undefined {
  const middle = rows.length >>> 1;
  return middle === 0 ? undefined : [rows.subarray(0, middle), rows.subarray(middle)];
}

/**
 * Numbers the distinct keys of the rows from 0. Returns `undefined` if no key occurs twice. Times and ids mostly
 * increase within a batch, so checking one part of the key is usually sufficient. Numbering the parts one after another
 * takes half as long as joining them to a string.
 */
export function numberKeys(rows: Int32Array, key: readonly KeyPart[]): NumberedKeys | undefined {
  if (rows.length < 2 || key.length === 0 || key.some((part) => isStrictlyIncreasing(part, rows))) return undefined;
  let ids: Int32Array = new Int32Array(rows.length);
  let count = 1;
  for (const part of key) {
    const partIds = numberValues(rows.length, (position) => partValue(part, rows[position] ?? 0));
    if (partIds.count === rows.length) return undefined;
    if (count === 1) {
      ({ ids, count } = partIds);
      continue;
    }
    const before = ids;
    ({ ids, count } = numberValues(
      rows.length,
      (position) => (before[position] ?? 0) * rows.length + (partIds.ids[position] ?? 0),
    ));
  }
  return count === rows.length ? undefined : { ids, count };
}

function numberValues(length: number, valueAt: (position: number) => KeyValue): { ids: Int32Array; count: number } {
  const ids = new Int32Array(length);
  const known = new Map<KeyValue, number>();
  for (let position = 0; position < length; position++) {
    const value = valueAt(position);
    let id = known.get(value);
    if (id === undefined) known.set(value, (id = known.size));
    ids[position] = id;
  }
  return { ids, count: known.size };
}

function isStrictlyIncreasing({ cells, unit }: KeyPart, rows: Int32Array): boolean {
  let previous = Number.NEGATIVE_INFINITY;
  for (const row of rows) {
    const cell = cells[row];
    if (typeof cell !== 'number' || !(cell - previous >= 1)) return false;
    if (unit > 1 && !(roundMicros(cell, unit) > roundMicros(previous, unit))) return false;
    previous = cell;
  }
  return true;
}

type KeyValue = string | number | boolean | null;

/**
 * Returns equal values for cells that the database considers equal, as far as this is known without asking the server.
 */
function partValue({ cells, unit }: KeyPart, row: number): KeyValue {
  const cell = cells[row] ?? null;
  if (typeof cell === 'number') return unit > 1 ? Number(roundMicros(cell, unit)) : cell;
  if (typeof cell === 'bigint') {
    const value = unit > 1 ? BigInt(roundMicros(cell, unit)) : cell;
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value.toString();
  }
  if (cell instanceof Uint8Array) return Buffer.from(cell.buffer, cell.byteOffset, cell.length).toString('hex');
  return cell;
}
