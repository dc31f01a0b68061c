import { Decimal } from './value.ts';

export const MS_PER_DAY = 86_400_000;

/**
 * Maximum size of the unscaled value of a Decimal, in bytes and in digits. The conversion between bytes and digits
 * takes more than linear time: a value of 100 kB would keep the worker busy for a tenth of a second.
 */
export const MAX_DECIMAL_BYTES = 4_096;
export const MAX_DECIMAL_DIGITS = 9_864;

/** Returns the unscaled value as the shortest big-endian two's-complement bytes (BigInteger.toByteArray). */
export function decimalBytes({ unscaled }: Decimal): Uint8Array {
  const length = byteLength(unscaled);
  const hex = BigInt.asUintN(8 * length, unscaled).toString(16);
  return Buffer.from(hex.padStart(2 * length, '0'), 'hex');
}

/** Returns the number of bytes of the two's complement, including the sign bit. */
function byteLength(value: bigint): number {
  const hex = (value < 0n ? ~value : value).toString(16);
  const bits = 4 * hex.length - (Math.clz32(Number.parseInt(hex.charAt(0), 16)) - 28);
  return Math.floor(bits / 8) + 1;
}

/**
 * Converts the result of `decimalBytes` to a decimal. There must be at least one byte. Throws a RangeError for more
 * than `MAX_DECIMAL_BYTES`.
 */
export function decimalFromBytes(bytes: Uint8Array, scale: number): Decimal {
  const { buffer, byteOffset, length } = bytes;
  if (length > MAX_DECIMAL_BYTES) {
    throw new RangeError(
      `A Decimal has ${String(length)} bytes, more than the ${String(MAX_DECIMAL_BYTES)} that a Decimal may have`,
    );
  }
  const unsigned = BigInt(`0x${Buffer.from(buffer, byteOffset, length).toString('hex')}`);
  return new Decimal(BigInt.asIntN(8 * length, unsigned), scale);
}

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;

/**
 * Parses a decimal as `new BigDecimal(text)` does: every digit is kept, so `1.50` has scale 2. Returns `undefined` if
 * the text is not a number, has more than `MAX_DECIMAL_DIGITS` digits, or has a scale beyond 32 bits.
 */
export function parseDecimal(text: string): Decimal | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  const digits = whole.length + fraction.length;
  if (digits === 0 || digits > MAX_DECIMAL_DIGITS) return undefined;
  const scale = fraction.length - Number(exponent);
  if (scale > 2147483647 || scale < -2147483648) return undefined;
  return new Decimal(BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`), scale);
}
