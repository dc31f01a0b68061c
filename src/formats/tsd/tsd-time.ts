import type { Precision } from '../format.ts';
import { unixMicros } from '../unix-time.ts';

/** Unit of the times of points; `digits`: 10 digits are seconds, 13 milliseconds, 16 microseconds, 19 nanoseconds. */
export type PointPrecision = 's' | 'ms' | 'digits';

const UNIT_OF_DIGITS: Readonly<Record<number, Precision>> = { 10: 's', 13: 'ms', 16: 'us', 19: 'ns' };

/** Microseconds since the epoch of the integer at [start, end), floored; `undefined` when `timeProblem` says why not. */
export function pointMicros(
  text: string,
  start: number,
  end: number,
  precision: PointPrecision,
): number | bigint | undefined {
  if (precision !== 'digits') return unixMicros(text, start, end, precision);
  const unit = UNIT_OF_DIGITS[text.charAt(start) === '-' ? end - start - 1 : end - start];
  return unit === undefined ? undefined : unixMicros(text, start, end, unit);
}

export function timeProblem(precision: PointPrecision): string {
  return precision === 'digits'
    ? 'a time is an integer of 10 digits (seconds), 13 (milliseconds), 16 (microseconds) or 19 (nanoseconds)'
    : `a time is an integer in ${precision === 's' ? 'seconds' : 'milliseconds'}`;
}
