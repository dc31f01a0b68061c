import type { PartitionLag, PartitionPosition } from '../api.ts';
import { EpochHistory } from './epoch-history.ts';
import { nextOffsetOf } from '../records/record-batch.ts';
import type { RecordBlock } from '../records/record-block.ts';
import { RecordSet, type ReadOptions } from '../records/record-set.ts';

/** Identifies the log that a position refers to. */
export interface LogIdentity {
  /** `undefined` if unknown. */
  readonly topicId: string | undefined;
  /**
   * Leader epoch for which the position was validated, or accepted because the epoch of the record before it is
   * unknown; -1 if neither has happened yet.
   */
  readonly leaderEpoch: number;
}

export interface TakenRecords {
  readonly block: RecordBlock | undefined;
  /** True if the fetch response has been read to its end. */
  readonly finished: boolean;
  /** Decompressed bytes of the batches that were opened by this call. */
  readonly openedBytes: number;
}

/**
 * An assigned partition: the position of the caller, and the responses that were fetched ahead of it.
 *
 *   unpositioned --seek--> fetching --markOutOfRange--> out of range --seek--> fetching
 *   fetching --updateLeader: new leader--> validating --completeValidation--> fetching
 *   validating --markDiverged--> diverged --seek--> fetching
 *   fetching, validating --updateLeader: new topic id--> diverged
 *
 * `positionVersion` changes with every seek and every validation; responses to earlier fetches are ignored.
 */
export class PartitionBuffer {
  readonly topic: string;
  readonly partition: number;
  paused = false;
  /** While true, records are fetched but not returned, because the partition has not been announced to the listener. */
  withheld = false;
  /** End of the records that the caller may read: the high watermark, or with read_committed the last stable offset. */
  readableEnd: number | undefined;
  #highWatermark: number | undefined;
  #highWatermarkUpdatedAt = -Infinity;
  #positionVersion = 0;
  #identity: LogIdentity = { topicId: undefined, leaderEpoch: -1 };
  readonly #epochs = new EpochHistory();
  #validation: 'valid' | 'pending' | 'diverged' = 'valid';
  #position: number | undefined;
  #fetchOffset: number | undefined;
  #outOfRange = false;
  #sets: RecordSet[] = [];

  constructor(topic: string, partition: number) {
    this.topic = topic;
    this.partition = partition;
  }

  get highWatermark(): number | undefined {
    return this.#highWatermark;
  }

  /** When the high watermark was last updated, in `performance.now()` milliseconds. */
  get highWatermarkUpdatedAt(): number {
    return this.#highWatermarkUpdatedAt;
  }

  updateHighWatermark(offset: number): void {
    this.#highWatermark = offset;
    this.#highWatermarkUpdatedAt = performance.now();
  }

  /** Called with the ends in a fetch response. */
  updateEnds(highWatermark: number, readableEnd: number): void {
    this.updateHighWatermark(highWatermark);
    this.readableEnd = readableEnd;
  }

  get positionVersion(): number {
    return this.#positionVersion;
  }

  get identity(): LogIdentity {
    return this.#identity;
  }

  /** Leader epochs of the fetched records. */
  get epochs(): EpochHistory {
    return this.#epochs;
  }

  /** Offset of the next record that the caller receives. */
  get position(): number | undefined {
    return this.#position;
  }

  /** Offset of the next fetch; `undefined` while the partition must not be fetched. */
  get fetchOffset(): number | undefined {
    return this.#outOfRange || this.#validation !== 'valid' ? undefined : this.#fetchOffset;
  }

  /** True if the partition can be fetched. */
  get isReady(): boolean {
    return !this.paused && this.fetchOffset !== undefined;
  }

  /** True if there are readable records after the position. False while the partition is paused. */
  get hasMore(): boolean {
    const { position, readableEnd } = this;
    return !this.paused && position !== undefined && readableEnd !== undefined && position < readableEnd;
  }

  /** The lag of the position behind the high watermark; `undefined` if either is unknown. */
  get lag(): PartitionLag {
    const { topic, partition, position, highWatermark } = this;
    const isKnown = position !== undefined && highWatermark !== undefined;
    const lag = isKnown ? Math.max(0, highWatermark - position) : undefined;
    return { topic, partition, lag, end: highWatermark };
  }

  /** Returns the position with the topic id and with the leader epoch of the record before it. */
  identified(position: PartitionPosition): PartitionPosition {
    const { topicId } = this.#identity;
    return { ...position, topicId, leaderEpoch: this.#epochs.epochBefore(position.offset) };
  }

  /** Size in bytes, as received, of the responses that have not been read to their end. */
  get bufferedBytes(): number {
    return this.#sets.reduce((sum, set) => sum + set.byteLength, 0);
  }

  get hasBuffered(): boolean {
    return this.#sets.length > 0;
  }

  /** True if the fetch offset is out of range and all records before it have been taken. */
  get needsReset(): boolean {
    return this.#outOfRange && this.#validation === 'valid' && this.#sets.length === 0;
  }

  /** The fetch offset to validate against the new leader's log, or `undefined` if no validation is pending. */
  get unvalidated(): { readonly offset: number; readonly leaderEpoch: number } | undefined {
    const offset = this.#fetchOffset;
    if (this.#validation !== 'pending' || offset === undefined) return undefined;
    const leaderEpoch = this.#epochs.epochBefore(offset);
    return leaderEpoch === undefined ? undefined : { offset, leaderEpoch };
  }

  /** True if the log has diverged from the records that were taken. */
  get isDiverged(): boolean {
    return this.#validation === 'diverged';
  }

  /**
   * True if the offset is the current position in the same log. `epochBefore` is the leader epoch of the record before the
   * offset.
   */
  isAt(offset: number, epochBefore: number | undefined, topicId: string | undefined): boolean {
    const isSameLog = topicId === undefined || topicId === this.#identity.topicId;
    const isSameEpoch = epochBefore === undefined || epochBefore === this.#epochs.epochBefore(offset);
    return this.fetchOffset !== undefined && offset === this.#position && isSameLog && isSameEpoch;
  }

  /** Sets the position and drops the buffer. `epochBefore` is the leader epoch of the record before the offset. */
  seek(offset: number, epochBefore?: number, identity?: LogIdentity): void {
    this.#epochs.reset(epochBefore);
    if (identity !== undefined) this.#identity = identity;
    this.#seekTo(offset);
  }

  /**
   * Called with the current metadata (`leaderEpoch` is -1 if unknown). After a new leader epoch, the fetch offset must
   * be validated if the leader epoch of the record before it is known. A new topic id means that the log has diverged.
   */
  updateLeader({ topicId, leaderEpoch }: LogIdentity): void {
    const offset = this.#fetchOffset;
    if (offset === undefined) return;
    const known = this.#identity;
    if (known.topicId === undefined && topicId !== undefined) this.#identity = { ...known, topicId };
    if (known.topicId !== undefined && topicId !== undefined && known.topicId !== topicId) {
      this.#positionVersion += 1;
      this.#validation = 'diverged';
      return;
    }
    if (leaderEpoch < 0 || leaderEpoch === known.leaderEpoch || this.#validation !== 'valid') return;
    if (this.#epochs.epochBefore(offset) === undefined) {
      this.#identity = { ...this.#identity, leaderEpoch };
      return;
    }
    this.#validation = 'pending';
    this.#positionVersion += 1;
  }

  /** Called if the log of this leader epoch contains all fetched records. */
  completeValidation(leaderEpoch: number): void {
    this.#validation = 'valid';
    this.#identity = { ...this.#identity, leaderEpoch };
  }

  /** Called if the log of this leader epoch contains the taken records, but not all buffered ones. */
  dropBuffered(leaderEpoch: number): void {
    const position = this.#position ?? 0;
    this.#epochs.truncateAt(position);
    this.#identity = { ...this.#identity, leaderEpoch };
    this.#seekTo(position);
  }

  /** Drops the buffer, so that its records are fetched again. */
  refetch(): void {
    this.dropBuffered(this.#identity.leaderEpoch);
  }

  /** Called if the leader's log lacks records that were taken. Nothing is fetched until the next seek. */
  markDiverged(): void {
    this.#validation = 'diverged';
  }

  markOutOfRange(): void {
    this.#outOfRange = true;
  }

  add(bytes: Buffer, options: ReadOptions): void {
    const fetchOffset = this.#fetchOffset ?? 0;
    const set = new RecordSet({ topic: this.topic, partition: this.partition, bytes, fetchOffset }, options);
    this.#fetchOffset = Math.max(fetchOffset, nextOffsetOf(bytes) ?? 0);
    this.#epochs.add(bytes);
    this.#sets.push(set);
  }

  /**
   * Takes up to `max` records of the oldest response.
   * @throws RecordFormatError if the response is corrupt, or if none of its records can be read
   */
  take(max: number): TakenRecords {
    const [set] = this.#sets;
    if (set === undefined) return { block: undefined, finished: true, openedBytes: 0 };
    const { openedBytes } = set;
    const block = set.readBlock(max);
    const isAdvanced = set.nextOffset !== this.#position || set.openedBytes > openedBytes;
    this.#position = set.nextOffset;
    const finished = set.isAtEnd;
    if (finished) this.#sets.shift();
    else if (!isAdvanced) throw set.damaged('no record of the response can be read');
    return { block, finished, openedBytes: set.openedBytes - openedBytes };
  }

  /** Frees the decompressed batch; it is decompressed again when it is read. */
  freeDecompressed(): void {
    this.#sets[0]?.closeBatch();
  }

  #seekTo(offset: number): void {
    this.#positionVersion += 1;
    this.#position = offset;
    this.#fetchOffset = offset;
    this.#outOfRange = false;
    this.#validation = 'valid';
    this.#sets = [];
  }
}
