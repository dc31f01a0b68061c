/** Names that Confluent's AvroData uses in schemas (io.confluent.connect.avro.AvroData). */

export const NAMESPACE = 'io.confluent.connect.avro';
export const DEFAULT_RECORD_NAME = `${NAMESPACE}.ConnectDefault`;
export const MAP_ENTRY = 'MapEntry';
export const UNION_NAME = `${NAMESPACE}.Union`;

/** Parameters of Connect schemas. */
export const Parameter = {
  enum: `${NAMESPACE}.Enum`,
  recordDoc: `${NAMESPACE}.record.doc`,
  fieldDoc: `${NAMESPACE}.field.doc.`,
  enumDoc: `${NAMESPACE}.enum.doc.`,
  enumDefault: `${NAMESPACE}.enum.default.`,
  /** Marks a Connect schema whose default is that of an Avro field. */
  fieldDefault: `${NAMESPACE}.field.default`,
  fixedSize: 'connect.fixed.size',
  precision: 'connect.decimal.precision',
  plainRecordDoc: 'connect.record.doc',
  plainEnumDoc: 'connect.enum.doc',
  generalizedUnion: 'org.apache.kafka.connect.data.Union',
  generalizedEnum: 'org.apache.kafka.connect.data.Enum',
} as const;

/** Properties of Avro schemas. */
export const Property = {
  name: 'connect.name',
  doc: 'connect.doc',
  version: 'connect.version',
  default: 'connect.default',
  parameters: 'connect.parameters',
  internalType: 'connect.internal.type',
  type: 'connect.type',
} as const;

export const DEFAULT_PRECISION = 64;

/**
 * Replaces the characters that Avro forbids in a name (`scrub.invalid.names`): the name is URL-encoded, then each character
 * that is still forbidden becomes `_`. A leading digit gets the prefix `x`.
 */
export function scrubbed(name: string): string {
  if (name === '' || /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return name;
  const encoded = urlEncoded(name);
  return (/^[0-9]/.test(encoded) ? `x${encoded}` : encoded).replace(/[^A-Za-z0-9_]/g, '_');
}

/** Encodes a text like java.net.URLEncoder. */
export function urlEncoded(text: string): string {
  return encodeURIComponent(Buffer.from(text, 'utf8').toString('utf8'))
    .replaceAll('%20', '+')
    .replace(/[!'()~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
