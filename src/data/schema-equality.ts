import type { Schema } from './schema.ts';
import { Decimal, Struct, TypedNumber, type ConnectValue } from './value.ts';

/**
 * Implements ConnectSchema.equals: same type, optionality, default, name, version, documentation, parameters and parts.
 */
export function sameSchema(a: Schema | null | undefined, b: Schema | null | undefined): boolean {
  if (a === b) return true;
  if (a === null || a === undefined || b === null || b === undefined) return false;
  return (
    a.type === b.type &&
    a.optional === b.optional &&
    a.name === b.name &&
    a.version === b.version &&
    a.doc === b.doc &&
    sameParameters(a.parameters, b.parameters) &&
    sameFields(a, b) &&
    sameSchema(a.keySchema, b.keySchema) &&
    sameSchema(a.valueSchema, b.valueSchema) &&
    sameDefault(a.defaultValue, b.defaultValue)
  );
}

function sameFields(a: Schema, b: Schema): boolean {
  return (
    a.fields.length === b.fields.length &&
    a.fields.every((field, index) => {
      const other = b.fields[index];
      return other !== undefined && field.name === other.name && sameSchema(field.schema, other.schema);
    })
  );
}

function sameParameters(a: Schema['parameters'], b: Schema['parameters']): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.size === b.size && [...a].every(([name, value]) => b.get(name) === value);
}

function sameDefault(a: unknown, b: unknown): boolean {
  if (a === undefined || b === undefined) return a === b;
  return sameValue(a as ConnectValue, b as ConnectValue);
}

/**
 * Implements `Object.equals` for Connect values. Byte arrays are compared by content, and decimals with different
 * scales differ.
 */
function sameValue(a: ConnectValue, b: ConnectValue): boolean {
  if (Object.is(a, b)) return true;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false;
  if (a instanceof TypedNumber) return b instanceof TypedNumber && a.type === b.type && Object.is(a.value, b.value);
  if (a instanceof Decimal) return b instanceof Decimal && a.unscaled === b.unscaled && a.scale === b.scale;
  if (a instanceof Date) return b instanceof Date && a.getTime() === b.getTime();
  if (a instanceof Uint8Array) return b instanceof Uint8Array && sameBytes(a, b);
  if (a instanceof Struct) return b instanceof Struct && sameSchema(a.schema, b.schema) && sameList(a.values, b.values);
  if (a instanceof Map) return b instanceof Map && sameMap(a, b);
  return Array.isArray(a) && Array.isArray(b) && sameList(a, b);
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function sameList(a: readonly ConnectValue[], b: readonly ConnectValue[]): boolean {
  return a.length === b.length && a.every((value, index) => sameValue(value, b[index] ?? null));
}

function sameMap(a: ReadonlyMap<ConnectValue, ConnectValue>, b: ReadonlyMap<ConnectValue, ConnectValue>): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([key, value]) =>
    b.has(key)
      ? sameValue(value, b.get(key) ?? null)
      : [...b].some(([k, v]) => sameValue(k, key) && sameValue(v, value)),
  );
}
