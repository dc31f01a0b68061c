import type { Schema } from './schema.ts';
import { Decimal, Struct, TypedNumber, type ConnectValue } from './value.ts';

const NUMBER_CLASSES = {
  int8: 'java.lang.Byte',
  int16: 'java.lang.Short',
  int32: 'java.lang.Integer',
  float32: 'java.lang.Float',
} as const;

/**
 * Returns the Java class of a Connect value, as in Connect's messages. A number is a Double unless the schema specifies
 * another type.
 */
export function javaClassOf(value: ConnectValue, schema?: Schema | null): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'java.lang.String';
  if (typeof value === 'boolean') return 'java.lang.Boolean';
  if (typeof value === 'bigint') return 'java.lang.Long';
  if (typeof value === 'number') return numberClass(schema);
  if (value instanceof TypedNumber) return NUMBER_CLASSES[value.type];
  if (value instanceof Uint8Array) return '[B';
  if (value instanceof Date) return 'java.util.Date';
  if (value instanceof Decimal) return 'java.math.BigDecimal';
  if (value instanceof Struct) return 'org.apache.kafka.connect.data.Struct';
  return value instanceof Map ? 'java.util.HashMap' : 'java.util.ArrayList';
}

function numberClass(schema: Schema | null | undefined): string {
  switch (schema?.type) {
    case 'int8':
    case 'int16':
    case 'int32':
    case 'float32':
      return NUMBER_CLASSES[schema.type];
    default:
      return 'java.lang.Double';
  }
}
