/** Options of the Avro converter that change how schemas are translated (io.confluent.connect.avro.AvroDataConfig). */
export interface AvroSettings {
  /** `connect.meta.data`: what Avro has no word for goes into properties. */
  readonly connectMetaData: boolean;
  /** `enhanced.avro.schema.support`: enums stay enums, members of unions have full names. */
  readonly enhanced: boolean;
  /** `generalized.sum.type.support`: enums and unions as all three formats have them. */
  readonly generalized: boolean;
  readonly scrubInvalidNames: boolean;
  /** `discard.type.doc.default`: documentation and defaults of fields win over those of their types. */
  readonly discardTypeDocDefault: boolean;
  readonly allowOptionalMapKeys: boolean;
  readonly flattenSingletonUnions: boolean;
  readonly ignoreDefaultForNullables: boolean;
}
