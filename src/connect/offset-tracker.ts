import type { SourceCoordinates } from '../data/record.ts';
import type { StoredOffset } from './offset-storage.ts';

interface Submitted {
  readonly offset: SourceCoordinates;
  acknowledged: boolean;
}

interface PartitionQueue {
  readonly partition: SourceCoordinates;
  queue: Submitted[];
  committable: SourceCoordinates | undefined;
}

export type Acknowledge = () => void;

/**
 * Offsets of a source task on their way: a first-in-first-out queue per source partition. An offset may be committed
 * when its record and all before it in the same partition were acknowledged (Connect's SubmittedRecords).
 */
export class OffsetTracker {
  readonly #queues = new Map<string, PartitionQueue>();
  #pending = 0;
  #lastPartition: SourceCoordinates | undefined;
  #lastQueue: PartitionQueue | undefined;

  /** Registers a record before it is sent; call the result when the broker has it (or it was dropped). */
  submit(partition: SourceCoordinates, offset: SourceCoordinates): Acknowledge {
    const queue = this.#queueOf(partition);
    const submitted: Submitted = { offset, acknowledged: false };
    queue.queue.push(submitted);
    this.#pending++;
    return () => {
      if (submitted.acknowledged) return;
      submitted.acknowledged = true;
      this.#pending--;
    };
  }

  /** Records submitted and not acknowledged. */
  get pending(): number {
    return this.#pending;
  }

  /** Takes the newest committable offset of each partition that moved since the last take. */
  takeCommittable(): StoredOffset[] {
    const offsets: StoredOffset[] = [];
    for (const queue of this.#queues.values()) {
      let run = 0;
      while (run < queue.queue.length && queue.queue[run]?.acknowledged === true) run++;
      if (run > 0) {
        queue.committable = queue.queue[run - 1]?.offset;
        queue.queue = queue.queue.slice(run);
      }
      if (queue.committable === undefined) continue;
      offsets.push({ partition: queue.partition, offset: queue.committable });
      queue.committable = undefined;
    }
    return offsets;
  }

  /** Gives back what a failed commit took, unless something newer has come since. */
  restore(offsets: readonly StoredOffset[]): void {
    for (const { partition, offset } of offsets) {
      if (offset !== null) this.#queueOf(partition).committable ??= offset;
    }
  }

  #queueOf(partition: SourceCoordinates): PartitionQueue {
    if (partition === this.#lastPartition && this.#lastQueue !== undefined) return this.#lastQueue;
    const key = coordinatesKey(partition);
    let queue = this.#queues.get(key);
    if (queue === undefined) {
      queue = { partition, queue: [], committable: undefined };
      this.#queues.set(key, queue);
    }
    this.#lastPartition = partition;
    this.#lastQueue = queue;
    return queue;
  }
}

/** One text for equal coordinates, whatever the order of their keys. */
export function coordinatesKey(coordinates: SourceCoordinates): string {
  return Object.keys(coordinates)
    .sort()
    .map((key) => {
      const value = coordinates[key];
      return `${JSON.stringify(key)}:${typeof value === 'string' ? JSON.stringify(value) : String(value)}`;
    })
    .join(',');
}
