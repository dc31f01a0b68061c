import type { SourceCoordinates } from '../data/record.ts';
import type { StoredOffset } from './offset-storage.ts';

interface Submitted {
  readonly offset: SourceCoordinates;
  acknowledged: boolean;
}

interface PartitionQueue {
  readonly partition: SourceCoordinates;
  /** In order of submission; those before `head` are done with. */
  queue: Submitted[];
  head: number;
  committable: SourceCoordinates | undefined;
}

/** A queue lets go of what is done with in pieces of this many, so that each of them is moved once at the most. */
const DONE_AT_ONCE = 1_024;

export type Acknowledge = () => void;

/**
 * Offsets of a source task on their way: a first-in-first-out queue per source partition. An offset may be committed
 * when its record and all before it in the same partition were acknowledged (Connect's SubmittedRecords). Only records on their
 * way are kept, however long it is until the next commit.
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
      advance(queue);
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
      queue = { partition, queue: [], head: 0, committable: undefined };
      this.#queues.set(key, queue);
    }
    this.#lastPartition = partition;
    this.#lastQueue = queue;
    return queue;
  }
}

function advance(queue: PartitionQueue): void {
  for (let next = queue.queue[queue.head]; next?.acknowledged === true; next = queue.queue[++queue.head]) {
    queue.committable = next.offset;
  }
  const isDone = queue.head === queue.queue.length;
  if (!isDone && (queue.head < DONE_AT_ONCE || queue.head * 2 < queue.queue.length)) return;
  if (isDone) queue.queue.length = 0;
  else queue.queue = queue.queue.slice(queue.head);
  queue.head = 0;
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
