import type { Field } from '../data/schema.ts';
import { valueMismatch } from '../data/validate-value.ts';
import { TypedNumber, type ConnectValue, type Struct } from '../data/value.ts';
import { DataError } from '../errors.ts';

/** The value of a field. `withDefault`: a null is read as the field's default (Struct.get, Struct.getWithoutDefault). */
export function cellOf(struct: Struct, field: Field, withDefault: boolean): ConnectValue {
  const value = struct.values[field.index] ?? null;
  if (value !== null || !withDefault) return value;
  return (field.schema.defaultValue as ConnectValue | undefined) ?? null;
}

/**
 * Returns the value. Throws a DataError if it is null and the field is required (Struct.put). Types need not be checked, because
 * the new schema was derived from the schema of the value.
 */
export function checkedCell(value: ConnectValue, { name, schema }: Field): ConnectValue {
  if (value === null && !schema.optional) throw new DataError(valueMismatch(schema, value, `field: "${name}"`) ?? '');
  return value;
}

/** Returns the value of the field `from`. Throws a DataError if the value does not match the schema of the field `to`. */
export function fittingCell(value: ConnectValue, from: Field, to: Field): ConnectValue {
  const { type } = from.schema;
  const isNarrow = type === 'int8' || type === 'int16' || type === 'int32' || type === 'float32';
  const typed = typeof value === 'number' && isNarrow ? new TypedNumber(type, value) : value;
  const mismatch = valueMismatch(to.schema, typed, `field: "${to.name}"`);
  if (mismatch !== undefined) throw new DataError(mismatch);
  return value;
}
