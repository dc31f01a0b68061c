import {
  ConfigError,
  declareOptions,
  parseOptions,
  Struct,
  withoutTrailing,
  type ConnectRecord,
  type ConnectValue,
  type Schema,
} from '../../../src/index.ts';
import { changeEvent, structField } from './change-event.ts';
import { debeziumTransform } from './declaration.ts';

const options = declareOptions({
  'converted.timezone': {
    type: 'STRING',
    importance: 'HIGH',
    documentation: 'Time zone, such as `+05:30` or `Europe/Oslo`.',
  },
  'include.list': {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation:
      'Tables and fields that are converted: `source:table`, `source:table:field`, `topic:name` or `topic:name:field`; all if empty.',
  },
  'exclude.list': {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation: 'Tables and fields that are not converted.',
  },
});

const MICROS_PER_SECOND = 1_000_000n;
const FIXED_OFFSET = /^(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d\d))?$/;
const ZONED = /^([+-]?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z$/;
const ZONED_TIME = /^(\d\d):(\d\d):(\d\d)(\.\d+)?Z$/;

/** Returns the offset from UTC in seconds at an instant; positive values are east of UTC. */
type Zone = (epochMs: number) => number;

/** @throws ConfigError if the zone does not exist */
function timeZone(name: string): Zone {
  const [, sign, hours, minutes = '0'] = FIXED_OFFSET.exec(name) ?? [];
  if (hours !== undefined) {
    const seconds = Number(hours) * 3600 + Number(minutes) * 60;
    return () => (sign === '-' ? -seconds : seconds);
  }
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset', era: 'short' });
  } catch (error) {
    throw new ConfigError(`converted.timezone: ${JSON.stringify(name)} is not a time zone`, { cause: error });
  }
  return (epochMs) => {
    const text = format.formatToParts(epochMs).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, side, hour = '0', minute = '0'] = /([+-])(\d\d):(\d\d)/.exec(text) ?? [];
    const seconds = Number(hour) * 3600 + Number(minute) * 60;
    return side === '-' ? -seconds : seconds;
  };
}

/** Types of times without a zone, and the length of their unit in microseconds. */
const LOCAL_TIMES: ReadonlyMap<string, bigint> = new Map([
  ['io.debezium.time.Timestamp', 1_000n],
  ['io.debezium.time.MicroTimestamp', 1n],
]);

/** `io.debezium.transforms.TimezoneConverter`: converts the times in events to another time zone. */
export const timezoneConverter = debeziumTransform('TimezoneConverter', options, (config) => {
  const parsed = parseOptions(options, config, { errors: 'first' });
  const zone = timeZone(parsed['converted.timezone']);
  const isIncluded = selection(parsed['include.list'], parsed['exclude.list']);

  const converted = (row: Struct, record: ConnectRecord, table: string): Struct => {
    const values = row.schema.fields.map((field, index) => {
      const value = row.values[index] ?? null;
      return isIncluded(record.topic, table, field.name) ? convert(field.schema, value, zone) : value;
    });
    return new Struct(row.schema, values);
  };

  return {
    apply<R extends ConnectRecord>(record: R): R {
      const event = changeEvent(record);
      if (event === undefined) return record;
      const table = structField(event, 'source')?.get('table');
      const values = [...event.values];
      for (const name of ['before', 'after']) {
        const field = event.schema.field(name);
        const row = structField(event, name);
        if (field !== undefined && row !== null)
          values[field.index] = converted(row, record, typeof table === 'string' ? table : '');
      }
      return { ...record, value: new Struct(event.schema, values) };
    },
  };
});

function selection(include: readonly string[], exclude: readonly string[]) {
  const matches = (list: readonly string[], topic: string, table: string, field: string): boolean =>
    list.some((entry) => {
      const parts = entry.split(':');
      const [kind, name, only] = parts.length === 1 ? ['any', entry, undefined] : parts;
      const isNamed = (kind !== 'topic' && name === table) || (kind !== 'source' && name === topic);
      return isNamed && (only === undefined || only === field);
    });
  return (topic: string, table: string, field: string): boolean => {
    const isIncluded = include.length === 0 || matches(include, topic, table, field);
    return isIncluded && !matches(exclude, topic, table, field);
  };
}

function convert({ name }: Schema, value: ConnectValue, zone: Zone): ConnectValue {
  if (name === 'io.debezium.time.ZonedTimestamp' && typeof value === 'string') return zonedTimestamp(value, zone);
  if (name === 'io.debezium.time.ZonedTime' && typeof value === 'string') return zonedTime(value, zone);
  const unit = name === undefined ? undefined : LOCAL_TIMES.get(name);
  return unit !== undefined && typeof value === 'bigint' ? localTime(value, unit, zone) : value;
}

/** Interprets a time without a zone as local time of `zone`, and returns its instant in the same unit. */
function localTime(value: bigint, unit: bigint, zone: Zone): bigint {
  const perSecond = MICROS_PER_SECOND / unit;
  const asUtcMs = Number((value * unit) / 1_000n);
  const offset = zone(asUtcMs - zone(asUtcMs) * 1000);
  return value - BigInt(offset) * perSecond;
}

function zonedTimestamp(value: string, zone: Zone): string {
  const [, whole = '', fraction = ''] = ZONED.exec(value) ?? [];
  const epochMs = Date.parse(`${whole}Z`);
  if (whole === '' || Number.isNaN(epochMs)) return value;
  const offset = zone(epochMs);
  const local = new Date(epochMs + offset * 1000).toISOString().slice(0, -5);
  return local + trimmed(fraction) + offsetText(offset);
}

function zonedTime(value: string, zone: Zone): string {
  const [, hours, minutes, seconds, fraction = ''] = ZONED_TIME.exec(value) ?? [];
  if (hours === undefined) return value;
  const offset = zone(Date.now());
  const day = 86_400;
  const utc = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  const local = (utc + offset + 2 * day) % day;
  return new Date(local * 1000).toISOString().slice(11, 19) + trimmed(fraction) + offsetText(offset);
}

function trimmed(fraction: string): string {
  const digits = withoutTrailing(fraction, '0');
  return digits === '.' ? '' : digits;
}

function offsetText(seconds: number): string {
  if (seconds === 0) return 'Z';
  const two = (part: number): string => String(part).padStart(2, '0');
  const size = Math.abs(seconds);
  return `${seconds < 0 ? '-' : '+'}${two(Math.floor(size / 3600))}:${two(Math.floor(size / 60) % 60)}`;
}
