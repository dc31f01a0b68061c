import { doubleText, floatText } from '../../java/java-number-text.ts';
import { decimalBytes, MS_PER_DAY } from '../../data/logical-values.ts';
import { LogicalName, type Schema } from '../../data/schema.ts';
import { Decimal, Struct, TypedNumber, type ConnectValue } from '../../data/value.ts';
import { DataError } from '../../errors.ts';
import { quoteJson } from '../../json/json-tree.ts';
import { scrubbed, NAMESPACE, Parameter } from './avro-names.ts';
import type { AvroSettings } from './avro-settings.ts';

/** A default value in Avro's JSON form. Bytes are a string with one character per byte (AvroData.defaultValueFromConnect). */
export function defaultText(schema: Schema, value: ConnectValue, settings: AvroSettings): string {
  if (value === null) return 'null';
  if (value instanceof Decimal) return bytesText(decimalBytes(value));
  if (value instanceof Date) {
    return String(schema.name === LogicalName.date ? value.getTime() / MS_PER_DAY : value.getTime());
  }
  if (value instanceof TypedNumber) return defaultText(schema, value.value, settings);
  if (value instanceof Uint8Array) return bytesText(value);
  if (value instanceof Struct) return structText(schema, value, settings);
  if (value instanceof Map) return mapText(schema, value as ReadonlyMap<ConnectValue, ConnectValue>, settings);
  if (Array.isArray(value)) {
    const entries = (value as readonly ConnectValue[]).map((each) => partText(schema.valueSchema, each, settings));
    return `[${entries.join(',')}]`;
  }
  if (typeof value === 'string') return quoteJson(value);
  if (typeof value === 'number' && schema.type.startsWith('float')) {
    return quotedUnlessFinite(schema.type === 'float32' ? floatText(value) : doubleText(value));
  }
  return `${value as number | bigint | boolean}`;
}

/** NaN and infinities are quoted, because JSON has no numbers for them. */
function quotedUnlessFinite(text: string): string {
  return text.endsWith('N') || text.endsWith('y') ? `"${text}"` : text;
}

function bytesText(bytes: Uint8Array): string {
  return quoteJson(Buffer.from(bytes).toString('latin1'));
}

function structText(schema: Schema, struct: Struct, settings: AvroSettings): string {
  const texts = schema.fields.map(({ name, index, schema: field }) => {
    const text = defaultText(field, struct.values[index] ?? null, settings);
    return { name: quoteJson(settings.scrubInvalidNames ? scrubbed(name) : name), text };
  });
  if (isUnion(schema)) return texts[0]?.text ?? 'null';
  return `{${texts.map(({ name, text }) => `${name}:${text}`).join(',')}}`;
}

function mapText(schema: Schema, map: ReadonlyMap<ConnectValue, ConnectValue>, settings: AvroSettings): string {
  const asObject = hasTextKeys(schema, settings);
  const entries = [...map].map(([key, value]) => {
    const keyText = partText(schema.keySchema, key, settings);
    const valueText = partText(schema.valueSchema, value, settings);
    return asObject ? `${keyText}:${valueText}` : `[${keyText},${valueText}]`;
  });
  return asObject ? `{${entries.join(',')}}` : `[${entries.join(',')}]`;
}

function partText(schema: Schema | undefined, value: ConnectValue, settings: AvroSettings): string {
  if (schema === undefined) throw new DataError('A default value has parts without a schema');
  return defaultText(schema, value, settings);
}

/** Whether a struct represents a union: it has a field per member, one of which is set. */
export function isUnion(schema: Schema): boolean {
  const isNamed = schema.name === `${NAMESPACE}.Union`;
  return schema.type === 'struct' && (isNamed || schema.parameters?.has(Parameter.generalizedUnion) === true);
}

/** Whether a map can be an Avro map, whose keys are always strings. */
export function hasTextKeys({ keySchema }: Schema, { allowOptionalMapKeys }: AvroSettings): boolean {
  return keySchema?.type === 'string' && (!keySchema.optional || allowOptionalMapKeys);
}
