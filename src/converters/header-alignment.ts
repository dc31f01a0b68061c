import { MS_PER_DAY } from '../data/logical-values.ts';
import { LogicalName, type Schema, type SchemaType } from '../data/schema.ts';
import { sameSchema } from '../data/schema-equality.ts';
import { TypedNumber, type ConnectValue } from '../data/value.ts';

/** A value cannot be converted to the common schema of its list or map. */
export class NotAligned extends Error {}

/** Number types from narrow to wide. The range of each type includes the ranges of the preceding ones. */
const NUMBERS: readonly SchemaType[] = ['int8', 'int16', 'int32', 'int64', 'float32', 'float64'];

/** A common schema of all elements, with widened numbers; `undefined` if there is none, or if all elements are null. */
export function mergedSchema(schemas: readonly Schema[]): Schema | undefined {
  let common: Schema | undefined = schemas[0];
  for (const schema of schemas.slice(1)) {
    common = common === undefined ? undefined : merged(common, schema);
  }
  return common;
}

function merged(previous: Schema, next: Schema): Schema | undefined {
  if (previous.type !== next.type) {
    const [from, to] = [NUMBERS.indexOf(previous.type), NUMBERS.indexOf(next.type)];
    if (from < 0 || to < 0) return undefined;
    return to > from ? next : previous;
  }
  if (previous.optional === next.optional) return previous.optional ? previous : next;
  return sameSchema(previous, next) ? previous : undefined;
}

/** Converts a parsed value to the common schema (Values.convertTo). Throws NotAligned if it cannot be converted. */
export function alignedTo(schema: Schema, value: ConnectValue): ConnectValue {
  if (value === null) throw new NotAligned('null where a value is required');
  switch (schema.name) {
    case LogicalName.date:
      return value instanceof Date ? value : new Date(wholeNumber(value) * MS_PER_DAY);
    case LogicalName.time:
    case LogicalName.timestamp:
      return value instanceof Date ? value : new Date(wholeNumber(value));
    case LogicalName.decimal:
      return value;
  }
  switch (schema.type) {
    case 'int8':
    case 'int16':
    case 'int32':
      if (value instanceof TypedNumber && value.type === schema.type) return value;
      return new TypedNumber(schema.type, wholeNumber(value));
    case 'int64':
      return typeof value === 'bigint' ? value : BigInt(wholeNumber(value));
    case 'float32':
      return new TypedNumber(schema.type, Math.fround(number(value)));
    case 'float64':
      return number(value);
    default:
      return value;
  }
}

function number(value: ConnectValue): number {
  if (value instanceof TypedNumber) return value.value;
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
  throw new NotAligned('no number');
}

function wholeNumber(value: ConnectValue): number {
  return Math.trunc(number(value));
}

/** Unwraps each TypedNumber whose width is known from its schema. */
export function plainValue(schema: Schema | undefined, value: ConnectValue): ConnectValue {
  if (value instanceof TypedNumber) return value.type === schema?.type ? value.value : value;
  if (value instanceof Map) {
    const entries = [...(value as ReadonlyMap<ConnectValue, ConnectValue>)];
    return new Map(
      entries.map(([key, entry]) => [plainValue(schema?.keySchema, key), plainValue(schema?.valueSchema, entry)]),
    );
  }
  return Array.isArray(value)
    ? (value as readonly ConnectValue[]).map((entry) => plainValue(schema?.valueSchema, entry))
    : value;
}
