import type { Draw } from '../../support/random.ts';
import type { Cell } from './table-model.ts';
import { canonical } from './table-reader.ts';

/** A value as JSON, and as stored in the table. */
export interface DrawnValue {
  readonly json: string;
  readonly cell: Cell;
}

export const NULL: DrawnValue = { json: 'null', cell: null };

const TEXTS = [
  '',
  'a',
  'pump 7',
  'Tromsø',
  '漢字 😀',
  'say "so"',
  "it's",
  'back\\slash',
  'a,b=c d',
  '{}',
  'null',
  'NaN',
];
const LONG_TEXTS = ['two\nlines', 'tab\tand more', 'x'.repeat(60), '  blanks  ', '\\N', '--', '\u007f'];
const FLOATS = ['0', '1.5', '-2.25', '0.1', '1e300', '-1e-300', '123456789.125', '1e21', '3.141592653589793', '-7.5'];
const SMALL_FLOATS = ['0', '1.5', '-2.25', '0.1', '1e30', '-1e-30', '12345.625', '3.1415927'];
const INTEGERS = {
  smallint: ['-32768', '32767'],
  integer: ['-2147483648', '2147483647'],
  bigint: ['-9223372036854775808', '9223372036854775807', '9007199254740993'],
} as const;
export type IntegerType = keyof typeof INTEGERS;

export function drawInteger(draw: Draw, type: IntegerType): DrawnValue {
  const text = draw.chance(0.25) ? draw.pick<string>(INTEGERS[type]) : String(draw.between(-100, 100));
  return { json: text, cell: text };
}

export function drawFloat(draw: Draw, type: 'real' | 'double precision'): DrawnValue {
  const text = draw.pick(type === 'real' ? SMALL_FLOATS : FLOATS);
  return { json: text, cell: canonical(text, type) };
}

export function drawBoolean(draw: Draw): DrawnValue {
  return draw.chance(0.5) ? { json: 'true', cell: 'true' } : { json: 'false', cell: 'false' };
}

/** Returns a text of at most `characters` characters, as PostgreSQL counts them. */
function drawText(draw: Draw, characters = 1000): string {
  const text = draw.chance(0.8) ? draw.pick(TEXTS) : draw.pick(LONG_TEXTS);
  return [...text].slice(0, characters).join('');
}

export function drawString(draw: Draw, characters = 1000): DrawnValue {
  const text = drawText(draw, characters);
  return { json: JSON.stringify(text), cell: text };
}

export function drawBytes(draw: Draw): DrawnValue {
  const bytes = Buffer.from(Array.from({ length: draw.between(0, 12) }, () => draw.between(0, 255)));
  return { json: JSON.stringify(bytes.toString('base64')), cell: bytes.toString('hex') };
}

/** Returns JSON that is a list or an object. */
export function drawDocument(draw: Draw, kind: 'list' | 'object'): DrawnValue {
  const numbers = Array.from({ length: draw.between(0, 3) }, () => draw.between(-9, 9));
  const value = kind === 'list' ? numbers : { n: draw.between(0, 9), name: drawText(draw, 20), list: numbers };
  const json = JSON.stringify(value);
  return { json, cell: canonical(json, 'jsonb') };
}

/**
 * Returns Base64 of an integer in two's complement, the form in which Connect writes the unscaled value of a Decimal.
 */
export function bytesOfInteger(value: bigint): string {
  let hex = (value < 0n ? -value - 1n : value).toString(16);
  if (hex.length % 2 === 1) hex = `0${hex}`;
  let bytes = Buffer.from(hex, 'hex');
  if ((bytes[0] ?? 0) >= 0x80) bytes = Buffer.concat([Buffer.of(0), bytes]);
  if (value < 0n) bytes = Buffer.from(bytes.map((byte) => 255 - byte));
  return bytes.toString('base64');
}

/** Formats an unscaled value: `-150n` with scale 2 becomes `-1.50`. */
export function decimalText(unscaled: bigint, scale: number): string {
  const sign = unscaled < 0n ? '-' : '';
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

const BASE_MS = Date.UTC(2026, 0, 1);

/** Draws one of a few times, so that several rows have the same key. */
export function drawTimeMs(draw: Draw, times: number): number {
  return BASE_MS + draw.between(0, times - 1) * 1000 + draw.pick([0, 0, 7]);
}
