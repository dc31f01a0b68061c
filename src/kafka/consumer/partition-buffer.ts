import { nextOffsetOf } from '../records/record-batch.ts';
import type { RecordBlock } from '../records/record-block.ts';
import { RecordSet, type AbortedTransaction } from '../records/record-set.ts';

/**
 * One assigned partition: where the caller is, what has been read ahead of it.
 *
 *   unpositioned --positionAt--> reading --loseRange--> out of range --positionAt--> reading
 *
 * `epoch` grows with every jump; answers to fetches sent in an older epoch are dropped.
 */
export class PartitionBuffer {
  readonly topic: string;
  readonly partition: number;
  paused = false;
  /** Where the partition ended when the broker answered last. */
  highWatermark: number | undefined;
  #epoch = 0;
  #position: number | undefined;
  #fetchOffset: number | undefined;
  #outOfRange = false;
  #sets: RecordSet[] = [];
  #bufferedBytes = 0;

  constructor(topic: string, partition: number) {
    this.topic = topic;
    this.partition = partition;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** The next offset that the caller gets. */
  get position(): number | undefined {
    return this.#position;
  }

  /** The next offset to ask the broker for; `undefined` while there is no position to read from. */
  get fetchOffset(): number | undefined {
    return this.#outOfRange ? undefined : this.#fetchOffset;
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  /** The broker has no such offset (any more), and everything read before that has been taken. */
  get needsReset(): boolean {
    return this.#outOfRange && this.#sets.length === 0;
  }

  /** What was read ahead is dropped. */
  positionAt(offset: number): void {
    this.#epoch += 1;
    this.#position = offset;
    this.#fetchOffset = offset;
    this.#outOfRange = false;
    this.#sets = [];
    this.#bufferedBytes = 0;
  }

  loseRange(): void {
    this.#outOfRange = true;
  }

  add(bytes: Buffer, options: { checkCrcs: boolean; aborted: readonly AbortedTransaction[] | undefined }): void {
    const fetchOffset = this.#fetchOffset ?? 0;
    const set = new RecordSet({ topic: this.topic, partition: this.partition, bytes, fetchOffset }, options);
    this.#fetchOffset = nextOffsetOf(bytes) ?? fetchOffset;
    this.#sets.push(set);
    this.#bufferedBytes += set.byteLength;
  }

  /** Up to `max` records of the oldest answer; `finished` when that has been read to its end. */
  take(max: number): { readonly block: RecordBlock | undefined; readonly finished: boolean } {
    const [set] = this.#sets;
    if (set === undefined) return { block: undefined, finished: true };
    const block = set.readBlock(max);
    this.#position = set.nextOffset;
    const finished = set.isAtEnd;
    if (finished) {
      this.#sets.shift();
      this.#bufferedBytes -= set.byteLength;
    }
    return { block, finished };
  }
}
