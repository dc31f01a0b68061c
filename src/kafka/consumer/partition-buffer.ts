import { EpochHistory } from './epoch-history.ts';
import { nextOffsetOf } from '../records/record-batch.ts';
import type { RecordBlock } from '../records/record-block.ts';
import { RecordSet, type ReadOptions } from '../records/record-set.ts';

/** Of which log a position is one. */
export interface LogIdentity {
  /** `undefined`: not known. */
  readonly topicId: string | undefined;
  /** Epoch of the leader whose log is known to have the position; -1: of none. */
  readonly leaderEpoch: number;
}

export interface TakenRecords {
  readonly block: RecordBlock | undefined;
  /** The answer has been read to its end. */
  readonly finished: boolean;
  /** Bytes of the batches that were opened for this, unpacked. */
  readonly openedBytes: number;
}

/**
 * One assigned partition: where the caller is, what has been read ahead of it.
 *
 *   unpositioned --positionAt--> reading --loseRange--> out of range --positionAt--> reading
 *   reading --leaderIs: another one--> in doubt --confirm--> reading
 *   in doubt --diverge--> diverged --positionAt--> reading
 *
 * `jumps` grows with every jump and every doubt; answers to fetches sent before are dropped.
 */
export class PartitionBuffer {
  readonly topic: string;
  readonly partition: number;
  paused = false;
  /** What is read is not handed out yet: its reader does not know of the partition. */
  withheld = false;
  /** Where what the caller may read ended then: transactions that were open are behind it. */
  readableEnd: number | undefined;
  #highWatermark: number | undefined;
  #endHeardAt = -Infinity;
  #jumps = 0;
  #identity: LogIdentity = { topicId: undefined, leaderEpoch: -1 };
  readonly #epochs = new EpochHistory();
  #doubt: 'none' | 'in doubt' | 'diverged' = 'none';
  #position: number | undefined;
  #fetchOffset: number | undefined;
  #outOfRange = false;
  #sets: RecordSet[] = [];

  constructor(topic: string, partition: number) {
    this.topic = topic;
    this.partition = partition;
  }

  /** Where the partition ended when the broker answered last. */
  get highWatermark(): number | undefined {
    return this.#highWatermark;
  }

  /** When the broker said so; by `performance.now()`. */
  get endHeardAt(): number {
    return this.#endHeardAt;
  }

  endsAt(offset: number): void {
    this.#highWatermark = offset;
    this.#endHeardAt = performance.now();
  }

  get jumps(): number {
    return this.#jumps;
  }

  get identity(): LogIdentity {
    return this.#identity;
  }

  /** Epochs of the records that were read. */
  get epochs(): EpochHistory {
    return this.#epochs;
  }

  /** The next offset that the caller gets. */
  get position(): number | undefined {
    return this.#position;
  }

  /** The next offset to ask the broker for; `undefined` while there is no position to read from. */
  get fetchOffset(): number | undefined {
    return this.#outOfRange || this.#doubt !== 'none' ? undefined : this.#fetchOffset;
  }

  /** There are records that the caller has not got, and may read. */
  get hasMore(): boolean {
    const { position, readableEnd } = this;
    return !this.paused && position !== undefined && readableEnd !== undefined && position < readableEnd;
  }

  /** Bytes of the answers that have not been read to their end, as the broker sent them. */
  get bufferedBytes(): number {
    return this.#sets.reduce((sum, set) => sum + set.byteLength, 0);
  }

  get hasBuffered(): boolean {
    return this.#sets.length > 0;
  }

  /** The broker has no such offset (any more), and everything read before that has been taken. */
  get needsReset(): boolean {
    return this.#outOfRange && this.#doubt === 'none' && this.#sets.length === 0;
  }

  /** Where it is to be found out whether the leader's log has what was read; `undefined`: nowhere. */
  get doubtful(): { readonly offset: number; readonly leaderEpoch: number } | undefined {
    const offset = this.#fetchOffset;
    if (this.#doubt !== 'in doubt' || offset === undefined) return undefined;
    const leaderEpoch = this.#epochs.before(offset);
    return leaderEpoch === undefined ? undefined : { offset, leaderEpoch };
  }

  /** The log is another than the one that was read. */
  get isDiverged(): boolean {
    return this.#doubt === 'diverged';
  }

  /** Whether the caller gets the record at this offset next anyway, of the same log. */
  isAt(offset: number, before: number | undefined, topicId: string | undefined): boolean {
    const isSameLog = topicId === undefined || topicId === this.#identity.topicId;
    const isSameEpoch = before === undefined || before === this.#epochs.before(offset);
    return this.fetchOffset !== undefined && offset === this.#position && isSameLog && isSameEpoch;
  }

  /** What was read ahead is dropped. `before`: epoch of the record before the offset. */
  positionAt(offset: number, before?: number, identity?: LogIdentity): void {
    this.#epochs.restart(before);
    if (identity !== undefined) this.#identity = identity;
    this.#jumpTo(offset);
  }

  /**
   * Told of every answer about the partition's leader (`leaderEpoch` -1: nothing is known of it). With a new leader the position is
   * in doubt, if it is known of which epoch it is; a topic of another id is another one.
   */
  leaderIs({ topicId, leaderEpoch }: LogIdentity): void {
    const offset = this.#fetchOffset;
    if (offset === undefined) return;
    const known = this.#identity;
    if (known.topicId === undefined && topicId !== undefined) this.#identity = { ...known, topicId };
    if (known.topicId !== undefined && topicId !== undefined && known.topicId !== topicId) {
      this.#jumps += 1;
      this.#doubt = 'diverged';
      return;
    }
    if (leaderEpoch < 0 || leaderEpoch === known.leaderEpoch || this.#doubt !== 'none') return;
    if (this.#epochs.before(offset) === undefined) {
      this.#identity = { ...this.#identity, leaderEpoch };
      return;
    }
    this.#doubt = 'in doubt';
    this.#jumps += 1;
  }

  /** The leader of this epoch has all that was read. */
  confirm(leaderEpoch: number): void {
    this.#doubt = 'none';
    this.#identity = { ...this.#identity, leaderEpoch };
  }

  /** The leader of this epoch has not all that was read ahead, but all that was taken. */
  dropReadAhead(leaderEpoch: number): void {
    const position = this.#position ?? 0;
    this.#epochs.cutAt(position);
    this.#identity = { ...this.#identity, leaderEpoch };
    this.#jumpTo(position);
  }

  /** What was read ahead is read again. */
  readAgain(): void {
    this.dropReadAhead(this.#identity.leaderEpoch);
  }

  /** The leader has not what was taken: nothing is read until there is another position. */
  diverge(): void {
    this.#doubt = 'diverged';
  }

  loseRange(): void {
    this.#outOfRange = true;
  }

  add(bytes: Buffer, options: ReadOptions): void {
    const fetchOffset = this.#fetchOffset ?? 0;
    const set = new RecordSet({ topic: this.topic, partition: this.partition, bytes, fetchOffset }, options);
    this.#fetchOffset = Math.max(fetchOffset, nextOffsetOf(bytes) ?? 0);
    this.#epochs.read(bytes);
    this.#sets.push(set);
  }

  /**
   * Reads up to `max` records of the oldest answer.
   * @throws RecordFormatError if the answer is damaged, or if nothing of it could be read
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
    else if (!isAdvanced) throw set.damaged('nothing of the answer can be read');
    return { block, finished, openedBytes: set.openedBytes - openedBytes };
  }

  /** Forgets what was unpacked, which is unpacked again when it is read. */
  packUp(): void {
    this.#sets[0]?.closeBatch();
  }

  #jumpTo(offset: number): void {
    this.#jumps += 1;
    this.#position = offset;
    this.#fetchOffset = offset;
    this.#outOfRange = false;
    this.#doubt = 'none';
    this.#sets = [];
  }
}
