import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { javaHashMapOrder } from '../../src/java/java-hash-order.ts';
import { doubleText, floatText } from '../../src/java/java-number-text.ts';
import { decimalText } from '../../src/java/java-text.ts';
import { LogicalName, Schema, type SchemaType } from '../../src/data/schema.ts';
import { Decimal, Struct, TypedNumber, type ConnectValue } from '../../src/data/value.ts';
import { SluiceError, toError } from '../../src/errors.ts';

/**
 * Cases recorded from the Java classes: values and schemas to and from our own. Schemas come as JSON (see the README
 * beside the cases); values as `{"int32":5}` and so on.
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = Record<string, Json>;

export interface GoldenError {
  readonly class: string;
  readonly message: string;
  readonly cause?: { readonly class: string; readonly message: string };
}

/** The folder of recorded cases: `GOLDEN_DIR`, or the project's own. */
export const GOLDEN_FOLDER = resolve(process.env['GOLDEN_DIR'] ?? fileURLToPath(new URL('cases', import.meta.url)));

/** The parsed file of the folder with recorded cases; `undefined` (and one line that says so) where it is absent. */
export function readGolden<T>(path: string): T | undefined {
  const file = join(GOLDEN_FOLDER, path);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as T;
  console.log(`      skipped: no recorded cases at ${file}`);
  return undefined;
}

const TYPE_NAMES: Readonly<Record<string, SchemaType>> = { float: 'float32', double: 'float64' };
const JSON_NAMES: Readonly<Record<string, string>> = { float32: 'float', float64: 'double' };

export function decodeSchema(json: Json | undefined): Schema | null {
  if (json === null || json === undefined) return null;
  const s = json as JsonObject;
  const type = TYPE_NAMES[s['type'] as string] ?? (s['type'] as SchemaType);
  const parts = {
    fields: ((s['fields'] ?? []) as JsonObject[]).map((field) => ({
      name: field['field'] as string,
      schema: decodeSchema(field) ?? new Schema('string'),
    })),
    ...optionalPart('keySchema', decodeSchema(s['keys'])),
    ...optionalPart('valueSchema', decodeSchema(s['items'] ?? s['values'])),
  };
  const options = {
    optional: s['optional'] === true,
    name: s['name'] as string | undefined,
    version: s['version'] as number | undefined,
    doc: s['doc'] as string | undefined,
    parameters:
      s['parameters'] === undefined ? undefined : new Map(Object.entries(s['parameters'] as Record<string, string>)),
  };
  const bare = new Schema(type, options, parts);
  if (s['default'] === undefined) return bare;
  return new Schema(type, { ...options, defaultValue: decodeValue(s['default'], bare) }, parts);
}

function optionalPart<K extends string>(key: K, schema: Schema | null): Partial<Record<K, Schema>> {
  return schema === null ? {} : ({ [key]: schema } as Record<K, Schema>);
}

/** Bytes as converter cases give them: `null`, `{"utf8":…}`, `{"base64":…}`. */
export function decodeBytes(json: Json): Uint8Array | null {
  if (json === null) return null;
  const { utf8, base64 } = json as { utf8?: string; base64?: string };
  return utf8 === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(utf8, 'utf8');
}

/** A value as our code gets it. Maps are laid out as a HashMap filled in the listed order iterates. */
export function decodeValue(json: Json, schema: Schema | null): ConnectValue {
  if (json === null || typeof json === 'boolean' || typeof json === 'string') return json;
  const x = json as JsonObject;
  if ('decimal' in x) return new Decimal(BigInt(x['unscaled'] as string), x['scale'] as number);
  if ('timestamp' in x) return new Date(Number(x['timestamp']));
  if ('struct' in x) return decodeStruct(x, schema);
  const [kind = '', content] = Object.entries(x)[0] ?? [];
  switch (kind) {
    case 'int8':
    case 'int16':
    case 'int32':
      return schema?.type === kind ? (content as number) : new TypedNumber(kind, content as number);
    case 'float32': {
      const number = Math.fround(numberOf(content as string));
      return schema?.type === kind ? number : new TypedNumber(kind, number);
    }
    case 'float64':
      return numberOf(content as string);
    case 'int64':
      return BigInt(content as string);
    case 'bigInteger':
      return new Decimal(BigInt(content as string), 0);
    case 'bytes':
    case 'byteBuffer':
      return Buffer.from(content as string, 'base64');
    case 'array':
      return (content as Json[]).map((entry) => decodeValue(entry, schema?.valueSchema ?? null));
    case 'map':
      return decodeMap(content as [Json, Json][], schema);
  }
  throw new Error(`no such value: ${JSON.stringify(json)}`);
}

function numberOf(text: string): number {
  return text.endsWith('Infinity') ? (text.startsWith('-') ? -Infinity : Infinity) : Number(text);
}

function decodeStruct(x: JsonObject, schema: Schema | null): Struct {
  const own = x['schema'] === undefined ? schema : decodeSchema(x['schema']);
  assert.ok(own !== null, 'a struct needs a schema');
  const struct = new Struct(own);
  for (const [name, value] of Object.entries(x['struct'] as JsonObject)) {
    struct.put(name, decodeValue(value, own.field(name)?.schema ?? null));
  }
  return struct;
}

function decodeMap(entries: readonly [Json, Json][], schema: Schema | null): Map<ConnectValue, ConnectValue> {
  return new Map(
    hashMapOrder(entries).map(([key, value]) => [
      decodeValue(key, schema?.keySchema ?? null),
      decodeValue(value, schema?.valueSchema ?? null),
    ]),
  );
}

function hashMapOrder(entries: readonly [Json, Json][]): readonly [Json, Json][] {
  if (entries.every(([key]) => typeof key === 'string')) {
    const byKey = new Map(entries.map((entry) => [entry[0] as string, entry]));
    return javaHashMapOrder([...byKey.keys()]).map((key) => [key, byKey.get(key)?.[1] ?? null]);
  }
  // The other keys in these cases are small integers, whose hash is their value.
  if (!entries.every(([key]) => key !== null && typeof key === 'object')) return entries;
  let capacity = 16;
  while (entries.length > capacity * 0.75) capacity *= 2;
  return [...entries].sort(([a], [b]) => (smallInteger(a) % capacity) - (smallInteger(b) % capacity));
}

function smallInteger(key: Json): number {
  return Number(Object.values(key as JsonObject)[0]);
}

export function encodeSchema(schema: Schema | null | undefined): Json {
  if (schema === null || schema === undefined) return null;
  const json: JsonObject = { type: JSON_NAMES[schema.type] ?? schema.type, optional: schema.optional };
  if (schema.type === 'array') json['items'] = encodeSchema(schema.valueSchema);
  if (schema.type === 'map') json['keys'] = encodeSchema(schema.keySchema);
  if (schema.type === 'map') json['values'] = encodeSchema(schema.valueSchema);
  if (schema.type === 'struct') {
    json['fields'] = schema.fields.map((field) => ({
      field: field.name,
      ...(encodeSchema(field.schema) as JsonObject),
    }));
  }
  if (schema.name !== undefined) json['name'] = schema.name;
  if (schema.version !== undefined) json['version'] = schema.version;
  if (schema.doc !== undefined) json['doc'] = schema.doc;
  if (schema.parameters !== undefined) json['parameters'] = Object.fromEntries(schema.parameters);
  if (schema.defaultValue !== undefined) json['default'] = encodeValue(schema.defaultValue as ConnectValue, schema);
  return json;
}

export function encodeValue(value: ConnectValue, schema: Schema | null | undefined): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'bigint') return { int64: String(value) };
  if (typeof value === 'number') return encodeNumber(value, schema?.type ?? 'float64');
  if (value instanceof TypedNumber) return encodeNumber(value.value, value.type);
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('base64') };
  if (value instanceof Date) return encodeDate(value, schema);
  if (value instanceof Decimal) {
    return { decimal: decimalText(value), unscaled: String(value.unscaled), scale: value.scale };
  }
  if (value instanceof Struct) return encodeStruct(value, schema);
  if (value instanceof Map) {
    return {
      map: [...(value as ReadonlyMap<ConnectValue, ConnectValue>)].map(([key, entry]) => [
        encodeValue(key, schema?.keySchema),
        encodeValue(entry, schema?.valueSchema),
      ]),
    };
  }
  return { array: (value as readonly ConnectValue[]).map((entry) => encodeValue(entry, schema?.valueSchema)) };
}

function encodeNumber(value: number, type: SchemaType): Json {
  if (type === 'float32') return { float32: floatText(value) };
  return type === 'float64' ? { float64: doubleText(value) } : { [type]: value };
}

function encodeDate(value: Date, schema: Schema | null | undefined): Json {
  const logical = Object.entries(LogicalName).find(([, name]) => name === schema?.name)?.[0];
  const timestamp = value.getTime();
  return logical === undefined
    ? { timestamp }
    : { timestamp, logical: `${logical.charAt(0).toUpperCase()}${logical.slice(1)}` };
}

function encodeStruct(struct: Struct, schema: Schema | null | undefined): Json {
  const own = struct.schema;
  const json: JsonObject = {
    struct: Object.fromEntries(
      own.fields.map((field) => [field.name, encodeValue(struct.values[field.index] ?? null, field.schema)]),
    ),
  };
  if (JSON.stringify(encodeSchema(own)) !== JSON.stringify(encodeSchema(schema))) json['schema'] = encodeSchema(own);
  return json;
}

/** A copy in which the order of object keys and of map entries does not matter. */
export function unordered(json: Json): Json {
  if (Array.isArray(json)) return json.map(unordered);
  if (json === null || typeof json !== 'object') return json;
  return Object.fromEntries(
    Object.entries(json)
      .map(([key, value]): [string, Json] => {
        if (key !== 'map' || !Array.isArray(value)) return [key, unordered(value)];
        return [key, value.map(unordered).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))];
      })
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Messages of these belong to the JVM or to a library: only the class counts. */
const FOREIGN =
  /^(java\.lang\.(NullPointerException|ClassCastException)|com\.fasterxml\.|org\.apache\.kafka\.common\.errors\.SerializationException)/;

/** The JVM's own words: not even the message of the error itself counts. */
const OF_THE_JVM = /^java\.lang\.(NullPointerException|ClassCastException)$/;

/** Asserts that what was thrown is the recorded error: Java class, message, and the class of its cause. */
export function assertGoldenError(thrown: unknown, expected: GoldenError): void {
  const error = toError(thrown);
  assert.equal(javaClassOf(error), expected.class, error.stack);
  const message = expected.message.replace(/@<identityHashCode>/g, '');
  if (OF_THE_JVM.test(expected.class)) return;
  if (!FOREIGN.test(expected.class) || expected.cause === undefined) {
    assert.equal(error.message.replace(/@[0-9a-f]+/g, ''), message);
  }
  if (expected.cause === undefined) return;
  assert.equal(javaClassOf(toError(error.cause)), expected.cause.class);
  if (!FOREIGN.test(expected.cause.class)) assert.equal(toError(error.cause).message, expected.cause.message);
}

function javaClassOf(error: Error): string {
  return error instanceof SluiceError ? error.javaName : error.name;
}

/** Runs the cases, prints how many hold, and fails unless those that do not are exactly the known differences. */
export function checkCases<C extends { readonly id: string }>(
  title: string,
  cases: readonly C[],
  known: Readonly<Record<string, string>>,
  run: (golden: C) => void,
): void {
  const failures = new Map<string, string>();
  for (const golden of cases) {
    try {
      run(golden);
    } catch (error) {
      failures.set(golden.id, toError(error).message);
    }
  }
  console.log(`      ${title}: ${String(cases.length - failures.size)} of ${String(cases.length)} recorded cases hold`);
  for (const [id, reason] of Object.entries(known)) {
    if (failures.has(id)) console.log(`        differs on purpose: ${id}: ${reason}`);
  }
  const unexpected = [...failures].filter(([id]) => known[id] === undefined);
  assert.deepEqual(
    unexpected.map(([id, message]) => `${id}: ${message}`),
    [],
  );
  const mended = Object.keys(known).filter((id) => cases.some((golden) => golden.id === id) && !failures.has(id));
  assert.deepEqual(mended, [], 'known differences that hold by now');
}
