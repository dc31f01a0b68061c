import type { Field } from '../data/schema.ts';
import { valueMismatch } from '../data/validate-value.ts';
import { TypedNumber, type ConnectValue, type Struct } from '../data/value.ts';
import { DataError } from '../errors.ts';

/** A struct's cell; `withDefault`: the field's default where nothing is stored (Struct.get, Struct.getWithoutDefault). */
export function cellOf(struct: Struct, field: Field, withDefault: boolean): ConnectValue {
  const value = struct.values[field.index] ?? null;
  if (value !== null || !withDefault) return value;
  return (field.schema.defaultValue as ConnectValue | undefined) ?? null;
}

/**
 * The value, or a DataError when it is null and the field must have one (Struct.put). Types are not looked at: they are
 * right by the way the new schema was made.
 */
export function checkedCell(value: ConnectValue, { name, schema }: Field): ConnectValue {
  if (value === null && !schema.optional) throw new DataError(valueMismatch(schema, value, `field: "${name}"`) ?? '');
  return value;
}

/** The value of a field, or a DataError if its type does not fit the schema of another field. */
export function fittingCell(value: ConnectValue, from: Field, to: Field): ConnectValue {
  const { type } = from.schema;
  const isNarrow = type === 'int8' || type === 'int16' || type === 'int32' || type === 'float32';
  const typed = typeof value === 'number' && isNarrow ? new TypedNumber(type, value) : value;
  const mismatch = valueMismatch(to.schema, typed, `field: "${to.name}"`);
  if (mismatch !== undefined) throw new DataError(mismatch);
  return value;
}
