import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import type { RecordBlock } from '../records/record-block.ts';
import { PartitionBuffer } from './partition-buffer.ts';

/** Limit of decompressed bytes per call of `take`. When it is reached, `take` returns fewer records than requested. */
const MAX_TAKEN_BYTES = 16 * 1024 * 1024;

/** The buffers of the assigned partitions, in the order in which they are fetched and taken. */
export class FetchBuffers {
  #partitions = new Map<string, PartitionBuffer>();

  get all(): Iterable<PartitionBuffer> {
    return this.#partitions.values();
  }

  get(partition: TopicPartition): PartitionBuffer | undefined {
    return this.#partitions.get(topicPartitionKey(partition.topic, partition.partition));
  }

  /** Replaces the assignment. Partitions that stay keep their buffers. */
  assign(partitions: readonly TopicPartition[]): void {
    const next = new Map<string, PartitionBuffer>();
    for (const { topic, partition } of partitions) {
      const key = topicPartitionKey(topic, partition);
      next.set(key, this.#partitions.get(key) ?? new PartitionBuffer(topic, partition));
    }
    this.#partitions = next;
  }

  /**
   * Appends blocks with a total of up to `max` records, in offset order per partition. A partition keeps its turn until one
   * fetch response has been read to its end. Stops early after decompressing `MAX_TAKEN_BYTES`, because small batches may
   * decompress to large ones. `moved` is true if a partition had buffered data: its position advanced, possibly only past
   * aborted records or transaction markers, or the data was corrupt. The records before a corrupt one are returned with the
   * failure.
   */
  take(into: RecordBlock[], max: number): { readonly moved: boolean; readonly failure: Error | undefined } {
    let moved = false;
    let left = max;
    let openedBytes = 0;
    try {
      while (left > 0 && openedBytes < MAX_TAKEN_BYTES) {
        const buffer = this.#nextBuffered();
        if (buffer === undefined) break;
        moved = true;
        const { block, finished, openedBytes: opened } = this.#takeFrom(buffer, left);
        openedBytes += opened;
        if (block !== undefined && block.count > 0) {
          into.push(block);
          left -= block.count;
        }
        if (finished) this.#moveToEnd(buffer);
      }
    } catch (error) {
      return { moved, failure: toError(error) };
    }
    return { moved, failure: undefined };
  }

  /** After a failure, the records from the corrupt offset on are fetched again, and other partitions get their turn first. */
  #takeFrom(buffer: PartitionBuffer, max: number): ReturnType<PartitionBuffer['take']> {
    try {
      return buffer.take(max);
    } catch (error) {
      buffer.refetch();
      this.#moveToEnd(buffer);
      throw error;
    }
  }

  #nextBuffered(): PartitionBuffer | undefined {
    for (const buffer of this.#partitions.values()) {
      if (!buffer.paused && !buffer.withheld && buffer.hasBuffered) return buffer;
    }
    return undefined;
  }

  /** Moves the partition to the end of the order that requests and `take` use. */
  #moveToEnd(partition: PartitionBuffer): void {
    const key = topicPartitionKey(partition.topic, partition.partition);
    this.#partitions.delete(key);
    this.#partitions.set(key, partition);
  }
}
