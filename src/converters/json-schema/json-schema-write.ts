import { javaClassOf } from '../../data/java-class.ts';
import type { Schema } from '../../data/schema.ts';
import { Struct, type ConnectValue } from '../../data/value.ts';
import { DataError } from '../../errors.ts';
import { quoteJson } from '../../json/json-tree.ts';
import { writeValue } from '../json-writer.ts';
import type { JsonSchemaSettings } from './json-schema-names.ts';
import { isUnion } from './json-schema-read.ts';

/**
 * Converts a Connect value to JSON text (JsonSchemaData.fromConnectData). Returns `undefined` for a null without a
 * schema, and for a null whose schema is not optional and supplies no default.
 */
export function writeJson(
  schema: Schema | null,
  value: ConnectValue,
  settings: JsonSchemaSettings,
): string | undefined {
  if (value === null) return writeNull(schema, settings);
  const { decimalFormat } = settings;
  if (schema === null) return writeValue(null, value, { replaceNullWithDefault: true, decimalFormat });
  switch (schema.type) {
    case 'array':
      return writeArray(schema, value, settings);
    case 'map':
      return writeMap(schema, value, settings);
    case 'struct':
      return isUnion(schema) ? writeUnion(schema, value, settings) : writeStruct(schema, value, settings);
    default:
      return writeValue(schema, value, { replaceNullWithDefault: true, decimalFormat });
  }
}

function writeNull(schema: Schema | null, settings: JsonSchemaSettings): string | undefined {
  if (schema === null) return undefined;
  const { defaultValue } = schema;
  if (defaultValue !== undefined && defaultValue !== null && !settings.ignoreDefaultForNullables) {
    return writeJson(schema, defaultValue as ConnectValue, settings);
  }
  return schema.optional ? 'null' : undefined;
}

function writeArray(schema: Schema, value: ConnectValue, settings: JsonSchemaSettings): string {
  const { valueSchema } = schema;
  if (!Array.isArray(value) || valueSchema === undefined) return refuse(schema, value);
  const entries = (value as readonly ConnectValue[]).map((each) => writeJson(valueSchema, each, settings) ?? 'null');
  return `[${entries.join(',')}]`;
}

function writeMap(schema: Schema, value: ConnectValue, settings: JsonSchemaSettings): string {
  const { keySchema, valueSchema } = schema;
  if (!(value instanceof Map) || keySchema === undefined || valueSchema === undefined) return refuse(schema, value);
  const asObject = keySchema.type === 'string' && !keySchema.optional;
  const entries = [...(value as ReadonlyMap<ConnectValue, ConnectValue>)].map(([key, each]) => {
    const keyText = writeJson(keySchema, key, settings) ?? 'null';
    const valueText = writeJson(valueSchema, each, settings) ?? 'null';
    return asObject ? `${keyText}:${valueText}` : `{"key":${keyText},"value":${valueText}}`;
  });
  return asObject ? `{${entries.join(',')}}` : `[${entries.join(',')}]`;
}

function writeStruct(schema: Schema, value: ConnectValue, settings: JsonSchemaSettings): string {
  const struct = structOf(schema, value);
  let text = '';
  for (const { name, index, schema: field } of schema.fields) {
    const content = writeJson(field, struct.values[index] ?? null, settings);
    if (content !== undefined) text += `${text === '' ? '{' : ','}${quoteJson(name)}:${content}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

/** Writes the member of a union that is set. */
function writeUnion(schema: Schema, value: ConnectValue, settings: JsonSchemaSettings): string | undefined {
  const { values } = structOf(schema, value);
  const set = values.findIndex((each) => each !== null);
  const member = schema.fields[set];
  return member === undefined ? writeNull(schema, settings) : writeJson(member.schema, values[set] ?? null, settings);
}

function structOf(schema: Schema, value: ConnectValue): Struct {
  if (!(value instanceof Struct)) return refuse(schema, value);
  if (value.schema !== schema && value.schema.fields.length !== schema.fields.length) {
    throw new DataError('Mismatching schema.');
  }
  return value;
}

function refuse(schema: Schema, value: ConnectValue): never {
  throw new DataError(`Invalid type for ${schema.type.toUpperCase()}: class ${javaClassOf(value)}`);
}
