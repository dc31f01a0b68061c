import { decimalFromBytes, MAX_DECIMAL_BYTES } from '../../../../src/data/logical-values.ts';
import type { Cell, CellKind } from '../../../../src/data/row-batch.ts';
import { withoutTrailing } from '../../../../src/data/text-ends.ts';
import { Decimal, Struct, TypedNumber, type ConnectValue } from '../../../../src/data/value.ts';
import { readTimestamp } from '../timestamp-read.ts';
import { narrow } from '../unix-time.ts';

/** A value other than null. */
export type Present = Exclude<ConnectValue, null>;

/** Converts a value to a cell; returns `undefined` if the value does not have the expected type. */
export type ToCell = (value: Present) => Cell | undefined;

/** How values of a schema are converted to cells. */
export interface ValueRule {
  /**
   * The column type for new tables, as in ColumnShape (src/data/table-shape.ts); `undefined` if it is unknown, so that
   * no column can be created.
   */
  readonly type: string | undefined;
  readonly kind: CellKind;
  readonly toCell: ToCell;
}

const MICROS_PER_DAY = 86_400_000_000;
/** Maximum number of milliseconds that are a safe integer in microseconds. */
const MAX_SAFE_MILLIS = 9_007_199_254_740;
/**
 * PostgreSQL's numeric has fewer digits on either side of the decimal point; formatting more would only waste memory.
 */
const MAX_SCALE = 150_000;

export const number: ToCell = (value) => {
  if (typeof value === 'number') return value;
  return value instanceof TypedNumber ? value.value : undefined;
};

/** Converts 64-bit integers. Small ones become numbers, which are cheaper to compare and to write. */
export const int64: ToCell = (value) => {
  if (typeof value !== 'bigint') return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
  const near = Number(value);
  return Number.isSafeInteger(near) ? near : value;
};

export const boolean: ToCell = (value) => (typeof value === 'boolean' ? value : undefined);

export const text: ToCell = (value) => (typeof value === 'string' ? value : undefined);

export const bytes: ToCell = (value) => (value instanceof Uint8Array ? value : undefined);

export const decimal: ToCell = (value) => {
  if (!(value instanceof Decimal) || Math.abs(value.scale) > MAX_SCALE) return undefined;
  return value.toPlainString();
};

export const instant: ToCell = (value) => {
  if (!(value instanceof Date)) return undefined;
  const millis = value.getTime();
  if (Math.abs(millis) <= MAX_SAFE_MILLIS) return millis * 1000;
  return Number.isNaN(millis) ? undefined : BigInt(millis) * 1000n;
};

export const timeOfDay: ToCell = (value) =>
  value instanceof Date && !Number.isNaN(value.getTime()) ? timeText(BigInt(value.getTime()) * 1000n) : undefined;

export const days: ToCell = (value) => {
  if (typeof value !== 'number') return undefined;
  const micros = value * MICROS_PER_DAY;
  return Number.isSafeInteger(micros) ? micros : BigInt(value) * BigInt(MICROS_PER_DAY);
};

export const millis: ToCell = (value) => {
  const micros = whole(value);
  return micros === undefined ? undefined : narrow(micros * 1000n);
};

/** Converts nanoseconds, rounded down to PostgreSQL's microseconds. */
export const nanos: ToCell = (value) => {
  const wide = whole(value);
  return wide === undefined ? undefined : narrow(floored(wide, 1000n));
};

/** Converts times of day in units of `unit` microseconds. */
export function timeIn(unit: bigint): ToCell {
  return (value) => {
    const wide = whole(value);
    return wide === undefined ? undefined : timeText(wide * unit);
  };
}

export const nanoTime: ToCell = (value) => {
  const wide = whole(value);
  return wide === undefined ? undefined : timeText(floored(wide, 1000n));
};

export const timestampText: ToCell = (value) => (typeof value === 'string' ? readTimestamp(value) : undefined);

export const microDuration: ToCell = (value) => {
  const wide = whole(value);
  return wide === undefined ? undefined : `${String(wide)} microseconds`;
};

export const variableScaleDecimal: ToCell = (value) => {
  if (!(value instanceof Struct)) return undefined;
  const [scale, unscaled] = [value.get('scale'), value.get('value')];
  if (typeof scale !== 'number' || !(unscaled instanceof Uint8Array)) return undefined;
  if (unscaled.length === 0 || unscaled.length > MAX_DECIMAL_BYTES) return undefined;
  return decimal(decimalFromBytes(unscaled, scale));
};

/**
 * Converts Debezium's bits, which are in little-endian order, to text such as `0101`, padded or truncated to the length
 * of their column, if it is known.
 */
export function bitsOf(length: number | undefined): ToCell {
  return (value) => {
    if (!(value instanceof Uint8Array)) return undefined;
    const digits = [...value].reduce((low, byte) => byte.toString(2).padStart(8, '0') + low, '');
    return length === undefined ? digits : digits.padStart(length, '0').slice(-length);
  };
}

function whole(value: Present): bigint | undefined {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : undefined;
}

function floored(value: bigint, unit: bigint): bigint {
  return (value - (((value % unit) + unit) % unit)) / unit;
}

/** `24:00:00` is a valid time in PostgreSQL; anything later is not. */
function timeText(micros: bigint): string | undefined {
  const total = Number(micros);
  if (total < 0 || total > MICROS_PER_DAY) return undefined;
  const seconds = Math.floor(total / 1_000_000);
  const fraction = total % 1_000_000;
  const two = (part: number): string => String(part).padStart(2, '0');
  const clock = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return fraction === 0 ? clock : `${clock}.${withoutTrailing(String(fraction).padStart(6, '0'), '0')}`;
}
