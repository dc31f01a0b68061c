import { urlEncoded } from '../avro/avro-names.ts';
import { lookupTable } from '../../data/lookup-table.ts';

/** Names that Confluent's ProtobufData uses in schemas (io.confluent.connect.protobuf.ProtobufData). */

const NAMESPACE = 'io.confluent.connect.protobuf';
export const DEFAULT_MESSAGE_NAME = 'ConnectDefault';
export const UNION_PREFIX = `${NAMESPACE}.Union`;

/** Parameters of Connect schemas. */
export const Parameter = {
  enum: `${NAMESPACE}.Enum`,
  /** A field's number. */
  tag: `${NAMESPACE}.Tag`,
  /** A field's Protobuf type, if several Protobuf types correspond to the same Connect type. */
  type: `${NAMESPACE}.Type`,
  precision: 'connect.decimal.precision',
  generalizedUnion: 'org.apache.kafka.connect.data.Union',
  generalizedEnum: 'org.apache.kafka.connect.data.Enum',
} as const;

/** Messages that represent a logical type instead of a struct. */
export const Message = {
  decimal: 'confluent.type.Decimal',
  date: 'google.type.Date',
  timeOfDay: 'google.type.TimeOfDay',
  timestamp: 'google.protobuf.Timestamp',
} as const;

/** The scalar types in the messages of google/protobuf/wrappers.proto, in the order of that file. */
export const WRAPPED: Readonly<Record<string, string>> = lookupTable({
  'google.protobuf.DoubleValue': 'double',
  'google.protobuf.FloatValue': 'float',
  'google.protobuf.Int64Value': 'int64',
  'google.protobuf.UInt64Value': 'uint64',
  'google.protobuf.Int32Value': 'int32',
  'google.protobuf.UInt32Value': 'uint32',
  'google.protobuf.BoolValue': 'bool',
  'google.protobuf.StringValue': 'string',
  'google.protobuf.BytesValue': 'bytes',
});

/** The text of google/protobuf/wrappers.proto, which is the schema of values that are not structs. */
export const WRAPPERS_TEXT = [
  'syntax = "proto3";',
  'package google.protobuf;',
  '',
  ...Object.entries(WRAPPED).map(
    ([name, type]) => `message ${name.slice('google.protobuf.'.length)} {\n  ${type} value = 1;\n}`,
  ),
  '',
].join('\n');

/** Options of the Protobuf converter that change how schemas are translated (ProtobufDataConfig). */
export interface ProtobufSettings {
  /** `enhanced.protobuf.schema.support`: names keep their packages. */
  readonly enhanced: boolean;
  readonly generalized: boolean;
  readonly scrubInvalidNames: boolean;
  readonly intForEnums: boolean;
  readonly optionalForNullables: boolean;
  readonly optionalForProto2: boolean;
  readonly wrapperForNullables: boolean;
  readonly wrapperForRawPrimitives: boolean;
  readonly structForNulls: boolean;
  readonly indexForUnions: boolean;
  readonly flattenUnions: boolean;
  readonly ignoreDefaultForNullables: boolean;
}

/** Replaces the characters that Protobuf forbids in a name (`scrub.invalid.names`). */
export function scrubbed(name: string): string {
  if (name === '' || /^[A-Za-z][A-Za-z0-9_]*$/.test(name)) return name;
  const encoded = urlEncoded(name);
  return (/^[0-9_]/.test(encoded) ? `x${encoded}` : encoded).replace(/[^A-Za-z0-9_]/g, '_');
}
