/** Options of the Avro converter that change how schemas are translated (io.confluent.connect.avro.AvroDataConfig). */
export interface AvroSettings {
  /** `connect.meta.data`: attributes of Connect schemas without an equivalent in Avro become properties. */
  readonly connectMetaData: boolean;
  /** `enhanced.avro.schema.support`: enums stay enums, and members of unions have full names. */
  readonly enhanced: boolean;
  /** `generalized.sum.type.support`: enums and unions are described in the same way for Avro, Protobuf and JSON Schema. */
  readonly generalized: boolean;
  readonly scrubInvalidNames: boolean;
  /** `discard.type.doc.default`: documentation and defaults of fields have precedence over those of their types. */
  readonly discardTypeDocDefault: boolean;
  readonly allowOptionalMapKeys: boolean;
  readonly flattenSingletonUnions: boolean;
  readonly ignoreDefaultForNullables: boolean;
}
