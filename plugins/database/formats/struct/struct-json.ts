import type { Schema } from '../../../../src/data/schema.ts';
import { Struct, type ConnectValue } from '../../../../src/data/value.ts';
import { TimestampWriter } from '../../sql/timestamp-text.ts';
import type { Present, ValueRule } from './struct-cells.ts';

export interface JsonRules {
  readonly ruleOf: (schema: Schema) => ValueRule;
  /** Returns the schema for a part of the value that has no schema. */
  readonly schemaOf: (value: Present | null) => Schema;
}

/**
 * Converts a nested value to JSON; returns `undefined` if a part does not match its schema. 64-bit integers and
 * decimals keep all digits; times are ISO 8601 strings, bytes are Base64; NaN and infinities, which JSON does not
 * support, are strings. Maps with text, number or boolean keys become objects, other maps arrays of pairs.
 */
export function jsonText(schema: Schema, value: ConnectValue, rules: JsonRules): string | undefined {
  if (value === null) return 'null';
  const rule = rules.ruleOf(schema);
  if (value instanceof Struct && rule.kind === 'json') return structText(value, rules);
  if (value instanceof Map) return mapText(schema, value as ReadonlyMap<ConnectValue, ConnectValue>, rules);
  if (Array.isArray(value)) return arrayText(schema, value as readonly ConnectValue[], rules);
  const cell = rule.toCell(value);
  if (cell === undefined || cell === null) return undefined;
  if (cell instanceof Uint8Array)
    return `"${Buffer.from(cell.buffer, cell.byteOffset, cell.length).toString('base64')}"`;
  switch (rule.kind) {
    case 'json':
      return String(cell);
    case 'time':
      return typeof cell === 'string' ? JSON.stringify(cell) : timeText(cell as number | bigint, rule.type);
    case 'numeric':
      return String(cell);
    case 'float':
      return Number.isFinite(cell) ? String(cell) : `"${String(cell)}"`;
    default:
      return typeof cell === 'string' ? JSON.stringify(cell) : String(cell);
  }
}

function structText(struct: Struct, rules: JsonRules): string | undefined {
  const members: string[] = [];
  for (const { name, index, schema } of struct.schema.fields) {
    const text = jsonText(schema, valueOrDefault(struct.values[index] ?? null, schema), rules);
    if (text === undefined) return undefined;
    members.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${members.join(',')}}`;
}

/** Returns the default for a null, as Connect's Struct.get does. */
function valueOrDefault(value: ConnectValue, schema: Schema): ConnectValue {
  return value ?? (schema.defaultValue as ConnectValue | undefined) ?? null;
}

function arrayText(schema: Schema, values: readonly ConnectValue[], rules: JsonRules): string | undefined {
  const texts: string[] = [];
  for (const value of values) {
    const text = partText(schema, value, rules);
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return `[${texts.join(',')}]`;
}

function mapText(schema: Schema, map: ReadonlyMap<ConnectValue, ConnectValue>, rules: JsonRules): string | undefined {
  const isObject = [...map.keys()].every(isScalar);
  const texts: string[] = [];
  for (const [key, value] of map) {
    const text = partText(schema, value, rules);
    const name = isObject && isScalar(key) ? JSON.stringify(String(key)) : jsonText(rules.schemaOf(key), key, rules);
    if (text === undefined || name === undefined) return undefined;
    texts.push(isObject ? `${name}:${text}` : `[${name},${text}]`);
  }
  return isObject ? `{${texts.join(',')}}` : `[${texts.join(',')}]`;
}

function isScalar(key: ConnectValue): key is string | number | bigint | boolean {
  return typeof key !== 'object';
}

/** Converts an array element or map value. Without a schema, the conversion depends on the value. */
function partText({ valueSchema }: Schema, value: ConnectValue, rules: JsonRules): string | undefined {
  const untyped = rules.schemaOf(null);
  const isTyped = valueSchema !== undefined && valueSchema !== untyped;
  return jsonText(isTyped ? valueSchema : rules.schemaOf(value), value, rules);
}

const timestamps = new TimestampWriter('');

/** Formats a date, or a time with `Z` if the column type has a time zone, in ISO 8601. */
function timeText(micros: number | bigint, type: string | undefined): string {
  const text = timestamps.write(micros);
  if (type === 'DATE') return `"${text.slice(0, text.indexOf(' '))}"`;
  return `"${text.replace(' ', 'T')}${type === 'TIMESTAMPTZ' ? 'Z' : ''}"`;
}
