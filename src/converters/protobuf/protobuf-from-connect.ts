import { LogicalName, type Schema } from '../../data/schema.ts';
import { DataError } from '../../errors.ts';
import { ProtobufSchemaError } from './protobuf-files.ts';
import {
  DEFAULT_MESSAGE_NAME,
  Message,
  Parameter,
  scrubbed,
  UNION_PREFIX,
  WRAPPERS_TEXT,
  type ProtobufSettings,
} from './protobuf-names.ts';
import { lookupTable } from '../../data/lookup-table.ts';

/** Whether a struct represents a oneof: it has a field per member, one of which is set. */
export function isUnion({ type, name, parameters }: Schema): boolean {
  if (type !== 'struct') return false;
  return name?.startsWith(UNION_PREFIX) === true || parameters?.has(Parameter.generalizedUnion) === true;
}

/**
 * Name of the parameter that marks the schema of an enum; `undefined` if the schema does not represent an enum.
 * Parameters whose names begin with this name and a dot contain the symbols.
 */
export function enumParameter({ type, parameters }: Schema, { generalized }: ProtobufSettings): string | undefined {
  if (type !== 'string' && type !== 'int32') return undefined;
  const parameter = generalized ? Parameter.generalizedEnum : Parameter.enum;
  return parameters?.has(parameter) === true ? parameter : undefined;
}

/**
 * Returns the name. If it has characters that Protobuf forbids, they are replaced if `scrub.invalid.names` is set; otherwise
 * a ProtobufSchemaError is thrown.
 */
export function protobufName(name: string, { scrubInvalidNames }: ProtobufSettings): string {
  if (scrubInvalidNames) return scrubbed(name);
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return name;
  throw new ProtobufSchemaError(
    `Illegal character in: ${name} (scrub.invalid.names=true replaces what Protobuf forbids)`,
  );
}

/**
 * The text of the Protobuf schema for a Connect schema. For a struct, its first message is the type of the values; for
 * other types, it contains all wrapper messages.
 */
export function describeProtobuf(schema: Schema, settings: ProtobufSettings): string {
  if (schema.type === 'struct') return new ProtobufText(settings).file(schema);
  if (schema.type === 'array' || schema.type === 'map') {
    throw new DataError(`Unsupported root schema of type ${schema.type.toUpperCase()}`);
  }
  if (settings.wrapperForRawPrimitives) return WRAPPERS_TEXT;
  throw new DataError(
    `Unsupported root schema of type ${schema.type.toUpperCase()} without wrapper.for.raw.primitives`,
  );
}

/** Name of the message in google/protobuf/wrappers.proto for values of a schema. Throws a DataError if there is none. */
export function wrapperName({ type, name }: Schema): string {
  if (Object.values(LogicalName).some((logical) => logical === name)) {
    throw new DataError(`${String(name)} cannot stand alone in Protobuf, only in a struct`);
  }
  const wrapper = (WRAPPERS as Readonly<Record<string, string>>)[type];
  if (wrapper === undefined) throw new DataError(`There is no Protobuf wrapper for ${type}`);
  return `google.protobuf.${wrapper}`;
}

const WRAPPERS = {
  int8: 'Int32Value',
  int16: 'Int32Value',
  int32: 'Int32Value',
  int64: 'Int64Value',
  float32: 'FloatValue',
  float64: 'DoubleValue',
  boolean: 'BoolValue',
  string: 'StringValue',
  bytes: 'BytesValue',
} as const;

const SCALARS = {
  int8: 'int32',
  int16: 'int32',
  int32: 'int32',
  int64: 'int64',
  float32: 'float',
  float64: 'double',
  boolean: 'bool',
  string: 'string',
  bytes: 'bytes',
} as const;

const LOGICAL: Readonly<Record<string, { readonly type: string; readonly file: string }>> = lookupTable({
  [LogicalName.decimal]: { type: Message.decimal, file: 'confluent/type/decimal.proto' },
  [LogicalName.date]: { type: Message.date, file: 'google/type/date.proto' },
  [LogicalName.time]: { type: Message.timeOfDay, file: 'google/type/timeofday.proto' },
  [LogicalName.timestamp]: { type: Message.timestamp, file: 'google/protobuf/timestamp.proto' },
});

/** Key types that Protobuf allows in maps. */
const MAP_KEYS = /^(u?int|sint|s?fixed)(32|64)$|^bool$|^string$/;

interface FieldType {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const NO_PARAMETERS: ReadonlyMap<string, string> = new Map();

/** A message that is being written, with the messages and enums nested in it. */
interface OpenMessage {
  readonly name: string;
  readonly nested: Map<string, string>;
}

class ProtobufText {
  readonly #settings: ProtobufSettings;
  readonly #imports = new Set<string>();
  #anonymous = 0;

  constructor(settings: ProtobufSettings) {
    this.#settings = settings;
  }

  file(schema: Schema): string {
    const parts = this.#nameOf(schema)
      .split('.')
      .map((part) => protobufName(part, this.#settings));
    const name = parts.pop() ?? '';
    const message = this.#message(schema, name, '');
    return [
      'syntax = "proto3";',
      ...(parts.length === 0 ? [] : [`package ${parts.join('.')};`]),
      '',
      ...[...this.#imports].sort().map((file) => `import "${file}";`),
      ...(this.#imports.size === 0 ? [] : ['']),
      message,
      '',
    ].join('\n');
  }

  #message(schema: Schema, name: string, indent: string): string {
    const open: OpenMessage = { name, nested: new Map() };
    const numbers = new FieldNumbers(schema);
    const inner = `${indent}  `;
    const lines = schema.fields.map((field) => {
      const fieldName = protobufName(field.name, this.#settings);
      return isUnion(field.schema)
        ? this.#oneof(field.schema, field.name, open, numbers, inner)
        : this.#field(field.schema, fieldName, open, numbers.next(field.schema), inner);
    });
    return [`${indent}message ${name} {`, ...lines, ...open.nested.values(), `${indent}}`].join('\n');
  }

  #oneof(schema: Schema, fieldName: string, open: OpenMessage, numbers: FieldNumbers, indent: string): string {
    const stated = this.#settings.generalized ? schema.parameters?.get(Parameter.generalizedUnion) : schema.name;
    const name = protobufName((stated ?? fieldName).split('.').at(-1) ?? fieldName, this.#settings);
    const lines = schema.fields.map((field) => {
      const memberName = protobufName(field.name, this.#settings);
      const { type, parameters } = this.#type(field.schema, memberName, open, `${indent}  `);
      return this.#line(type, memberName, numbers.next(field.schema), parameters, `${indent}  `);
    });
    return [`${indent}oneof ${name} {`, ...lines, `${indent}}`].join('\n');
  }

  #field(schema: Schema, name: string, open: OpenMessage, number: number, indent: string): string {
    if (schema.type === 'map') return this.#map(schema, name, open, number, indent);
    if (schema.type === 'array') {
      const element = partOf(schema);
      if (element.type === 'array' || element.type === 'map') throw new DataError('Array cannot be nested');
      const { type, parameters } = this.#type(element, name, open, indent);
      return this.#line(`repeated ${type}`, name, number, parameters, indent);
    }
    const { type, parameters } = this.#type(schema, name, open, indent);
    const label = this.#settings.optionalForNullables && schema.optional ? 'optional ' : '';
    return this.#line(label + type, name, number, parameters, indent);
  }

  /**
   * A map is a repeated field of entries if Protobuf does not support its key type, or if its key or value needs
   * parameters. Readers recognize such a map by the name of the entry message.
   */
  #map(schema: Schema, name: string, open: OpenMessage, number: number, indent: string): string {
    const value = partOf(schema);
    const { keySchema = value } = schema;
    if (value.type === 'array' || value.type === 'map') throw new DataError('Map values cannot be arrays or maps');
    const key = this.#type(keySchema, 'key', open, indent);
    if (MAP_KEYS.test(key.type) && key.parameters.size === 0) {
      const { type, parameters } = this.#type(value, name, open, indent);
      if (parameters.size === 0) return this.#line(`map<${key.type}, ${type}>`, name, number, NO_PARAMETERS, indent);
    }
    const entry = `${pascalCase(name)}Entry`;
    const inner: OpenMessage = { name: entry, nested: new Map() };
    const lines = [
      this.#field(keySchema, 'key', inner, 1, `${indent}  `),
      this.#field(value, 'value', inner, 2, `${indent}  `),
    ];
    open.nested.set(
      entry,
      [`${indent}message ${entry} {`, ...lines, ...inner.nested.values(), `${indent}}`].join('\n'),
    );
    return this.#line(`repeated ${entry}`, name, number, NO_PARAMETERS, indent);
  }

  #type(schema: Schema, fieldName: string, open: OpenMessage, indent: string): FieldType {
    const logical = schema.name !== undefined && Object.hasOwn(LOGICAL, schema.name) ? LOGICAL[schema.name] : undefined;
    if (logical !== undefined) {
      this.#imports.add(logical.file);
      return { type: logical.type, parameters: decimalParameters(schema) };
    }
    if (schema.type === 'struct')
      return { type: this.#nested(schema, fieldName, open, indent), parameters: NO_PARAMETERS };
    if (schema.type === 'array' || schema.type === 'map') throw new DataError(`A ${schema.type} cannot be nested`);
    const parameter = enumParameter(schema, this.#settings);
    if (parameter !== undefined)
      return { type: this.#enum(schema, parameter, open, indent), parameters: NO_PARAMETERS };
    const isNarrow = schema.type === 'int8' || schema.type === 'int16';
    const parameters = isNarrow ? new Map([['connect.type', schema.type]]) : NO_PARAMETERS;
    if (this.#settings.wrapperForNullables && schema.optional) {
      this.#imports.add('google/protobuf/wrappers.proto');
      return { type: wrapperName(schema), parameters };
    }
    return { type: schema.parameters?.get(Parameter.type) ?? SCALARS[schema.type], parameters };
  }

  /** Adds a nested message and returns its name. A struct with the name of the enclosing message refers to that message. */
  #nested(schema: Schema, fieldName: string, open: OpenMessage, indent: string): string {
    const simpleName = protobufName(this.#nameOf(schema).split('.').at(-1) ?? '', this.#settings);
    const name = simpleName === fieldName ? `${simpleName}Message` : simpleName;
    if (name === open.name) return name;
    const text = this.#message(schema, name, indent);
    const known = open.nested.get(name);
    if (known !== undefined && known !== text)
      throw new DataError(`Two messages in ${open.name} have the name ${name}`);
    open.nested.set(name, text);
    return name;
  }

  #enum(schema: Schema, parameter: string, open: OpenMessage, indent: string): string {
    const stated = schema.name ?? schema.parameters?.get(parameter) ?? '';
    const name = protobufName(stated.split('.').at(-1) ?? stated, this.#settings);
    const symbols = [...(schema.parameters ?? [])]
      .filter(([key]) => key.startsWith(`${parameter}.`))
      .map(([key, number]) => `${indent}  ${key.slice(parameter.length + 1)} = ${number};`);
    open.nested.set(name, [`${indent}enum ${name} {`, ...symbols, `${indent}}`].join('\n'));
    return name;
  }

  #line(type: string, name: string, number: number, parameters: ReadonlyMap<string, string>, indent: string): string {
    const start = `${indent}${type} ${name} = ${String(number)}`;
    if (parameters.size === 0) return `${start};`;
    this.#imports.add('confluent/meta.proto');
    const entries = [...parameters].map(
      ([key, value]) =>
        `${indent}    {\n${indent}      key: "${key}",\n${indent}      value: "${value}"\n${indent}    }`,
    );
    return `${start} [(confluent.field_meta) = {\n${indent}  params: [\n${entries.join(',\n')}\n${indent}  ]\n${indent}}];`;
  }

  #nameOf({ name }: Schema): string {
    return name !== undefined && name !== '' ? name : DEFAULT_MESSAGE_NAME + String(++this.#anonymous);
  }
}

/** Numbers of fields. A field whose schema does not state a number gets a free one. */
class FieldNumbers {
  readonly #stated: ReadonlySet<number>;
  #last = 0;

  constructor(schema: Schema) {
    const all = schema.fields.flatMap((field) => (isUnion(field.schema) ? field.schema.fields : [field]));
    this.#stated = new Set(all.flatMap((field) => statedNumber(field.schema) ?? []));
  }

  next(schema: Schema): number {
    const stated = statedNumber(schema);
    if (stated !== undefined) return stated;
    do this.#last++;
    while (this.#stated.has(this.#last) || (this.#last >= 19_000 && this.#last < 20_000));
    return this.#last;
  }
}

function statedNumber({ parameters }: Schema): number | undefined {
  const tag = parameters?.get(Parameter.tag);
  return tag === undefined ? undefined : Number(tag);
}

function partOf({ type, valueSchema }: Schema): Schema {
  if (valueSchema === undefined) throw new DataError(`The ${type} schema has no schema for its values`);
  return valueSchema;
}

function decimalParameters({ name, parameters }: Schema): ReadonlyMap<string, string> {
  if (name !== LogicalName.decimal) return NO_PARAMETERS;
  const result = new Map<string, string>();
  const precision = parameters?.get(Parameter.precision);
  const scale = parameters?.get('scale');
  if (precision !== undefined) result.set('precision', precision);
  if (scale !== undefined) result.set('scale', scale);
  return result;
}

/** Converts `my_labels` to `MyLabels`. */
function pascalCase(name: string): string {
  return name.replace(/(?:^|_)([A-Za-z0-9])/g, (_whole, letter: string) => letter.toUpperCase());
}
