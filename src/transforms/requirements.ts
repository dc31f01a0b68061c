import { javaClassOf } from '../data/java-class.ts';
import type { Schema } from '../data/schema.ts';
import { Struct, type ConnectValue } from '../data/value.ts';
import { DataError, SluiceError } from '../errors.ts';

/**
 * Requirements on the data of transformations (org.apache.kafka.connect.transforms.util.Requirements), with Connect's
 * messages.
 */

export type ConnectMap = ReadonlyMap<ConnectValue, ConnectValue>;

/** Returns a schemaless value that is a map. Throws a DataError if it is not. */
export function requireMap(value: ConnectValue, purpose: string): ConnectMap {
  if (value instanceof Map) return value;
  throw new DataError(`Only Map objects supported in absence of schema for [${purpose}], found: ${javaClassOf(value)}`);
}

/** Returns a value that is a struct. Throws a DataError with the Java class of the value if it is not. */
export function requireStruct(value: ConnectValue, schema: Schema, purpose: string): Struct {
  if (value instanceof Struct) return value;
  throw new DataError(`Only Struct objects supported for [${purpose}], found: ${javaClassOf(value, schema)}`);
}

/** Throws a DataError if the schema is not that of a struct (ConnectSchema.fields). */
export function requireStructSchema({ type }: Schema): void {
  if (type !== 'struct') throw new DataError('Cannot list fields on non-struct type');
}

/** Errors with the Java classes that Connect's own transformations show in traces and dead-letter records. */

/** Creates a SchemaBuilderException, which means that the resulting schema is invalid. */
export function schemaBuilderError(message: string, cause?: unknown): SluiceError {
  return recordError('org.apache.kafka.connect.errors.SchemaBuilderException', message, cause);
}

/** Creates an IllegalArgumentException that concerns a single record. */
export function illegalArgument(message: string): SluiceError {
  return recordError('java.lang.IllegalArgumentException', message);
}

/** Kafka allows at most 249 characters. This higher limit keeps routers that double the name from filling the memory. */
const MAX_TOPIC_LENGTH = 65_536;

/**
 * Returns the topic. Throws a NullPointerException with the message `javaText` if a source connector did not set the topic, and a
 * DataError if the topic is too long.
 */
export function requireTopic(topic: string | null, javaText: string): string {
  if (topic === null) throw recordError('java.lang.NullPointerException', javaText);
  if (topic.length > MAX_TOPIC_LENGTH)
    throw new DataError(
      `The name of the topic has ${String(topic.length)} characters; at most ${String(MAX_TOPIC_LENGTH)} are allowed`,
    );
  return topic;
}

/** Returns a key that is a string or null. Throws a ClassCastException for any other key. */
export function requireTextKey(key: ConnectValue): string | null {
  if (key === null || typeof key === 'string') return key;
  const name = javaClassOf(key);
  throw recordError(
    'java.lang.ClassCastException',
    `class ${name} cannot be cast to class java.lang.String (${name} and java.lang.String are in module java.base of loader 'bootstrap')`,
  );
}

/** Creates the NumberFormatException that is the cause of a DataException. */
export function numberFormatError(message: string): SluiceError {
  return recordError('java.lang.NumberFormatException', message);
}

/** Creates an error that concerns a single record and has the name of a Java class. */
export function recordError(javaName: string, message: string, cause?: unknown): SluiceError {
  return new SluiceError(message, { scope: 'record', javaName, ...(cause === undefined ? {} : { cause }) });
}
