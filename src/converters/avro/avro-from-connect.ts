import { LogicalName, Schema } from '../../data/schema.ts';
import { sameSchema } from '../../data/schema-equality.ts';
import type { ConnectValue } from '../../data/value.ts';
import { DataError } from '../../errors.ts';
import { quoteJson } from '../../json/json-tree.ts';
import { defaultText, hasTextKeys, isUnion } from './avro-default-text.ts';
import {
  DEFAULT_PRECISION,
  DEFAULT_RECORD_NAME,
  MAP_ENTRY,
  NAMESPACE,
  Parameter,
  Property,
  scrubbed,
} from './avro-names.ts';
import { AvroSchemaError, namespaceOf, simpleNameOf } from './avro-schema.ts';
import type { AvroSettings } from './avro-settings.ts';
import { lookupTable } from '../../data/lookup-table.ts';

/** The Avro schema of schemaless data: a record in which the field of the value's type is set. */
export const ANYTHING_TEXT =
  `{"type":"record","name":"Anything","namespace":"${NAMESPACE}","fields":[` +
  ['boolean', 'bytes', 'double', 'float', 'int', 'long', 'string']
    .map((type) => `{"name":"${type}","type":["null","${type}"],"default":null},`)
    .join('') +
  '{"name":"array","type":["null",{"type":"array","items":"Anything"}],"default":null},' +
  '{"name":"map","type":["null",{"type":"array","items":{"type":"record","name":"MapEntry","fields":[' +
  '{"name":"key","type":"Anything"},{"name":"value","type":"Anything"}]}}],"default":null}]}';

/** The Avro name of the enum that a string schema represents. */
function enumName(schema: Schema, { enhanced, generalized }: AvroSettings): string | undefined {
  if (schema.type !== 'string' || schema.parameters === undefined) return undefined;
  if (generalized) return schema.parameters.get(Parameter.generalizedEnum);
  return enhanced ? schema.parameters.get(Parameter.enum) : undefined;
}

function isFixed(schema: Schema): boolean {
  return schema.type === 'bytes' && schema.name !== undefined && schema.parameters?.has(Parameter.fixedSize) === true;
}

/** Like `avroFieldName`, for a full name whose parts are separated by dots. */
function avroName(fullName: string, settings: AvroSettings): string {
  return fullName
    .split('.')
    .map((part) => avroFieldName(part, settings, fullName))
    .join('.');
}

/**
 * Returns the Avro name of a field, or of one part of a full name. Characters that Avro forbids are replaced if
 * `scrub.invalid.names` is set; otherwise an AvroSchemaError is thrown, in which `fullName` is shown.
 */
export function avroFieldName(name: string, { scrubInvalidNames }: AvroSettings, fullName = name): string {
  if (scrubInvalidNames) return scrubbed(name);
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return name;
  throw new AvroSchemaError(`Illegal character in: ${fullName} (scrub.invalid.names=true replaces what Avro forbids)`);
}

/** The text of the Avro schema for a Connect schema, as AvroData.fromConnectSchema prints it. */
export function describeAvro(schema: Schema, settings: AvroSettings): string {
  return new AvroText(settings).text(schema, '', false);
}

const PRIMITIVES = {
  int8: 'int',
  int16: 'int',
  int32: 'int',
  int64: 'long',
  float32: 'float',
  float64: 'double',
  boolean: 'boolean',
  string: 'string',
  bytes: 'bytes',
} as const;

class AvroText {
  readonly #settings: AvroSettings;
  /** Named types that were written in full. Later occurrences are written as the name alone. */
  readonly #written: { readonly schema: Schema; readonly fullName: string }[] = [];
  readonly #entriesWritten: { readonly schema: Schema; readonly fullName: string }[] = [];
  #anonymous = 0;

  constructor(settings: AvroSettings) {
    this.#settings = settings;
  }

  /** `asMember`: the schema is a member of a union. The union determines whether null is a member, so null is not added here. */
  text(schema: Schema, namespace: string, asMember: boolean): string {
    if (isUnion(schema)) return this.#union(schema, namespace);
    const base = this.#base(schema.optional ? required(schema) : schema, namespace);
    if (!schema.optional || asMember) return base;
    // The default of a union is a value of its first member. For a struct, null stays the first member, as in Java.
    const nullLast = hasDefault(schema) && schema.type !== 'struct';
    return nullLast ? `[${base},"null"]` : `["null",${base}]`;
  }

  #union(schema: Schema, namespace: string): string {
    const members = schema.fields.map((field) => this.text(required(field.schema), namespace, true));
    return `[${[...(schema.optional ? ['"null"'] : []), ...members].join(',')}]`;
  }

  #base(schema: Schema, namespace: string): string {
    const known = this.#written.find((each) => sameType(each.schema, schema));
    if (known !== undefined) return quoteJson(relativeName(known.fullName, namespace));
    switch (schema.type) {
      case 'array':
        return this.#complex('array', 'items', this.text(partOf(schema), namespace, false), schema);
      case 'map':
        if (!hasTextKeys(schema, this.#settings)) return this.#entries(schema, namespace);
        return this.#complex('map', 'values', this.text(partOf(schema), namespace, false), schema);
      case 'struct':
        return this.#record(schema, namespace);
    }
    if (enumName(schema, this.#settings) !== undefined) return this.#enum(schema, namespace);
    if (isFixed(schema)) return this.#fixed(schema, namespace);
    const properties = [...decimalProperties(schema), ...this.#properties(schema)];
    const type = quoteJson(PRIMITIVES[schema.type]);
    return properties.length === 0 ? type : `{"type":${type},${properties.join(',')}}`;
  }

  #complex(type: string, part: string, text: string, schema: Schema): string {
    return `{${[`"type":"${type}","${part}":${text}`, ...this.#properties(schema)].join(',')}}`;
  }

  #entries(schema: Schema, namespace: string): string {
    const known = this.#entriesWritten.find((each) => sameSchema(bare(each.schema), bare(schema)));
    const entry =
      known === undefined ? this.#entry(schema, namespace) : quoteJson(relativeName(known.fullName, namespace));
    return this.#complex('array', 'items', entry, schema);
  }

  /**
   * Describes the entries of a map whose keys are not strings as a record. Records with different schemas need different
   * names. If the name is not the usual `MapEntry`, a property identifies the record as a map entry.
   */
  #entry(schema: Schema, namespace: string): string {
    const isPlain = schema.name === undefined && this.#entriesWritten.length === 0;
    const number = this.#entriesWritten.length === 0 ? '' : String(this.#entriesWritten.length + 1);
    const fullName =
      schema.name === undefined ? `${NAMESPACE}.${MAP_ENTRY}${number}` : avroName(schema.name, this.#settings);
    this.#entriesWritten.push({ schema, fullName });
    const inner = namespaceOf(fullName);
    const fields = [
      this.#field('key', schema.keySchema ?? partOf(schema), undefined, inner),
      this.#field('value', partOf(schema), undefined, inner),
    ];
    const internal = isPlain ? '' : `,"${Property.internalType}":"${MAP_ENTRY}"`;
    return `{"type":"record",${nameText(fullName, namespace)},"fields":[${fields.join(',')}]${internal}}`;
  }

  #record(schema: Schema, namespace: string): string {
    const { discardTypeDocDefault } = this.#settings;
    const fullName = this.#nameOf(schema);
    this.#written.push({ schema, fullName });
    const { parameters } = schema;
    const doc = parameters?.get(discardTypeDocDefault ? Parameter.plainRecordDoc : Parameter.recordDoc);
    const names = new Set<string>();
    const fields = schema.fields.map(({ name, schema: fieldSchema }) => {
      const fieldName = avroFieldName(name, this.#settings);
      if (names.has(fieldName)) throw new DataError(`Two fields of ${fullName} have the name ${fieldName} in Avro`);
      names.add(fieldName);
      const fieldDoc = discardTypeDocDefault ? fieldSchema.doc : parameters?.get(Parameter.fieldDoc + name);
      return this.#field(fieldName, fieldSchema, fieldDoc, namespaceOf(fullName));
    });
    const parts = [
      `"type":"record",${nameText(fullName, namespace)}`,
      ...(doc === undefined ? [] : [`"doc":${quoteJson(doc)}`]),
      `"fields":[${fields.join(',')}]`,
      ...this.#properties(schema),
    ];
    return `{${parts.join(',')}}`;
  }

  #field(name: string, schema: Schema, doc: string | undefined, namespace: string): string {
    const parts = [`"name":${quoteJson(name)}`, `"type":${this.text(schema, namespace, false)}`];
    if (doc !== undefined) parts.push(`"doc":${quoteJson(doc)}`);
    const defaults = hasDefault(schema) && !(schema.type === 'struct' && schema.optional);
    if (defaults) parts.push(`"default":${this.#default(schema)}`);
    else if (schema.optional) parts.push('"default":null');
    return `{${parts.join(',')}}`;
  }

  #enum(schema: Schema, namespace: string): string {
    const { generalized, discardTypeDocDefault } = this.#settings;
    const fullName = avroName(enumName(schema, this.#settings) ?? '', this.#settings);
    this.#written.push({ schema, fullName });
    const prefix = `${generalized ? Parameter.generalizedEnum : Parameter.enum}.`;
    const parameters = schema.parameters ?? new Map<string, string>();
    const symbols = [...parameters.keys()]
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length));
    const simpleName = simpleNameOf(schema.name ?? DEFAULT_RECORD_NAME);
    const doc = parameters.get(discardTypeDocDefault ? Parameter.plainEnumDoc : Parameter.enumDoc + simpleName);
    const defaultSymbol = discardTypeDocDefault ? undefined : parameters.get(Parameter.enumDefault + simpleName);
    const parts = [
      `"type":"enum",${nameText(fullName, namespace)}`,
      ...(doc === undefined ? [] : [`"doc":${quoteJson(doc)}`]),
      `"symbols":[${symbols.map(quoteJson).join(',')}]`,
      ...(defaultSymbol === undefined ? [] : [`"default":${quoteJson(defaultSymbol)}`]),
      ...this.#properties(schema),
    ];
    return `{${parts.join(',')}}`;
  }

  #fixed(schema: Schema, namespace: string): string {
    const fullName = this.#nameOf(schema);
    this.#written.push({ schema, fullName });
    const size = Number(schema.parameters?.get(Parameter.fixedSize));
    const parts = [
      `"type":"fixed",${nameText(fullName, namespace)}`,
      `"size":${String(size)}`,
      ...decimalProperties(schema),
      ...this.#properties(schema),
    ];
    return `{${parts.join(',')}}`;
  }

  #nameOf(schema: Schema): string {
    if (schema.name !== undefined) return avroName(schema.name, this.#settings);
    this.#anonymous++;
    return DEFAULT_RECORD_NAME + (this.#anonymous > 1 ? String(this.#anonymous) : '');
  }

  /** Properties for attributes of Connect schemas, then the logical type, in the order in which Java adds them. */
  #properties(schema: Schema): string[] {
    const properties = this.#settings.connectMetaData ? this.#metaData(schema) : [];
    properties.push(...logicalProperties(schema));
    for (const [name, value] of schema.parameters ?? []) {
      if (name.startsWith('avro')) properties.push(`${quoteJson(name)}:${quoteJson(value)}`);
    }
    return properties;
  }

  #metaData(schema: Schema): string[] {
    const { discardTypeDocDefault } = this.#settings;
    const properties: string[] = [];
    if (schema.doc !== undefined) properties.push(`"${Property.doc}":${quoteJson(schema.doc)}`);
    if (schema.version !== undefined) properties.push(`"${Property.version}":${String(schema.version)}`);
    const kept = [...(schema.parameters ?? [])].filter(
      ([name]) => discardTypeDocDefault || name !== Parameter.fieldDefault,
    );
    if (kept.length > 0) {
      const entries = kept.map(([name, value]) => `${quoteJson(name)}:${quoteJson(value)}`);
      properties.push(`"${Property.parameters}":{${entries.join(',')}}`);
    }
    const isOfField = !discardTypeDocDefault && schema.parameters?.has(Parameter.fieldDefault) === true;
    if (hasDefault(schema) && !isOfField) properties.push(`"${Property.default}":${this.#default(schema)}`);
    if (schema.name !== undefined) properties.push(`"${Property.name}":${quoteJson(schema.name)}`);
    if (schema.type === 'int8' || schema.type === 'int16') properties.push(`"${Property.type}":"${schema.type}"`);
    return properties;
  }

  #default(schema: Schema): string {
    return defaultText(schema, schema.defaultValue as ConnectValue, this.#settings);
  }
}

/**
 * Whether two schemas have the same Avro type. Schemas with a name may differ in documentation, version and default,
 * and structs and maps with a name also in parameters.
 */
function sameType(a: Schema, b: Schema): boolean {
  return a.name === undefined
    ? sameSchema(a, b)
    : a.type === b.type && a.name === b.name && sameSchema(bare(a), bare(b));
}

function bare({ type, fields, keySchema, valueSchema, parameters }: Schema): Schema {
  return new Schema(type, type === 'struct' || type === 'map' ? {} : { parameters }, {
    fields,
    ...(keySchema && { keySchema }),
    ...(valueSchema && { valueSchema }),
  });
}

function hasDefault({ defaultValue }: Schema): boolean {
  return defaultValue !== undefined && defaultValue !== null;
}

/** A copy of the schema that is not optional. */
export function required(schema: Schema): Schema {
  if (!schema.optional) return schema;
  const { type, name, version, doc, parameters, defaultValue, fields, keySchema, valueSchema } = schema;
  return new Schema(
    type,
    { name, version, doc, parameters, defaultValue },
    { fields, ...(keySchema && { keySchema }), ...(valueSchema && { valueSchema }) },
  );
}

function partOf({ type, valueSchema }: Schema): Schema {
  if (valueSchema === undefined) throw new DataError(`The ${type} schema has no schema for its values`);
  return valueSchema;
}

function nameText(fullName: string, enclosing: string): string {
  const namespace = namespaceOf(fullName);
  const name = `"name":${quoteJson(simpleNameOf(fullName))}`;
  return namespace === enclosing ? name : `${name},"namespace":${quoteJson(namespace)}`;
}

function relativeName(fullName: string, enclosing: string): string {
  const simpleName = simpleNameOf(fullName);
  const isPrimitive = /^(null|boolean|int|long|float|double|bytes|string)$/.test(simpleName);
  return namespaceOf(fullName) === enclosing && !isPrimitive ? simpleName : fullName;
}

function decimalProperties(schema: Schema): string[] {
  if (schema.name !== LogicalName.decimal) return [];
  const { scale, precision } = decimalSize(schema);
  return [`"scale":${String(scale)}`, `"precision":${String(precision)}`];
}

function decimalSize({ parameters }: Schema): { scale: number; precision: number } {
  const scale = Number(parameters?.get('scale') ?? NaN);
  const precision = Number(parameters?.get(Parameter.precision) ?? DEFAULT_PRECISION);
  if (!Number.isInteger(scale)) throw new DataError('Invalid Decimal schema: scale parameter not found.');
  return { scale, precision };
}

const LOGICAL_TYPES: Readonly<Record<string, string>> = lookupTable({
  [LogicalName.decimal]: 'decimal',
  [LogicalName.date]: 'date',
  [LogicalName.time]: 'time-millis',
  [LogicalName.timestamp]: 'timestamp-millis',
});

function logicalProperties({ name }: Schema): string[] {
  const logicalType = name !== undefined && Object.hasOwn(LOGICAL_TYPES, name) ? LOGICAL_TYPES[name] : undefined;
  return logicalType === undefined ? [] : [`"logicalType":"${logicalType}"`];
}
