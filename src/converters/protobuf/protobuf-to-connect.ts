import { LogicalName, Schema, type SchemaType } from '../../data/schema.ts';
import { DataError } from '../../errors.ts';
import { SchemaBudget } from '../schema-registry/schema-budget.ts';
import type { EnumType, MessageField, MessageType } from './protobuf-files.ts';
import {
  fieldParameters,
  fullNameOf,
  isMessage,
  isOptional,
  mapParts,
  plainFields,
  realOneofs,
  resolvedType,
  type RealOneof,
} from './protobuf-fields.ts';
import { Message, Parameter, UNION_PREFIX, WRAPPED, type ProtobufSettings } from './protobuf-names.ts';

interface Draft {
  readonly type: SchemaType;
  readonly name?: string | undefined;
  readonly version?: number;
  readonly optional?: boolean;
  readonly parameters: Map<string, string>;
  readonly parts?: ConstructorParameters<typeof Schema>[2];
}

/** Name of the Connect field for a oneof. */
export function oneofFieldName({ name }: RealOneof, index: number, { indexForUnions }: ProtobufSettings): string {
  return indexForUnions ? `${name}_${String(index)}` : name;
}

/** Translates Protobuf messages to Connect schemas (ProtobufData.toConnectSchema). */
export class ConnectSchemas {
  readonly #settings: ProtobufSettings;
  /** Messages under translation, to detect recursion. */
  readonly #open = new Set<MessageType>();
  readonly #budget = new SchemaBudget();

  constructor(settings: ProtobufSettings) {
    this.#settings = settings;
  }

  /** `version` is the version in the registry. */
  schemaOf(message: MessageType, version?: number): Schema {
    const wrapped = this.#settings.wrapperForRawPrimitives ? wrappedType(message) : undefined;
    return wrapped === undefined ? this.#struct(message, version) : new Schema(scalarType(wrapped));
  }

  #struct(message: MessageType, version?: number): Schema {
    return build({ ...this.#structDraft(message), ...(version === undefined ? {} : { version }) });
  }

  #structDraft(message: MessageType): Draft {
    if (this.#open.has(message)) {
      throw new DataError(`Message ${fullNameOf(message)} contains itself: recursive schemas are not supported`);
    }
    this.#open.add(message);
    const fields: { name: string; schema: Schema }[] = [];
    for (const [index, oneof] of realOneofs(message).entries()) {
      if (this.#settings.flattenUnions) fields.push(...this.#fields(oneof.fields));
      else fields.push({ name: oneofFieldName(oneof, index, this.#settings), schema: this.#union(oneof, message) });
    }
    fields.push(...this.#fields(plainFields(message)));
    this.#open.delete(message);
    const name = this.#settings.enhanced ? fullNameOf(message) : message.name;
    return { type: 'struct', name, parameters: new Map(), parts: { fields } };
  }

  #fields(fields: readonly MessageField[]): { name: string; schema: Schema }[] {
    return fields.map((field) => ({ name: field.name, schema: this.#field(field) }));
  }

  /** The schema of a oneof is an optional struct, in which at most one field is set. */
  #union({ name, fields }: RealOneof, message: MessageType): Schema {
    const { generalized, enhanced } = this.#settings;
    const parts = { fields: this.#fields(fields) };
    if (generalized) {
      const parameters = new Map([[Parameter.generalizedUnion, name]]);
      return build({ type: 'struct', name, parameters, parts, optional: true });
    }
    const unionName = `${UNION_PREFIX}.${enhanced ? `${fullNameOf(message)}.${name}` : name}`;
    return build({ type: 'struct', name: unionName, parameters: new Map(), parts, optional: true });
  }

  #field(field: MessageField): Schema {
    return this.#budget.part(() => this.#unbounded(field));
  }

  #unbounded(field: MessageField): Schema {
    const { wrapperForNullables, optionalForNullables } = this.#settings;
    const map = mapParts(field);
    let draft = map === undefined ? this.#content(field) : this.#map(field, map);
    if (field.repeated && map === undefined) {
      const valueSchema = build({ ...draft, optional: true });
      draft = { type: 'array', parameters: new Map(), parts: { valueSchema }, optional: true };
    }
    const isNullable = !wrapperForNullables && (!optionalForNullables || isOptional(field, this.#settings));
    draft.parameters.set(Parameter.tag, String(field.id));
    return build(isNullable ? { ...draft, optional: true } : draft);
  }

  #map(field: MessageField, { key, value }: NonNullable<ReturnType<typeof mapParts>>): Draft {
    const type = field.map ? undefined : resolvedType(field);
    const entryName = isMessage(type) ? type.name.slice(0, -'Entry'.length) : undefined;
    const name = entryName === undefined ? field.name : snakeCase(entryName);
    return {
      type: 'map',
      name,
      parameters: new Map(),
      parts: { keySchema: this.#part(key, '1'), valueSchema: this.#part(value, '2') },
      optional: true,
    };
  }

  /** The schema of the key or value of a map. `tag` is its field number in the map's entries. */
  #part(part: MessageField | string, tag: string): Schema {
    const { wrapperForNullables, optionalForNullables } = this.#settings;
    const draft = typeof part === 'string' ? this.#scalar(part, new Map()) : this.#content(part);
    draft.parameters.set(Parameter.tag, tag);
    return build(wrapperForNullables || optionalForNullables ? draft : { ...draft, optional: true });
  }

  #content(field: MessageField): Draft {
    const type = resolvedType(field);
    if (type === undefined) return this.#scalar(field.type, fieldParameters(field));
    return isMessage(type) ? { ...this.#message(type, field), optional: true } : this.#enum(type);
  }

  #scalar(type: string, meta: ReadonlyMap<string, string>): Draft {
    const parameters = new Map<string, string>();
    if (/^(s|u|fixed|sfixed)(int)?(32|64)$/.test(type)) parameters.set(Parameter.type, type);
    const connectType = meta.get('connect.type');
    const connect = scalarType(type);
    const isNarrow = connect === 'int32' && (connectType === 'int8' || connectType === 'int16');
    return { type: isNarrow ? connectType : connect, parameters };
  }

  #enum(type: EnumType): Draft {
    const { generalized, enhanced, intForEnums } = this.#settings;
    const parameter = generalized ? Parameter.generalizedEnum : Parameter.enum;
    const parameters = new Map<string, string>([[parameter, type.name]]);
    for (const [symbol, number] of Object.entries(type.values)) {
      parameters.set(`${parameter}.${symbol}`, String(number));
    }
    return { type: intForEnums ? 'int32' : 'string', name: enhanced ? fullNameOf(type) : type.name, parameters };
  }

  #message(type: MessageType, field: MessageField): Draft {
    switch (fullNameOf(type)) {
      case Message.decimal:
        return decimalDraft(fieldParameters(field));
      case Message.date:
        return { type: 'int32', name: LogicalName.date, version: 1, parameters: new Map() };
      case Message.timeOfDay:
        return { type: 'int32', name: LogicalName.time, version: 1, parameters: new Map() };
      case Message.timestamp:
        return { type: 'int64', name: LogicalName.timestamp, version: 1, parameters: new Map() };
    }
    const wrapped = this.#settings.wrapperForNullables ? wrappedType(type) : undefined;
    return wrapped === undefined ? this.#structDraft(type) : { type: scalarType(wrapped), parameters: new Map() };
  }
}

function build({ type, name, version, optional = false, parameters, parts }: Draft): Schema {
  return new Schema(
    type,
    { name, version, optional, parameters: parameters.size === 0 ? undefined : parameters },
    parts,
  );
}

function decimalDraft(meta: ReadonlyMap<string, string>): Draft {
  const scale = Number(meta.get('scale') ?? 0);
  const precision = Number(meta.get('precision') ?? NaN);
  const parameters = new Map([['scale', String(Number.isInteger(scale) ? scale : 0)]]);
  if (Number.isInteger(precision)) parameters.set(Parameter.precision, String(precision));
  return { type: 'bytes', name: LogicalName.decimal, version: 1, parameters };
}

/** The scalar type in a message of google/protobuf/wrappers.proto; `undefined` for any other message. */
export function wrappedType(message: MessageType): string | undefined {
  const name = fullNameOf(message);
  return Object.hasOwn(WRAPPED, name) ? WRAPPED[name] : undefined;
}

/** Connect has no unsigned integers, so an unsigned 32-bit integer becomes an int64. */
function scalarType(type: string): SchemaType {
  switch (type) {
    case 'int32':
    case 'sint32':
    case 'sfixed32':
      return 'int32';
    case 'float':
      return 'float32';
    case 'double':
      return 'float64';
    case 'bool':
      return 'boolean';
    case 'string':
    case 'bytes':
      return type;
    default:
      return 'int64';
  }
}

/** Converts `MyLabels` to `my_labels`. */
function snakeCase(name: string): string {
  return name.replace(/(?<=.)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}
