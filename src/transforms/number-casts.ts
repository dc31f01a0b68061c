import { parseFloat32 } from '../java/java-number-text.ts';
import { decimalText } from '../java/java-text.ts';
import type { Decimal } from '../data/value.ts';

/** Java's casts between numbers (Java Language Specification 5.1.3, java.math.BigDecimal). */

const MAX_LONG = 2n ** 63n - 1n;
const MIN_LONG = -(2n ** 63n);

/** `(long)` of a double: NaN becomes 0, fractions are truncated, and a value out of range becomes the nearest long. */
export function doubleToLong(value: number): bigint {
  if (Number.isNaN(value)) return 0n;
  if (value >= 2 ** 63) return MAX_LONG;
  return value <= -(2 ** 63) ? MIN_LONG : BigInt(Math.trunc(value));
}

/** `(int)` of a double. */
export function doubleToInt(value: number): number {
  if (Number.isNaN(value)) return 0;
  return Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, Math.trunc(value))) + 0;
}

/** `(float)` of a long. The result is rounded only once; a conversion through a double would round twice. */
export function longToFloat(value: bigint): number {
  const double = Number(value);
  return Number.isSafeInteger(double) ? Math.fround(double) : parseFloat32(String(value));
}

/** `BigDecimal.longValue`: the fraction is truncated and the lowest 64 bits are kept. */
export function decimalToLong({ unscaled, scale }: Decimal): bigint {
  // The lowest 64 bits of a multiple of 10^64 are zero.
  if (unscaled === 0n || scale <= -64) return 0n;
  if (scale <= 0) return BigInt.asIntN(64, unscaled * 10n ** BigInt(-scale));
  return scale > String(unscaled).length ? 0n : BigInt.asIntN(64, unscaled / 10n ** BigInt(scale));
}

/** `BigDecimal.doubleValue`. */
export function decimalToDouble(decimal: Decimal): number {
  return Number(decimalText(decimal));
}

/** `BigDecimal.floatValue`. */
export function decimalToFloat(decimal: Decimal): number {
  return parseFloat32(decimalText(decimal));
}
