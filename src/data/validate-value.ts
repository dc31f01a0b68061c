import { javaClassOf } from './java-class.ts';
import { LogicalName, type Schema } from './schema.ts';
import { sameSchema } from './schema-equality.ts';
import { Decimal, Struct, TypedNumber, type ConnectValue } from './value.ts';

/**
 * Returns why a value does not match a schema, in Connect's words (ConnectSchema.validateValue); `undefined` if it
 * does. `location` is `value`, `field: "a"`, …
 */
export function valueMismatch(schema: Schema, value: ConnectValue, location = 'value'): string | undefined {
  if (value === null) {
    if (schema.optional) return undefined;
    return `Invalid value: null used for required ${location}, schema type: ${schema.type.toUpperCase()}`;
  }
  if (!hasExpectedClass(schema, value)) {
    const name = schema.name === undefined ? '' : ` "${schema.name}"`;
    return `Invalid Java object for schema${name} with type ${schema.type.toUpperCase()}: class ${javaClassOf(value)} for ${location}`;
  }
  return partMismatch(schema, value, location);
}

function partMismatch(schema: Schema, value: ConnectValue, location: string): string | undefined {
  if (value instanceof Struct) {
    return sameSchema(value.schema, schema) ? structMismatch(value) : 'Struct schemas do not match.';
  }
  if (value instanceof Map) {
    for (const [key, entry] of value as ReadonlyMap<ConnectValue, ConnectValue>) {
      const found =
        (schema.keySchema && valueMismatch(schema.keySchema, key, `key of map ${location}`)) ??
        (schema.valueSchema && valueMismatch(schema.valueSchema, entry, `value of map ${location}`));
      if (found !== undefined) return found;
    }
  }
  if (Array.isArray(value) && schema.valueSchema !== undefined) {
    for (const entry of value as readonly ConnectValue[]) {
      const found = valueMismatch(schema.valueSchema, entry, `element of array ${location}`);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Returns why a struct does not match its own schema (Struct.validate). A field without a value has its default. */
function structMismatch(struct: Struct): string | undefined {
  for (const { name, index, schema } of struct.schema.fields) {
    const value = struct.values[index] ?? null;
    if (value === null && (schema.optional || schema.defaultValue !== undefined)) continue;
    const found = valueMismatch(schema, value, `field: "${name}"`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function hasExpectedClass(schema: Schema, value: ConnectValue): boolean {
  switch (schema.name) {
    case LogicalName.decimal:
      return value instanceof Decimal;
    case LogicalName.date:
    case LogicalName.time:
    case LogicalName.timestamp:
      return value instanceof Date;
  }
  switch (schema.type) {
    case 'int8':
    case 'int16':
    case 'int32':
      return typeof value === 'number' ? Number.isInteger(value) : isTyped(value, schema.type);
    case 'float32':
      return typeof value === 'number' || isTyped(value, schema.type);
    case 'float64':
      return typeof value === 'number';
    case 'int64':
      return typeof value === 'bigint';
    case 'boolean':
    case 'string':
      return typeof value === schema.type;
    case 'bytes':
      return value instanceof Uint8Array;
    case 'array':
      return Array.isArray(value);
    case 'map':
      return value instanceof Map;
    case 'struct':
      return value instanceof Struct;
  }
}

function isTyped(value: ConnectValue, type: TypedNumber['type']): boolean {
  return value instanceof TypedNumber && value.type === type;
}
