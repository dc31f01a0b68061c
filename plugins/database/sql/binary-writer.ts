import type { Cell, CellKind } from '../../../src/data/row-batch.ts';
import { fitsFloat4, isTimestamp, roundMicros } from './cell-text.ts';
import { type ColumnTarget, INTEGER_BOUNDS } from './column-type.ts';

/** Start of PostgreSQL's timestamps, 2000-01-01, in microseconds since 1970. */
const EPOCH_2000_MICROS = 946_684_800_000_000;
const TWO_TO_32 = 4_294_967_296;
const JSONB_VERSION = 1;
const JSONB_OID = 3802;
/** OIDs of types of the family `text` whose binary form is the text itself. */
const PLAIN_TEXT_OIDS: ReadonlySet<number> = new Set([25, 1042, 1043]);
/** Up to this length, writing character by character is faster than `Buffer.write`. */
const SHORT_TEXT = 40;
const MAX_FIXED_BYTES = 12;
const MAX_BYTES_PER_UNIT = 3;
/** NUL and unpaired surrogates. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

/**
 * Binary formats of cells. `time` is the format of timestamps, `bytes` that of bytea; the other names are those of
 * PostgreSQL's types.
 */
export type Element = 'int2' | 'int4' | 'int8' | 'float4' | 'float8' | 'bool' | 'time' | 'text' | 'jsonb' | 'bytes';

/** Returns the binary format for cells of this kind in the column; `undefined` if there is none. */
export function elementOf(kind: CellKind, target: ColumnTarget): Element | undefined {
  const { family, typeOid } = target;
  if (!target.binary) return undefined;
  if (kind === 'time') return family === 'timestamptz' || family === 'timestamp' ? 'time' : undefined;
  const isText = kind === 'text' || kind === 'json';
  switch (family) {
    case 'int2':
    case 'int4':
    case 'int8':
    case 'float4':
    case 'float8':
      return kind === 'int' || kind === 'float' ? family : undefined;
    case 'bool':
      return kind === 'bool' ? 'bool' : undefined;
    case 'text':
      return isText && PLAIN_TEXT_OIDS.has(typeOid) ? 'text' : undefined;
    case 'json':
      if (!isText) return undefined;
      return typeOid === JSONB_OID ? 'jsonb' : 'text';
    case 'bytes':
      return kind === 'bytes' ? 'bytes' : undefined;
    default:
      return undefined;
  }
}

/** Writes cells in the format of binary COPY and binary arrays: length as int32 (-1 for NULL), then the bytes. */
export class BinaryWriter {
  #bytes: Buffer;
  #view: DataView;
  #at = 0;

  constructor(expectedBytes: number) {
    this.#bytes = Buffer.allocUnsafe(expectedBytes);
    this.#view = viewOf(this.#bytes);
  }

  get length(): number {
    return this.#at;
  }

  int16(value: number): void {
    this.#reserve(2);
    this.#view.setInt16(this.#at, value);
    this.#at += 2;
  }

  int32(value: number): void {
    this.#reserve(4);
    this.#view.setInt32(this.#at, value);
    this.#at += 4;
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  null(): void {
    this.int32(-1);
  }

  /** Writes a cell. Returns false if the cell does not fit the column or may be too long for it. */
  cell(element: Element, cell: NonNullable<Cell>, maxLength: number | undefined, unit: number): boolean {
    this.#reserve(MAX_FIXED_BYTES);
    switch (element) {
      case 'int2':
        return this.#integer(cell, 2, -32_768, 32_767);
      case 'int4':
        return this.#integer(cell, 4, -2_147_483_648, 2_147_483_647);
      case 'int8':
        return this.#int8(cell);
      case 'float4':
        return typeof cell === 'number' && fitsFloat4(cell) && this.#float(cell, 4);
      case 'float8':
        return typeof cell === 'number' && this.#float(cell, 8);
      case 'bool':
        return typeof cell === 'boolean' && this.#bool(cell);
      case 'time':
        return this.#time(cell, unit);
      case 'text':
        return typeof cell === 'string' && this.#text(cell, maxLength, 0);
      case 'jsonb':
        return typeof cell === 'string' && this.#text(cell, undefined, 1);
      case 'bytes':
        return cell instanceof Uint8Array && this.#binary(cell);
    }
  }

  /** Returns the bytes written. The writer must not be used afterwards. */
  end(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  #integer(cell: NonNullable<Cell>, width: 2 | 4, min: number, max: number): boolean {
    if (typeof cell !== 'number' && typeof cell !== 'bigint') return false;
    const value = Number(cell);
    if (!Number.isInteger(value) || value < min || value > max) return false;
    this.#view.setInt32(this.#at, width);
    if (width === 2) this.#view.setInt16(this.#at + 4, value);
    else this.#view.setInt32(this.#at + 4, value);
    this.#at += 4 + width;
    return true;
  }

  #int8(cell: NonNullable<Cell>): boolean {
    if (typeof cell === 'number') {
      if (Number.isSafeInteger(cell)) return this.#safeInt64(cell);
      return Number.isInteger(cell) && this.#int8(BigInt(cell));
    }
    if (typeof cell !== 'bigint' || cell < INTEGER_BOUNDS.int8.min || cell > INTEGER_BOUNDS.int8.max) return false;
    return this.#bigInt64(cell);
  }

  /** Writes two 32-bit halves, which is several times faster than converting to BigInt for `setBigInt64`. */
  #safeInt64(value: number): boolean {
    const high = Math.floor(value / TWO_TO_32);
    this.#view.setInt32(this.#at, 8);
    this.#view.setInt32(this.#at + 4, high);
    this.#view.setUint32(this.#at + 8, value - high * TWO_TO_32);
    this.#at += 12;
    return true;
  }

  #bigInt64(value: bigint): boolean {
    this.#view.setInt32(this.#at, 8);
    this.#view.setBigInt64(this.#at + 4, value);
    this.#at += 12;
    return true;
  }

  #float(value: number, width: 4 | 8): boolean {
    this.#view.setInt32(this.#at, width);
    if (width === 4) this.#view.setFloat32(this.#at + 4, value);
    else this.#view.setFloat64(this.#at + 4, value);
    this.#at += 4 + width;
    return true;
  }

  #bool(value: boolean): boolean {
    this.#view.setInt32(this.#at, 1);
    this.#bytes[this.#at + 4] = value ? 1 : 0;
    this.#at += 5;
    return true;
  }

  #time(cell: NonNullable<Cell>, unit: number): boolean {
    if (typeof cell !== 'number' && typeof cell !== 'bigint') return false;
    const micros = roundMicros(cell, unit);
    if (!isTimestamp(micros)) return false;
    if (typeof micros === 'number') {
      const shifted = micros - EPOCH_2000_MICROS;
      if (Number.isSafeInteger(shifted)) return this.#safeInt64(shifted);
    }
    return this.#bigInt64(BigInt(micros) - BigInt(EPOCH_2000_MICROS));
  }

  /** Writes a text. A jsonb has one byte with the format version before its text (`versionBytes`). */
  #text(text: string, maxLength: number | undefined, versionBytes: 0 | 1): boolean {
    if (maxLength !== undefined && text.length > maxLength) return false;
    this.#reserve(4 + versionBytes + text.length * MAX_BYTES_PER_UNIT);
    const start = this.#at + 4 + versionBytes;
    const length = this.#ascii(text, start) ?? this.#utf8(text, start);
    if (length < 0) return false;
    if (versionBytes === 1) this.#bytes[start - 1] = JSONB_VERSION;
    this.#view.setInt32(this.#at, versionBytes + length);
    this.#at = start + length;
    return true;
  }

  /** Returns the length in bytes; `undefined` when the text is long or not ASCII, or contains NUL. */
  #ascii(text: string, start: number): number | undefined {
    const { length } = text;
    if (length > SHORT_TEXT) return undefined;
    const bytes = this.#bytes;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code === 0 || code >= 0x80) return undefined;
      bytes[start + index] = code;
    }
    return length;
  }

  /** Returns the length in bytes; -1 when the server would reject the text. */
  #utf8(text: string, start: number): number {
    if (UNSTORABLE.test(text)) return -1;
    return this.#bytes.write(text, start, 'utf8');
  }

  #binary(bytes: Uint8Array): boolean {
    this.int32(bytes.length);
    this.append(bytes);
    return true;
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
    this.#view = viewOf(larger);
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
