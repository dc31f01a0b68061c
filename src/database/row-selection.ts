import type { Cell } from '../data/row-batch.ts';
import { roundMicros } from '../sql/cell-text.ts';

/** One column of a key: its cells, and the step to which the table's column rounds times (1: not at all). */
export interface KeyPart {
  readonly cells: readonly Cell[];
  readonly unit: number;
}

/** Which rows of a batch go into a statement, each key once. */
export interface RowSelection {
  /** In batch order. */
  readonly rows: Int32Array;
  /**
   * By row: the row with the same key that a chosen row stands for, to be tried when the chosen one is refused; -1
   * without. Absent when no key occurs twice.
   */
  readonly standIns: Int32Array | undefined;
}

/**
 * Picks one row per key, because the server refuses a statement that meets one key twice (21000): the last of the batch,
 * or the first. Keys that are equal only to the database (collations, `char` padding) are not found here.
 */
export function selectRows(candidates: Int32Array, key: readonly KeyPart[], prefer: 'last' | 'first'): RowSelection {
  if (cannotRepeat(candidates, key)) return { rows: candidates, standIns: undefined };
  const rowCount = (candidates.at(-1) ?? -1) + 1;
  const chosen = new Map<KeyValue, number>();
  let standIns: Int32Array | undefined;
  let isReplaced: Uint8Array | undefined;
  const last = candidates.length - 1;
  for (let visit = 0; visit <= last; visit++) {
    // The one visited last is chosen: from the end for `first`.
    const row = candidates[prefer === 'last' ? visit : last - visit] ?? 0;
    const value = keyValue(key, row);
    const earlier = chosen.get(value);
    chosen.set(value, row);
    if (earlier === undefined) continue;
    standIns ??= new Int32Array(rowCount).fill(-1);
    isReplaced ??= new Uint8Array(rowCount);
    standIns[row] = earlier;
    isReplaced[earlier] = 1;
  }
  const replaced = isReplaced;
  return { rows: replaced === undefined ? candidates : candidates.filter((row) => replaced[row] === 0), standIns };
}

/**
 * Splits rows into rounds in which every key occurs once, in batch order, for a rule that needs every row of a key to
 * reach the server (`merge`).
 */
export function rowsInRounds(candidates: Int32Array, key: readonly KeyPart[]): Int32Array[] {
  if (cannotRepeat(candidates, key)) return [candidates];
  const rounds: number[][] = [];
  const occurrences = new Map<KeyValue, number>();
  for (const row of candidates) {
    const value = keyValue(key, row);
    const round = occurrences.get(value) ?? 0;
    occurrences.set(value, round + 1);
    (rounds[round] ??= []).push(row);
  }
  return rounds.map((rows) => Int32Array.from(rows));
}

/** The rows of a batch without those excluded. */
export function remainingRows(rowCount: number, excluded: ReadonlySet<number>): Int32Array {
  const rows = new Int32Array(rowCount - excluded.size);
  let count = 0;
  for (let row = 0; row < rowCount; row++) {
    if (excluded.size === 0 || !excluded.has(row)) rows[count++] = row;
  }
  return rows;
}

/** Times and ids mostly grow within a batch: then no key occurs twice, and nothing needs to be hashed. */
function cannotRepeat(rows: Int32Array, key: readonly KeyPart[]): boolean {
  return rows.length < 2 || key.length === 0 || key.some((part) => isStrictlyIncreasing(part, rows));
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

/** Equal for cells that the database holds for equal, as far as that can be told without asking it. */
function keyValue(key: readonly KeyPart[], row: number): KeyValue {
  const [first] = key;
  if (key.length === 1 && first !== undefined) return partValue(first, row);
  let joined = '';
  // No stored text holds a NUL, so that parts cannot run into each other.
  for (const part of key) joined += `${String(partValue(part, row))}\0`;
  return joined;
}

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
