import { SluiceError } from '../../errors.ts';

/** Failures with the Java classes that traces and dead letters of Connect's own transformations show. */

/** SchemaBuilderException: the schema that would come out is not possible. */
export function schemaBuilderError(message: string, cause?: unknown): SluiceError {
  return recordError('org.apache.kafka.connect.errors.SchemaBuilderException', message, cause);
}

/** IllegalArgumentException, for records. */
export function illegalArgument(message: string): SluiceError {
  return recordError('java.lang.IllegalArgumentException', message);
}

/** The NumberFormatException below a DataException. */
export function numberFormatError(message: string): SluiceError {
  return recordError('java.lang.NumberFormatException', message);
}

/** A failure of one record with the name of a Java class. */
export function recordError(javaName: string, message: string, cause?: unknown): SluiceError {
  return new SluiceError(message, { scope: 'record', javaName, ...(cause === undefined ? {} : { cause }) });
}
