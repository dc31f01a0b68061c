/** Names that Confluent's JsonSchemaData uses in schemas (io.confluent.connect.json.JsonSchemaData). */

export const NAMESPACE = 'io.confluent.connect.json';
export const ONE_OF = `${NAMESPACE}.OneOf`;

/** Parameters of Connect schemas. */
export const Parameter = {
  enum: `${NAMESPACE}.Enum`,
  generalizedUnion: 'org.apache.kafka.connect.data.Union',
  generalizedEnum: 'org.apache.kafka.connect.data.Enum',
} as const;

/** Properties of JSON schemas. */
export const Property = {
  type: 'connect.type',
  version: 'connect.version',
  parameters: 'connect.parameters',
  /** Position of a field in its struct, because properties have no order. */
  index: 'connect.index',
} as const;

/** Represents null among the symbols of an enum. */
export const NULL_MARKER = '<NULL>';

/** Options of the JSON Schema converter (JsonSchemaDataConfig). */
export interface JsonSchemaSettings {
  readonly generalized: boolean;
  readonly flattenSingletonUnions: boolean;
  /** `object.additional.properties`. */
  readonly additionalProperties: boolean;
  /** `use.optional.for.nonrequired`. */
  readonly optionalForNonRequired: boolean;
  readonly ignoreDefaultForNullables: boolean;
  readonly decimalFormat: 'BASE64' | 'NUMERIC';
}
