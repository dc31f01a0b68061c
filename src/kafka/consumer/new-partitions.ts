import type { TopicPartition } from '../../data/record.ts';
import type { PartitionCounts } from '../assignors/assignor.ts';

/**
 * Detects partitions that were created while a consumer was subscribed: partitions that the first metadata did not contain, and
 * partitions of topics that were missing temporarily. All their records are newer than the subscription, so they are read from
 * the beginning even with `auto.offset.reset=latest`.
 */
export class NewPartitions {
  /** Number of partitions, by topic, that are not considered new. */
  #old: Map<string, number> | undefined;

  /** Records a metadata update. `subscribed` contains the topics subscribed by name, or is `all` for a pattern. */
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
