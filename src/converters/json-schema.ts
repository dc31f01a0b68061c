import { Schema, type SchemaOptions, type SchemaType } from '../data/schema.ts';
import { Struct, type ConnectValue } from '../data/value.ts';
import { valueMismatch } from '../data/validate-value.ts';
import { DataError, SluiceError } from '../errors.ts';
import { readValue, type ReadSettings } from './json-reader.ts';
import { JsonNumber, quoteJson, type JsonTree } from '../json/json-tree.ts';
import { lookupTable } from '../data/lookup-table.ts';

const TYPES: Readonly<Record<string, SchemaType>> = lookupTable({
  boolean: 'boolean',
  int8: 'int8',
  int16: 'int16',
  int32: 'int32',
  int64: 'int64',
  float: 'float32',
  double: 'float64',
  bytes: 'bytes',
  string: 'string',
  array: 'array',
  map: 'map',
  struct: 'struct',
});

/** The exception of Java's schema builder, a subclass of DataException. */
class SchemaBuilderError extends SluiceError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, {
      ...options,
      scope: 'record',
      javaName: 'org.apache.kafka.connect.errors.SchemaBuilderException',
    });
  }
}

/**
 * The Connect schema that the member `schema` of a message describes (JsonConverter.asConnectSchema); `null` for JSON
 * null. The properties `optional`, `name`, `version`, `doc` and `parameters` are ignored if they do not have the
 * expected JSON type, as in Java.
 */
export function schemaFromJson(json: JsonTree, settings: ReadSettings): Schema | null {
  if (json === null) return null;
  const properties = json instanceof Map ? json : new Map<string, JsonTree>();
  const typeName = properties.get('type');
  if (typeof typeName !== 'string') throw new DataError("Schema must contain 'type' field");
  const type = Object.hasOwn(TYPES, typeName) ? TYPES[typeName] : undefined;
  if (type === undefined) throw new DataError(`Unknown schema type: ${typeName}`);
  const parts = schemaParts(type, properties, settings);
  const options = schemaOptions(properties);
  const schema = new Schema(type, options, parts);
  const byDefault = properties.get('default');
  if (byDefault === undefined) return schema;
  const defaultValue = defaultOf(schema, byDefault, settings);
  return defaultValue === null ? schema : new Schema(type, { ...options, defaultValue }, parts);
}

function defaultOf(schema: Schema, json: JsonTree, settings: ReadSettings): ConnectValue {
  const value = readValue(schema, json, settings);
  // In Java, the struct refers to the schema under construction, which never equals the finished schema.
  const mismatch = value instanceof Struct ? 'Struct schemas do not match.' : valueMismatch(schema, value);
  if (mismatch !== undefined) throw new SchemaBuilderError('Invalid default value', { cause: new DataError(mismatch) });
  return value;
}

type Parts = ConstructorParameters<typeof Schema>[2];

function schemaParts(type: SchemaType, properties: Map<string, JsonTree>, settings: ReadSettings): Parts {
  const part = (key: string) => properties.get(key);
  if (type === 'array') {
    const items = part('items') ?? null;
    const valueSchema = schemaFromJson(items, settings);
    if (valueSchema === null) throw new DataError('Array schema did not specify the element type');
    return { valueSchema };
  }
  if (type === 'map') {
    const [keys, values] = [part('keys'), part('values')];
    if (keys === undefined) throw new DataError('Map schema did not specify the key type');
    if (values === undefined) throw new DataError('Map schema did not specify the value type');
    const [keySchema, valueSchema] = [schemaFromJson(keys, settings), schemaFromJson(values, settings)];
    if (keySchema === null) throw new SchemaBuilderError('keySchema cannot be null.');
    if (valueSchema === null) throw new SchemaBuilderError('valueSchema cannot be null.');
    return { keySchema, valueSchema };
  }
  return type === 'struct' ? { fields: structFields(part('fields'), settings) } : {};
}

function structFields(json: JsonTree | undefined, settings: ReadSettings): { name: string; schema: Schema }[] {
  if (!Array.isArray(json)) throw new DataError('Struct schema\'s "fields" argument is not an array.');
  const names = new Set<string>();
  return json.map((field) => {
    const name = field instanceof Map ? field.get('field') : undefined;
    if (typeof name !== 'string') throw new DataError("Struct schema's field name not specified properly");
    const schema = schemaFromJson(field, settings);
    if (name === '') throw new SchemaBuilderError('fieldName cannot be null.');
    if (names.has(name)) throw new SchemaBuilderError(`Cannot create field because of field name duplication ${name}`);
    names.add(name);
    return { name, schema: schema ?? new Schema('string') };
  });
}

function schemaOptions(properties: Map<string, JsonTree>): SchemaOptions {
  const text = (key: string) => {
    const value = properties.get(key);
    return typeof value === 'string' ? value : undefined;
  };
  const version = properties.get('version');
  return {
    optional: properties.get('optional') === true,
    name: text('name'),
    version:
      version instanceof JsonNumber && version.integral ? Number(BigInt.asIntN(32, BigInt(version.text))) : undefined,
    doc: text('doc'),
    parameters: parameters(properties.get('parameters')),
  };
}

function parameters(json: JsonTree | undefined): Map<string, string> | undefined {
  if (!(json instanceof Map) || json.size === 0) return undefined;
  const result = new Map<string, string>();
  for (const [name, value] of json) {
    if (typeof value !== 'string') throw new DataError('Schema parameters must have string values.');
    result.set(name, value);
  }
  return result;
}

const NAMES: Readonly<Partial<Record<SchemaType, string>>> = { float32: 'float', float64: 'double' };

/** Writes a default value inside a schema. The converter supplies it, because the form of decimals depends on its settings. */
export type DefaultWriter = (schema: Schema, value: ConnectValue) => string;

/** A schema as JSON text, with properties in Java's order. In the schema of a struct's field, `field` is the last property. */
export function schemaToJson(schema: Schema | null | undefined, writeDefault: DefaultWriter): string {
  return schema === null || schema === undefined ? 'null' : `{${schemaProperties(schema, writeDefault)}}`;
}

function schemaProperties(schema: Schema, writeDefault: DefaultWriter): string {
  const properties = [`"type":${quoteJson(NAMES[schema.type] ?? schema.type)}`];
  if (schema.type === 'array') properties.push(`"items":${schemaToJson(schema.valueSchema, writeDefault)}`);
  if (schema.type === 'map') {
    properties.push(`"keys":${schemaToJson(schema.keySchema, writeDefault)}`);
    properties.push(`"values":${schemaToJson(schema.valueSchema, writeDefault)}`);
  }
  if (schema.type === 'struct') {
    const fields = schema.fields.map(
      (field) => `{${schemaProperties(field.schema, writeDefault)},"field":${quoteJson(field.name)}}`,
    );
    properties.push(`"fields":[${fields.join(',')}]`);
  }
  properties.push(`"optional":${String(schema.optional)}`);
  if (schema.name !== undefined) properties.push(`"name":${quoteJson(schema.name)}`);
  if (schema.version !== undefined) properties.push(`"version":${String(schema.version)}`);
  if (schema.doc !== undefined) properties.push(`"doc":${quoteJson(schema.doc)}`);
  if (schema.parameters !== undefined) {
    const entries = [...schema.parameters].map(([name, value]) => `${quoteJson(name)}:${quoteJson(value)}`);
    properties.push(`"parameters":{${entries.join(',')}}`);
  }
  if (schema.defaultValue !== undefined && schema.defaultValue !== null) {
    properties.push(`"default":${writeDefault(schema, schema.defaultValue as ConnectValue)}`);
  }
  return properties.join(',');
}
