import { javaClassOf } from '../../data/java-class.ts';
import type { Schema } from '../../data/schema.ts';
import { Struct, type ConnectValue } from '../../data/value.ts';
import { DataError } from '../../errors.ts';

/** What transformations ask of the data they get (org.apache.kafka.connect.transforms.util.Requirements), with its texts. */

export type ConnectMap = ReadonlyMap<ConnectValue, ConnectValue>;

/** A value without a schema as a map. */
export function requireMap(value: ConnectValue, purpose: string): ConnectMap {
  if (value instanceof Map) return value;
  throw new DataError(`Only Map objects supported in absence of schema for [${purpose}], found: ${javaClassOf(value)}`);
}

/** A value with this schema as a struct. */
export function requireStruct(value: ConnectValue, schema: Schema, purpose: string): Struct {
  if (value instanceof Struct) return value;
  throw new DataError(`Only Struct objects supported for [${purpose}], found: ${javaClassOf(value, schema)}`);
}
