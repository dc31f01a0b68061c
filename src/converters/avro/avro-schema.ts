import { SluiceError } from '../../errors.ts';
import { JsonNumber, JsonScanner, type JsonTree } from '../../json/json-tree.ts';
import type { ReferencedSchema } from '../schema-registry/registry-client.ts';
import { MAP_ENTRY, NAMESPACE, Property } from './avro-names.ts';

/** A parsed Avro schema with resolved names. A record may contain itself. */
export type AvroSchema = AvroPrimitive | AvroRecord | AvroEnum | AvroFixed | AvroArray | AvroMap | AvroUnion;

/** Attributes that are not reserved by Avro, including those of logical types, in the order of the text. */
type Properties = ReadonlyMap<string, JsonTree>;

export interface AvroPrimitive {
  readonly type: 'null' | 'boolean' | 'int' | 'long' | 'float' | 'double' | 'bytes' | 'string';
  readonly properties: Properties;
}

interface AvroNamed {
  readonly fullName: string;
  readonly properties: Properties;
}

export interface AvroRecord extends AvroNamed {
  readonly type: 'record';
  readonly doc: string | undefined;
  readonly fields: readonly AvroField[];
}

export interface AvroField {
  readonly name: string;
  readonly schema: AvroSchema;
  readonly doc: string | undefined;
  /** JSON null is a valid default; `undefined` means that there is none. */
  readonly defaultValue: JsonTree | undefined;
}

export interface AvroEnum extends AvroNamed {
  readonly type: 'enum';
  readonly doc: string | undefined;
  readonly symbols: readonly string[];
  readonly defaultSymbol: string | undefined;
}

export interface AvroFixed extends AvroNamed {
  readonly type: 'fixed';
  readonly size: number;
}

export interface AvroArray {
  readonly type: 'array';
  readonly items: AvroSchema;
  readonly properties: Properties;
}

export interface AvroMap {
  readonly type: 'map';
  readonly values: AvroSchema;
  readonly properties: Properties;
}

export interface AvroUnion {
  readonly type: 'union';
  readonly branches: readonly AvroSchema[];
  readonly properties: Properties;
}

/**
 * A text is not a valid Avro schema, or a Connect schema cannot be converted to Avro because Avro forbids a character of its
 * name.
 */
export class AvroSchemaError extends SluiceError {
  constructor(message: string) {
    super(message, { scope: 'record', javaName: 'org.apache.avro.SchemaParseException' });
  }
}

const PRIMITIVES: ReadonlySet<string> = new Set([
  'null',
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'bytes',
  'string',
]);

/** Reserved attributes; all others are properties (org.apache.avro.Schema.SCHEMA_RESERVED). */
const RESERVED: ReadonlySet<string> = new Set([
  'doc',
  'fields',
  'items',
  'name',
  'namespace',
  'size',
  'symbols',
  'values',
  'type',
  'aliases',
]);
/** Enums also reserve `default`; for all other types, `default` is a property. */
const ENUM_RESERVED: ReadonlySet<string> = new Set([...RESERVED, 'default']);

const NO_PROPERTIES: Properties = new Map();
const MAX_DEPTH = 500;

/**
 * Parses the text of a schema, after the schemas that it references. Throws an AvroSchemaError if a schema is invalid,
 * or a JsonTextError if a text is not JSON.
 */
export function parseAvroSchema(text: string, references: readonly ReferencedSchema[] = []): AvroSchema {
  const parser = new AvroSchemaParser();
  for (const reference of references) parser.include(reference);
  return parser.parse(text);
}

class AvroSchemaParser {
  readonly #named = new Map<string, AvroRecord | AvroEnum | AvroFixed>();
  #depth = 0;

  include(reference: ReferencedSchema): void {
    if (this.#named.has(reference.name)) return;
    for (const inner of reference.references) this.include(inner);
    this.parse(reference.text);
  }

  parse(text: string): AvroSchema {
    const trimmed = text.trim();
    // The text may be the name of a primitive type without quotes.
    if (PRIMITIVES.has(trimmed)) return { type: trimmed as AvroPrimitive['type'], properties: NO_PROPERTIES };
    const tree = new JsonScanner(text, (number, integral) => new JsonNumber(number, integral)).readFirst();
    return this.#schema(tree ?? null, '');
  }

  #schema(json: JsonTree, namespace: string): AvroSchema {
    if (++this.#depth > MAX_DEPTH) throw new AvroSchemaError(`The schema has more than ${String(MAX_DEPTH)} levels`);
    try {
      if (typeof json === 'string') return this.#reference(json, namespace);
      if (Array.isArray(json)) {
        return {
          type: 'union',
          branches: json.map((branch) => this.#schema(branch, namespace)),
          properties: NO_PROPERTIES,
        };
      }
      if (json instanceof Map) return this.#object(json, namespace);
      throw new AvroSchemaError('Schema not yet supported: expected a name, an object or a list');
    } finally {
      this.#depth--;
    }
  }

  #reference(name: string, namespace: string): AvroSchema {
    if (PRIMITIVES.has(name)) return { type: name as AvroPrimitive['type'], properties: NO_PROPERTIES };
    const found = this.#named.get(qualify(name, namespace)) ?? this.#named.get(name);
    if (found === undefined) throw new AvroSchemaError(`Undefined name: "${name}"`);
    return found;
  }

  #object(json: ReadonlyMap<string, JsonTree>, namespace: string): AvroSchema {
    const type = json.get('type');
    switch (type) {
      case 'record':
      case 'error':
        return this.#record(json, namespace);
      case 'enum':
        return this.#enum(json, namespace);
      case 'fixed':
        return this.#fixed(json, namespace);
      case 'array':
        return { type, items: this.#part(json, 'items', namespace), properties: propertiesOf(json) };
      case 'map':
        return { type, values: this.#part(json, 'values', namespace), properties: propertiesOf(json) };
    }
    if (typeof type === 'string' && PRIMITIVES.has(type)) {
      return { type: type as AvroPrimitive['type'], properties: propertiesOf(json) };
    }
    if (type === undefined) throw new AvroSchemaError('No type in a schema');
    return this.#schema(type, namespace);
  }

  #part(json: ReadonlyMap<string, JsonTree>, name: string, namespace: string): AvroSchema {
    const part = json.get(name);
    if (part === undefined) throw new AvroSchemaError(`No ${name} in a schema of type ${textOf(json, 'type') ?? ''}`);
    return this.#schema(part, namespace);
  }

  #record(json: ReadonlyMap<string, JsonTree>, namespace: string): AvroRecord {
    const fullName = nameOf(json, namespace);
    const fields: AvroField[] = [];
    const record: AvroRecord = {
      type: 'record',
      fullName,
      doc: textOf(json, 'doc'),
      fields,
      properties: propertiesOf(json),
    };
    this.#define(record);
    const list = json.get('fields');
    if (!Array.isArray(list)) throw new AvroSchemaError(`Record ${fullName} has no fields`);
    for (const field of list) fields.push(this.#field(field, namespaceOf(fullName)));
    return record;
  }

  #field(json: JsonTree, namespace: string): AvroField {
    const name = json instanceof Map ? json.get('name') : undefined;
    if (!(json instanceof Map) || typeof name !== 'string')
      throw new AvroSchemaError('A field of a record has no name');
    const type = json.get('type');
    if (type === undefined) throw new AvroSchemaError(`Field ${name} has no type`);
    return {
      name,
      schema: this.#schema(type, namespace),
      doc: textOf(json, 'doc'),
      defaultValue: json.get('default'),
    };
  }

  #enum(json: ReadonlyMap<string, JsonTree>, namespace: string): AvroEnum {
    const symbols = json.get('symbols');
    if (!Array.isArray(symbols)) throw new AvroSchemaError(`Enum ${nameOf(json, namespace)} has no symbols`);
    return this.#define({
      type: 'enum',
      fullName: nameOf(json, namespace),
      doc: textOf(json, 'doc'),
      symbols: symbols.map(String),
      defaultSymbol: textOf(json, 'default'),
      properties: propertiesOf(json, ENUM_RESERVED),
    });
  }

  #fixed(json: ReadonlyMap<string, JsonTree>, namespace: string): AvroFixed {
    const size = json.get('size');
    const fullName = nameOf(json, namespace);
    if (!(size instanceof JsonNumber) || !size.integral) throw new AvroSchemaError(`Fixed ${fullName} has no size`);
    return this.#define({ type: 'fixed', fullName, size: Number(size.text), properties: propertiesOf(json) });
  }

  #define<T extends AvroRecord | AvroEnum | AvroFixed>(schema: T): T {
    if (this.#named.has(schema.fullName)) throw new AvroSchemaError(`Can't redefine: ${schema.fullName}`);
    this.#named.set(schema.fullName, schema);
    return schema;
  }
}

function nameOf(json: ReadonlyMap<string, JsonTree>, enclosing: string): string {
  const name = textOf(json, 'name');
  if (name === undefined) throw new AvroSchemaError(`No name in a schema of type ${textOf(json, 'type') ?? ''}`);
  return qualify(name, textOf(json, 'namespace') ?? enclosing);
}

function qualify(name: string, namespace: string): string {
  return name.includes('.') || namespace === '' ? name : `${namespace}.${name}`;
}

export function namespaceOf(fullName: string): string {
  return fullName.slice(0, Math.max(0, fullName.lastIndexOf('.')));
}

export function simpleNameOf(fullName: string): string {
  return fullName.slice(fullName.lastIndexOf('.') + 1);
}

function textOf(json: ReadonlyMap<string, JsonTree>, name: string): string | undefined {
  const value = json.get(name);
  return typeof value === 'string' ? value : undefined;
}

function propertiesOf(json: ReadonlyMap<string, JsonTree>, reserved = RESERVED): Properties {
  const properties = new Map<string, JsonTree>();
  for (const [name, value] of json) if (!reserved.has(name)) properties.set(name, value);
  return properties.size === 0 ? NO_PROPERTIES : properties;
}

/** For a union of null and one other type (an optional schema in Connect), returns the other type; otherwise `undefined`. */
export function nullableMember(union: AvroUnion): AvroSchema | undefined {
  if (union.branches.length !== 2) return undefined;
  const others = union.branches.filter((branch) => branch.type !== 'null');
  return others.length === 1 ? others[0] : undefined;
}

/**
 * If an array represents a map (one whose keys are not strings, or are optional), returns the record type of its entries
 * (AvroData.isMapEntry).
 */
export function mapEntry(array: AvroArray): AvroRecord | undefined {
  const { items } = array;
  if (items.type !== 'record') return undefined;
  const isEntry =
    items.fullName === `${NAMESPACE}.${MAP_ENTRY}` || items.properties.get(Property.internalType) === MAP_ENTRY;
  return isEntry ? items : undefined;
}
