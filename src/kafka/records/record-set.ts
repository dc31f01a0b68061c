import { toError } from '../../errors.ts';
import type { ConsumedRecord } from './consumed-record.ts';
import { codecFor, compressionOf, type PackedType } from './codecs.ts';
import { crc32c } from './crc32c.ts';
import { RecordFormatError } from '../errors/kafka-errors.ts';
import {
  BatchAttribute,
  BatchField,
  CUT_OFF,
  DAMAGED,
  batchDamage,
  batchEnd,
  offsetAfter,
  readInt64,
} from './record-batch.ts';
import { RecordBlock } from './record-block.ts';
import { isAbortMarker, readRecords, type OpenBatch } from './record-reader.ts';

/** An aborted transaction: the producer's records from `firstOffset` to its abort marker are skipped. */
export interface AbortedTransaction {
  readonly producerId: number;
  readonly firstOffset: number;
}

export interface ReadOptions {
  readonly checkCrcs: boolean;
  /** `undefined` for read_uncommitted. */
  readonly aborted: readonly AbortedTransaction[] | undefined;
  /** Size limit of a decompressed batch in bytes. Larger batches are treated as corrupt. */
  readonly maxUnpackedBytes: number;
}

/** Size limit of a block in bytes. A block is decoded as one string, and larger blocks take more memory without being faster. */
const MAX_BLOCK_BYTES = 1_048_576;

/**
 * The records of one partition in one fetch response. Batches are decompressed one at a time when the reader reaches them, so
 * at most one decompressed batch is in memory. Keys and values are views of the batch.
 */
export class RecordSet {
  readonly #topic: string;
  readonly #partition: number;
  readonly #bytes: Buffer;
  readonly #options: ReadOptions;
  /** Ascending by first offset. */
  readonly #aborted: readonly AbortedTransaction[] | undefined;
  #nextAborted = 0;
  readonly #abortedProducers = new Set<number>();
  readonly #fetchOffset: number;
  #nextBatchAt = 0;
  #minBaseOffset = 0;
  #nextOffset: number;
  #batch: OpenBatch | undefined;
  #batchAt = 0;
  #openedBytes = 0;

  constructor(source: { topic: string; partition: number; bytes: Buffer; fetchOffset: number }, options: ReadOptions) {
    this.#topic = source.topic;
    this.#partition = source.partition;
    this.#bytes = source.bytes;
    this.#fetchOffset = source.fetchOffset;
    this.#nextOffset = source.fetchOffset;
    this.#options = options;
    this.#aborted = options.aborted && [...options.aborted].sort((a, b) => a.firstOffset - b.firstOffset);
  }

  /** The offset after the last record that was read or skipped. */
  get nextOffset(): number {
    return this.#nextOffset;
  }

  get byteLength(): number {
    return this.#bytes.length;
  }

  get openedBytes(): number {
    return this.#openedBytes;
  }

  /** Frees the decompressed bytes of the current batch; the next read decompresses the batch again. */
  closeBatch(): void {
    if (this.#batch === undefined || this.#batch.bytes === this.#bytes) return;
    this.#minBaseOffset = this.#batch.baseOffset;
    this.#nextBatchAt = this.#batchAt;
    this.#batch = undefined;
  }

  /** Appends up to `max` records. Returns true if the set has been read to its end. */
  read(into: ConsumedRecord[], max: number): boolean {
    const end = into.length + max;
    while (into.length < end) {
      const block = this.readBlock(end - into.length);
      if (block === undefined) return true;
      for (let index = 0; index < block.count; index++) into.push(block.record(index));
    }
    return this.isAtEnd;
  }

  /**
   * Returns up to `max` records as one block, or `undefined` at the end of the set. All records of a block share a buffer:
   * uncompressed batches share the buffer of the response.
   */
  readBlock(max: number): RecordBlock | undefined {
    let block: RecordBlock | undefined;
    for (;;) {
      let batch: OpenBatch | undefined;
      try {
        batch = this.#batch ??= this.#openNext();
      } catch (error) {
        // Returns the records before the corrupt one; the next call throws.
        if (block !== undefined) return block;
        throw error;
      }
      if (batch === undefined) return block;
      const timestampType = batch.appendTime === undefined ? 'CreateTime' : 'LogAppendTime';
      block ??= new RecordBlock({ topic: this.#topic, partition: this.#partition }, batch.bytes, timestampType);
      if (block.bytes !== batch.bytes || block.timestampType !== timestampType) return block;
      const countBefore = block.count;
      const damage = readRecords(batch, block, this.#nextOffset, max, MAX_BLOCK_BYTES);
      if (block.count > countBefore) this.#nextOffset = (block.offsets[block.count - 1] ?? 0) + 1;
      if (damage !== undefined && block.count > 0) return block;
      if (damage !== undefined) throw this.damaged(damage);
      if (batch.remaining === 0) {
        this.#nextOffset = Math.max(this.#nextOffset, batch.nextOffset);
        this.#batch = undefined;
      }
      if (block.count > 0 && (block.count >= max || this.#isLarge(block))) return block;
    }
  }

  get isAtEnd(): boolean {
    if (this.#batch !== undefined || batchEnd(this.#bytes, this.#nextBatchAt) !== CUT_OFF) return false;
    return this.#nextOffset > this.#fetchOffset || this.#bytes.length === 0;
  }

  #isLarge({ count, valueStarts, valueEnds }: RecordBlock): boolean {
    return (valueEnds[count - 1] ?? 0) - (valueStarts[0] ?? 0) >= MAX_BLOCK_BYTES;
  }

  /** Opens the next batch that contains visible records. */
  #openNext(): OpenBatch | undefined {
    for (;;) {
      const at = this.#nextBatchAt;
      const end = batchEnd(this.#bytes, at);
      if (end === DAMAGED) throw this.damaged(batchDamage(this.#bytes, at));
      if (end === CUT_OFF) {
        if (!this.isAtEnd) throw this.damaged(`no complete batch in ${String(this.#bytes.length)} bytes`);
        return undefined;
      }
      const bytes = this.#bytes.subarray(at, end);
      const baseOffset = readInt64(bytes, BatchField.baseOffset);
      this.#checkBatch(bytes, baseOffset);
      const nextOffset = offsetAfter(bytes, 0);
      const isWanted = nextOffset > this.#nextOffset && this.#isVisible(bytes, nextOffset);
      const batch = isWanted ? this.#open(bytes, at, baseOffset, nextOffset) : undefined;
      this.#batchAt = at;
      this.#nextBatchAt = end;
      this.#minBaseOffset = nextOffset;
      if (batch !== undefined) return batch;
      this.#nextOffset = Math.max(this.#nextOffset, nextOffset);
    }
  }

  #checkBatch(bytes: Buffer, baseOffset: number): void {
    if (baseOffset < this.#minBaseOffset) {
      throw this.damaged(`the next batch starts at the earlier offset ${String(baseOffset)}`);
    }
    if (this.#options.checkCrcs) {
      const expected = bytes.readUInt32BE(BatchField.crc);
      if (crc32c(bytes, BatchField.attributes, bytes.length) !== expected) {
        throw this.damaged('the checksum of the batch is wrong');
      }
    }
    const count = bytes.readInt32BE(BatchField.recordCount);
    if (count < 0) throw this.damaged(`the batch has ${String(count)} records`);
  }

  /** Tracks aborted transactions like org.apache.kafka.clients.consumer.internals.CompletedFetch. */
  #isVisible(bytes: Buffer, nextOffset: number): boolean {
    const attributes = bytes.readInt16BE(BatchField.attributes);
    const isControl = (attributes & BatchAttribute.control) !== 0;
    const aborted = this.#aborted;
    if (aborted === undefined || (attributes & BatchAttribute.transactional) === 0) return !isControl;
    const producerId = readInt64(bytes, BatchField.producerId);
    for (let next = aborted[this.#nextAborted]; next !== undefined && next.firstOffset < nextOffset;) {
      this.#abortedProducers.add(next.producerId);
      next = aborted[++this.#nextAborted];
    }
    if (isControl) {
      const isAbort = isAbortMarker(bytes);
      if (isAbort === undefined) throw this.damaged('a transaction marker cannot be read');
      if (isAbort) this.#abortedProducers.delete(producerId);
      return false;
    }
    return !this.#abortedProducers.has(producerId);
  }

  #open(bytes: Buffer, batchAt: number, baseOffset: number, nextOffset: number): OpenBatch {
    const attributes = bytes.readInt16BE(BatchField.attributes);
    const compression = compressionOf(attributes);
    if (compression === undefined) throw this.damaged('the batch has an unknown compression type');
    const unpacked =
      compression === 'none'
        ? undefined
        : this.#unpack(
            compression,
            bytes.subarray(BatchField.records),
            `${String(baseOffset)} to ${String(nextOffset - 1)}`,
          );
    this.#openedBytes += unpacked?.length ?? bytes.length;
    const byAppendTime = (attributes & BatchAttribute.logAppendTime) !== 0;
    return {
      bytes: unpacked ?? this.#bytes,
      at: unpacked === undefined ? batchAt + BatchField.records : 0,
      end: unpacked?.length ?? batchAt + bytes.length,
      remaining: bytes.readInt32BE(BatchField.recordCount),
      baseOffset,
      minOffset: baseOffset,
      nextOffset,
      baseTimestamp: readInt64(bytes, BatchField.baseTimestamp),
      appendTime: byAppendTime ? readInt64(bytes, BatchField.maxTimestamp) : undefined,
    };
  }

  #unpack(compression: PackedType, packed: Buffer, offsets: string): Buffer {
    const codec = codecFor(compression, this.#topic);
    try {
      return codec.decompress(packed, this.#options.maxUnpackedBytes);
    } catch (error) {
      throw this.damaged(
        `the ${compression} batch of offsets ${offsets} cannot be decompressed: ${toError(error).message}`,
      );
    }
  }

  damaged(what: string): RecordFormatError {
    const where = `Topic ${this.#topic}, partition ${String(this.#partition)}, offset ${String(this.#nextOffset)}`;
    return new RecordFormatError(`${where}: ${what}`);
  }
}
