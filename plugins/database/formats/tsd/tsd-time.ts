import type { Precision } from '../format.ts';
import { nanosBeyondMicros } from '../nanoseconds.ts';
import { unixMicros } from '../unix-time.ts';

/** With `digits`, up to 10 digits are seconds, 13 milliseconds (as in OpenTSDB), 16 microseconds, 19 nanoseconds. */
export type PointPrecision = 's' | 'ms' | 'digits';

const UNITS: readonly (readonly [digits: number, unit: Precision])[] = [
  [10, 's'],
  [13, 'ms'],
  [16, 'us'],
  [19, 'ns'],
];

/** Converts the integer at [start, end) to microseconds since the epoch, rounded down. */
export function pointMicros(
  text: string,
  start: number,
  end: number,
  precision: PointPrecision,
): number | bigint | undefined {
  if (precision !== 'digits') return unixMicros(text, start, end, precision);
  const unit = unitOf(text, start, end);
  return unit === undefined ? undefined : unixMicros(text, start, end, unit);
}

/** Returns the nanoseconds within the microsecond, 0 to 999. */
export function pointNanos(text: string, start: number, end: number, precision: PointPrecision): number {
  return precision === 'digits' ? nanosBeyondMicros(text, start, end, unitOf(text, start, end) ?? 'us') : 0;
}

function unitOf(text: string, start: number, end: number): Precision | undefined {
  const digits = text.charAt(start) === '-' ? end - start - 1 : end - start;
  for (const [max, unit] of UNITS) if (digits <= max) return unit;
  return undefined;
}

export function timeProblem(precision: PointPrecision): string {
  return precision === 'digits'
    ? 'a time must be an integer of up to 10 digits (seconds), 13 (milliseconds), 16 (microseconds) or 19 (nanoseconds)'
    : `a time must be an integer in ${precision === 's' ? 'seconds' : 'milliseconds'}`;
}
