import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';

interface Preference {
  readonly node: number;
  /** Who led the partition and said so. */
  readonly leader: number;
  /** By `Date.now()`. */
  readonly until: number;
}

/**
 * Which brokers are to be read from in place of leaders: replicas in the rack of the reader, as leaders say (KIP-392). A leader is
 * asked again after `maxAgeMs`, when another one leads, and when the replica does not answer or does not have what is asked for.
 */
export class NearestReplicas {
  readonly #maxAgeMs: number;
  readonly #preferences = new Map<string, Preference>();

  constructor(maxAgeMs: number) {
    this.#maxAgeMs = maxAgeMs;
  }

  /** Where to read the partition that this broker leads. */
  nodeOf(partition: TopicPartition, leader: number): number {
    const key = keyOf(partition);
    const preference = this.#preferences.get(key);
    if (preference === undefined) return leader;
    if (preference.leader === leader && Date.now() < preference.until) return preference.node;
    this.#preferences.delete(key);
    return leader;
  }

  prefer(partition: TopicPartition, node: number, leader: number): void {
    this.#preferences.set(keyOf(partition), { node, leader, until: Date.now() + this.#maxAgeMs });
  }

  /** True when it was to be read from another broker than its leader. */
  forget(partition: TopicPartition): boolean {
    return this.#preferences.delete(keyOf(partition));
  }

  forgetNode(node: number): void {
    for (const [key, preference] of this.#preferences) if (preference.node === node) this.#preferences.delete(key);
  }

  /** Others are not read any more. */
  keep(partitions: Iterable<TopicPartition>): void {
    const kept = new Set([...partitions].map(keyOf));
    for (const key of this.#preferences.keys()) if (!kept.has(key)) this.#preferences.delete(key);
  }
}

function keyOf({ topic, partition }: TopicPartition): string {
  return topicPartitionKey(topic, partition);
}
