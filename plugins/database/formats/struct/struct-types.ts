import type { CellKind } from '../../../../src/data/row-batch.ts';
import { LogicalName, Schema } from '../../../../src/data/schema.ts';
import { Decimal, TypedNumber } from '../../../../src/data/value.ts';
import * as cells from './struct-cells.ts';
import type { Present, ToCell, ValueRule } from './struct-cells.ts';
import { jsonText } from './struct-json.ts';
import { lookupTable } from '../../../../src/data/lookup-table.ts';

/** The schema of a null that no schema describes. */
export const UNTYPED = new Schema('string', { optional: true });

const rule = (type: string | undefined, kind: CellKind, toCell: ToCell): ValueRule => ({ type, kind, toCell });

type PlainType = Exclude<Schema['type'], 'array' | 'map' | 'struct'>;

const PLAIN: Readonly<Record<PlainType, ValueRule>> = {
  int8: rule('INT2', 'int', cells.number),
  int16: rule('INT2', 'int', cells.number),
  int32: rule('INT4', 'int', cells.number),
  int64: rule('INT8', 'int', cells.int64),
  float32: rule('FLOAT4', 'float', cells.number),
  float64: rule('FLOAT8', 'float', cells.number),
  boolean: rule('BOOL', 'bool', cells.boolean),
  string: rule('TEXT', 'text', cells.text),
  bytes: rule('BYTEA', 'bytes', cells.bytes),
};

/**
 * Connect's and Debezium's logical types (Debezium documentation, "Data type mappings"). Connect's Timestamp is an
 * instant, so its column is timestamptz; Debezium's integer timestamps come from columns without a time zone. A logical
 * name only applies to the type that it is defined for, as any schema may have a name.
 */
const LOGICAL: Readonly<Record<string, readonly [Schema['type'], ValueRule]>> = lookupTable({
  [LogicalName.decimal]: ['bytes', rule('NUMERIC', 'numeric', cells.decimal)],
  [LogicalName.date]: ['int32', rule('DATE', 'time', cells.instant)],
  [LogicalName.time]: ['int32', rule('TIME', 'text', cells.timeOfDay)],
  [LogicalName.timestamp]: ['int64', rule('TIMESTAMPTZ', 'time', cells.instant)],
  'io.debezium.time.Date': ['int32', rule('DATE', 'time', cells.days)],
  'io.debezium.time.Time': ['int32', rule('TIME', 'text', cells.timeIn(1_000n))],
  'io.debezium.time.MicroTime': ['int64', rule('TIME', 'text', cells.timeIn(1n))],
  'io.debezium.time.NanoTime': ['int64', rule('TIME', 'text', cells.nanoTime)],
  'io.debezium.time.ZonedTime': ['string', rule('TIMETZ', 'text', cells.text)],
  'io.debezium.time.Timestamp': ['int64', rule('TIMESTAMP', 'time', cells.millis)],
  'io.debezium.time.MicroTimestamp': ['int64', rule('TIMESTAMP', 'time', cells.int64)],
  'io.debezium.time.NanoTimestamp': ['int64', rule('TIMESTAMP', 'time', cells.nanos)],
  'io.debezium.time.ZonedTimestamp': ['string', rule('TIMESTAMPTZ', 'time', cells.timestampText)],
  'io.debezium.time.IsoDate': ['string', rule('DATE', 'text', cells.text)],
  'io.debezium.time.IsoTime': ['string', rule('TIME', 'text', cells.text)],
  'io.debezium.time.IsoTimestamp': ['string', rule('TIMESTAMP', 'time', cells.timestampText)],
  'io.debezium.time.Interval': ['string', rule('INTERVAL', 'text', cells.text)],
  'io.debezium.time.MicroDuration': ['int64', rule('INTERVAL', 'text', cells.microDuration)],
  'io.debezium.data.Json': ['string', rule('JSONB', 'json', cells.text)],
  'io.debezium.data.Uuid': ['string', rule('UUID', 'text', cells.text)],
  'io.debezium.data.VariableScaleDecimal': ['struct', rule('NUMERIC', 'numeric', cells.variableScaleDecimal)],
});

const DEBEZIUM_BITS = 'io.debezium.data.Bits';
/** PostgreSQL's limit. */
const MAX_BITS = 83_886_080;
const MAX_NUMERIC_DIGITS = 1000;

/** Returns how values of the schema are converted to cells. Nested values (array, map, struct) become JSON. */
export function ruleOf(schema: Schema): ValueRule {
  if (schema === UNTYPED) return rule(undefined, 'text', cells.text);
  if (schema.name === DEBEZIUM_BITS && schema.type === 'bytes') return bits(schema);
  const name = schema.name ?? '';
  const [type, logical] = (Object.hasOwn(LOGICAL, name) ? LOGICAL[name] : undefined) ?? [];
  if (logical !== undefined && type === schema.type) {
    return name === LogicalName.decimal ? { ...logical, type: numericType(schema) } : logical;
  }
  switch (schema.type) {
    case 'array':
    case 'map':
    case 'struct':
      return rule('JSONB', 'json', (value) => jsonText(schema, value, { ruleOf, schemaOf }));
    default:
      return PLAIN[schema.type];
  }
}

/**
 * Returns `NUMERIC(10,2)` if parameters specify precision and scale, as those of Debezium and Confluent do; otherwise
 * `NUMERIC`.
 */
function numericType(schema: Schema): string {
  const precision = Number(schema.parameters?.get('connect.decimal.precision'));
  const scale = Number(schema.parameters?.get('scale'));
  const isKnown = isBetween(precision, 1, MAX_NUMERIC_DIGITS) && isBetween(scale, 0, precision);
  return isKnown ? `NUMERIC(${String(precision)},${String(scale)})` : 'NUMERIC';
}

function bits(schema: Schema): ValueRule {
  const length = Number(schema.parameters?.get('length'));
  const isKnown = isBetween(length, 1, MAX_BITS);
  return rule(isKnown ? `BIT(${String(length)})` : 'VARBIT', 'text', cells.bitsOf(isKnown ? length : undefined));
}

function isBetween(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}

const optional = (type: Schema['type'], name?: string): Schema => new Schema(type, { optional: true, name });

const BY_TYPE = {
  boolean: optional('boolean'),
  string: optional('string'),
  bigint: optional('int64'),
  number: optional('float64'),
  int8: optional('int8'),
  int16: optional('int16'),
  int32: optional('int32'),
  float32: optional('float32'),
  bytes: optional('bytes'),
  timestamp: optional('int64', LogicalName.timestamp),
  decimal: optional('bytes', LogicalName.decimal),
  array: Schema.array(UNTYPED, { optional: true }),
  object: Schema.map(UNTYPED, UNTYPED, { optional: true }),
} as const;

/** Returns a schema for a value without one, which is always the same object for the same kind of value. */
export function schemaOf(value: Present | null): Schema {
  if (typeof value !== 'object') return BY_TYPE[typeof value as 'boolean' | 'string' | 'bigint' | 'number'];
  if (value === null) return UNTYPED;
  if (value instanceof TypedNumber) return BY_TYPE[value.type];
  if (value instanceof Uint8Array) return BY_TYPE.bytes;
  if (value instanceof Date) return BY_TYPE.timestamp;
  if (value instanceof Decimal) return BY_TYPE.decimal;
  return Array.isArray(value) ? BY_TYPE.array : BY_TYPE.object;
}
