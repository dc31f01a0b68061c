import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';

interface Preference {
  readonly node: number;
  /** The leader that returned the preferred replica. */
  readonly leader: number;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/**
 * Preferred read replicas in the client's rack, as returned by leaders (KIP-392). A preference ends after `maxAgeMs`,
 * when another broker becomes the leader, and when the replica does not respond or reports an error for the partition.
 */
export class NearestReplicas {
  readonly #maxAgeMs: number;
  readonly #preferences = new Map<string, Preference>();

  constructor(maxAgeMs: number) {
    this.#maxAgeMs = maxAgeMs;
  }

  /** The broker to read the partition from. */
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

  /** Removes the preference of the partition. Returns true if there was one. */
  forget(partition: TopicPartition): boolean {
    return this.#preferences.delete(keyOf(partition));
  }

  forgetNode(node: number): void {
    for (const [key, preference] of this.#preferences) if (preference.node === node) this.#preferences.delete(key);
  }

  /** Removes the preferences of all partitions except these. */
  keep(partitions: Iterable<TopicPartition>): void {
    const kept = new Set([...partitions].map(keyOf));
    for (const key of this.#preferences.keys()) if (!kept.has(key)) this.#preferences.delete(key);
  }
}

function keyOf({ topic, partition }: TopicPartition): string {
  return topicPartitionKey(topic, partition);
}
