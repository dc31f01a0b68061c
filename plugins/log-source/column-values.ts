import {
  Decimal,
  decimalBytes,
  parseDecimal,
  Struct,
  withoutTrailing,
  type ConnectValue,
  type Schema,
} from '../../src/index.ts';

/**
 * These functions read the text format of PostgreSQL's values. They expect the output of a session with DateStyle ISO, IntervalStyle
 * postgres, TimeZone UTC and lc_monetary C.
 */

const MICROS_PER_DAY = 86_400_000_000n;
const MS_PER_DAY = 86_400_000;
/** Values with which Debezium represents infinity in dates (days) and in timestamps (microseconds). */
const INFINITY_DAYS = 2_147_483_647;
const INFINITY_MICROS = 9_223_372_036_825_200_000n;
const MINUS_INFINITY_MICROS = -9_223_372_036_832_400_000n;
/** A month is a twelfth of 365.25 days, which is 30 days and 10.5 hours. */
const MICROS_PER_MONTH = 2_629_800_000_000n;

export function boolean(text: string): boolean {
  return text === 't';
}

export function float64(text: string): number {
  return Number(text);
}

export function float32(text: string): number {
  return Math.fround(Number(text));
}

const SPECIAL_NUMBERS: Readonly<Record<string, string>> = {
  NaN: 'NAN',
  Infinity: 'POSITIVE_INFINITY',
  '-Infinity': 'NEGATIVE_INFINITY',
};

export function numericText(text: string): string {
  return SPECIAL_NUMBERS[text] ?? text;
}

/** Returns `null` for NaN and infinities, which a Decimal cannot represent. */
export function decimal(text: string, scale: number): Decimal | null {
  const parsed = finiteDecimal(text);
  if (parsed === null) return null;
  const { unscaled, scale: own } = parsed;
  if (own <= scale) return new Decimal(unscaled * 10n ** BigInt(scale - own), scale);
  return new Decimal(unscaled / 10n ** BigInt(own - scale), scale);
}

export function variableDecimal(text: string, schema: Schema): Struct | null {
  // Trailing zeros after the point are not significant.
  const parsed = finiteDecimal(text.includes('.') ? withoutTrailing(withoutTrailing(text, '0'), '.') : text);
  return parsed === null ? null : new Struct(schema, [parsed.scale, decimalBytes(parsed)]);
}

function finiteDecimal(text: string): Decimal | null {
  if (SPECIAL_NUMBERS[text] !== undefined) return null;
  const parsed = parseDecimal(text);
  if (parsed === undefined) throw new Error('The number has too many digits');
  return parsed;
}

/** Converts `-$1,234.50` to `-1234.50`. */
export function moneyText(text: string): string {
  return text.replace(/[^-0-9.]/g, '');
}

/** Packs a bit string into bytes. The last bit becomes the lowest bit of the first byte. Zero bytes at the end are left out. */
export function bits(text: string): Buffer {
  const bytes = Buffer.alloc(Math.ceil(text.length / 8));
  for (let at = 0; at < text.length; at++) {
    if (text[text.length - 1 - at] === '1') bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (1 << (at & 7));
  }
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return bytes.subarray(0, end);
}

const DATE = /^(\d{4,})-(\d\d)-(\d\d)( BC)?$/;
const TIME = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?$/;
const DATE_AND_TIME = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d{1,6})?)(?:\+00)?( BC)?$/;
/** Matches timestamps after Christ with a year of four digits. */
const COMMON_TIMESTAMP = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(?:\+00)?$/;
const TIME_AND_ZONE = /^([\d:.]+)([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?$/;

function unreadable(kind: string, text: string): Error {
  return new Error(`${JSON.stringify(text.slice(0, 100))} is not a ${kind}`);
}

/** Parses a date. Returns days since 1970-01-01. */
export function days(text: string): number {
  if (text === 'infinity') return INFINITY_DAYS;
  if (text === '-infinity') return -INFINITY_DAYS;
  const [, year = '', month, day, bc] = DATE.exec(text) ?? [];
  if (year === '') throw unreadable('date', text);
  return daysFromCivil(bc === undefined ? Number(year) : 1 - Number(year), Number(month), Number(day));
}

/** Converts a date of the proleptic Gregorian calendar to days since 1970-01-01 (Howard Hinnant, days_from_civil). */
function daysFromCivil(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

export function connectDate(text: string): Date {
  return new Date(days(text) * MS_PER_DAY);
}

export function isoDate(text: string): string {
  if (text.endsWith('infinity')) return text;
  const [, year = '', month = '', day = '', bc] = DATE.exec(text) ?? [];
  if (year === '') throw unreadable('date', text);
  return `${isoYear(year, bc)}-${month}-${day}Z`;
}

function isoYear(year: string, bc: string | undefined): string {
  if (bc === undefined) return year.length > 4 ? `+${year}` : year;
  const astronomical = Number(year) - 1;
  return `${astronomical === 0 ? '' : '-'}${String(astronomical).padStart(4, '0')}`;
}

/** Parses a time. Returns microseconds since midnight; 24:00:00 is allowed. */
export function timeMicros(text: string): bigint {
  const [, hours = '', minutes = '', seconds = '0', fraction = ''] = TIME.exec(text) ?? [];
  if (hours === '') throw unreadable('time', text);
  const whole = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
}

export function isoTime(text: string): string {
  return `${timeText(timeMicros(text) % MICROS_PER_DAY)}Z`;
}

function timeText(micros: bigint): string {
  const seconds = Number(micros / 1_000_000n);
  const two = (part: number): string => String(part).padStart(2, '0');
  const whole = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return whole + fractionText(micros % 1_000_000n);
}

/** Formats the fraction of a second, such as `.25`, without trailing zeros. */
function fractionText(micros: bigint): string {
  if (micros === 0n) return '';
  return `.${withoutTrailing(String(micros).padStart(6, '0'), '0')}`;
}

/** Converts a time with a zone to UTC. */
export function zonedTime(text: string): string {
  const [, time = '', sign, hours = '', minutes = '0', seconds = '0'] = TIME_AND_ZONE.exec(text) ?? [];
  if (time === '') throw unreadable('time with time zone', text);
  const offset = BigInt(Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1_000_000n;
  const utc = timeMicros(time) + (sign === '+' ? -offset : offset);
  return `${timeText(((utc % MICROS_PER_DAY) + MICROS_PER_DAY) % MICROS_PER_DAY)}Z`;
}

/** Parses a timestamp. Returns microseconds since 1970. */
export function timestampMicros(text: string): bigint {
  if (text === 'infinity') return INFINITY_MICROS;
  if (text === '-infinity') return MINUS_INFINITY_MICROS;
  const [, date = '', time = '', bc = ''] = DATE_AND_TIME.exec(text) ?? [];
  if (date === '') throw unreadable('timestamp', text);
  return BigInt(days(date + bc)) * MICROS_PER_DAY + timeMicros(time);
}

export function isoTimestamp(text: string): string {
  return text.endsWith('infinity') ? text : zonedTimestamp(text, undefined);
}

/**
 * Formats a timestamp as ISO 8601 in UTC.
 * @param precision number of digits of the fraction; `undefined`: without trailing zeros
 */
export function zonedTimestamp(text: string, precision: number | undefined): string {
  const common = COMMON_TIMESTAMP.exec(text);
  if (common !== null) return isoText(common[1] ?? '', common[2] ?? '', common[3] ?? '', precision);
  if (text.endsWith('infinity')) return text;
  const [, date = '', time = '', bc = ''] = DATE_AND_TIME.exec(text) ?? [];
  if (date === '') throw unreadable('timestamp', text);
  const [whole = '', fraction = ''] = time.split('.');
  return isoText(isoDate(date + bc).slice(0, -1), whole, fraction, precision);
}

function isoText(day: string, time: string, fraction: string, precision: number | undefined): string {
  const isFitting = precision === undefined || fraction.length === precision;
  const digits = isFitting ? fraction : fraction.padEnd(precision, '0').slice(0, precision);
  return digits === '' ? `${day}T${time}Z` : `${day}T${time}.${digits}Z`;
}

export function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}

interface Interval {
  readonly months: bigint;
  readonly days: bigint;
  readonly micros: bigint;
}

const INTERVAL_PART = /^(-?\d+|\+\d+) (year|mon|day)s?$/;
const INTERVAL_TIME = /^([+-]?)(\d+):(\d\d):(\d\d)(?:\.(\d{1,6}))?$/;

function parseInterval(text: string): Interval {
  const words = text.split(' ');
  let months = 0n;
  let dayCount = 0n;
  let micros = 0n;
  for (let at = 0; at < words.length; at++) {
    const [, sign, hours = '', minutes = '', seconds = '', fraction = ''] = INTERVAL_TIME.exec(words[at] ?? '') ?? [];
    if (hours !== '') {
      const whole = BigInt(hours) * 3600n + BigInt(minutes) * 60n + BigInt(seconds);
      const size = whole * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
      micros = sign === '-' ? -size : size;
      continue;
    }
    const [, amount = '', unit] = INTERVAL_PART.exec(`${words[at] ?? ''} ${words[at + 1] ?? ''}`) ?? [];
    if (amount === '') throw unreadable('interval', text);
    const count = BigInt(amount.replace('+', ''));
    if (unit === 'year') months += 12n * count;
    else if (unit === 'mon') months += count;
    else dayCount += count;
    at += 1;
  }
  return { months, days: dayCount, micros };
}

export function intervalMicros(text: string): bigint {
  const { months, days: dayCount, micros } = parseInterval(text);
  return months * MICROS_PER_MONTH + dayCount * MICROS_PER_DAY + micros;
}

/** Converts an interval to ISO 8601: `P1Y2M3DT4H5M6.78S`. */
export function intervalText(text: string): string {
  const { months, days: dayCount, micros } = parseInterval(text);
  const seconds = micros / 1_000_000n;
  const rest = seconds % 60n;
  const fraction = fractionText(micros < 0n ? -(micros % 1_000_000n) : micros % 1_000_000n);
  const sign = micros < 0n && rest === 0n && fraction !== '' ? '-' : '';
  const time = `T${String(seconds / 3600n)}H${String((seconds / 60n) % 60n)}M${sign}${String(rest)}${fraction}S`;
  return `P${String(months / 12n)}Y${String(months % 12n)}M${String(dayCount)}D${time}`;
}

const HSTORE_PAIR = /"((?:[^"\\]|\\.)*)"=>(?:NULL|"((?:[^"\\]|\\.)*)")(?:, |$)/gsy;

export function hstore(text: string): Map<string, string | null> {
  const unescape = (value: string): string => value.replace(/\\(.)/gs, '$1');
  return new Map(
    [...text.matchAll(HSTORE_PAIR)].map(([, key = '', value]) => [
      unescape(key),
      value === undefined ? null : unescape(value),
    ]),
  );
}

/** Converts a point to its coordinates and its well-known binary (WKB), little-endian. */
export function point(text: string, schema: Schema): Struct {
  const [, x = '', y = ''] = /^\(([^,]+),([^,]+)\)$/.exec(text) ?? [];
  if (x === '') throw unreadable('point', text);
  const wkb = Buffer.alloc(21);
  wkb.writeUInt8(1, 0);
  wkb.writeUInt32LE(1, 1);
  wkb.writeDoubleLE(Number(x), 5);
  wkb.writeDoubleLE(Number(y), 13);
  const values: ConnectValue[] = [Number(x), Number(y), wkb, null];
  return new Struct(schema, values);
}
