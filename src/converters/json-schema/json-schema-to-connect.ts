import { Schema, type SchemaOptions, type SchemaType } from '../../data/schema.ts';
import { valueMismatch } from '../../data/validate-value.ts';
import type { ConnectValue } from '../../data/value.ts';
import { DataError } from '../../errors.ts';
import { JsonNumber, type JsonTree } from '../../json/json-tree.ts';
import { SchemaBudget } from '../schema-registry/schema-budget.ts';
import { JsonSchemaError, type JsonObject, type SchemaNode } from './json-schema-document.ts';
import { integerOf, kindOf, nodeIn, textOf, type SchemaKind } from './json-schema-kind.ts';
import { NULL_MARKER, ONE_OF, Parameter, Property, type JsonSchemaSettings } from './json-schema-names.ts';
import { readJson } from './json-schema-read.ts';

interface Draft {
  readonly type: SchemaType;
  readonly name?: string;
  readonly optional?: boolean;
  readonly parameters?: Map<string, string>;
  readonly parts?: ConstructorParameters<typeof Schema>[2];
}

type OfKind<K extends SchemaKind['kind']> = Extract<SchemaKind, { readonly kind: K }>;
/** A schema that is neither a combination nor a reference. */
type SingleKind = Exclude<SchemaKind, OfKind<'one'> | OfKind<'all'> | OfKind<'reference'>>;
type TypedNode = Extract<SchemaKind, { readonly kind: 'array' | 'object' }>;

const NUMBERS: ReadonlySet<string> = new Set(['int8', 'int16', 'int32', 'int64', 'float32', 'float64', 'bytes']);

/** Translates JSON schemas to Connect schemas (JsonSchemaData.toConnectSchema). Throws an error if Connect has no equivalent. */
export class ConnectSchemas {
  readonly #settings: JsonSchemaSettings;
  /** Objects under translation, to detect recursion. */
  readonly #open = new Set<JsonObject>();
  readonly #budget = new SchemaBudget();
  #unions = 0;

  constructor(settings: JsonSchemaSettings) {
    this.#settings = settings;
  }

  /**
   * `version` is the version in the registry. It becomes the version of the schema if the schema does not state one,
   * but not of nested schemas.
   */
  schemaOf(node: SchemaNode, version?: number, optional = false): Schema {
    return this.#schema(kindOf(node), version, optional);
  }

  #schema(kind: SchemaKind, version: number | undefined, optional: boolean): Schema {
    return this.#budget.part(() => this.#unbounded(kind, version, optional));
  }

  #unbounded(kind: SchemaKind, version: number | undefined, optional: boolean): Schema {
    switch (kind.kind) {
      case 'reference':
        return this.schemaOf(kind.node.document.find(kind.reference), version, optional);
      case 'all':
        return this.#all(kind, version, optional);
      case 'one':
        return this.#one(kind, version, optional);
      default:
        return this.#finish(this.#draft(kind), kind.node.json, version, optional);
    }
  }

  #draft(kind: SingleKind): Draft {
    const { json } = kind.node;
    const type = textOf(json, Property.type);
    switch (kind.kind) {
      case 'boolean':
        return { type: 'boolean' };
      case 'integer':
      case 'number':
        return { type: numberType(type, kind.kind) };
      case 'string':
        return { type: type === 'bytes' ? 'bytes' : 'string' };
      case 'enum':
        return this.#enum(kind);
      case 'array':
        return this.#array(kind, type);
      case 'object':
        return this.#object(kind, type);
      case 'null':
      case 'const':
        throw new JsonSchemaError(`Unsupported schema type ${kind.kind}`);
    }
  }

  #enum({ symbols }: OfKind<'enum'>): Draft {
    const { generalized } = this.#settings;
    const parameter = generalized ? Parameter.generalizedEnum : Parameter.enum;
    // The parameter is empty because enums have no name in JSON Schema.
    const parameters = new Map<string, string>([[parameter, '']]);
    for (const [index, symbol] of symbols.entries()) {
      const text = symbolText(symbol);
      parameters.set(`${parameter}.${text}`, generalized ? String(index) : text);
    }
    return { type: 'string', parameters };
  }

  #array({ node }: TypedNode, type: string | undefined): Draft {
    const items = node.json.get('items');
    if (items === undefined) throw new DataError('Array schema did not specify the items type');
    const itemNode = nodeIn(items, node, 'items');
    const properties = itemNode.json.get('properties');
    if (type !== 'map' || !(properties instanceof Map)) {
      return { type: 'array', parts: { valueSchema: this.schemaOf(itemNode) } };
    }
    const part = (name: string) => this.schemaOf(nodeIn(properties.get(name), node, `the ${name} of a map`));
    return { type: 'map', parts: { keySchema: part('key'), valueSchema: part('value') } };
  }

  #object({ node }: TypedNode, type: string | undefined): Draft {
    if (type !== 'map') return { type: 'struct', parts: { fields: this.#fields(node, [propertiesOf(node)]) } };
    const values = nodeIn(node.json.get('additionalProperties'), node, 'additionalProperties');
    return { type: 'map', parts: { keySchema: new Schema('string'), valueSchema: this.schemaOf(values) } };
  }

  /**
   * Fields in the order of `connect.index`. A property without `connect.index` is sorted by its position in the text.
   */
  #fields(owner: SchemaNode, groups: readonly Properties[]): { name: string; schema: Schema }[] {
    if (this.#open.has(owner.json)) {
      throw new DataError('A JSON schema contains itself: recursive schemas are not supported');
    }
    this.#open.add(owner.json);
    const properties = new Map(groups.flatMap((group) => [...group]));
    const sorted = [...properties]
      .map(([name, property], position) => ({ name, property, index: indexOf(property.node) ?? position }))
      .sort((a, b) => a.index - b.index);
    const fields = sorted.map(({ name, property: { node, required } }) => {
      const optional = this.#settings.optionalForNonRequired && !required;
      return { name, schema: this.schemaOf(node, undefined, optional) };
    });
    this.#open.delete(owner.json);
    return fields;
  }

  /** A union of several schemas. A union of null and one other schema becomes the other schema, which is optional. */
  #one(kind: OfKind<'one'>, version: number | undefined, optional: boolean): Schema {
    const { generalized, flattenSingletonUnions } = this.#settings;
    const [first, second, ...others] = kind.parts;
    if (flattenSingletonUnions && first !== undefined && second === undefined) {
      return this.#schema(first, version, optional);
    }
    if (first !== undefined && second !== undefined && others.length === 0) {
      if (first.kind === 'null') return this.#schema(second, version, true);
      if (second.kind === 'null') return this.#schema(first, version, true);
    }
    const members = kind.parts.filter((part) => part.kind !== 'null');
    const name = generalized ? `connect_union_${String(this.#unions++)}` : ONE_OF;
    const fields = members.map((member, index) => ({
      name: generalized ? `connect_union_field_${String(index)}` : `${ONE_OF}.field.${String(index)}`,
      schema: this.#schema(member, undefined, true),
    }));
    const draft: Draft = {
      type: 'struct',
      name,
      optional: members.length < kind.parts.length,
      parameters: new Map(generalized ? [[Parameter.generalizedUnion, name]] : []),
      parts: { fields },
    };
    return this.#finish(draft, kind.node.json, version, optional);
  }

  /**
   * A combination becomes a struct with the properties of all parts. If no part has properties, the combination becomes
   * its most specific part.
   */
  #all(kind: OfKind<'all'>, version: number | undefined, optional: boolean): Schema {
    const groups = kind.parts.flatMap((part) => allProperties(part, new Set()));
    if (groups.some((group) => group.size > 0)) {
      const draft: Draft = { type: 'struct', parts: { fields: this.#fields(kind.node, groups) } };
      return this.#finish(draft, kind.node.json, version, optional);
    }
    const part = decisivePart(kind.parts);
    if (part === undefined) throw new JsonSchemaError('Unsupported criterion allOf: no part of it specifies a type');
    return this.#schema(part, version, optional);
  }

  #finish(draft: Draft, json: JsonObject, version: number | undefined, optional: boolean): Schema {
    const parameters = new Map([...(draft.parameters ?? []), ...statedParameters(json)]);
    const options: SchemaOptions = {
      name: draft.name ?? textOf(json, 'title'),
      version: integerOf(json, Property.version) ?? version,
      doc: textOf(json, 'description'),
      parameters: parameters.size === 0 ? undefined : parameters,
      optional: optional || draft.optional === true,
    };
    const schema = new Schema(draft.type, options, draft.parts);
    const defaultValue = defaultOf(schema, json.get('default'));
    return defaultValue === undefined ? schema : new Schema(draft.type, { ...options, defaultValue }, draft.parts);
  }
}

function numberType(type: string | undefined, kind: 'integer' | 'number'): SchemaType {
  if (type === undefined) return kind === 'integer' ? 'int64' : 'float64';
  if (NUMBERS.has(type)) return type as SchemaType;
  throw new JsonSchemaError(`Unsupported type ${type}`);
}

function symbolText(symbol: JsonTree): string {
  if (symbol === null) return NULL_MARKER;
  if (symbol instanceof JsonNumber) return symbol.text;
  return typeof symbol === 'string' ? symbol : JSON.stringify(symbol);
}

interface ObjectProperty {
  readonly node: SchemaNode;
  readonly required: boolean;
}

type Properties = ReadonlyMap<string, ObjectProperty>;

function propertiesOf(node: SchemaNode): Properties {
  const properties = node.json.get('properties');
  const required = node.json.get('required');
  const names = new Set(Array.isArray(required) ? required : []);
  const result = new Map<string, ObjectProperty>();
  if (!(properties instanceof Map)) return result;
  for (const [name, json] of properties) {
    result.set(name, { node: nodeIn(json, node, `property ${name}`), required: names.has(name) });
  }
  return result;
}

/** The properties that a part of an `allOf` contributes, directly or through references and nested `allOf`s. */
function allProperties(kind: SchemaKind, seen: Set<JsonObject>): Properties[] {
  if (seen.has(kind.node.json) && kind.kind !== 'object') return [];
  seen.add(kind.node.json);
  if (kind.kind === 'object') return [propertiesOf(kind.node)];
  if (kind.kind === 'reference') return allProperties(kindOf(kind.node.document.find(kind.reference)), seen);
  return kind.kind === 'all' ? kind.parts.flatMap((part) => allProperties(part, seen)) : [];
}

function decisivePart(parts: readonly SchemaKind[]): SchemaKind | undefined {
  const find = (...kinds: readonly SchemaKind['kind'][]) => parts.find((part) => kinds.includes(part.kind));
  const combined = find('one', 'all');
  if (combined !== undefined) return combined;
  const text = find('string');
  const number = find('integer', 'number');
  if (find('enum') !== undefined && number === undefined) return find('enum');
  return number ?? text ?? find('boolean', 'array', 'object', 'reference');
}

/** The `connect.index` of a property, which may be next to a `$ref`. */
function indexOf({ json }: SchemaNode): number | undefined {
  return integerOf(json, Property.index);
}

function statedParameters(json: JsonObject): [string, string][] {
  const parameters = json.get(Property.parameters);
  if (!(parameters instanceof Map)) return [];
  return [...parameters].map(([name, value]) => [name, typeof value === 'string' ? value : symbolText(value)]);
}

function defaultOf(schema: Schema, json: JsonTree | undefined): ConnectValue | undefined {
  if (json === undefined || json === null) return undefined;
  try {
    const value = readJson(schema, json);
    return value === null || valueMismatch(schema, value) !== undefined ? undefined : value;
  } catch {
    // An invalid default is ignored because it does not affect existing records.
    return undefined;
  }
}
