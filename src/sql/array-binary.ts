import type { Cell, CellKind } from '../data/row-batch.ts';
import { fitsFloat4, isTimestamp, roundingUnit, roundMicros } from './cell-text.ts';
import {
  type ColumnTarget,
  INTEGER_BOUNDS,
  notInteger,
  NULL_REFUSED,
  outOfRange,
  type Refusal,
  type Refuse,
} from './column-type.ts';

/** dimensions, has-NULLs flag, element OID, length, lower bound: five int32 (array_recv in PostgreSQL's arrayfuncs.c). */
const HEADER_BYTES = 20;
/** Microseconds from 1970 to 2000, where PostgreSQL's timestamps start. */
const EPOCH_2000_MICROS = 946_684_800_000_000;
const TWO_TO_32 = 4_294_967_296;

/** The element cannot be written in binary (text in a number column, for instance): the whole column goes as text. */
const FOREIGN = 'foreign';

/** Writes one element of fixed width at `offset`; a refusal says why it cannot. */
type WriteElement = (view: DataView, offset: number, cell: NonNullable<Cell>) => Refusal | typeof FOREIGN | undefined;

/**
 * The cells of the chosen rows as a PostgreSQL array in binary form, or `undefined` when this column must go as text.
 * Numbers and times only: against literals this saved 0.5 µs of Node's time and about as much of the server's for a row
 * of timestamptz, int8 and float8 (300,000 to 354,000 rows/s); text columns gain nothing.
 */
export function binaryArray(
  cells: readonly Cell[],
  kind: CellKind,
  rows: Int32Array,
  target: ColumnTarget,
  refuse: Refuse,
): Buffer | undefined {
  const element = target.binary ? elementOf(kind, target) : undefined;
  if (element === undefined) return undefined;
  const { width, write } = element;
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + rows.length * (4 + width));
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
  let offset = HEADER_BYTES;
  let hasNull = 0;
  for (const row of rows) {
    const cell = cells[row] ?? null;
    if (cell === null) {
      if (!target.acceptsNull) refuse(row, NULL_REFUSED);
      hasNull = 1;
      view.setInt32(offset, -1);
      offset += 4;
      continue;
    }
    const refusal = write(view, offset + 4, cell);
    if (refusal === FOREIGN) return undefined;
    if (refusal !== undefined) refuse(row, refusal);
    view.setInt32(offset, width);
    offset += 4 + width;
  }
  view.setInt32(0, 1);
  view.setInt32(4, hasNull);
  view.setInt32(8, target.typeOid);
  view.setInt32(12, rows.length);
  view.setInt32(16, 1);
  return buffer.subarray(0, offset);
}

function elementOf(kind: CellKind, target: ColumnTarget): { width: number; write: WriteElement } | undefined {
  const { family } = target;
  if (kind === 'time') {
    const isTime = family === 'timestamptz' || family === 'timestamp';
    return isTime ? { width: 8, write: timeWriter(roundingUnit(target)) } : undefined;
  }
  if (kind === 'bool') return family === 'bool' ? { width: 1, write: writeBool } : undefined;
  if (kind !== 'int' && kind !== 'float') return undefined;
  switch (family) {
    case 'int2':
      return { width: 2, write: writeInt2 };
    case 'int4':
      return { width: 4, write: writeInt4 };
    case 'int8':
      return { width: 8, write: writeInt8 };
    case 'float4':
      return { width: 4, write: writeFloat4 };
    case 'float8':
      return { width: 8, write: writeFloat8 };
    default:
      return undefined;
  }
}

const writeInt2: WriteElement = (view, offset, cell) => {
  if (typeof cell !== 'number' && typeof cell !== 'bigint') return FOREIGN;
  if (typeof cell === 'number' && !Number.isInteger(cell)) return notInteger(String(cell));
  if (cell < -32_768 || cell > 32_767) return outOfRange(String(cell));
  view.setInt16(offset, Number(cell));
  return undefined;
};

const writeInt4: WriteElement = (view, offset, cell) => {
  if (typeof cell !== 'number' && typeof cell !== 'bigint') return FOREIGN;
  if (typeof cell === 'number' && !Number.isInteger(cell)) return notInteger(String(cell));
  if (cell < -2_147_483_648 || cell > 2_147_483_647) return outOfRange(String(cell));
  view.setInt32(offset, Number(cell));
  return undefined;
};

const writeInt8: WriteElement = (view, offset, cell) => {
  if (typeof cell === 'number') {
    if (Number.isSafeInteger(cell)) {
      setSafeInt64(view, offset, cell);
      return undefined;
    }
    return Number.isInteger(cell) ? writeBigInt8(view, offset, BigInt(cell)) : notInteger(String(cell));
  }
  return typeof cell === 'bigint' ? writeBigInt8(view, offset, cell) : FOREIGN;
};

function writeBigInt8(view: DataView, offset: number, value: bigint): Refusal | undefined {
  const { min, max } = INTEGER_BOUNDS.int8;
  if (value < min || value > max) return outOfRange(value.toString());
  view.setBigInt64(offset, value);
  return undefined;
}

/** Two 32-bit halves: several times faster than setBigInt64 with a BigInt made for it. */
function setSafeInt64(view: DataView, offset: number, value: number): void {
  const high = Math.floor(value / TWO_TO_32);
  view.setInt32(offset, high);
  view.setUint32(offset + 4, value - high * TWO_TO_32);
}

const writeFloat4: WriteElement = (view, offset, cell) => {
  if (typeof cell !== 'number') return FOREIGN;
  if (!fitsFloat4(cell)) return outOfRange(String(cell));
  view.setFloat32(offset, cell);
  return undefined;
};

const writeFloat8: WriteElement = (view, offset, cell) => {
  if (typeof cell !== 'number') return FOREIGN;
  view.setFloat64(offset, cell);
  return undefined;
};

const writeBool: WriteElement = (view, offset, cell) => {
  if (typeof cell !== 'boolean') return FOREIGN;
  view.setUint8(offset, cell ? 1 : 0);
  return undefined;
};

function timeWriter(unit: number): WriteElement {
  return (view, offset, cell) => {
    if (typeof cell !== 'number' && typeof cell !== 'bigint') return FOREIGN;
    const micros = roundMicros(cell, unit);
    if (!isTimestamp(micros)) return outOfRange(`the time ${String(cell)} µs`);
    const shifted = typeof micros === 'number' ? micros - EPOCH_2000_MICROS : 0;
    if (typeof micros === 'number' && Number.isSafeInteger(shifted)) setSafeInt64(view, offset, shifted);
    else view.setBigInt64(offset, BigInt(micros) - BigInt(EPOCH_2000_MICROS));
    return undefined;
  };
}
