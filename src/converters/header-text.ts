import { javaText } from '../java/java-text.ts';
import { temporalText } from '../java/java-date-text.ts';
import type { Schema } from '../data/schema.ts';
import { Struct, type ConnectValue } from '../data/value.ts';
import { asBuffer } from '../json/json-bytes.ts';

/** Converts a value to text that `parseHeaderText` can parse (org.apache.kafka.connect.data.Values.convertToString). */
export function headerText(value: ConnectValue, schema: Schema | null, embedded = false): string {
  if (typeof value === 'string') return embedded ? quoted(value) : value;
  if (value instanceof Uint8Array) {
    const base64 = asBuffer(value).toString('base64');
    return embedded ? `"${base64}"` : base64;
  }
  if (value instanceof Date) return temporalText(value);
  if (value instanceof Struct) {
    const fields = value.schema.fields.map(
      ({ name, index, schema: field }) =>
        `${quoted(name)}:${headerText(orDefault(value.values[index], field), field, true)}`,
    );
    return `{${fields.join(',')}}`;
  }
  if (value instanceof Map) {
    const entries = [...(value as ReadonlyMap<ConnectValue, ConnectValue>)].map(
      ([key, entry]) =>
        `${headerText(key, schema?.keySchema ?? null, true)}:${headerText(entry, schema?.valueSchema ?? null, true)}`,
    );
    return `{${entries.join(',')}}`;
  }
  if (Array.isArray(value)) {
    const entries = (value as readonly ConnectValue[]).map((entry) =>
      headerText(entry, schema?.valueSchema ?? null, true),
    );
    return `[${entries.join(',')}]`;
  }
  return javaText(value, schema);
}

/** A field without a value has its default, as in `Struct.get`. */
function orDefault(value: ConnectValue | undefined, schema: Schema): ConnectValue {
  return value ?? (schema.defaultValue as ConnectValue | undefined) ?? null;
}

function quoted(text: string): string {
  return `"${text.replace(/\\/g, '\\\\').replace(/"/g, '\\"')}"`;
}
