import { TEXT, type QueryParameter } from '../../src/index.ts';
import { DatabaseError, type Executor } from '../database/index.ts';
import { ApiFailure } from './route.ts';

/** The query parameter `tz`. */
export const ZONE: QueryParameter = {
  description: 'The time zone of times without one: a name, hours east of UTC, or an offset',
  schema: TEXT,
};

/** Range of time zones in hours east of UTC, as in the documentation of the original database (docs/database-api.md). */
const MIN_HOURS = -12;
const MAX_HOURS = 14;

/** The names of the tz database with digits. Other names with digits are rejected, because PostgreSQL would read them as POSIX zones. */
const NAMES_WITH_DIGITS = /^(?:Etc\/GMT(?:0|[+-]\d{1,2})|GMT0|EST5EDT|CST6CDT|MST7MDT|PST8PDT)$/i;

/**
 * Parses a time zone from the parameter `tz` or from the default setting, and returns it in PostgreSQL's spelling; `undefined` if it is
 * invalid. The zone may be in single or double quotes. It is a name of the tz database (`Europe/Oslo`, `EST5EDT`), a number of hours
 * east of UTC (`8`, `-3.5`), or an ISO 8601 offset (`+08:00`, `+0800`, `UTC+8`). If the plus was not escaped in the URL, it arrives
 * as a blank. Offsets are rewritten, because PostgreSQL reads `+08:00` as a POSIX offset, which is west of UTC.
 */
export function readTimeZone(parameter: string): string | undefined {
  const text = withPlus(unquote(withPlus(parameter))).trim();
  if (text.length > 63) return undefined;
  if (/^[+-]?\d{1,2}(?:\.\d+)?$/.test(text)) return isInRange(Number(text)) ? text : undefined;
  return readOffset(text) ?? readName(text);
}

/** Whether the database, or a check before it, rejected the value of a parameter such as the time zone. */
export function isInvalidValue({ scope, sqlstate }: DatabaseError): boolean {
  return scope === 'caller' && sqlstate === '22023';
}

/** Rejects with an ApiFailure 400 if the database does not know the zone, and with a DatabaseError if it cannot be asked. */
export async function requireTimeZone(executor: Executor, zone: string, asked = zone): Promise<void> {
  try {
    await executor.session((session) => session.query('SELECT 1'), { timeZone: zone });
  } catch (error) {
    if (!(error instanceof DatabaseError) || !isInvalidValue(error)) throw error;
    throw new ApiFailure(400, badTimeZone(asked), { cause: error });
  }
}

/** The error of the original database for an invalid time zone. */
export function badTimeZone(parameter: string): string {
  return `pq: invalid value for parameter "timezone": "${unquote(parameter)}"`;
}

/** Converts an offset to a POSIX zone, whose name is the offset and whose value is the offset west of UTC. */
function readOffset(text: string): string | undefined {
  const match = /^(?:UTC|GMT)?([+-])(?:(\d\d?)(?::([0-5]\d))?|(\d\d)([0-5]\d))$/i.exec(text);
  if (match === null) return /^Z$/i.test(text) ? 'UTC' : undefined;
  const sign = match[1] ?? '';
  const hours = match[2] ?? match[4] ?? '';
  const minutes = match[3] ?? match[5] ?? '00';
  if (!isInRange(Number(`${sign}1`) * (Number(hours) + Number(minutes) / 60))) return undefined;
  const offset = `${hours.padStart(2, '0')}:${minutes}`;
  return `<${sign}${offset}>${sign === '+' ? '-' : '+'}${offset}`;
}

function readName(text: string): string | undefined {
  return /^[A-Z][A-Z_/+-]*$/i.test(text) || NAMES_WITH_DIGITS.test(text) ? text : undefined;
}

function isInRange(hours: number): boolean {
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
