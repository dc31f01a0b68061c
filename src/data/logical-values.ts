import { Decimal } from './value.ts';

/** Logical types and what they are made of (org.apache.kafka.connect.data.Decimal, Date, Time). */

export const MS_PER_DAY = 86_400_000;

/** The unscaled value as the shortest big-endian two's-complement bytes (BigInteger.toByteArray). */
export function decimalBytes({ unscaled }: Decimal): Uint8Array {
  let length = 1;
  while (BigInt.asIntN(8 * length, unscaled) !== unscaled) length++;
  const hex = BigInt.asUintN(8 * length, unscaled)
    .toString(16)
    .padStart(2 * length, '0');
  return Uint8Array.from({ length }, (_, index) => Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16));
}

/** The decimal of such bytes; there must be at least one. */
export function decimalFromBytes(bytes: Uint8Array, scale: number): Decimal {
  let unsigned = 0n;
  for (const byte of bytes) unsigned = (unsigned << 8n) | BigInt(byte);
  return new Decimal(BigInt.asIntN(8 * bytes.length, unsigned), scale);
}

const DECIMAL = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/;

/** `new BigDecimal(text)`: every digit is kept, so `1.50` has scale 2; `undefined` when the text is no number. */
export function parseDecimal(text: string): Decimal | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  if (whole === '' && fraction === '') return undefined;
  const scale = fraction.length - Number(exponent);
  if (scale > 2147483647 || scale < -2147483648) return undefined;
  return new Decimal(BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`), scale);
}
