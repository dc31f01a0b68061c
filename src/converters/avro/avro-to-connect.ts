import { LogicalName, Schema, type SchemaOptions, type SchemaType } from '../../data/schema.ts';
import { DataError } from '../../errors.ts';
import { defaultOf } from './avro-default.ts';
import { JsonNumber, type JsonTree } from '../../json/json-tree.ts';
import { SchemaBudget } from '../schema-registry/schema-budget.ts';
import { DEFAULT_PRECISION, DEFAULT_RECORD_NAME, Parameter, Property, UNION_NAME } from './avro-names.ts';
import type {
  AvroArray,
  AvroEnum,
  AvroFixed,
  AvroPrimitive,
  AvroRecord,
  AvroSchema,
  AvroUnion,
} from './avro-schema.ts';
import { mapEntry, nullableMember, simpleNameOf } from './avro-schema.ts';
import type { AvroSettings } from './avro-settings.ts';

/** The properties of a schema that is being built. */
interface Draft {
  readonly type: SchemaType;
  readonly parts?: ConstructorParameters<typeof Schema>[2];
  readonly parameters: Map<string, string>;
  name?: string;
  version?: number;
  optional?: boolean;
}

/** Attributes of a field that become attributes of its Connect schema. */
interface FieldView {
  readonly doc: string | undefined;
  readonly defaultValue: JsonTree | undefined;
}

const NO_FIELD: FieldView = { doc: undefined, defaultValue: undefined };

/** Name of the struct field for a member of a union; `index` counts all members, including null. */
export function memberName(member: AvroSchema, index: number, { generalized, enhanced }: AvroSettings): string {
  if (generalized) return `connect_union_field_${String(index)}`;
  if (!('fullName' in member)) return member.type;
  return enhanced ? member.fullName : simpleNameOf(member.fullName);
}

/** Translates Avro schemas to Connect schemas (AvroData.toConnectSchema). Throws a DataError if Connect has no equivalent. */
export class ConnectSchemas {
  readonly #settings: AvroSettings;
  /** Records under translation, to detect recursion. */
  readonly #open = new Set<AvroRecord>();
  readonly #budget = new SchemaBudget();
  #unions = 0;

  constructor(settings: AvroSettings) {
    this.#settings = settings;
  }

  /**
   * `version` is the version in the registry. It becomes the version of the schema if the schema does not state one,
   * but not of nested schemas or of members of unions.
   */
  schemaOf(avro: AvroSchema, version?: number): Schema {
    return this.#schema(avro, false, NO_FIELD, version);
  }

  #schema(avro: AvroSchema, optional: boolean, field: FieldView, version?: number): Schema {
    return this.#budget.part(() => this.#unbounded(avro, optional, field, version));
  }

  #unbounded(avro: AvroSchema, optional: boolean, field: FieldView, version?: number): Schema {
    if (avro.type === 'union') {
      const member = this.#settings.flattenSingletonUnions && avro.branches.length === 1 ? avro.branches[0] : undefined;
      if (member !== undefined) return this.#schema(member, false, { ...NO_FIELD, doc: field.doc });
      const nullable = nullableMember(avro);
      if (nullable !== undefined) return this.#schema(nullable, true, { ...NO_FIELD, doc: field.doc });
    }
    const draft = this.#draft(avro);
    this.#describe(draft, avro, version);
    if (optional) draft.optional = true;
    return this.#finish(draft, avro, field);
  }

  #draft(avro: AvroSchema): Draft {
    const plain = (type: SchemaType): Draft => ({ type, parameters: new Map() });
    switch (avro.type) {
      case 'boolean':
      case 'string':
        return plain(avro.type);
      case 'float':
        return plain('float32');
      case 'double':
        return plain('float64');
      case 'int':
        return intDraft(avro);
      case 'long':
        return isLogical(avro, 'timestamp-millis') ? logical('int64', LogicalName.timestamp) : plain('int64');
      case 'bytes':
      case 'fixed':
        return bytesDraft(avro);
      case 'array':
        return this.#array(avro);
      case 'map':
        return {
          ...plain('map'),
          parts: { keySchema: new Schema('string'), valueSchema: this.schemaOf(avro.values) },
        };
      case 'record':
        return this.#record(avro);
      case 'enum':
        return this.#enum(avro);
      case 'union':
        return this.#union(avro);
      case 'null':
        throw new DataError('Standalone null schemas are not supported by this converter');
    }
  }

  #array(avro: AvroArray): Draft {
    const entry = mapEntry(avro);
    if (entry === undefined) {
      return { type: 'array', parameters: new Map(), parts: { valueSchema: this.schemaOf(avro.items) } };
    }
    const key = entry.fields.find(({ name }) => name === 'key');
    const value = entry.fields.find(({ name }) => name === 'value');
    if (entry.fields.length !== 2 || key === undefined || value === undefined) {
      throw new DataError(
        'Found map encoded as array of key-value pairs, but array elements do not match the expected format.',
      );
    }
    const parts = { keySchema: this.schemaOf(key.schema), valueSchema: this.schemaOf(value.schema) };
    return { type: 'map', parameters: new Map(), parts };
  }

  #record(avro: AvroRecord): Draft {
    const { connectMetaData, discardTypeDocDefault } = this.#settings;
    const keepsDoc = connectMetaData && !discardTypeDocDefault;
    if (this.#open.has(avro)) {
      throw new DataError(`Record ${avro.fullName} contains itself: recursive schemas are not supported`);
    }
    this.#open.add(avro);
    const parameters = new Map<string, string>();
    if (keepsDoc && avro.doc !== undefined) parameters.set(Parameter.recordDoc, avro.doc);
    const fields = avro.fields.map(({ name, schema, doc, defaultValue }) => {
      if (keepsDoc && doc !== undefined) parameters.set(Parameter.fieldDoc + name, doc);
      return { name, schema: this.#schema(schema, false, { doc, defaultValue }) };
    });
    this.#open.delete(avro);
    return { type: 'struct', parameters, parts: { fields } };
  }

  #enum(avro: AvroEnum): Draft {
    const { connectMetaData, discardTypeDocDefault, generalized } = this.#settings;
    const parameters = new Map<string, string>();
    const simpleName = simpleNameOf(avro.fullName);
    if (connectMetaData && avro.doc !== undefined) {
      parameters.set(discardTypeDocDefault ? Parameter.plainEnumDoc : Parameter.enumDoc + simpleName, avro.doc);
    }
    if (connectMetaData && !discardTypeDocDefault && avro.defaultSymbol !== undefined) {
      parameters.set(Parameter.enumDefault + simpleName, avro.defaultSymbol);
    }
    const parameter = generalized ? Parameter.generalizedEnum : Parameter.enum;
    parameters.set(parameter, avro.fullName);
    for (const [index, symbol] of avro.symbols.entries()) {
      parameters.set(`${parameter}.${symbol}`, generalized ? String(index) : symbol);
    }
    return { type: 'string', parameters };
  }

  #union(avro: AvroUnion): Draft {
    const { generalized } = this.#settings;
    const name = generalized ? `connect_union_${String(this.#unions++)}` : UNION_NAME;
    const fields: { name: string; schema: Schema }[] = [];
    const names = new Set<string>();
    for (const [index, branch] of avro.branches.entries()) {
      if (branch.type === 'null') continue;
      const field = memberName(branch, index, this.#settings);
      if (names.has(field)) {
        throw new DataError(`Multiple union schemas map to the Connect union field name ${field}`);
      }
      names.add(field);
      fields.push({ name: field, schema: this.#schema(branch, true, NO_FIELD) });
    }
    const parameters = new Map(generalized ? [[Parameter.generalizedUnion, name]] : []);
    const optional = fields.length < avro.branches.length;
    return { type: 'struct', name, parameters, parts: { fields }, optional };
  }

  /** Sets name, version and parameters. */
  #describe(draft: Draft, avro: AvroSchema, version: number | undefined): void {
    const { connectMetaData } = this.#settings;
    const ownVersion = avro.properties.get(Property.version);
    if (ownVersion !== undefined && !(ownVersion instanceof JsonNumber)) {
      throw new DataError('Invalid Connect version found: it is not a number');
    }
    const stated = ownVersion === undefined ? version : Number(ownVersion.text);
    if (stated !== undefined) draft.version ??= stated;
    const parameters = avro.properties.get(Property.parameters);
    if (connectMetaData && parameters !== undefined) addParameters(draft.parameters, parameters);
    for (const [name, value] of avro.properties) {
      if (name.startsWith('avro')) draft.parameters.set(name, jsonText(value));
    }
    this.#name(draft, avro);
  }

  #name(draft: Draft, avro: AvroSchema): void {
    const stated = avro.properties.get(Property.name);
    if (stated !== undefined && typeof stated !== 'string')
      throw new DataError('Invalid schema name: it is not a string');
    if (stated !== undefined && draft.name !== undefined && draft.name !== stated) {
      throw new DataError(
        `Mismatched names: name already added to SchemaBuilder (${draft.name}) differs from name in source schema (${stated})`,
      );
    }
    const name = stated ?? ('fullName' in avro ? avro.fullName : undefined);
    if (name !== undefined && !name.startsWith(DEFAULT_RECORD_NAME)) draft.name ??= name;
  }

  #doc(avro: AvroSchema, field: FieldView): string | undefined {
    const own = avro.properties.get(Property.doc);
    const text = typeof own === 'string' ? own : undefined;
    if (this.#settings.discardTypeDocDefault) return field.doc ?? ('doc' in avro ? avro.doc : undefined) ?? text;
    return this.#settings.connectMetaData ? text : undefined;
  }

  #finish(draft: Draft, avro: AvroSchema, field: FieldView): Schema {
    const { connectMetaData, discardTypeDocDefault } = this.#settings;
    const ownDefault = avro.properties.get(Property.default);
    if (!discardTypeDocDefault && connectMetaData && field.defaultValue !== undefined && ownDefault === undefined) {
      draft.parameters.set(Parameter.fieldDefault, 'true');
    }
    if (discardTypeDocDefault && connectMetaData && 'doc' in avro && avro.doc !== undefined) {
      draft.parameters.set(Parameter.plainRecordDoc, avro.doc);
    }
    const options: SchemaOptions = {
      optional: draft.optional ?? false,
      name: draft.name,
      version: draft.version,
      doc: this.#doc(avro, field),
      parameters: draft.parameters.size === 0 ? undefined : draft.parameters,
    };
    const schema = new Schema(draft.type, options, draft.parts);
    const defaultValue = defaultOf(schema, avro, field.defaultValue ?? ownDefault);
    return defaultValue === undefined ? schema : new Schema(draft.type, { ...options, defaultValue }, draft.parts);
  }
}

function isLogical(avro: AvroPrimitive | AvroFixed, name: string): boolean {
  const logicalType = avro.properties.get('logicalType');
  return typeof logicalType === 'string' && logicalType.toLowerCase() === name;
}

function logical(type: SchemaType, name: string, parameters = new Map<string, string>()): Draft {
  return { type, name, version: 1, parameters };
}

function intDraft(avro: AvroPrimitive): Draft {
  if (isLogical(avro, 'date')) return logical('int32', LogicalName.date);
  if (isLogical(avro, 'time-millis')) return logical('int32', LogicalName.time);
  const type = avro.properties.get(Property.type);
  if (type === undefined || avro.properties.has('logicalType')) return { type: 'int32', parameters: new Map() };
  if (type !== 'int8' && type !== 'int16') throw new DataError('Connect type annotation for Avro int field is null');
  return { type, parameters: new Map() };
}

function bytesDraft(avro: AvroPrimitive | AvroFixed): Draft {
  const draft = isLogical(avro, 'decimal')
    ? decimalDraft(avro)
    : { type: 'bytes' as const, parameters: new Map<string, string>() };
  if (avro.type === 'fixed') draft.parameters.set(Parameter.fixedSize, String(avro.size));
  return draft;
}

function decimalDraft(avro: AvroPrimitive | AvroFixed): Draft {
  const scale = avro.properties.get('scale');
  const parameters = new Map([['scale', scale instanceof JsonNumber ? String(Number(scale.text)) : '0']]);
  const precision = avro.properties.get('precision');
  if (precision !== undefined) {
    if (!(precision instanceof JsonNumber)) throw new DataError('precision property must be a JSON Integer.');
    const digits = Number(precision.text);
    if (digits !== DEFAULT_PRECISION) parameters.set(Parameter.precision, String(digits));
  }
  return logical('bytes', LogicalName.decimal, parameters);
}

function addParameters(parameters: Map<string, string>, json: JsonTree): void {
  if (!(json instanceof Map)) throw new DataError('Expected JSON object for schema parameters');
  for (const [name, value] of json) {
    if (typeof value !== 'string')
      throw new DataError(`Expected schema parameter values to be strings, but ${name} is not a string`);
    parameters.set(name, value);
  }
}

function jsonText(json: JsonTree): string {
  if (json instanceof JsonNumber) return json.text;
  if (Array.isArray(json)) return `[${json.map(jsonText).join(', ')}]`;
  if (json instanceof Map) return `{${[...json].map(([name, value]) => `${name}=${jsonText(value)}`).join(', ')}}`;
  return typeof json === 'string' ? json : JSON.stringify(json);
}
