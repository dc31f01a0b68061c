import { parseFloat32 } from '../java/java-number-text.ts';
import { decimalFromBytes, MS_PER_DAY, parseDecimal } from '../data/logical-values.ts';
import { LogicalName, type Schema } from '../data/schema.ts';
import { valueMismatch } from '../data/validate-value.ts';
import { Struct, type Decimal, type ConnectValue } from '../data/value.ts';
import { DataError, SluiceError, toError } from '../errors.ts';
import { decodeBase64 } from '../json/json-bytes.ts';
import { JsonMissing, JsonNumber, type JsonTree } from '../json/json-tree.ts';

export interface ReadSettings {
  readonly replaceNullWithDefault: boolean;
  /** Rejects numbers that do not fit and values of another JSON type, which Java silently changes to another value. */
  readonly strict: boolean;
}

/** Range of a JavaScript date, in days before and after the epoch. */
export const MAX_DAYS = 100_000_000;
const MAX_DATE_MS = BigInt(MAX_DAYS) * BigInt(MS_PER_DAY);

/** Converts a JSON value to Connect data of a schema (JsonConverter.convertToConnect); `undefined` is a missing field. */
export function readValue(schema: Schema, json: JsonTree | undefined, settings: ReadSettings): ConnectValue {
  if (json === null || json === undefined) return nullOf(schema, settings);
  switch (schema.name) {
    case LogicalName.decimal:
      return readDecimal(schema, json);
    case LogicalName.date:
      return readDate(json);
    case LogicalName.time:
      return readTime(json);
    case LogicalName.timestamp:
      return readTimestamp(json);
  }
  return readPlain(schema, json, settings);
}

/** Converts a null to the default, to null, or to an error. */
function nullOf(schema: Schema, settings: ReadSettings): ConnectValue {
  if (settings.replaceNullWithDefault && schema.defaultValue !== undefined) return schema.defaultValue as ConnectValue;
  if (schema.optional) return null;
  throw new DataError(`Invalid null value for required ${schema.type.toUpperCase()} field`);
}

function readPlain(schema: Schema, json: JsonTree, settings: ReadSettings): ConnectValue {
  switch (schema.type) {
    case 'int8':
      return integer(json, 8, schema, settings);
    case 'int16':
      return integer(json, 16, schema, settings);
    case 'int32':
      return integer(json, 32, schema, settings);
    case 'int64':
      return int64(json, schema, settings);
    case 'float32':
      return json instanceof JsonNumber ? parseFloat32(json.text) + 0 : otherType(json, 0, schema, settings);
    case 'float64':
      // The addition turns -0 into 0: Java reads a decimal, which has no -0.
      return json instanceof JsonNumber ? Number(json.text) + 0 : otherType(json, 0, schema, settings);
    case 'boolean':
      return typeof json === 'boolean' ? json : otherType(json, false, schema, settings);
    case 'string':
      return typeof json === 'string' ? json : otherType(json, null, schema, settings);
    case 'bytes':
      return typeof json === 'string' ? readBytes(json) : otherType(json, null, schema, settings);
    case 'array':
      return readArray(schema, json, settings);
    case 'map':
      return readMap(schema, json, settings);
    case 'struct':
      return readStruct(schema, json, settings);
  }
}

/**
 * For a JSON value of another type, Java returns zero, false, null or an empty array; the strict reader throws a
 * DataError.
 */
function otherType<T>(json: JsonTree, value: T, schema: Schema, settings: ReadSettings): T {
  if (settings.strict) throw new DataError(`A ${schema.type} cannot be read from a JSON ${nodeType(json)}`);
  return value;
}

function integer(json: JsonTree, bits: 8 | 16 | 32, schema: Schema, settings: ReadSettings): number {
  if (!(json instanceof JsonNumber)) return otherType(json, 0, schema, settings);
  const number = Number(json.text);
  if (json.integral && Math.abs(number) < 2 ** (bits - 1)) return number + 0;
  return Number(BigInt.asIntN(bits, checked(json, bits, schema, settings)));
}

function int64(json: JsonTree, schema: Schema, settings: ReadSettings): bigint {
  if (!(json instanceof JsonNumber)) return otherType(json, 0n, schema, settings);
  return BigInt.asIntN(64, checked(json, 64, schema, settings));
}

function checked(json: JsonNumber, bits: number, schema: Schema, { strict }: ReadSettings): bigint {
  const whole = json.integral ? BigInt(json.text) : truncated(json.text, bits);
  if (strict && (!json.integral || BigInt.asIntN(bits, whole) !== whole)) {
    throw new DataError(`${json.text} does not fit ${schema.type}`);
  }
  return whole;
}

/** The integer part of a number. The result is only exact in its lowest `bits`, which avoids huge powers of ten. */
function truncated(text: string, bits: number): bigint {
  const decimal = parseDecimal(text);
  if (decimal === undefined) return 0n;
  const { unscaled, scale } = decimal;
  if (scale <= -bits) return 0n; // 10^bits is a multiple of 2^bits
  if (scale <= 0) return unscaled * 10n ** BigInt(-scale);
  return scale > text.length ? 0n : unscaled / 10n ** BigInt(scale);
}

function readBytes(text: string): Uint8Array {
  const bytes = decodeBase64(text);
  if (bytes === undefined) throw new DataError('Invalid bytes field', { cause: brokenBase64() });
  return bytes;
}

function brokenBase64(): SluiceError {
  return new SluiceError('Cannot access contents of TextNode as binary due to broken Base64 encoding', {
    scope: 'record',
    javaName: 'com.fasterxml.jackson.databind.exc.InvalidFormatException',
  });
}

function readArray(schema: Schema, json: JsonTree, settings: ReadSettings): ConnectValue[] {
  const element = partOf(schema);
  // Java iterates over the values of a JSON object as if it were an array.
  const entries = Array.isArray(json)
    ? json
    : json instanceof Map && !settings.strict
      ? [...json.values()]
      : otherType(json, [], schema, settings);
  return entries.map((entry) => readValue(element, entry, settings));
}

function readMap(schema: Schema, json: JsonTree, settings: ReadSettings): Map<ConnectValue, ConnectValue> {
  const { keySchema } = schema;
  const valueSchema = partOf(schema);
  const result = new Map<ConnectValue, ConnectValue>();
  if (keySchema === undefined || keySchema.type === 'string') {
    if (!(json instanceof Map)) {
      throw new DataError(`Maps with string fields should be encoded as JSON objects, but found ${nodeType(json)}`);
    }
    for (const [key, value] of json) result.set(key, readValue(valueSchema, value, settings));
    return result;
  }
  if (!Array.isArray(json)) {
    throw new DataError(
      `Maps with non-string fields should be encoded as JSON array of tuples, but found ${nodeType(json)}`,
    );
  }
  for (const entry of json) {
    if (!Array.isArray(entry)) {
      throw new DataError(`Found invalid map entry instead of array tuple: ${nodeType(entry)}`);
    }
    if (entry.length !== 2) {
      throw new DataError(`Found invalid map entry, expected length 2 but found :${String(entry.length)}`);
    }
    result.set(readValue(keySchema, entry[0], settings), readValue(valueSchema, entry[1], settings));
  }
  return result;
}

function readStruct(schema: Schema, json: JsonTree, settings: ReadSettings): Struct {
  if (!(json instanceof Map)) {
    throw new DataError(`Structs should be encoded as JSON objects, but found ${nodeType(json)}`);
  }
  const values = schema.fields.map((field) => {
    const value = readValue(field.schema, json.get(field.name), settings);
    const mismatch = valueMismatch(field.schema, value, `field: "${field.name}"`);
    if (mismatch !== undefined) throw new DataError(mismatch);
    return value;
  });
  return new Struct(schema, values);
}

function partOf(schema: Schema): Schema {
  if (schema.valueSchema === undefined) throw new DataError(`The ${schema.type} schema has no schema for its values`);
  return schema.valueSchema;
}

function readDecimal(schema: Schema, json: JsonTree): Decimal {
  if (json instanceof JsonNumber) {
    const decimal = parseDecimal(json.text);
    if (decimal !== undefined) return decimal;
  }
  if (typeof json !== 'string') {
    throw new DataError(
      `Invalid type for Decimal, underlying representation should be numeric or bytes but was ${nodeType(json)}`,
    );
  }
  try {
    const bytes = decodeBase64(json);
    if (bytes === undefined) throw brokenBase64();
    const scale = decimalScale(schema);
    if (bytes.length === 0) throw javaError('java.lang.NumberFormatException', 'Zero length BigInteger');
    return decimalFromBytes(bytes, scale);
  } catch (error) {
    throw new DataError('Invalid bytes for Decimal field', { cause: toError(error) });
  }
}

/** The `scale` parameter of a Decimal schema. Throws the same exception as Java if it is missing or not a number. */
export function decimalScale(schema: Schema): number {
  if (schema.parameters === undefined)
    throw javaError('java.lang.NullPointerException', 'Decimal schema without parameters');
  const text = schema.parameters.get('scale');
  if (text === undefined) throw new DataError('Invalid Decimal schema: scale parameter not found.');
  if (!/^[+-]?\d+$/.test(text)) {
    const cause = javaError('java.lang.NumberFormatException', `For input string: "${text}"`);
    throw new DataError('Invalid scale parameter found in Decimal schema: ', { cause });
  }
  return Number(text);
}

function javaError(javaName: string, message: string): SluiceError {
  return new SluiceError(message, { scope: 'record', javaName });
}

function readInt32(json: JsonTree, logical: string): number {
  const number = json instanceof JsonNumber && json.integral ? Number(json.text) : NaN;
  if (Number.isNaN(number) || (number | 0) !== number) {
    throw new DataError(
      `Invalid type for ${logical}, underlying representation should be integer but was ${nodeType(json)}`,
    );
  }
  return number;
}

function readDate(json: JsonTree): Date {
  const days = readInt32(json, 'Date');
  if (Math.abs(days) > MAX_DAYS)
    throw new DataError(`Date ${String(days)} is outside the range of dates: is it a number of days?`);
  return new Date(days * MS_PER_DAY);
}

function readTime(json: JsonTree): Date {
  const milliseconds = readInt32(json, 'Time');
  if (milliseconds < 0 || milliseconds > MS_PER_DAY) {
    throw new DataError('Time values must use number of milliseconds greater than 0 and less than 86400000');
  }
  return new Date(milliseconds);
}

function readTimestamp(json: JsonTree): Date {
  if (!(json instanceof JsonNumber) || !json.integral) {
    throw new DataError(
      `Invalid type for Timestamp, underlying representation should be integral but was ${nodeType(json)}`,
    );
  }
  const milliseconds = BigInt.asIntN(64, BigInt(json.text));
  if (milliseconds > MAX_DATE_MS || milliseconds < -MAX_DATE_MS) {
    throw new DataError(
      `Timestamp ${String(milliseconds)} is outside the range of dates: is it a number of milliseconds?`,
    );
  }
  return new Date(Number(milliseconds));
}

/** Jackson's name for the type of a JSON value. */
export function nodeType(json: JsonTree): string {
  if (json === null) return 'NULL';
  if (typeof json === 'string') return 'STRING';
  if (typeof json === 'boolean') return 'BOOLEAN';
  if (json instanceof JsonNumber) return 'NUMBER';
  if (json instanceof JsonMissing) return 'MISSING';
  return Array.isArray(json) ? 'ARRAY' : 'OBJECT';
}
