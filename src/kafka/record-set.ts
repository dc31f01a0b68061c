import { toError } from '../errors.ts';
import type { ConsumedHeader, ConsumedRecord } from './api.ts';
import { codecFor, compressionOf, type PackedType } from './codecs.ts';
import { crc32c } from './crc32c.ts';
import { RecordFormatError } from './errors.ts';
import { BatchAttribute, BatchField, LENGTH_OVERHEAD, MAGIC, readInt64 } from './record-batch.ts';

/** A transaction that was aborted: the producer's records from `firstOffset` to its abort marker do not count. */
export interface AbortedTransaction {
  readonly producerId: number;
  readonly firstOffset: number;
}

const NO_HEADERS: readonly ConsumedHeader[] = Object.freeze([]);
const ABORT_MARKER = 0;

/**
 * One partition's part of one fetch answer, decoded on demand: batches are unpacked one at a time when the reader comes
 * to them, so that memory holds packed batches and one unpacked. Keys and values are views of the batch's bytes.
 */
export class RecordSet {
  readonly #topic: string;
  readonly #partition: number;
  readonly #bytes: Buffer;
  readonly #checkCrcs: boolean;
  /** By first offset; `undefined`: uncommitted records are wanted too. */
  readonly #aborted: AbortedTransaction[] | undefined;
  readonly #abortedProducers = new Set<number>();
  #nextBatchAt = 0;
  #nextOffset: number;
  #batch: OpenBatch | undefined;

  constructor(
    source: { topic: string; partition: number; bytes: Buffer; fetchOffset: number },
    options: { checkCrcs: boolean; aborted: readonly AbortedTransaction[] | undefined },
  ) {
    this.#topic = source.topic;
    this.#partition = source.partition;
    this.#bytes = source.bytes;
    this.#nextOffset = source.fetchOffset;
    this.#checkCrcs = options.checkCrcs;
    this.#aborted = options.aborted && [...options.aborted].sort((a, b) => a.firstOffset - b.firstOffset);
  }

  /** The offset after the last record that was read or passed over. */
  get nextOffset(): number {
    return this.#nextOffset;
  }

  get byteLength(): number {
    return this.#bytes.length;
  }

  /** Appends up to `max` records to `into`; true when the set has been read to its end. */
  read(into: ConsumedRecord[], max: number): boolean {
    const end = into.length + max;
    while (into.length < end) {
      const batch = (this.#batch ??= this.#openNext());
      if (batch === undefined) return true;
      this.#readBatch(batch, into, end);
      if (batch.remaining === 0) {
        this.#nextOffset = Math.max(this.#nextOffset, batch.nextOffset);
        this.#batch = undefined;
      }
    }
    return this.#batch === undefined && this.#nextBatchEnd() === undefined;
  }

  #readBatch(batch: OpenBatch, into: ConsumedRecord[], end: number): void {
    const { bytes, baseOffset, baseTimestamp, appendTime } = batch;
    const topic = this.#topic;
    const partition = this.#partition;
    const from = this.#nextOffset;
    const timestampType = appendTime === undefined ? 'CreateTime' : 'LogAppendTime';
    cursor = batch.at;
    let remaining = batch.remaining;
    while (remaining > 0 && into.length < end) {
      remaining -= 1;
      const length = readVarint(bytes);
      const recordEnd = cursor + length;
      cursor += 1;
      const timestampDelta = readVarlong(bytes);
      const offset = baseOffset + readVarint(bytes);
      if (offset < from) {
        cursor = recordEnd;
        continue;
      }
      const key = readBytes(bytes);
      const value = readBytes(bytes);
      const headerCount = readVarint(bytes);
      if (recordEnd > bytes.length || length < 0) throw this.#damaged('a record goes beyond its batch');
      into.push({
        topic,
        partition,
        offset,
        timestamp: appendTime ?? baseTimestamp + timestampDelta,
        timestampType,
        key,
        value,
        headers: headerCount === 0 ? NO_HEADERS : readHeaders(bytes, headerCount),
      });
      cursor = recordEnd;
      this.#nextOffset = offset + 1;
    }
    batch.at = cursor;
    batch.remaining = remaining;
  }

  /** The end of the next batch, or `undefined` when no whole one is left. */
  #nextBatchEnd(): number | undefined {
    const at = this.#nextBatchAt;
    if (at + BatchField.records > this.#bytes.length) return undefined;
    const end = at + LENGTH_OVERHEAD + this.#bytes.readInt32BE(at + BatchField.length);
    return end > this.#bytes.length ? undefined : end;
  }

  /** Passes over batches that hold nothing for the reader. */
  #openNext(): OpenBatch | undefined {
    for (;;) {
      const at = this.#nextBatchAt;
      const end = this.#nextBatchEnd();
      if (end === undefined) return undefined;
      const bytes = this.#bytes.subarray(at, end);
      this.#nextBatchAt = end;
      const baseOffset = readInt64(bytes, BatchField.baseOffset);
      this.#checkBatch(bytes, baseOffset);
      const nextOffset = baseOffset + bytes.readInt32BE(BatchField.lastOffsetDelta) + 1;
      if (nextOffset > this.#nextOffset && this.#isVisible(bytes, nextOffset)) {
        return this.#open(bytes, baseOffset, nextOffset);
      }
      this.#nextOffset = Math.max(this.#nextOffset, nextOffset);
    }
  }

  #checkBatch(bytes: Buffer, baseOffset: number): void {
    const magic = bytes.readInt8(BatchField.magic);
    if (magic !== MAGIC) {
      throw new RecordFormatError(
        `Topic ${this.#topic}, partition ${String(this.#partition)}, offset ${String(baseOffset)}: message format ` +
          `${String(magic)} (before Kafka 0.11) cannot be read`,
      );
    }
    if (!this.#checkCrcs) return;
    const expected = bytes.readUInt32BE(BatchField.crc);
    if (crc32c(bytes, BatchField.attributes, bytes.length) !== expected) {
      throw this.#damaged(`the checksum of the batch at offset ${String(baseOffset)} is wrong`);
    }
  }

  /** Follows aborted transactions as org.apache.kafka.clients.consumer.internals.CompletedFetch does. */
  #isVisible(bytes: Buffer, nextOffset: number): boolean {
    const attributes = bytes.readInt16BE(BatchField.attributes);
    const isControl = (attributes & BatchAttribute.control) !== 0;
    const aborted = this.#aborted;
    if (aborted === undefined || (attributes & BatchAttribute.transactional) === 0) return !isControl;
    const producerId = readInt64(bytes, BatchField.producerId);
    while (aborted[0] !== undefined && aborted[0].firstOffset < nextOffset) {
      this.#abortedProducers.add(aborted[0].producerId);
      aborted.shift();
    }
    if (isControl) {
      if (isAbortMarker(bytes)) this.#abortedProducers.delete(producerId);
      return false;
    }
    return !this.#abortedProducers.has(producerId);
  }

  #open(bytes: Buffer, baseOffset: number, nextOffset: number): OpenBatch {
    const attributes = bytes.readInt16BE(BatchField.attributes);
    const compression = compressionOf(attributes, this.#topic);
    const packed = bytes.subarray(BatchField.records);
    const plain = compression === 'none' ? packed : this.#unpack(compression, packed);
    const byAppendTime = (attributes & BatchAttribute.logAppendTime) !== 0;
    return {
      bytes: plain,
      at: 0,
      remaining: bytes.readInt32BE(BatchField.recordCount),
      baseOffset,
      nextOffset,
      baseTimestamp: readInt64(bytes, BatchField.baseTimestamp),
      appendTime: byAppendTime ? readInt64(bytes, BatchField.maxTimestamp) : undefined,
    };
  }

  #unpack(compression: PackedType, packed: Buffer): Buffer {
    const codec = codecFor(compression, this.#topic);
    try {
      return codec.decompress(packed);
    } catch (error) {
      throw this.#damaged(`a ${compression} batch cannot be unpacked: ${toError(error).message}`);
    }
  }

  #damaged(what: string): RecordFormatError {
    return new RecordFormatError(`Topic ${this.#topic}, partition ${String(this.#partition)}: ${what}`);
  }
}

interface OpenBatch {
  readonly bytes: Buffer;
  readonly baseOffset: number;
  readonly nextOffset: number;
  readonly baseTimestamp: number;
  /** Milliseconds, when the broker's clock counts. */
  readonly appendTime: number | undefined;
  at: number;
  remaining: number;
}

/** Control records have the key `version int16, type int16`; control batches hold one and are never compressed. */
function isAbortMarker(batch: Buffer): boolean {
  cursor = BatchField.records;
  readVarint(batch);
  cursor += 1;
  readVarlong(batch);
  readVarint(batch);
  const key = readBytes(batch);
  return key !== null && key.length >= 4 && key.readInt16BE(2) === ABORT_MARKER;
}

/**
 * The place in the bytes being decoded. It is of the module, not of an object: decoding never yields in between, and
 * passing a position in and out of every read doubled the time per record.
 */
let cursor = 0;

function readVarint(bytes: Buffer): number {
  let byte = bytes[cursor++]!;
  if (byte < 0x80) return (byte >>> 1) ^ -(byte & 1);
  let value = byte & 0x7f;
  for (let shift = 7; shift < 35; shift += 7) {
    byte = bytes[cursor++]!;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return (value >>> 1) ^ -(value & 1);
}

/** Up to 2^53 exactly; the bitwise operators of readVarint stop at 32 bits. */
function readVarlong(bytes: Buffer): number {
  let byte = bytes[cursor++]!;
  if (byte < 0x80) return (byte >>> 1) ^ -(byte & 1);
  let value = byte & 0x7f;
  for (let scale = 128; byte >= 0x80; scale *= 128) {
    byte = bytes[cursor++]!;
    value += (byte & 0x7f) * scale;
  }
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

function readBytes(bytes: Buffer): Buffer | null {
  const length = readVarint(bytes);
  if (length < 0) return null;
  const start = cursor;
  cursor += length;
  return bytes.subarray(start, cursor);
}

function readHeaders(bytes: Buffer, count: number): ConsumedHeader[] {
  const headers: ConsumedHeader[] = [];
  for (let index = 0; index < count; index++) {
    const length = readVarint(bytes);
    const key = bytes.toString('utf8', cursor, cursor + length);
    cursor += length;
    headers.push({ key, value: readBytes(bytes) });
  }
  return headers;
}
