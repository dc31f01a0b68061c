import { javaClassOf } from '../data/java-class.ts';
import type { Schema } from '../data/schema.ts';
import { Struct, type ConnectValue } from '../data/value.ts';
import { DataError, SluiceError } from '../errors.ts';

/** Requirements on the data of transformations (org.apache.kafka.connect.transforms.util.Requirements), with its messages. */

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

/** Only structs have fields (ConnectSchema.fields). */
export function requireStructSchema({ type }: Schema): void {
  if (type !== 'struct') throw new DataError('Cannot list fields on non-struct type');
}

/** Failures with the Java classes that traces and dead letters of Connect's own transformations show. */

/** SchemaBuilderException: the resulting schema is invalid. */
export function schemaBuilderError(message: string, cause?: unknown): SluiceError {
  return recordError('org.apache.kafka.connect.errors.SchemaBuilderException', message, cause);
}

/** IllegalArgumentException, for records. */
export function illegalArgument(message: string): SluiceError {
  return recordError('java.lang.IllegalArgumentException', message);
}

/** Names of topics have at most 249 characters. Routers that each double a name would fill the memory. */
const MAX_TOPIC_LENGTH = 65_536;

/** NullPointerException of a router: only a source connector that sets no topic makes such a record. */
export function requireTopic(topic: string | null, javaText: string): string {
  if (topic === null) throw recordError('java.lang.NullPointerException', javaText);
  if (topic.length > MAX_TOPIC_LENGTH)
    throw new DataError(
      `The name of the topic has ${String(topic.length)} characters; at most ${String(MAX_TOPIC_LENGTH)} are allowed`,
    );
  return topic;
}

/** ClassCastException of a key that is not a string. Null passes, as casts of null do. */
export function requireTextKey(key: ConnectValue): string | null {
  if (key === null || typeof key === 'string') return key;
  const name = javaClassOf(key);
  throw recordError(
    'java.lang.ClassCastException',
    `class ${name} cannot be cast to class java.lang.String (${name} and java.lang.String are in module java.base of loader 'bootstrap')`,
  );
}

/** The NumberFormatException below a DataException. */
export function numberFormatError(message: string): SluiceError {
  return recordError('java.lang.NumberFormatException', message);
}

/** A failure of one record with the name of a Java class. */
export function recordError(javaName: string, message: string, cause?: unknown): SluiceError {
  return new SluiceError(message, { scope: 'record', javaName, ...(cause === undefined ? {} : { cause }) });
}
