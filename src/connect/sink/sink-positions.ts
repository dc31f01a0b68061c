import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import type { RecordRange } from '../../observe/work-place.ts';
import type { PartitionOffset } from '../api.ts';

/**
 * Maximum number of ranges that `unsettled` returns. More would be useless, because the shared memory that describes
 * the task (TaskPlace in src/observe/work-place.ts) has space for only about 30.
 */
const MAX_RANGES = 50;

/** Put and committed offsets of the owned partitions of a sink task, by `topicPartitionKey`. */
export class SinkPositions {
  readonly #delivered = new Map<string, PartitionOffset>();
  readonly #committed = new Map<string, number>();
  #active = 0;

  /** The offset after all records that were put, of each owned partition. */
  get delivered(): ReadonlyMap<string, PartitionOffset> {
    return this.#delivered;
  }

  /** Number of offsets that were put but are not committed, over all partitions. */
  get active(): number {
    return this.#active;
  }

  committed(key: string): number | undefined {
    return this.#committed.get(key);
  }

  /**
   * Called when the partition was assigned. `committed` is the offset at which reading starts; all earlier offsets count as
   * committed.
   */
  own({ topic, partition }: TopicPartition, committed: number | undefined): void {
    const key = topicPartitionKey(topic, partition);
    this.#change(key, () => {
      this.#delivered.set(key, { topic, partition, offset: committed ?? 0 });
      if (committed !== undefined) this.#committed.set(key, committed);
    });
  }

  deliver(key: string, end: PartitionOffset): void {
    this.#change(key, () => this.#delivered.set(key, end));
  }

  commit({ topic, partition, offset }: PartitionOffset): void {
    const key = topicPartitionKey(topic, partition);
    this.#change(key, () => this.#committed.set(key, offset));
  }

  /** Called when the partition was revoked. */
  disown({ topic, partition }: TopicPartition): void {
    const key = topicPartitionKey(topic, partition);
    this.#change(key, () => {
      this.#delivered.delete(key);
      this.#committed.delete(key);
    });
  }

  /** Forgets the offsets that were put, because they must no longer be committed. */
  clear(): void {
    this.#delivered.clear();
    this.#active = 0;
  }

  /** Returns the records that the task has accepted and may still be processing. */
  unsettled(): readonly RecordRange[] {
    const ranges: RecordRange[] = [];
    for (const [key, { topic, partition, offset }] of this.#delivered) {
      const from = this.#committed.get(key) ?? 0;
      if (from < offset) ranges.push({ topic, partition, from, to: offset });
      if (ranges.length === MAX_RANGES) break;
    }
    return ranges;
  }

  #change(key: string, change: () => void): void {
    const before = this.#activeOf(key);
    change();
    this.#active += this.#activeOf(key) - before;
  }

  #activeOf(key: string): number {
    const delivered = this.#delivered.get(key)?.offset;
    const committed = this.#committed.get(key);
    return delivered === undefined || committed === undefined ? 0 : Math.max(0, delivered - committed);
  }
}
