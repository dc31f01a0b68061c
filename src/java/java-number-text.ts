import { withoutTrailing } from '../data/text-ends.ts';

/**
 * Prints and parses numbers like Java 17. Doubles and floats are printed with the fewest digits that identify the number, except
 * for some large integral numbers, which have one more digit, as in Java 17 (JDK-4511638).
 */

const SMALLEST_PLAIN = 1e-3;
const LARGEST_PLAIN = 1e7;

/** `Double.toString`: `1.0`, `0.001`, `1.0E7`, `4.9E-324`, `NaN`, `-Infinity`. */
export function doubleText(value: number): string {
  if (Number.isInteger(value) && value < LARGEST_PLAIN && value > -LARGEST_PLAIN) return integralText(value);
  const magnitude = Math.abs(value);
  if (magnitude >= SMALLEST_PLAIN && magnitude < LARGEST_PLAIN) return String(value);
  if (!Number.isFinite(value)) return String(value);
  if (magnitude >= 2 ** 53 && magnitude < 2 ** 63) return largeIntegralText(value, 53);
  // Java prints at least two digits, rounded to the nearest; JavaScript's single digit may differ (5e-324).
  const shortest = value.toExponential();
  const nearest = /^-?\de/.test(shortest) ? value.toExponential(1) : shortest;
  return scientificText(nearest);
}

/** `Float.toString` of a number that is exactly a 32-bit float. */
export function floatText(value: number): string {
  if (Number.isInteger(value) && value < LARGEST_PLAIN && value > -LARGEST_PLAIN) return integralText(value);
  if (!Number.isFinite(value)) return String(value);
  const magnitude = Math.abs(value);
  if (magnitude >= 2 ** 24 && magnitude < 2 ** 63) return largeIntegralText(value, 24);
  const digits = shortestFloat(value);
  return magnitude >= SMALLEST_PLAIN && magnitude < LARGEST_PLAIN
    ? withPoint(String(Number(digits)))
    : scientificText(digits);
}

function integralText(value: number): string {
  return Object.is(value, -0) ? '-0.0' : `${String(value)}.0`;
}

const LOG10_OF_2 = Math.log10(2);

/** All digits of a large integral number except those that its precision cannot determine. */
function largeIntegralText(value: number, significantBits: number): string {
  let binaryExponent = Math.floor(Math.log2(Math.abs(value)));
  if (2 ** binaryExponent > Math.abs(value)) binaryExponent--;
  const unknown = Math.floor(Math.max(0, binaryExponent - significantBits - 1) * LOG10_OF_2);
  const power = 10n ** BigInt(unknown);
  const whole = BigInt(Math.abs(value));
  const digits = String(whole / power + (2n * (whole % power) >= power ? 1n : 0n));
  const rest = withoutTrailing(digits.slice(1), '0');
  const exponent = digits.length - 1 + unknown;
  return `${value < 0 ? '-' : ''}${digits.charAt(0)}.${rest === '' ? '0' : rest}E${String(exponent)}`;
}

function withPoint(text: string): string {
  return text.includes('.') ? text : `${text}.0`;
}

/** Converts `1.5e+21` to `1.5E21`. */
function scientificText(exponential: string): string {
  const split = exponential.indexOf('e');
  const exponent = exponential[split + 1] === '+' ? exponential.slice(split + 2) : exponential.slice(split + 1);
  return `${withPoint(exponential.slice(0, split))}E${exponent}`;
}

/** The shortest decimal of two to nine digits that rounds to this float, in exponential form. */
function shortestFloat(value: number): string {
  for (let fraction = 1; fraction < 8; fraction++) {
    const text = value.toExponential(fraction);
    if (Math.fround(Number(text)) === value) return withoutTrailingZeros(evenOfTwo(value, text, fraction));
    const wider = stepped(text, fraction, 1);
    if (Math.fround(Number(wider)) === value) return wider;
  }
  return value.toExponential(8);
}

/** Converts `1.50e+3` to `1.5e+3`. */
function withoutTrailingZeros(exponential: string): string {
  const split = exponential.indexOf('e');
  return withoutTrailing(withoutTrailing(exponential.slice(0, split), '0'), '.') + exponential.slice(split);
}

/** If two decimals are equally near, JavaScript chooses the larger one, and Java the one with an even last digit. */
function evenOfTwo(value: number, text: string, fraction: number): string {
  const longer = value.toExponential(fraction + 1);
  if (!/[13579]e/.test(text) || !longer.includes('5e') || Number(longer) !== value) return text;
  const lower = stepped(text, fraction, -1);
  return Math.fround(Number(lower)) === value ? lower : text;
}

/**
 * The adjacent decimal of the same length, away from zero (1) or towards it (-1). The nearest decimal may be parsed as
 * another float, because floats are denser below a power of two than above it. The adjacent decimal is then the one to print.
 */
function stepped(text: string, fraction: number, direction: 1 | -1): string {
  const split = text.indexOf('e');
  const step = Number(`1e${String(-fraction)}`) * direction;
  const mantissa = Number(text.slice(0, split));
  return `${(mantissa + Math.sign(mantissa) * step).toFixed(fraction)}${text.slice(split)}`;
}

/** Java examines UTF-16 units, so it does not recognize digits beyond the basic plane. */
const DECIMAL_DIGITS = /^[+-]?(?:(?![\u{10000}-\u{10ffff}])\p{Nd})+$/u;

/**
 * `Long.parseLong` and similar methods: decimal digits of any script with an optional sign. Returns `undefined` if the text is not
 * an integer; the caller checks the range. Integers of more than 400 digits are returned as ±10^400, which is outside of every
 * range, because their value cannot be computed in linear time.
 */
export function parseInteger(text: string): bigint | undefined {
  if (/^[+-]?[0-9]+$/.test(text)) return integerOf(text);
  return DECIMAL_DIGITS.test(text) ? integerOf(latinDigits(text)) : undefined;
}

const MAX_INTEGER_DIGITS = 400;
const BEYOND_EVERY_RANGE = 10n ** BigInt(MAX_INTEGER_DIGITS);

function integerOf(text: string): bigint {
  if (text.length <= MAX_INTEGER_DIGITS) return BigInt(text.startsWith('+') ? text.slice(1) : text);
  const digits = text.replace(/^[+-]?0*/, '');
  const value = digits.length > MAX_INTEGER_DIGITS ? BEYOND_EVERY_RANGE : BigInt(`0${digits}`);
  return text.startsWith('-') ? -value : value;
}

/** Replaces digits of other scripts with 0 to 9. Digits beyond the basic plane stay unchanged. */
export function latinDigits(text: string): string {
  if (!/[^\0-\x7f]/.test(text)) return text;
  return text.replace(/\p{Nd}/gu, (digit) => (digit.length > 1 ? digit : String(digitValue(digit))));
}

/** Cache of digit values; the basic plane has a few hundred digits. */
const DIGIT_VALUES = new Map<string, number>();

/** The ten digits of a script are consecutive, so the value is the distance from the script's zero. */
function digitValue(digit: string): number {
  const known = DIGIT_VALUES.get(digit);
  if (known !== undefined) return known;
  const point = digit.codePointAt(0) ?? 0;
  let zero = point;
  while (point - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  const value = (point - zero) % 10;
  DIGIT_VALUES.set(digit, value);
  return value;
}

const DECIMAL_DOUBLE = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?[dDfF]?$/;
const HEX_DOUBLE = /^([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?\d+)[dDfF]?$/;

/** `Double.parseDouble` of trimmed text: `1.5`, `.5`, `1e3d`, `0x1p3`, `NaN`, `-Infinity`; `undefined` if it is not a number. */
export function parseDouble(text: string): number | undefined {
  if (DECIMAL_DOUBLE.test(text)) return Number(text.replace(/[dDfF]$/, ''));
  const special = /^([+-]?)(NaN|Infinity)$/.exec(text);
  if (special !== null) return Number(`${special[1] === '-' ? '-' : ''}${special[2] ?? ''}`);
  const hex = HEX_DOUBLE.exec(text);
  return hex === null ? undefined : parseHexDouble(hex);
}

function parseHexDouble(parts: RegExpExecArray): number | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts;
  const digits = whole + fraction;
  if (digits === '') return undefined;
  const magnitude = scaleByPowerOfTwo(BigInt(`0x${digits}`), Number(exponent) - 4 * fraction.length);
  return sign === '-' ? -magnitude : magnitude;
}

/** `unscaled * 2^exponent` as a double, rounded once, half to even. */
function scaleByPowerOfTwo(unscaled: bigint, exponent: number): number {
  const bits = unscaled.toString(2).length;
  const top = bits + exponent;
  if (unscaled === 0n || top < -1074) return 0;
  if (top > 1024) return Infinity;
  // Subnormal numbers have fewer than 53 bits; their last bit is 2^-1074.
  const drop = Math.max(0, bits - Math.min(53, top + 1074));
  if (drop === 0) return Number(unscaled) * 2 ** exponent;
  const kept = unscaled >> BigInt(drop);
  const rest = unscaled - (kept << BigInt(drop));
  const half = 1n << BigInt(drop - 1);
  const roundUp = rest > half || (rest === half && (kept & 1n) === 1n);
  return Number(roundUp ? kept + 1n : kept) * 2 ** (exponent + drop);
}

/** The largest float is 2^128 - 2^104. For rounding, the next one would be this number, which becomes Infinity. */
const BEYOND_FLOATS = 2 ** 128;

/** `Float.parseFloat` of decimal text: rounded once, unlike `Math.fround(Number(text))`, which rounds twice. */
export function parseFloat32(text: string): number {
  const double = Number(text);
  const float = Math.fround(double);
  const nearest = Math.max(-BEYOND_FLOATS, Math.min(BEYOND_FLOATS, float));
  // Only a double halfway between two floats is ambiguous. Its distance to both is the same.
  const other = 2 * double - nearest;
  if (!Number.isFinite(double) || other === nearest || Math.fround(other) !== other) return float;
  const side = compareToDouble(text, double);
  return side === 0 || Math.sign(nearest - double) === side ? float : other;
}

/** A double has at most 767 significant digits. It only matters whether one of the further digits is not zero. */
const SIGNIFICANT_DIGITS = 800;

/** Compares a decimal text with a double. Returns the sign of their difference. */
function compareToDouble(text: string, double: number): number {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const all = (whole + fraction).replace(/^0+/, '');
  const rest = all.slice(SIGNIFICANT_DIGITS);
  const digits = rest === '' ? all : all.slice(0, SIGNIFICANT_DIGITS) + (/[1-9]/.test(rest) ? '1' : '0');
  const power = Number(exponent) - fraction.length + all.length - digits.length;
  let left = BigInt(`${sign === '-' ? '-' : ''}0${digits}`) * 10n ** BigInt(Math.max(power, 0));
  // A double is a multiple of 2^-1074.
  let scaled = double;
  let shift = 0;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    shift++;
  }
  const right = BigInt(scaled) * 10n ** BigInt(Math.max(-power, 0));
  left <<= BigInt(shift);
  return left > right ? 1 : left < right ? -1 : 0;
}
