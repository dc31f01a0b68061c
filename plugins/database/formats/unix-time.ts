import { END_TIMESTAMP_MICROS, MIN_TIMESTAMP_MICROS } from '../sql/timestamp-text.ts';
import type { Precision } from './format.ts';

const MICROS_PER_UNIT = { s: 1_000_000, ms: 1_000, us: 1, ns: 1 } as const;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const ZERO = 48;
const NINE = 57;

/**
 * Converts the integer at [start, end), in units of `precision`, to microseconds since the epoch, rounding down.
 * Returns a number if the result is a safe integer, else a bigint. Returns `undefined` if the text is not an integer,
 * if nanoseconds exceed 64 bits, or if the time is outside PostgreSQL's range (4714 BC to 294276).
 */
export function unixMicros(
  text: string,
  start: number,
  end: number,
  precision: Precision,
): number | bigint | undefined {
  const negative = text.charCodeAt(start) === 45;
  const first = negative ? start + 1 : start;
  if (first >= end) return undefined;
  const kept = precision === 'ns' ? end - 3 : end;
  let value = 0;
  let position = first;
  for (; position < kept; position++) {
    const code = text.charCodeAt(position);
    if (code < ZERO || code > NINE) return undefined;
    value = value * 10 + (code - ZERO);
  }
  let remainder = 0;
  for (; position < end; position++) {
    const code = text.charCodeAt(position);
    if (code < ZERO || code > NINE) return undefined;
    remainder = remainder * 10 + (code - ZERO);
  }
  const micros = value * MICROS_PER_UNIT[precision];
  // Up to 9e15, the number is exact. Above this limit, digits may have been rounded, so the text is parsed again as a
  // bigint. The limit is below 2^53, so that subtracting 1 is exact as well.
  if (micros > 1e22) return undefined;
  if (micros > 9e15) return wideMicros(BigInt(text.slice(start, end)), precision);
  if (!negative) return micros;
  return remainder > 0 ? -micros - 1 : 0 - micros;
}

function wideMicros(value: bigint, precision: Precision): number | bigint | undefined {
  if (precision === 'ns') {
    if (value < INT64_MIN || value > INT64_MAX) return undefined;
    return narrow((value - (((value % 1000n) + 1000n) % 1000n)) / 1000n);
  }
  const micros = value * BigInt(MICROS_PER_UNIT[precision]);
  return micros < MIN_TIMESTAMP_MICROS || micros >= END_TIMESTAMP_MICROS ? undefined : narrow(micros);
}

/** Converts safe integers to numbers. */
export function narrow(value: bigint): number | bigint {
  return value >= -9_007_199_254_740_991n && value <= 9_007_199_254_740_991n ? Number(value) : value;
}

/** Rounds a time in microseconds down to a whole unit of `precision`. The result is in microseconds. */
export function floorTo(precision: Precision, micros: number): number {
  const unit = MICROS_PER_UNIT[precision];
  return unit === 1 ? Math.floor(micros) : Math.floor(micros / unit) * unit;
}

/** Formats `micros` in units of `precision`, rounded down. */
export function unixText(micros: number | bigint, precision: Precision): string {
  if (precision === 'us') return String(micros);
  if (precision === 'ns') return micros === 0 || micros === 0n ? '0' : `${String(micros)}000`;
  const unit = MICROS_PER_UNIT[precision];
  if (typeof micros === 'number') return String(Math.floor(micros / unit));
  const wide = BigInt(unit);
  return String((micros - (((micros % wide) + wide) % wide)) / wide);
}
