import { integerText, stringValue } from '../token-text.ts';
import type { TokenReader } from '../token-reader.ts';
import { Refused } from './translation.ts';

/** A duration such as `10s` in the SQL of the original database, with the unit as PostgreSQL's intervals name it. */
export interface Duration {
  readonly count: number;
  readonly unit:
    'microseconds' | 'milliseconds' | 'seconds' | 'minutes' | 'hours' | 'days' | 'weeks' | 'months' | 'years';
}

const UNITS: readonly (readonly [RegExp, Duration['unit']])[] = [
  [/^us$|^microseconds?$/i, 'microseconds'],
  [/^ms$|^milliseconds?$/i, 'milliseconds'],
  [/^s$|^secs?$|^seconds?$/i, 'seconds'],
  [/^m$|^mins?$|^minutes?$/i, 'minutes'],
  [/^h$|^hours?$/i, 'hours'],
  [/^d$|^days?$/i, 'days'],
  [/^w$|^weeks?$/i, 'weeks'],
  [/^mons?$|^months?$/i, 'months'],
  [/^y$|^years?$/i, 'years'],
];

/** Parses `10s` or `1 hour`; returns `undefined` for other text. */
export function readDuration(text: string): Duration | undefined {
  const [, digits = '', word = ''] = /^\s*(\d{1,9})\s*([a-z]{1,12})\s*$/i.exec(text) ?? [];
  const unit = UNITS.find(([pattern]) => pattern.test(word))?.[1];
  return unit === undefined ? undefined : { count: Number(digits), unit };
}

export function intervalOf({ count, unit }: Duration): string {
  return `INTERVAL '${String(count)} ${unit}'`;
}

/**
 * Reads the width of a time bucket from the tokens `start` to `end` (exclusive): `'10s'`, `INTERVAL '10 seconds'`, or a
 * number of seconds.
 */
export function bucketWidth(reader: TokenReader, start: number, end: number): Duration {
  reader.position = start;
  reader.takeWords('INTERVAL');
  const { text, current } = reader;
  const written = stringValue(text, current);
  const seconds = integerText(text, current);
  const width = readDuration(written ?? (seconds === undefined ? '' : `${seconds}s`));
  if (width === undefined || width.count === 0 || reader.position + 1 !== end) {
    throw new Refused("the width of a time bucket must be a duration such as '10s', '1h' or '1mon'", '22023');
  }
  return width;
}

/**
 * Returns SQL for the start of the bucket that contains `time`, an expression of type timestamp or timestamptz. Buckets
 * in hours and smaller units are counted from 1970 in UTC. Days, weeks (from Monday), months and years follow the
 * session's time zone, including daylight saving time.
 */
export function bucketOf(time: string, { count, unit }: Duration): string {
  switch (unit) {
    case 'days':
      return wholeDays(time, count, '1970-01-01');
    case 'weeks':
      return wholeDays(time, 7 * count, '1970-01-05');
    case 'months':
      return wholeMonths(time, count);
    case 'years':
      return wholeMonths(time, 12 * count);
    default:
      return `pg_catalog.date_bin(${intervalOf({ count, unit })}, ${time}, 'epoch')`;
  }
}

function wholeDays(time: string, count: number, origin: string): string {
  const day = `pg_catalog.date_trunc('day', ${time})`;
  if (count === 1) return day;
  const days = String(count);
  const since = `(${time})::pg_catalog.date OPERATOR(pg_catalog.-) '${origin}'::pg_catalog.date`;
  const past = `pg_catalog.mod(pg_catalog.mod(${since}, ${days}) OPERATOR(pg_catalog.+) ${days}, ${days})`;
  return `(${day} OPERATOR(pg_catalog.-) pg_catalog.make_interval(days => ${past}))`;
}

function wholeMonths(time: string, count: number): string {
  const month = `pg_catalog.date_trunc('month', ${time})`;
  if (count === 1) return month;
  const since = `((EXTRACT(year FROM ${time}) OPERATOR(pg_catalog.*) 12) OPERATOR(pg_catalog.+) EXTRACT(month FROM ${time})) OPERATOR(pg_catalog.-) 1`;
  const past = `pg_catalog.mod((${since})::pg_catalog.int4, ${String(count)})`;
  return `(${month} OPERATOR(pg_catalog.-) pg_catalog.make_interval(months => ${past}))`;
}
