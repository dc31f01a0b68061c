import type { TopicPartition } from '../../data/record.ts';
import type { PartitionCounts } from '../assignors/assignor.ts';

/**
 * Which partitions came to be while a consumer was subscribed: those that its first metadata did not have, and those of topics that
 * were away meanwhile. All their records are newer than the subscription, so that they are read from their beginning under
 * `auto.offset.reset=latest` too.
 */
export class NewPartitions {
  /** How many partitions of a topic are no new ones. */
  #old: Map<string, number> | undefined;

  /** What metadata say now of the topics that the consumer is subscribed to, by name or, with `all`, by what they match. */
  note(counts: PartitionCounts, subscribed: readonly string[] | 'all'): void {
    if (this.#old === undefined) {
      this.#old = new Map(counts);
      if (subscribed === 'all') return;
    }
    const old = this.#old;
    for (const topic of old.keys()) if (!counts.has(topic)) old.set(topic, 0);
    for (const topic of subscribed === 'all' ? counts.keys() : subscribed) if (!old.has(topic)) old.set(topic, 0);
  }

  has({ topic, partition }: TopicPartition): boolean {
    return partition >= (this.#old?.get(topic) ?? Infinity);
  }
}
