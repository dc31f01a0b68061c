import { ByteWriter } from './byte-writer.ts';

/** Size, in bytes, of the batch header, which precedes the first record. */
const PACKED_HEAD_BYTES = 61;
/** A batch of this size is full. With one more record of `MAX_PACKED_VALUE` it stays below 512 kB. */
const FULL_BYTES = 400_000;
/** Longer values are not packed. */
export const MAX_PACKED_VALUE = 100_000;
/** Maximum size, in bytes, of the lengths and deltas of a record. */
const MOST_VARINTS = 24;
const SMALLEST_BYTES = 1_024;

/** Position of the current read or write. It can be a variable of the module, because no other code runs in between. */
let position = 0;

/** Called with the positions of a record's key and value. `keyStart` and `keyEnd` are -1 if the record has no key. */
export type VisitRecord = (keyStart: number, keyEnd: number, valueStart: number, valueEnd: number) => void;

/** Headers that all records of a block have. */
export class PackedHeaders {
  readonly list: readonly PackedHeader[];
  /** The encoded headers: their number, then their keys and values. */
  readonly bytes: Buffer;

  constructor(list: readonly PackedHeader[]) {
    this.list = list;
    this.bytes = headerBytes(list);
  }
}

interface PackedHeader {
  readonly key: string;
  readonly value: Uint8Array | null;
}

function headerBytes(list: readonly PackedHeader[]): Buffer {
  const parts: Uint8Array[] = [varintBytes(list.length)];
  for (const { key, value } of list) {
    const keyBytes = Buffer.from(key, 'utf8');
    parts.push(varintBytes(keyBytes.length), keyBytes, varintBytes(value === null ? -1 : value.length));
    if (value !== null) parts.push(value);
  }
  return Buffer.concat(parts);
}

function varintBytes(value: number): Uint8Array {
  const bytes = Buffer.alloc(5);
  position = 0;
  writeVarint(bytes, value);
  return bytes.subarray(0, position);
}

/**
 * Records of one topic in the form of a Kafka record batch (message format 2), without timestamps and with the same
 * headers. Objects for records are created only on request.
 */
export class PackedRecords {
  readonly topic: string;
  /** Space for the header of the batch, then the records. */
  readonly bytes: Buffer;
  /** Number of records. */
  readonly length: number;
  readonly hasKeys: boolean;
  readonly headers: PackedHeaders;

  constructor(topic: string, bytes: Buffer, length: number, hasKeys: boolean, headers: PackedHeaders) {
    this.topic = topic;
    this.bytes = bytes;
    this.length = length;
    this.hasKeys = hasKeys;
    this.headers = headers;
  }

  forEach(visit: VisitRecord): void {
    const { bytes } = this;
    position = PACKED_HEAD_BYTES;
    while (position < bytes.length) {
      readVarint(bytes);
      // Attributes and the delta of the timestamp are 0.
      position += 2;
      readVarint(bytes);
      const keyLength = readVarint(bytes);
      const keyStart = keyLength < 0 ? -1 : position;
      const keyEnd = keyLength < 0 ? -1 : position + keyLength;
      position += Math.max(0, keyLength);
      const valueLength = readVarint(bytes);
      const valueStart = position;
      const next = position + valueLength + this.headers.bytes.length;
      visit(keyStart, keyEnd, valueStart, valueStart + valueLength);
      position = next;
    }
  }

  /** Returns the keys and values, as views of the bytes. */
  entries(): { readonly key: Buffer | null; readonly value: Buffer }[] {
    const { bytes } = this;
    const entries: { key: Buffer | null; value: Buffer }[] = [];
    this.forEach((keyStart, keyEnd, valueStart, valueEnd) => {
      const key = keyStart < 0 ? null : bytes.subarray(keyStart, keyEnd);
      entries.push({ key, value: bytes.subarray(valueStart, valueEnd) });
    });
    return entries;
  }

  /** Packs the records from index `from` to `to` (exclusive) into a new batch. */
  slice(from: number, to = this.length): PackedRecords {
    const { topic, bytes, headers } = this;
    const packer = new RecordPacker(topic, bytes.length, { fullBytes: Number.POSITIVE_INFINITY, headers });
    for (const { key, value } of this.entries().slice(from, to)) packer.add(key, value);
    return packer.take()[0] ?? new PackedRecords(topic, bytes.subarray(0, PACKED_HEAD_BYTES), 0, false, headers);
  }
}

/**
 * Writes records into batches of about 400 kB.
 *
 * between records --begin--> writing a value to `out` --end or undo--> between records.
 */
export class RecordPacker {
  readonly out: ByteWriter;
  readonly #topic: string;
  readonly #fullBytes: number;
  readonly #headers: PackedHeaders;
  readonly #full: PackedRecords[] = [];
  #count = 0;
  #hasKeys = false;
  #recordAt = 0;
  #valueAt = 0;
  /**
   * Bytes reserved for the lengths of a record and of its value: as many as the lengths of the previous record took.
   */
  #bodyVarint = 2;
  #valueVarint = 2;
  #recordHasKey = false;

  /** `expectedBytes` is an estimate of the size of all records. */
  constructor(topic: string, expectedBytes: number, { fullBytes = FULL_BYTES, headers = NO_HEADERS } = {}) {
    this.#topic = topic;
    this.#fullBytes = fullBytes;
    this.#headers = headers;
    this.out = new ByteWriter(Math.max(SMALLEST_BYTES, Math.min(expectedBytes, FULL_BYTES) + MOST_VARINTS));
    this.out.at = PACKED_HEAD_BYTES;
  }

  /** Number of bytes of the value that are written so far. */
  get valueLength(): number {
    return this.out.at - this.#valueAt;
  }

  /** The key is the first `keyLength` bytes of `key`. */
  begin(key: Uint8Array | null, keyLength = key?.length ?? 0): void {
    const { out } = this;
    out.reserve(MOST_VARINTS + keyLength);
    this.#recordAt = out.at;
    position = out.at + this.#bodyVarint;
    out.bytes[position++] = 0;
    out.bytes[position++] = 0;
    writeVarint(out.bytes, this.#count);
    writeVarint(out.bytes, key === null ? -1 : keyLength);
    out.at = position;
    if (key !== null) out.copy(key, 0, keyLength);
    out.at += this.#valueVarint;
    this.#valueAt = out.at;
    this.#recordHasKey = key !== null;
  }

  end(): void {
    const { out } = this;
    const headers = this.#headers.bytes;
    out.reserve(MOST_VARINTS + headers.length);
    const valueLength = this.valueLength;
    const valueVarint = varintSize(valueLength);
    if (valueVarint !== this.#valueVarint) this.#move(this.#valueAt, valueVarint - this.#valueVarint);
    const valueAt = this.#valueAt + valueVarint - this.#valueVarint;
    out.put(headers);
    const bodyLength = out.at - this.#recordAt - this.#bodyVarint;
    const bodyVarint = varintSize(bodyLength);
    const moved = bodyVarint - this.#bodyVarint;
    if (moved !== 0) this.#move(this.#recordAt + this.#bodyVarint, moved);
    position = this.#recordAt;
    writeVarint(out.bytes, bodyLength);
    position = valueAt + moved - valueVarint;
    writeVarint(out.bytes, valueLength);
    this.#valueVarint = valueVarint;
    this.#bodyVarint = bodyVarint;
    this.#count += 1;
    this.#hasKeys ||= this.#recordHasKey;
    if (out.at >= this.#fullBytes) this.#close(out.bytes.length);
  }

  /** Discards the record that was begun. */
  undo(): void {
    this.out.at = this.#recordAt;
  }

  add(key: Uint8Array | null, value: Uint8Array): void {
    this.begin(key);
    this.out.reserve(value.length);
    this.out.put(value);
    this.end();
  }

  /** Returns the records that were written since the last call, in order. */
  take(expectedBytes = SMALLEST_BYTES): PackedRecords[] {
    if (this.#count > 0) this.#close(expectedBytes);
    return this.#full.splice(0);
  }

  #close(nextBytes: number): void {
    const { out } = this;
    this.#full.push(
      new PackedRecords(this.#topic, out.bytes.subarray(0, out.at), this.#count, this.#hasKeys, this.#headers),
    );
    out.restart(Math.max(SMALLEST_BYTES, nextBytes));
    out.at = PACKED_HEAD_BYTES;
    this.#count = 0;
    this.#hasKeys = false;
  }

  #move(from: number, by: number): void {
    const { out } = this;
    out.bytes.copyWithin(from + by, from, out.at);
    out.at += by;
  }
}

function readVarint(bytes: Buffer): number {
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = bytes[position++]!;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return (value >>> 1) ^ -(value & 1);
}

function writeVarint(bytes: Buffer, value: number): void {
  let rest = ((value << 1) ^ (value >> 31)) >>> 0;
  while (rest >= 0x80) {
    bytes[position++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[position++] = rest;
}

/** Returns the size, in bytes, of a length as a varint. */
function varintSize(length: number): number {
  if (length < 0x40) return 1;
  if (length < 0x2000) return 2;
  return length < 0x10_0000 ? 3 : 4;
}

const NO_HEADERS = new PackedHeaders([]);
