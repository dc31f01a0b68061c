import { Decimal } from './value.ts';

/** Logical types and what they are made of (org.apache.kafka.connect.data.Decimal, Date, Time). */

export const MS_PER_DAY = 86_400_000;

/**
 * The longest unscaled value of a Decimal that is read, in bytes and in digits. Digits and bytes of a decimal cannot be turned
 * into each other in linear time, and one of 100 kB would keep the worker busy for a tenth of a second.
 */
export const MAX_DECIMAL_BYTES = 4_096;
export const MAX_DECIMAL_DIGITS = 9_864;

/** The unscaled value as the shortest big-endian two's-complement bytes (BigInteger.toByteArray). */
export function decimalBytes({ unscaled }: Decimal): Uint8Array {
  const length = byteLength(unscaled);
  const hex = BigInt.asUintN(8 * length, unscaled).toString(16);
  return Buffer.from(hex.padStart(2 * length, '0'), 'hex');
}

/** Bytes of a two's complement, its sign bit included. */
function byteLength(value: bigint): number {
  const hex = (value < 0n ? ~value : value).toString(16);
  const bits = 4 * hex.length - (Math.clz32(Number.parseInt(hex.charAt(0), 16)) - 28);
  return Math.floor(bits / 8) + 1;
}

/** The decimal of such bytes; there must be at least one. Throws a RangeError for more than `MAX_DECIMAL_BYTES`. */
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
 * `new BigDecimal(text)`: every digit is kept, so `1.50` has scale 2; `undefined` when the text is no number, or one of more
 * than `MAX_DECIMAL_DIGITS`.
 */
export function parseDecimal(text: string): Decimal | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  const digits = whole.length + fraction.length;
  if (digits === 0 || digits > MAX_DECIMAL_DIGITS) return undefined;
  const scale = fraction.length - Number(exponent);
  if (scale > 2147483647 || scale < -2147483648) return undefined;
  return new Decimal(BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`), scale);
}
