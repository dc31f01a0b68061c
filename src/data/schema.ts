/** Connect's schemas (org.apache.kafka.connect.data): immutable descriptions of the values that records carry. */

export type SchemaType =
  | 'int8'
  | 'int16'
  | 'int32'
  | 'int64'
  | 'float32'
  | 'float64'
  | 'boolean'
  | 'string'
  | 'bytes'
  | 'array'
  | 'map'
  | 'struct';

/**
 * Names of Connect's logical types. A schema with one of these `name`s has the logical type instead of its plain
 * `type`.
 */
export const LogicalName = {
  decimal: 'org.apache.kafka.connect.data.Decimal',
  date: 'org.apache.kafka.connect.data.Date',
  time: 'org.apache.kafka.connect.data.Time',
  timestamp: 'org.apache.kafka.connect.data.Timestamp',
} as const;

export interface Field {
  readonly name: string;
  readonly index: number;
  readonly schema: Schema;
}

export interface SchemaOptions {
  readonly optional?: boolean | undefined;
  readonly name?: string | undefined;
  readonly version?: number | undefined;
  readonly doc?: string | undefined;
  readonly parameters?: ReadonlyMap<string, string> | undefined;
  readonly defaultValue?: unknown;
}

/**
 * The description of a value: its type, whether it can be null, its default, and the parts of structs, arrays and maps.
 *
 * ```ts
 * const reading = Schema.struct([
 *   { name: 'site', schema: new Schema('string') },
 *   { name: 'power', schema: new Schema('float64', { optional: true }) },
 * ]);
 * const value = new Struct(reading).put('site', 'oslo').put('power', 4.2);
 * ```
 */
export class Schema {
  readonly type: SchemaType;
  readonly optional: boolean;
  readonly name: string | undefined;
  readonly version: number | undefined;
  readonly doc: string | undefined;
  readonly parameters: ReadonlyMap<string, string> | undefined;
  /** A Connect value; `undefined` when the schema has no default. */
  readonly defaultValue: unknown;
  /** Struct schemas only, in order; empty otherwise. */
  readonly fields: readonly Field[];
  /** Map schemas only. */
  readonly keySchema: Schema | undefined;
  /** Element schema of an array, value schema of a map. */
  readonly valueSchema: Schema | undefined;
  readonly #fieldsByName: ReadonlyMap<string, Field>;

  constructor(
    type: SchemaType,
    options: SchemaOptions = {},
    parts: { fields?: readonly { name: string; schema: Schema }[]; keySchema?: Schema; valueSchema?: Schema } = {},
  ) {
    this.type = type;
    this.optional = options.optional ?? false;
    this.name = options.name;
    this.version = options.version;
    this.doc = options.doc;
    this.parameters = options.parameters;
    this.defaultValue = options.defaultValue;
    this.fields = (parts.fields ?? []).map((field, index) => ({ name: field.name, schema: field.schema, index }));
    this.keySchema = parts.keySchema;
    this.valueSchema = parts.valueSchema;
    this.#fieldsByName = new Map(this.fields.map((field) => [field.name, field]));
  }

  /** Returns the field of a struct by its name; `undefined` if there is none. */
  field(name: string): Field | undefined {
    return this.#fieldsByName.get(name);
  }

  static struct(fields: readonly { name: string; schema: Schema }[], options: SchemaOptions = {}): Schema {
    return new Schema('struct', options, { fields });
  }

  static array(valueSchema: Schema, options: SchemaOptions = {}): Schema {
    return new Schema('array', options, { valueSchema });
  }

  static map(keySchema: Schema, valueSchema: Schema, options: SchemaOptions = {}): Schema {
    return new Schema('map', options, { keySchema, valueSchema });
  }
}

export const OPTIONAL_STRING = new Schema('string', { optional: true });
export const OPTIONAL_BYTES = new Schema('bytes', { optional: true });
export const STRING = new Schema('string');

/**
 * The schema of a string that contains JSON. JsonConverter recognizes this object and writes the text unchanged; other
 * converters see a string.
 */
export const JSON_TEXT = new Schema('string');

/** Formats a schema as in Connect's messages (ConnectSchema.toString): `Schema{INT32}`, `Schema{my.Name:STRUCT}`. */
export function schemaText(schema: Schema | null): string {
  if (schema === null) return 'null';
  const type = schema.type.toUpperCase();
  return `Schema{${schema.name === undefined ? type : `${schema.name}:${type}`}}`;
}
