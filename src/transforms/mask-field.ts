import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { PLAN } from '../connect/pipeline/struct-plan.ts';
import { distinctList, nonEmptyString } from '../config/validators.ts';
import { javaHashMapOrder } from '../java/java-hash-order.ts';
import { javaClassOf } from '../data/java-class.ts';
import type { Schema } from '../data/schema.ts';
import { Decimal, Struct, TypedNumber, type ConnectValue } from '../data/value.ts';
import { DataError } from '../errors.ts';
import { decimalToDouble, decimalToLong } from './number-casts.ts';
import { parsedDecimal } from './number-parsing.ts';
import { partTransformation, plannedStruct, replaceNullWithDefault } from './plugin-declaration.ts';
import { requireMap, requireStruct } from './requirements.ts';
import { fieldAt } from './schema-building.ts';
import { cellOf, checkedCell } from './struct-cells.ts';

const PURPOSE = 'mask fields';

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
      'What to put in place of numbers and texts, converted to the type of the field; zero, false or empty without it.',
    validator: nonEmptyString,
  },
  'replace.null.with.default': replaceNullWithDefault,
});

/** Replaces fields at the top of structs and maps by zero, false, an empty text, list or map, or by a fixed value. */
export const maskField = partTransformation('MaskField', options, (config, part) => {
  const { fields, replacement, ...parsed } = parseOptions(options, config, { errors: 'first' });
  const withDefault = parsed['replace.null.with.default'];
  const masked = new Set(javaHashMapOrder(fields, { capacity: Math.max(16, fields.length / 0.75) }));
  const mask = (value: ConnectValue, schema: Schema | null): ConnectValue => {
    if (value === null) return null;
    return replacement === null ? zeroOf(value, schema) : replaced(value, schema, replacement);
  };
  return {
    apply(record) {
      const schema = part.schema(record);
      const value = part.value(record);
      if (schema === null) {
        const map = requireMap(value, PURPOSE);
        const updated = new Map<ConnectValue, ConnectValue>(map);
        for (const name of masked) updated.set(name, mask(map.get(name) ?? null, null));
        return part.replaced(record, null, updated);
      }
      const struct = requireStruct(value, schema, PURPOSE);
      const values = struct.schema.fields.map((field) => {
        const cell = cellOf(struct, field, withDefault);
        return checkedCell(masked.has(field.name) ? mask(cell, field.schema) : cell, field);
      });
      return part.replaced(record, schema, new Struct(struct.schema, values));
    },
    [PLAN](plan) {
      const struct = plannedStruct(part, plan);
      if (struct === undefined) return false;
      const places = plan.stored(struct, withDefault).map((place, index) => {
        const field = fieldAt(struct.schema, index);
        if (!masked.has(field.name)) return place;
        const text = field.schema.type === 'string' ? (replacement ?? '') : undefined;
        const changed = plan.changed(place, field.schema, (value) =>
          text !== undefined && typeof value === 'string' ? text : mask(value, field.schema),
        );
        return plan.required(changed, field.schema);
      });
      return part.replan(plan, struct.schema, places);
    },
  };
});

function zeroOf(value: ConnectValue, schema: Schema | null): ConnectValue {
  if (typeof value === 'boolean') return false;
  if (typeof value === 'string') return '';
  if (typeof value === 'number') return 0;
  if (typeof value === 'bigint') return 0n;
  if (value instanceof TypedNumber) return new TypedNumber(value.type, 0);
  if (value instanceof Decimal) return new Decimal(0n, 0);
  if (value instanceof Date) return new Date(0);
  if (Array.isArray(value)) return [];
  if (value instanceof Map) return new Map();
  throw new DataError(`Cannot mask value of type: class ${javaClassOf(value, schema)}`);
}

/** The replacement as the value's own type: integers lose their fraction and wrap, as Java's narrowing does. */
function replaced(value: ConnectValue, schema: Schema | null, text: string): ConnectValue {
  if (typeof value === 'string') return text;
  if (typeof value === 'bigint') return decimalToLong(numberOf(text));
  if (value instanceof TypedNumber) return new TypedNumber(value.type, narrowed(text, value.type));
  if (typeof value === 'number') return narrowed(text, schema?.type ?? 'float64');
  if (value instanceof Decimal) return numberOf(text, 'number');
  throw new DataError(`Cannot mask value of type class ${javaClassOf(value, schema)} with custom replacement.`);
}

function narrowed(text: string, type: Schema['type']): number {
  switch (type) {
    case 'int8':
      return Number(BigInt.asIntN(8, decimalToLong(numberOf(text))));
    case 'int16':
      return Number(BigInt.asIntN(16, decimalToLong(numberOf(text))));
    case 'int32':
      return Number(BigInt.asIntN(32, decimalToLong(numberOf(text))));
    case 'float32':
      return Math.fround(decimalToDouble(numberOf(text)));
    default:
      return decimalToDouble(numberOf(text));
  }
}

function numberOf(text: string, what = 'a number'): Decimal {
  try {
    return parsedDecimal(text);
  } catch (error) {
    throw new DataError(`Unable to convert ${text} (class java.lang.String) to ${what}`, { cause: error });
  }
}
