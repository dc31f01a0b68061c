import type { BlockText } from '../../data/block-text.ts';
import type { Schema } from '../../data/schema.ts';
import type { ConnectValue } from '../../data/value.ts';
import type { SchemaAndValue } from '../../connect/api.ts';
import type { RegisteredSchema, SchemaType } from './registry-client.ts';

/** Reads the messages of one registered schema. */
export interface SchemaReader {
  /** Reads the value in `message` from `from` (after the wire prefix) up to `to`. */
  read(message: Buffer, from: number, to: number): SchemaAndValue;
  /** Faster reader of structs; absent if values are not structs, or if the format has no faster reader. */
  readonly structs?: SchemaStructs | undefined;
}

/** Reads structs of one registered schema without creating an object for each. */
export interface SchemaStructs {
  readonly schema: Schema;
  /**
   * Reads the values of the fields, in order, into `values`. An int64 is a number if a number represents it exactly,
   * otherwise a bigint.
   * @param window text of the block around the value, for which `BlockText.open` was called
   * @param bytes bytes of the block, in which the value is from `from` (after the wire prefix) up to `to`
   * @returns `false` if the caller must use `read` for the message
   */
  readInto(window: BlockText, bytes: Buffer, from: number, to: number, values: ConnectValue[]): boolean;
}

/** Writes values of one Connect schema as values of one registered schema. */
export interface SchemaWriter {
  /** Returns the whole message, which begins with `prefix`. */
  write(value: ConnectValue, prefix: Buffer): Uint8Array;
}

/** A schema in the language of the format, derived from a Connect schema or fetched from the registry. */
export interface SchemaText {
  readonly text: string;
  readonly references: RegisteredSchema['references'];
}

/** A format whose schemas are kept in a registry. All methods are synchronous and do no I/O. */
export interface SchemaFormat {
  readonly schemaType: SchemaType;
  /** Beginning of the message of a failure, as in Java's converters. */
  readFailure(topic: string): string;
  writeFailure(topic: string): string;
  /** `version`: version of the schema in its subject, for schemas that do not state one. */
  reader(schema: RegisteredSchema, version: number | undefined): SchemaReader;
  /** The full name of a schema's record, for subject names. */
  recordName(schema: SchemaText): string | undefined;
  /**
   * Whether the value is written as a message without a value. The Avro format throws a DataError for a null that the
   * schema does not allow.
   */
  isTombstone(schema: Schema | null, value: ConnectValue): boolean;
  /** The schema that is registered for values of a Connect schema. */
  describe(schema: Schema | null): SchemaText;
  /** `strict`: throws a DataError if the target lacks a field of the schema. */
  writer(schema: Schema | null, target: SchemaText, strict: boolean): SchemaWriter;
}
