import { toError } from '../../errors.ts';
import type { ConsumedRecord } from '../api.ts';
import { codecFor, compressionOf, type PackedType } from './codecs.ts';
import { crc32c } from './crc32c.ts';
import { RecordFormatError } from '../errors.ts';
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

/** A transaction that was aborted: the producer's records from `firstOffset` to its abort marker do not count. */
export interface AbortedTransaction {
  readonly producerId: number;
  readonly firstOffset: number;
}

export interface ReadOptions {
  readonly checkCrcs: boolean;
  /** `undefined`: uncommitted records are wanted too. */
  readonly aborted: readonly AbortedTransaction[] | undefined;
  /** What a compressed batch may become; more is taken for damage. */
  readonly maxUnpackedBytes: number;
}

/** A block is decoded as one text: larger ones gain nothing and cost memory. */
const MAX_BLOCK_BYTES = 1_048_576;

/**
 * One partition's part of one fetch answer, decoded on demand: batches are unpacked one at a time when the reader comes
 * to them, so that memory holds packed batches and one unpacked. Keys and values are views of the batch's bytes.
 */
export class RecordSet {
  readonly #topic: string;
  readonly #partition: number;
  readonly #bytes: Buffer;
  readonly #options: ReadOptions;
  /** By first offset. */
  readonly #aborted: readonly AbortedTransaction[] | undefined;
  #nextAborted = 0;
  readonly #abortedProducers = new Set<number>();
  readonly #fetchOffset: number;
  #nextBatchAt = 0;
  /** The offset after the batch before. */
  #leastBaseOffset = 0;
  #nextOffset: number;
  #batch: OpenBatch | undefined;
  /** Position of the open batch in the answer. */
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

  /** The offset after the last record that was read or passed over. */
  get nextOffset(): number {
    return this.#nextOffset;
  }

  get byteLength(): number {
    return this.#bytes.length;
  }

  /** Bytes of all batches that have been opened, unpacked. */
  get openedBytes(): number {
    return this.#openedBytes;
  }

  /** Forgets the unpacked bytes of the batch that is being read; the next call reads the batch again from `nextOffset`. */
  closeBatch(): void {
    if (this.#batch === undefined || this.#batch.bytes === this.#bytes) return;
    this.#leastBaseOffset = this.#batch.baseOffset;
    this.#nextBatchAt = this.#batchAt;
    this.#batch = undefined;
  }

  /** Appends up to `max` records to `into`; true when the set has been read to its end. */
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
   * Up to `max` records as one block, as long as they lie in the same bytes: batches that are not packed share the answer's.
   * `undefined` when the set has been read to its end.
   */
  readBlock(max: number): RecordBlock | undefined {
    let block: RecordBlock | undefined;
    for (;;) {
      let batch: OpenBatch | undefined;
      try {
        batch = this.#batch ??= this.#openNext();
      } catch (error) {
        // What was read before the damage is still good; the next call meets it again.
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

  /** Passes over batches that hold nothing for the reader. */
  #openNext(): OpenBatch | undefined {
    for (;;) {
      const at = this.#nextBatchAt;
      const end = batchEnd(this.#bytes, at);
      if (end === DAMAGED) throw this.damaged(batchDamage(this.#bytes, at));
      if (end === CUT_OFF) {
        if (!this.isAtEnd) throw this.damaged(`no whole batch from there on in ${String(this.#bytes.length)} bytes`);
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
      this.#leastBaseOffset = nextOffset;
      if (batch !== undefined) return batch;
      this.#nextOffset = Math.max(this.#nextOffset, nextOffset);
    }
  }

  #checkBatch(bytes: Buffer, baseOffset: number): void {
    if (baseOffset < this.#leastBaseOffset) {
      throw this.damaged(`a batch of offset ${String(baseOffset)} follows, which is earlier`);
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

  /** Follows aborted transactions as org.apache.kafka.clients.consumer.internals.CompletedFetch does. */
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
      leastOffset: baseOffset,
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
        `the ${compression} batch of offsets ${offsets} cannot be unpacked: ${toError(error).message}`,
      );
    }
  }

  /** An error about the next record. */
  damaged(what: string): RecordFormatError {
    const where = `Topic ${this.#topic}, partition ${String(this.#partition)}, offset ${String(this.#nextOffset)}`;
    return new RecordFormatError(`${where}: ${what}`);
  }
}
