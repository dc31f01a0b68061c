import { toError } from '../../errors.ts';
import type { ConsumedRecord } from '../api.ts';
import { codecFor, compressionOf, type PackedType } from './codecs.ts';
import { crc32c } from './crc32c.ts';
import { RecordFormatError } from '../errors.ts';
import { BatchAttribute, BatchField, LENGTH_OVERHEAD, MAGIC, readInt64 } from './record-batch.ts';
import { RecordBlock } from './record-block.ts';
import { isAbortMarker, readRecords, type OpenBatch } from './record-reader.ts';

/** A transaction that was aborted: the producer's records from `firstOffset` to its abort marker do not count. */
export interface AbortedTransaction {
  readonly producerId: number;
  readonly firstOffset: number;
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
      if (damage !== undefined) throw this.#damaged(damage);
      if (batch.remaining === 0) {
        this.#nextOffset = Math.max(this.#nextOffset, batch.nextOffset);
        this.#batch = undefined;
      }
      if (block.count > 0 && (block.count >= max || this.#isLarge(block))) return block;
    }
  }

  get isAtEnd(): boolean {
    return this.#batch === undefined && this.#nextBatchEnd() === undefined;
  }

  #isLarge({ count, valueStarts, valueEnds }: RecordBlock): boolean {
    return (valueEnds[count - 1] ?? 0) - (valueStarts[0] ?? 0) >= MAX_BLOCK_BYTES;
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
      const baseOffset = readInt64(bytes, BatchField.baseOffset);
      this.#checkBatch(bytes, baseOffset);
      const nextOffset = baseOffset + bytes.readInt32BE(BatchField.lastOffsetDelta) + 1;
      if (nextOffset > this.#nextOffset && this.#isVisible(bytes, nextOffset)) {
        const batch = this.#open(bytes, at, baseOffset, nextOffset);
        this.#nextBatchAt = end;
        return batch;
      }
      this.#nextBatchAt = end;
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

  #open(bytes: Buffer, batchAt: number, baseOffset: number, nextOffset: number): OpenBatch {
    const attributes = bytes.readInt16BE(BatchField.attributes);
    const compression = compressionOf(attributes, this.#topic);
    const unpacked = compression === 'none' ? undefined : this.#unpack(compression, bytes.subarray(BatchField.records));
    const byAppendTime = (attributes & BatchAttribute.logAppendTime) !== 0;
    return {
      bytes: unpacked ?? this.#bytes,
      at: unpacked === undefined ? batchAt + BatchField.records : 0,
      end: unpacked?.length ?? batchAt + bytes.length,
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
