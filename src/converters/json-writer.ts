import { javaClassOf } from '../data/java-class.ts';
import { doubleText, floatText } from '../java/java-number-text.ts';
import { decimalText } from '../java/java-text.ts';
import { decimalBytes, MS_PER_DAY } from '../data/logical-values.ts';
import { sameSchema } from '../data/schema-equality.ts';
import { LogicalName, type Schema } from '../data/schema.ts';
import { Decimal, Struct, TypedNumber, type ConnectValue } from '../data/value.ts';
import { DataError } from '../errors.ts';
import { asBuffer } from '../json/json-bytes.ts';
import { decimalScale } from './json-reader.ts';
import { quoteJson } from '../json/json-tree.ts';

export interface WriteSettings {
  readonly replaceNullWithDefault: boolean;
  readonly decimalFormat: 'BASE64' | 'NUMERIC';
}

/** Converts a Connect value to JSON text (JsonConverter.convertToJson). Without a schema, its JavaScript type determines the form. */
export function writeValue(schema: Schema | null, value: ConnectValue, settings: WriteSettings): string {
  if (value === null) return writeNull(schema, settings);
  if (schema === null) return writeSchemaless(value, settings);
  switch (schema.name) {
    case LogicalName.decimal:
      return writeDecimal(schema, value, settings);
    case LogicalName.date:
      return String(daysOf(logicalDate(value, 'Date')));
    case LogicalName.time:
      return String(millisecondsOfDay(logicalDate(value, 'Time')));
    case LogicalName.timestamp:
      return String(logicalDate(value, 'Timestamp').getTime());
  }
  return writePlain(schema, value, settings);
}

function writeNull(schema: Schema | null, settings: WriteSettings): string {
  if (schema === null) return 'null';
  if (settings.replaceNullWithDefault && schema.defaultValue !== undefined && schema.defaultValue !== null) {
    return writeValue(schema, schema.defaultValue as ConnectValue, settings);
  }
  if (schema.optional) return 'null';
  throw new DataError('Conversion error: null value for field that is required and has no default value');
}

function writePlain(schema: Schema, value: ConnectValue, settings: WriteSettings): string {
  switch (schema.type) {
    case 'int8':
    case 'int16':
    case 'int32':
      if (typeof value === 'number' && Number.isInteger(value)) return String(value);
      return value instanceof TypedNumber && value.type === schema.type ? String(value.value) : mismatch(schema, value);
    case 'int64':
      return typeof value === 'bigint' ? String(value) : mismatch(schema, value);
    case 'float32':
      if (typeof value === 'number') return writeFloating(floatText(value));
      return value instanceof TypedNumber && value.type === 'float32'
        ? writeSchemaless(value, settings)
        : mismatch(schema, value);
    case 'float64':
      return typeof value === 'number' ? writeFloating(doubleText(value)) : mismatch(schema, value);
    case 'boolean':
      return typeof value === 'boolean' ? String(value) : mismatch(schema, value);
    case 'string':
      return typeof value === 'string' ? quoteJson(value) : mismatch(schema, value);
    case 'bytes':
      if (value instanceof Uint8Array) return writeBytes(value);
      throw new DataError(`Invalid type for bytes type: class ${javaClassOf(value)}`);
    case 'array':
      return Array.isArray(value)
        ? writeArray(value as readonly ConnectValue[], schema, settings)
        : mismatch(schema, value);
    case 'map':
      return value instanceof Map ? writeMap(value as ConnectMap, schema, settings) : mismatch(schema, value);
    case 'struct':
      return value instanceof Struct ? writeStruct(value, schema, settings) : mismatch(schema, value);
  }
}

type ConnectMap = ReadonlyMap<ConnectValue, ConnectValue>;

function mismatch(schema: Schema, value: ConnectValue): never {
  throw new DataError(`Invalid type for ${schema.type.toUpperCase()}: class ${javaClassOf(value)}`);
}

function writeSchemaless(value: ConnectValue, settings: WriteSettings): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return quoteJson(value);
  if (typeof value === 'number') return writeFloating(doubleText(value));
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value instanceof TypedNumber) {
    return value.type === 'float32' ? writeFloating(floatText(value.value)) : String(value.value);
  }
  if (value instanceof Uint8Array) return writeBytes(value);
  if (Array.isArray(value)) return writeArray(value as readonly ConnectValue[], null, settings);
  if (value instanceof Map) return writeMap(value as ConnectMap, null, settings);
  // Java compares the struct's schema with the missing schema, so the message is that of a mismatch.
  if (value instanceof Struct) throw new DataError('Mismatching schema.');
  throw new DataError(`Java class class ${javaClassOf(value)} does not have corresponding schema type.`);
}

/** NaN and infinities are quoted as in Java, because JSON has no numbers for them. */
function writeFloating(text: string): string {
  return text.endsWith('N') || text.endsWith('y') ? `"${text}"` : text;
}

function writeBytes(bytes: Uint8Array): string {
  return `"${asBuffer(bytes).toString('base64')}"`;
}

function writeArray(values: readonly ConnectValue[], schema: Schema | null, settings: WriteSettings): string {
  const element = schema?.valueSchema ?? null;
  return `[${values.map((value) => writeValue(element, value, settings)).join(',')}]`;
}

/** A map is an object if its keys are strings; otherwise it is an array of pairs. */
function writeMap(map: ConnectMap, schema: Schema | null, settings: WriteSettings): string {
  const keySchema = schema?.keySchema ?? null;
  const valueSchema = schema?.valueSchema ?? null;
  const entries = [...map];
  const asObject = keySchema === null ? entries.every(([key]) => typeof key === 'string') : keySchema.type === 'string';
  const texts = entries.map(([key, value]) => {
    const keyText = writeValue(keySchema, key, settings);
    const valueText = writeValue(valueSchema, value, settings);
    if (!asObject) return `[${keyText},${valueText}]`;
    return `${keyText.startsWith('"') ? keyText : quoteJson(keyText)}:${valueText}`;
  });
  return asObject ? `{${texts.join(',')}}` : `[${texts.join(',')}]`;
}

/** The text before each value of a struct: the brace or comma, and the name of the field. */
const fieldStarts = new WeakMap<Schema, readonly string[]>();

function fieldStartsOf(schema: Schema): readonly string[] {
  let starts = fieldStarts.get(schema);
  if (starts === undefined) {
    starts = schema.fields.map(({ name, index }) => `${index === 0 ? '{' : ','}${quoteJson(name)}:`);
    fieldStarts.set(schema, starts);
  }
  return starts;
}

function writeStruct({ schema: own, values }: Struct, schema: Schema, settings: WriteSettings): string {
  if (!sameSchema(own, schema)) throw new DataError('Mismatching schema.');
  const { fields } = schema;
  if (fields.length === 0) return '{}';
  const starts = fieldStartsOf(schema);
  let text = '';
  for (const { index, schema: fieldSchema } of fields) {
    text += (starts[index] ?? '') + writeValue(fieldSchema, values[index] ?? null, settings);
  }
  return `${text}}`;
}

function writeDecimal(schema: Schema, value: ConnectValue, settings: WriteSettings): string {
  if (!(value instanceof Decimal)) {
    throw new DataError(`Invalid type for Decimal, expected BigDecimal but was class ${javaClassOf(value)}`);
  }
  if (settings.decimalFormat === 'NUMERIC') return decimalText(value);
  const scale = decimalScale(schema);
  if (value.scale !== scale) {
    throw new DataError(
      `Decimal value has mismatching scale for given Decimal schema. Schema has scale ${String(scale)}, value has scale ${String(value.scale)}.`,
    );
  }
  return writeBytes(decimalBytes(value));
}

function logicalDate(value: ConnectValue, logical: string): Date {
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new DataError(`Invalid ${logical}: the date is invalid`);
    return value;
  }
  throw new DataError(`Invalid type for ${logical}, expected Date but was class ${javaClassOf(value)}`);
}

function daysOf(date: Date): number {
  const days = date.getTime() / MS_PER_DAY;
  if (!Number.isInteger(days)) {
    throw new DataError('Kafka Connect Date type should not have any time fields set to non-zero values.');
  }
  return days;
}

function millisecondsOfDay(date: Date): number {
  const milliseconds = date.getTime();
  if (milliseconds < 0 || milliseconds > MS_PER_DAY) {
    throw new DataError('Kafka Connect Time type should not have any date fields set to non-zero values.');
  }
  return milliseconds;
}
