/**
 * Decodes messages of PostgreSQL's output plugin `pgoutput`, protocol version 1 (Logical Replication Message Formats). Values are in
 * the server's text format.
 */

/** Represents a large value that the server did not send, because the change did not touch it. */
export const UNCHANGED = Symbol('unchanged');

export type LogValue = string | null | typeof UNCHANGED;

/** One value for each column of the relation. */
export type LogRow = readonly LogValue[];

export interface RelationColumn {
  readonly name: string;
  /** Whether the column is part of the replica identity. */
  readonly isIdentity: boolean;
  readonly typeOid: number;
  readonly typeModifier: number;
}

/** Describes the rows of a table. The server sends it before the first row of the table, and after each change of its definition. */
export interface Relation {
  readonly kind: 'relation';
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  /** `pg_class.relreplident`: `d` (default), `n` (nothing), `f` (full) or `i` (index). */
  readonly identity: string;
  readonly columns: readonly RelationColumn[];
}

export type LogMessage =
  | Relation
  | { readonly kind: 'begin'; readonly finalLsn: bigint; readonly commitMicros: bigint; readonly xid: number }
  | { readonly kind: 'commit'; readonly commitLsn: bigint; readonly endLsn: bigint; readonly commitMicros: bigint }
  | { readonly kind: 'origin'; readonly originLsn: bigint; readonly name: string }
  | { readonly kind: 'insert'; readonly oid: number; readonly after: LogRow }
  | { readonly kind: 'update'; readonly oid: number; readonly before: OldRow | undefined; readonly after: LogRow }
  | { readonly kind: 'delete'; readonly oid: number; readonly before: OldRow }
  | { readonly kind: 'truncate'; readonly oids: readonly number[] }
  | {
      readonly kind: 'message';
      readonly isTransactional: boolean;
      readonly lsn: bigint;
      readonly prefix: string;
      readonly content: Buffer;
    }
  | { readonly kind: 'ignored' };

/** The row before a change. If `isWhole` is false, it has only the columns of the replica identity; the other values are `null`. */
export interface OldRow {
  readonly isWhole: boolean;
  readonly values: LogRow;
}

/** PostgreSQL's epoch, 2000-01-01, in microseconds since 1970. */
const POSTGRES_EPOCH_MICROS = 946_684_800_000_000n;

/** @throws Error if the message is damaged, or if protocol version 1 does not have its type */
export function decodeLogMessage(message: Buffer): LogMessage {
  const reader = new Reader(message);
  const type = reader.character();
  switch (type) {
    case 'I':
      return { kind: 'insert', oid: reader.uint32(), after: reader.newRow() };
    case 'U':
      return updateOf(reader);
    case 'D':
      return { kind: 'delete', oid: reader.uint32(), before: reader.oldRow(reader.character()) };
    case 'B':
      return { kind: 'begin', finalLsn: reader.uint64(), commitMicros: reader.time(), xid: reader.uint32() };
    case 'C':
      reader.skip(1);
      return { kind: 'commit', commitLsn: reader.uint64(), endLsn: reader.uint64(), commitMicros: reader.time() };
    case 'R':
      return relationOf(reader);
    case 'T':
      return truncateOf(reader);
    case 'M':
      return messageOf(reader);
    case 'O':
      return { kind: 'origin', originLsn: reader.uint64(), name: reader.text() };
    // A `Y` message names a type. It is ignored, because types are looked up in the catalogue.
    case 'Y':
      return { kind: 'ignored' };
    default:
      throw new Error(`pgoutput sent a message of the unknown type ${JSON.stringify(type)}`);
  }
}

function updateOf(reader: Reader): LogMessage {
  const oid = reader.uint32();
  const next = reader.character();
  if (next === 'N') return { kind: 'update', oid, before: undefined, after: reader.row() };
  const before = reader.oldRow(next);
  return { kind: 'update', oid, before, after: reader.newRow() };
}

function relationOf(reader: Reader): Relation {
  const oid = reader.uint32();
  const schema = reader.text();
  const name = reader.text();
  const identity = reader.character();
  const columns = Array.from({ length: reader.uint16() }, (): RelationColumn => {
    const isIdentity = (reader.uint8() & 1) === 1;
    return { isIdentity, name: reader.text(), typeOid: reader.uint32(), typeModifier: reader.int32() };
  });
  return { kind: 'relation', oid, schema: schema === '' ? 'pg_catalog' : schema, name, identity, columns };
}

function truncateOf(reader: Reader): LogMessage {
  const count = reader.uint32();
  reader.skip(1);
  reader.requireLeft(count * 4);
  return { kind: 'truncate', oids: Array.from({ length: count }, () => reader.uint32()) };
}

function messageOf(reader: Reader): LogMessage {
  const isTransactional = (reader.uint8() & 1) === 1;
  const lsn = reader.uint64();
  const prefix = reader.text();
  return { kind: 'message', isTransactional, lsn, prefix, content: reader.bytes(reader.uint32()) };
}

const NULL_VALUE = 0x6e;
const UNCHANGED_VALUE = 0x75;
const TEXT_VALUE = 0x74;

class Reader {
  readonly #message: Buffer;
  #at = 0;

  constructor(message: Buffer) {
    this.#message = message;
  }

  requireLeft(bytes: number): void {
    if (bytes > this.#message.length - this.#at) throw new Error('pgoutput sent a message that ends too early');
  }

  skip(bytes: number): void {
    this.requireLeft(bytes);
    this.#at += bytes;
  }

  uint8(): number {
    this.requireLeft(1);
    return this.#message[this.#at++] ?? 0;
  }

  uint16(): number {
    this.skip(2);
    return this.#message.readUInt16BE(this.#at - 2);
  }

  int32(): number {
    this.skip(4);
    return this.#message.readInt32BE(this.#at - 4);
  }

  uint32(): number {
    this.skip(4);
    return this.#message.readUInt32BE(this.#at - 4);
  }

  uint64(): bigint {
    this.skip(8);
    return this.#message.readBigUInt64BE(this.#at - 8);
  }

  /** Reads a time, and converts it to microseconds since 1970. */
  time(): bigint {
    this.skip(8);
    return this.#message.readBigInt64BE(this.#at - 8) + POSTGRES_EPOCH_MICROS;
  }

  character(): string {
    return String.fromCharCode(this.uint8());
  }

  /** Reads a text that ends with NUL. */
  text(): string {
    const end = this.#message.indexOf(0, this.#at);
    if (end < 0) throw new Error('pgoutput sent a text without an end');
    const text = this.#message.toString('utf8', this.#at, end);
    this.#at = end + 1;
    return text;
  }

  bytes(length: number): Buffer {
    this.skip(length);
    return this.#message.subarray(this.#at - length, this.#at);
  }

  newRow(): LogRow {
    const type = this.character();
    if (type !== 'N') throw new Error(`pgoutput sent ${JSON.stringify(type)} in place of a new row`);
    return this.row();
  }

  oldRow(type: string): OldRow {
    if (type !== 'K' && type !== 'O') throw new Error(`pgoutput sent ${JSON.stringify(type)} in place of an old row`);
    return { isWhole: type === 'O', values: this.row() };
  }

  row(): LogRow {
    const values: LogValue[] = [];
    for (let left = this.uint16(); left > 0; left--) values.push(this.#value());
    return values;
  }

  #value(): LogValue {
    const type = this.uint8();
    if (type === NULL_VALUE) return null;
    if (type === UNCHANGED_VALUE) return UNCHANGED;
    if (type !== TEXT_VALUE) throw new Error(`pgoutput sent a value of the unknown type ${String(type)}`);
    const length = this.uint32();
    this.skip(length);
    return this.#message.toString('utf8', this.#at - length, this.#at);
  }
}
