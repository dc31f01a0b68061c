import {
  loadProtobuf,
  ProtobufSchemaError,
  type EnumType,
  type MessageField,
  type MessageType,
} from './protobuf-files.ts';
import type { ProtobufSettings } from './protobuf-names.ts';

/** A oneof that is declared in the schema, unlike the implicit oneof of an `optional` field. */
export interface RealOneof {
  readonly name: string;
  readonly fields: readonly MessageField[];
}

export function realOneofs(message: MessageType): RealOneof[] {
  return message.oneofsArray
    .filter((oneof) => !oneof.isProto3Optional)
    .map(({ name, fieldsArray }) => ({ name, fields: fieldsArray }));
}

export function plainFields(message: MessageType): MessageField[] {
  return message.fieldsArray.filter(({ partOf }) => partOf === null || partOf.isProto3Optional);
}

/** The message type or enum type of a field; `undefined` for a scalar. Throws a ProtobufSchemaError for an unknown type. */
export function resolvedType(field: MessageField): MessageType | EnumType | undefined {
  const { types } = loadProtobuf();
  if (Object.hasOwn(types.basic, field.type)) return undefined;
  const { resolvedType: type } = field.resolve();
  if (type === null) throw new ProtobufSchemaError(`Field ${field.name} has the unknown type ${field.type}`);
  return type;
}

export function isMessage(type: MessageType | EnumType | undefined): type is MessageType {
  return type instanceof loadProtobuf().Type;
}

/** Full name without the library's leading dot: `com.acme.Row` for `.com.acme.Row`. */
export function fullNameOf({ fullName }: { readonly fullName: string }): string {
  return fullName.replace(/^\./, '');
}

/**
 * Whether a scalar or enum that is not set becomes null instead of the default of its type. For a message, the result
 * is true only if the field is `optional` in proto3.
 */
export function isOptional(field: MessageField, { optionalForProto2 }: ProtobufSettings): boolean {
  if (field.repeated || field.map || (field.partOf !== null && !field.partOf.isProto3Optional)) return false;
  const { proto3_optional: proto3Optional } = (field.options ?? {}) as { proto3_optional?: boolean };
  if (proto3Optional === true) return true;
  const isProto2Optional = field.hasPresence && !field.required && !isMessage(resolvedType(field));
  return optionalForProto2 && isProto2Optional;
}

/**
 * The key and value of a map, which is declared as `map<K, V>` or as a repeated `…Entry` message with a key and a value. Returns
 * `undefined` if the field is not a map.
 */
export function mapParts(field: MessageField): { key: MessageField | string; value: MessageField } | undefined {
  if (field.map && 'keyType' in field) return { key: String(field.keyType), value: field };
  const type = field.repeated ? resolvedType(field) : undefined;
  if (!isMessage(type) || !type.name.endsWith('Entry')) return undefined;
  const [key, value, ...others] = type.fieldsArray;
  const isEntry =
    key?.name === 'key' && value?.name === 'value' && others.length === 0 && !key.repeated && !value.repeated;
  return isEntry ? { key, value } : undefined;
}

/** The parameters in the option `(confluent.field_meta)` of a field. */
export function fieldParameters(field: MessageField): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  const options = (field.parsedOptions ?? []) as readonly Readonly<Record<string, unknown>>[];
  for (const option of options) {
    const meta = option['(confluent.field_meta)'] as { params?: unknown } | undefined;
    const listed = meta?.params;
    const entries = (Array.isArray(listed) ? listed : listed === undefined ? [] : [listed]) as readonly {
      key?: unknown;
      value?: unknown;
    }[];
    for (const { key, value } of entries) if (typeof key === 'string') parameters.set(key, String(value));
  }
  return parameters;
}
