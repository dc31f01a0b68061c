import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { distinctList, nonEmptyString } from '../config/validators.ts';
import { javaHashMapOrder } from '../java/java-hash-order.ts';
import { javaClassOf } from '../data/java-class.ts';
import type { Schema } from '../data/schema.ts';
import { Decimal, TypedNumber, type ConnectValue } from '../data/value.ts';
import { DataError } from '../errors.ts';
import { castToInt } from './cast-value.ts';
import { changedMap, fieldTransformation } from './field-transformation.ts';
import { decimalToDouble, decimalToLong } from './number-casts.ts';
import { parsedDecimal } from './number-parsing.ts';
import { partTransformation, replaceNullWithDefault } from './plugin-declaration.ts';
import { rememberedBySchema } from './schema-building.ts';

const options = declareOptions({
  fields: {
    type: 'LIST',
    importance: 'HIGH',
    documentation: 'Fields to mask.',
    validator: distinctList({ emptyAllowed: false }),
  },
  replacement: {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation:
      'Replacement for numbers and texts, converted to the type of the field. Without it, values become zero, false or empty.',
    validator: nonEmptyString,
  },
  'replace.null.with.default': replaceNullWithDefault,
});

/** Replaces top-level fields of structs and maps with zero, false, an empty text, list or map, or a fixed value. */
export const maskField = partTransformation('MaskField', options, (config, part) => {
  const { fields, replacement, ...parsed } = parseOptions(options, config, { errors: 'first' });
  const withDefault = parsed['replace.null.with.default'];
  const masked = new Set(javaHashMapOrder(fields, { capacity: Math.max(16, fields.length / 0.75) }));
  const mask = (value: ConnectValue, schema: Schema | null): ConnectValue => {
    if (value === null) return null;
    if (typeof value === 'string') return replacement ?? '';
    return replacement === null ? zeroOf(value, schema) : replaced(value, schema, replacement);
  };
  const masks = [...masked].map((name) => [name, (value: ConnectValue) => mask(value, null)] as const);
  return fieldTransformation(part, {
    purpose: 'mask fields',
    inMap: (map) => changedMap(map, masks),
    mapping: rememberedBySchema((schema) => ({
      schema,
      fields: schema.fields.map((from) => ({
        from,
        withDefault,
        change: masked.has(from.name) ? (value: ConnectValue) => mask(value, from.schema) : undefined,
      })),
    })),
  });
});

function zeroOf(value: ConnectValue, schema: Schema | null): ConnectValue {
  if (typeof value === 'boolean') return false;
  if (typeof value === 'number') return 0;
  if (typeof value === 'bigint') return 0n;
  if (value instanceof TypedNumber) return new TypedNumber(value.type, 0);
  if (value instanceof Decimal) return new Decimal(0n, 0);
  if (value instanceof Date) return new Date(0);
  if (Array.isArray(value)) return [];
  if (value instanceof Map) return new Map();
  throw new DataError(`Cannot mask value of type: class ${javaClassOf(value, schema)}`);
}

/** Converts the replacement to the type of the value. Integers are truncated and overflow as in Java's narrowing conversions. */
function replaced(value: ConnectValue, schema: Schema | null, text: string): ConnectValue {
  if (typeof value === 'bigint') return narrowed(text, 'int64');
  if (value instanceof TypedNumber) return new TypedNumber(value.type, Number(narrowed(text, value.type)));
  if (typeof value === 'number') return narrowed(text, schema?.type ?? 'float64');
  if (value instanceof Decimal) return numberOf(text, 'number');
  throw new DataError(`Cannot mask value of type class ${javaClassOf(value, schema)} with custom replacement.`);
}

function narrowed(text: string, type: Schema['type']): number | bigint {
  const number = numberOf(text);
  switch (type) {
    case 'int8':
      return castToInt(number, 8);
    case 'int16':
      return castToInt(number, 16);
    case 'int32':
      return castToInt(number, 32);
    case 'int64':
      return decimalToLong(number);
    case 'float32':
      return Math.fround(decimalToDouble(number));
    default:
      return decimalToDouble(number);
  }
}

function numberOf(text: string, what = 'a number'): Decimal {
  try {
    return parsedDecimal(text);
  } catch (error) {
    throw new DataError(`Unable to convert ${text} (class java.lang.String) to ${what}`, { cause: error });
  }
}
