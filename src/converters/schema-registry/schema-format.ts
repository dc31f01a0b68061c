import type { BlockText } from '../../data/block-text.ts';
import type { Schema } from '../../data/schema.ts';
import type { ConnectValue } from '../../data/value.ts';
import type { SchemaAndValue } from '../../connect/api.ts';
import type { RegisteredSchema, SchemaType } from './registry-client.ts';

/** Reads the messages of one registered schema. */
export interface SchemaReader {
  /** The value in `message` from `from` (after the wire prefix) up to `to`. */
  read(message: Buffer, from: number, to: number): SchemaAndValue;
  /** Absent if values are not structs, or if there is no faster way than `read`. */
  readonly structs?: SchemaStructs | undefined;
}

/** Reads structs of one registered schema without making objects of them. */
export interface SchemaStructs {
  readonly schema: Schema;
  /**
   * The values of the fields, in their order; an int64 is a number where that is exact.
   * @param window the message as text
   * @param bytes bytes of the block, in which the value is from `from` (after the wire prefix) up to `to`
   * @returns `false` if `read` must have a look at the message
   */
  readInto(window: BlockText, bytes: Buffer, from: number, to: number, values: ConnectValue[]): boolean;
}

/** Writes the values of one Connect schema as one registered schema has them. */
export interface SchemaWriter {
  /** The whole message, which begins with `prefix`. */
  write(value: ConnectValue, prefix: Buffer): Uint8Array;
}

/** A schema of the format's own, made from a Connect schema or taken from the registry. */
export interface SchemaText {
  readonly text: string;
  readonly references: RegisteredSchema['references'];
}

/** A format whose schemas are kept in a registry; pure, all waiting is done elsewhere. */
export interface SchemaFormat {
  readonly schemaType: SchemaType;
  /** First words of a failure, as the Java converters have them. */
  readFailure(topic: string): string;
  writeFailure(topic: string): string;
  /** `version`: of the schema in its subject, for Connect schemas that say none themselves. */
  reader(schema: RegisteredSchema, version: number | undefined): SchemaReader;
  /** The full name of the record that a schema is about, for subject names. */
  recordName(schema: SchemaText): string | undefined;
  /** Whether the value becomes a message without bytes. Throws for a null that the schema does not allow. */
  isTombstone(schema: Schema | null, value: ConnectValue): boolean;
  /** The text under which values of a Connect schema are registered. */
  describe(schema: Schema | null): SchemaText;
  /** `strict`: the target may not miss anything that values of the schema hold. */
  writer(schema: Schema | null, target: SchemaText, strict: boolean): SchemaWriter;
}
