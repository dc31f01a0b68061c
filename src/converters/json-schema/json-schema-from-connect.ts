import { LogicalName, type Schema } from '../../data/schema.ts';
import type { ConnectValue } from '../../data/value.ts';
import { DataError } from '../../errors.ts';
import { required } from '../avro/avro-from-connect.ts';
import { quoteJson } from '../../json/json-tree.ts';
import { NAMESPACE, NULL_MARKER, Parameter, Property, type JsonSchemaSettings } from './json-schema-names.ts';
import { isUnion } from './json-schema-read.ts';
import { writeJson } from './json-schema-write.ts';

/** The text of the JSON schema for a Connect schema (JsonSchemaData.fromConnectSchema). */
export function describeJsonSchema(schema: Schema, settings: JsonSchemaSettings): string {
  return describe(schema, settings, undefined);
}

/** `index`: position of a field in its struct; `undefined` if the schema is not that of a field. */
function describe(schema: Schema, settings: JsonSchemaSettings, index: number | undefined): string {
  const place = index === undefined ? [] : [`"${Property.index}":${String(index)}`];
  if (isUnion(schema)) {
    const members = schema.fields.map((field) => describe(required(field.schema), settings, field.index));
    const parts = schema.optional ? ['{"type":"null"}', ...members] : members;
    return `{${[`"oneOf":[${parts.join(',')}]`, ...place].join(',')}}`;
  }
  if (!schema.optional) return `{${[...words(schema, settings), ...place].join(',')}}`;
  const content = `{${words(required(schema), settings).join(',')}}`;
  return `{${[`"oneOf":[{"type":"null"},${content}]`, ...place].join(',')}}`;
}

function words(schema: Schema, settings: JsonSchemaSettings): string[] {
  const { type, own } = typeWords(schema, settings);
  const described = [...type];
  if (schema.name !== undefined) described.push(`"title":${quoteJson(schema.name)}`);
  if (schema.doc !== undefined) described.push(`"description":${quoteJson(schema.doc)}`);
  if (schema.defaultValue !== undefined && schema.defaultValue !== null) {
    const text = writeJson(schema, schema.defaultValue as ConnectValue, settings);
    if (text !== undefined) described.push(`"default":${text}`);
  }
  described.push(...own);
  if (schema.version !== undefined) described.push(`"${Property.version}":${String(schema.version)}`);
  const parameters = [...(schema.parameters ?? [])].filter(([name]) => !name.startsWith(NAMESPACE));
  if (parameters.length > 0) {
    const entries = parameters.map(([name, value]) => `${quoteJson(name)}:${quoteJson(value)}`);
    described.push(`"${Property.parameters}":{${entries.join(',')}}`);
  }
  return described;
}

interface TypeWords {
  readonly type: readonly string[];
  readonly own: readonly string[];
}

function typeWords(schema: Schema, settings: JsonSchemaSettings): TypeWords {
  const connectType = `"${Property.type}":"${schema.type}"`;
  switch (schema.type) {
    case 'int8':
    case 'int16':
    case 'int32':
    case 'int64':
      return { type: ['"type":"integer"'], own: [connectType] };
    case 'float32':
    case 'float64':
      return { type: ['"type":"number"'], own: [connectType] };
    case 'boolean':
      return { type: ['"type":"boolean"'], own: [] };
    case 'string':
      return stringWords(schema, settings);
    case 'bytes':
      return {
        type: [schema.name === LogicalName.decimal ? '"type":"number"' : '"type":"string"'],
        own: [connectType],
      };
    case 'array':
      return { type: ['"type":"array"'], own: [`"items":${describe(partOf(schema), settings, undefined)}`] };
    case 'map':
      return mapWords(schema, settings);
    case 'struct':
      return structWords(schema, settings);
  }
}

function stringWords({ parameters }: Schema, { generalized }: JsonSchemaSettings): TypeWords {
  const parameter = generalized ? Parameter.generalizedEnum : Parameter.enum;
  if (parameters?.has(parameter) !== true) return { type: ['"type":"string"'], own: [] };
  const symbols = [...parameters.keys()]
    .filter((name) => name.startsWith(`${parameter}.`))
    .map((name) => name.slice(parameter.length + 1))
    .map((symbol) => (symbol === NULL_MARKER ? 'null' : quoteJson(symbol)));
  return { type: [`"enum":[${symbols.join(',')}]`], own: [] };
}

/** A map is an object if its keys are strings; otherwise it is an array of entries. */
function mapWords(schema: Schema, settings: JsonSchemaSettings): TypeWords {
  const own = `"${Property.type}":"map"`;
  const value = partOf(schema);
  const { keySchema = value } = schema;
  if (keySchema.type === 'string' && !keySchema.optional) {
    return { type: ['"type":"object"'], own: [`"additionalProperties":${describe(value, settings, undefined)}`, own] };
  }
  const key = `"key":${describe(keySchema, settings, 0)}`;
  const entry = `{"type":"object","properties":{${key},"value":${describe(value, settings, 1)}}}`;
  return { type: ['"type":"array"'], own: [`"items":${entry}`, own] };
}

function structWords(schema: Schema, settings: JsonSchemaSettings): TypeWords {
  const properties = schema.fields.map(
    ({ name, index, schema: field }) => `${quoteJson(name)}:${describe(field, settings, index)}`,
  );
  const own = [`"properties":{${properties.join(',')}}`];
  if (!settings.additionalProperties) own.push('"additionalProperties":false');
  return { type: ['"type":"object"'], own };
}

function partOf({ type, valueSchema }: Schema): Schema {
  if (valueSchema === undefined) throw new DataError(`The ${type} schema has no schema for its values`);
  return valueSchema;
}
