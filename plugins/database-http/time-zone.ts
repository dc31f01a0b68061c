import { TEXT, type QueryParameter } from '../../src/index.ts';
import { DatabaseError, type Executor } from '../database/index.ts';
import { ApiFailure } from './route.ts';

/** The query parameter `tz`. */
export const ZONE: QueryParameter = {
  description: 'The time zone of times without one: a name, hours east of UTC, or an offset',
  schema: TEXT,
};

/** Hours east of UTC that there are on earth, as the original's documents have it. */
const MIN_HOURS = -12;
const MAX_HOURS = 14;

/** No other name of the tz database contains digits; PostgreSQL reads names that it does not find there as POSIX. */
const NAMES_WITH_DIGITS = /^(?:Etc\/GMT(?:0|[+-]\d{1,2})|GMT0|EST5EDT|CST6CDT|MST7MDT|PST8PDT)$/i;

/**
 * The zone of a `tz` parameter, or of the setting for requests without one, in a spelling that PostgreSQL reads the same way.
 * Bare, in single or in double quotes: a name of the tz database (`Europe/Oslo`, `EST5EDT`); hours east (`8`, `-3.5`); an offset as
 * in ISO 8601, which is east (`+08:00`, `+0800`, `UTC+8`; the plus arrives as a blank when it was not escaped). PostgreSQL's own reading
 * of `+08:00` is POSIX, which counts west. `undefined` when it cannot be one.
 */
export function readTimeZone(parameter: string): string | undefined {
  const text = withPlus(unquote(withPlus(parameter))).trim();
  if (text.length > 63) return undefined;
  if (/^[+-]?\d{1,2}(?:\.\d+)?$/.test(text)) return isOnEarth(Number(text)) ? text : undefined;
  return readOffset(text) ?? readName(text);
}

/** The database, or a check before it, does not take the value of a parameter such as the time zone. */
export function isInvalidValue({ scope, sqlstate }: DatabaseError): boolean {
  return scope === 'caller' && sqlstate === '22023';
}

/** Rejects with a DatabaseError, or an ApiFailure 400 for a zone that the database does not know. */
export async function requireTimeZone(executor: Executor, zone: string, asked = zone): Promise<void> {
  try {
    await executor.session((session) => session.query('SELECT 1'), { timeZone: zone });
  } catch (error) {
    if (!(error instanceof DatabaseError) || !isInvalidValue(error)) throw error;
    throw new ApiFailure(400, badTimeZone(asked), { cause: error });
  }
}

/** The text of the original for an invalid zone. */
export function badTimeZone(parameter: string): string {
  return `pq: invalid value for parameter "timezone": "${unquote(parameter)}"`;
}

/** In POSIX: the offset as the zone's name, and counted west. */
function readOffset(text: string): string | undefined {
  const match = /^(?:UTC|GMT)?([+-])(?:(\d\d?)(?::([0-5]\d))?|(\d\d)([0-5]\d))$/i.exec(text);
  if (match === null) return /^Z$/i.test(text) ? 'UTC' : undefined;
  const sign = match[1] ?? '';
  const hours = match[2] ?? match[4] ?? '';
  const minutes = match[3] ?? match[5] ?? '00';
  if (!isOnEarth(Number(`${sign}1`) * (Number(hours) + Number(minutes) / 60))) return undefined;
  const offset = `${hours.padStart(2, '0')}:${minutes}`;
  return `<${sign}${offset}>${sign === '+' ? '-' : '+'}${offset}`;
}

function readName(text: string): string | undefined {
  return /^[A-Z][A-Z_/+-]*$/i.test(text) || NAMES_WITH_DIGITS.test(text) ? text : undefined;
}

function isOnEarth(hours: number): boolean {
  return hours >= MIN_HOURS && hours <= MAX_HOURS;
}

function withPlus(text: string): string {
  return text.replace(/^(UTC|GMT)? (?=\d)/i, '$1+');
}

function unquote(text: string): string {
  const quote = text[0];
  const quoted = text.length >= 2 && (quote === '"' || quote === "'") && text.endsWith(quote);
  return quoted ? text.slice(1, -1) : text;
}
