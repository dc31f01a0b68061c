import { DatePatternError } from '../java/date-format/date-pattern.ts';
import { SimpleDateFormat } from '../java/date-format/simple-date-format.ts';
import { javaClassOf } from '../data/java-class.ts';
import { MS_PER_DAY } from '../data/logical-values.ts';
import { schemaText, LogicalName, Schema } from '../data/schema.ts';
import type { ConnectValue } from '../data/value.ts';
import { ConnectError, DataError } from '../errors.ts';
import { recordError } from './requirements.ts';

/** Representations of a time: as text, as a number, or as one of Connect's logical types. */
export const TIMESTAMP_KINDS = ['string', 'unix', 'Date', 'Time', 'Timestamp'] as const;
export type TimestampKind = (typeof TIMESTAMP_KINDS)[number];

/** Nanoseconds in a unit of `unix.precision`. */
export const UNIX_PRECISIONS = {
  nanoseconds: 1n,
  microseconds: 1000n,
  milliseconds: 1_000_000n,
  seconds: 1_000_000_000n,
} as const;
export type UnixPrecision = keyof typeof UNIX_PRECISIONS;

const NANOS_PER_MS = UNIX_PRECISIONS.milliseconds;
const MAX_LONG = 2n ** 63n - 1n;
/** Latest time of a JavaScript Date, in the year 275760. In Java, it is in the year 292278994. */
const MAX_DATE_MS = 8_640_000_000_000_000;
const DAY_MS = BigInt(MS_PER_DAY);

export interface TimestampSettings {
  /** Absent if no format is configured. */
  readonly format: SimpleDateFormat | undefined;
  readonly precision: UnixPrecision;
}

/** Throws the error that `refused` creates if SimpleDateFormat rejects the pattern. */
export function dateFormat(pattern: string, refused: (message: string) => Error): SimpleDateFormat {
  try {
    return new SimpleDateFormat(pattern);
  } catch (error) {
    throw error instanceof DatePatternError ? refused(error.message) : error;
  }
}

const SCHEMAS: Readonly<Record<TimestampKind, (optional: boolean) => Schema>> = {
  string: (optional) => new Schema('string', { optional }),
  unix: (optional) => new Schema('int64', { optional }),
  Date: (optional) => new Schema('int32', { optional, name: LogicalName.date, version: 1 }),
  Time: (optional) => new Schema('int32', { optional, name: LogicalName.time, version: 1 }),
  Timestamp: (optional) => new Schema('int64', { optional, name: LogicalName.timestamp, version: 1 }),
};

export function timestampSchema(kind: TimestampKind, optional: boolean): Schema {
  return SCHEMAS[kind](optional);
}

/** The kind of a schema's values. Throws a ConnectError if they are not times. */
export function kindOfSchema(schema: Schema): TimestampKind {
  switch (schema.name) {
    case LogicalName.timestamp:
      return 'Timestamp';
    case LogicalName.date:
      return 'Date';
    case LogicalName.time:
      return 'Time';
  }
  if (schema.type === 'string') return 'string';
  if (schema.type === 'int64') return 'unix';
  throw new ConnectError(`Schema ${schemaText(schema)} does not correspond to a known timestamp type format`, {
    scope: 'record',
  });
}

/** The kind of a value without a schema. Throws a DataError if it is not a time. */
export function kindOfValue(value: ConnectValue): TimestampKind {
  if (value instanceof Date) return 'Timestamp';
  if (typeof value === 'bigint') return 'unix';
  if (typeof value === 'string') return 'string';
  throw new DataError(`TimestampConverter does not support class ${javaClassOf(value)} objects as timestamps`);
}

/** Converts a value of a kind to milliseconds since 1970. An int64 may be a number. */
export function timestampMs(value: ConnectValue, kind: TimestampKind, settings: TimestampSettings): number | bigint {
  switch (kind) {
    case 'string':
      return parsed(value, settings);
    case 'unix':
      if (typeof value === 'number') {
        return settings.precision === 'milliseconds' ? value : toMs(BigInt(value), settings.precision);
      }
      if (typeof value === 'bigint') return toMs(value, settings.precision);
      throw new DataError(`Expected Unix timestamp to be a Long, but found class ${javaClassOf(value)}`);
    default:
      if (value instanceof Date && !Number.isNaN(value.getTime())) return value.getTime();
      throw new DataError(`Expected ${kind} to be a java.util.Date, but found class ${javaClassOf(value)}`);
  }
}

function parsed(value: ConnectValue, { format }: TimestampSettings): bigint {
  if (typeof value !== 'string') {
    throw new DataError(`Expected string timestamp to be a String, but found class ${javaClassOf(value)}`);
  }
  if (format === undefined) {
    throw recordError('java.lang.NullPointerException', 'TimestampConverter needs the option format to read texts');
  }
  const ms = format.parse(value);
  if (ms !== undefined) return ms;
  throw new DataError(`Could not parse timestamp: value (${value}) does not match pattern (${format.pattern})`, {
    cause: recordError('java.text.ParseException', `Unparseable date: "${value}"`),
  });
}

/** Converts milliseconds since 1970 to a value of a kind. An int64 may be a number. */
export function timestampValue(
  ms: number | bigint,
  kind: TimestampKind,
  settings: TimestampSettings,
): Exclude<ConnectValue, null> {
  switch (kind) {
    case 'string':
      return settings.format?.format(ms) ?? '';
    case 'unix':
      if (typeof ms === 'number' && settings.precision === 'milliseconds') return ms;
      return fromMs(BigInt(ms), settings.precision);
    case 'Date':
      return dateOf(BigInt(ms) - msOfDay(BigInt(ms)));
    case 'Time':
      return dateOf(msOfDay(BigInt(ms)));
    case 'Timestamp':
      return dateOf(ms);
  }
}

function msOfDay(ms: bigint): bigint {
  return ((ms % DAY_MS) + DAY_MS) % DAY_MS;
}

function dateOf(ms: number | bigint): Date {
  if (ms > MAX_DATE_MS || ms < -MAX_DATE_MS) {
    throw new DataError(`The time of ${String(ms)} ms since 1970 is past the year 275760, or before 271821 BC`);
  }
  return new Date(Number(ms));
}

/** Converts like java.util.concurrent.TimeUnit: fractions are truncated, and a value out of range becomes the nearest long. */
function toMs(value: bigint, precision: UnixPrecision): bigint {
  const unit = UNIX_PRECISIONS[precision];
  return unit > NANOS_PER_MS ? saturated(value * (unit / NANOS_PER_MS)) : value / (NANOS_PER_MS / unit);
}

function fromMs(ms: bigint, precision: UnixPrecision): bigint {
  const unit = UNIX_PRECISIONS[precision];
  return unit > NANOS_PER_MS ? ms / (unit / NANOS_PER_MS) : saturated(ms * (NANOS_PER_MS / unit));
}

function saturated(value: bigint): bigint {
  if (value > MAX_LONG) return MAX_LONG;
  return value < -MAX_LONG - 1n ? -MAX_LONG - 1n : value;
}
