import { narrow } from './unix-time.ts';

/** A timestamp that is not a finite number of microseconds. */
export type Infinite = 'infinity' | '-infinity';

const MICROS_PER_SECOND = 1_000_000;
const SECONDS_PER_DAY = 86_400;
const DASH = 45;
const COLON = 58;
const SPACE = 32;
const CAPITAL_T = 84;

const GENERAL =
  /^([+-]?\d{4,6})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?(?:\s*(z|utc|[+-]\d\d(?::?\d\d(?::?\d\d)?)?))?(\s+bc)?$/i;

/**
 * Parses a timestamp in PostgreSQL's output format (`2024-05-06 07:08:09.25+02`, DateStyle ISO) or ISO 8601 to
 * microseconds since the epoch. A timestamp without a zone is in UTC. Digits beyond the microsecond are truncated.
 * Returns `undefined` for other text.
 */
export function readTimestamp(text: string): number | bigint | Infinite | undefined {
  return readUsual(text) ?? readGeneral(text);
}

/** Parses the most common format, `YYYY-MM-DD hh:mm:ss[.f…][+00]`, without a regular expression. */
function readUsual(text: string): number | undefined {
  const separator = text.charCodeAt(10);
  const usual =
    text.charCodeAt(4) === DASH &&
    text.charCodeAt(7) === DASH &&
    (separator === SPACE || separator === CAPITAL_T) &&
    text.charCodeAt(13) === COLON &&
    text.charCodeAt(16) === COLON;
  if (!usual) return undefined;
  let at = 19;
  let fraction = 0;
  if (text.charAt(at) === '.') {
    let scale = MICROS_PER_SECOND;
    for (at++; isDigit(text.charCodeAt(at)); at++) {
      scale /= 10;
      if (scale >= 1) fraction += (text.charCodeAt(at) - 48) * scale;
    }
    if (at === 20) return undefined;
  }
  const zone = text.slice(at);
  if (zone !== '' && zone !== '+00' && zone !== 'Z') return undefined;
  const day = dayOf(digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10));
  const second = secondOf(digits(text, 11, 13), digits(text, 14, 16), digits(text, 17, 19));
  const micros = (day * SECONDS_PER_DAY + second) * MICROS_PER_SECOND + fraction;
  return Number.isSafeInteger(micros) ? micros : undefined;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Returns NaN if one of the characters is not a digit. */
function digits(text: string, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (!isDigit(code)) return Number.NaN;
    value = value * 10 + (code - 48);
  }
  return value;
}

function readGeneral(text: string): number | bigint | Infinite | undefined {
  const trimmed = text.trim();
  if (/^\+?infinity$/i.test(trimmed)) return 'infinity';
  if (/^-infinity$/i.test(trimmed)) return '-infinity';
  const match = GENERAL.exec(trimmed);
  if (match === null) return undefined;
  const [, year = '', month, dayOfMonth, hour = '0', minute = '0', second = '0', fraction = '', zone = '', bc] = match;
  const astronomical = bc === undefined ? Number(year) : 1 - Number(year);
  if (bc !== undefined && Number(year) < 1) return undefined;
  const day = dayOf(astronomical, Number(month), Number(dayOfMonth));
  const seconds = day * SECONDS_PER_DAY + secondOf(Number(hour), Number(minute), Number(second)) - offsetSeconds(zone);
  if (!Number.isSafeInteger(seconds)) return undefined;
  return narrow(BigInt(seconds) * 1_000_000n + BigInt(fraction.slice(0, 6).padEnd(6, '0')));
}

/** Returns the offset of a zone in seconds, positive to the east; NaN if out of range. */
function offsetSeconds(zone: string): number {
  if (!/^[+-]/.test(zone)) return 0;
  const [hours = 0, minutes = 0, seconds = 0] = zone.slice(1).match(/\d\d/g)?.map(Number) ?? [];
  if (hours > 15 || minutes > 59 || seconds > 59) return Number.NaN;
  const offset = hours * 3600 + minutes * 60 + seconds;
  return zone.startsWith('-') ? -offset : offset;
}

/** Returns the seconds of the day; NaN if out of range. */
function secondOf(hour: number, minute: number, second: number): number {
  return hour < 24 && minute < 60 && second < 60 ? hour * 3600 + minute * 60 + second : Number.NaN;
}

/**
 * Returns the days since 1970-01-01 of a proleptic Gregorian date, where year 0 is 1 BC; NaN for invalid dates. Days
 * are counted in eras of 400 years that begin on 1 March (Howard Hinnant, "chrono-compatible low-level date
 * algorithms").
 */
export function dayOf(year: number, month: number, dayOfMonth: number): number {
  if (!(month >= 1 && month <= 12 && dayOfMonth >= 1 && dayOfMonth <= daysIn(year, month))) return Number.NaN;
  const shiftedYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(shiftedYear / 400);
  const yearOfEra = shiftedYear - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + dayOfMonth - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
