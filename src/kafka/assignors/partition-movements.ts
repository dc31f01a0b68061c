import { javaStringHash } from '../../java/java-hash-order.ts';
import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';

interface Move {
  readonly from: string;
  readonly to: string;
}

/**
 * Tracks how partitions move between members during one assignment, to avoid moving partitions of the same topic between two
 * members in both directions (AbstractStickyAssignor.PartitionMovements).
 */
export class PartitionMovements {
  readonly #byPartition = new Map<string, Move>();
  readonly #byPair = new Map<string, Map<string, TopicPartition>>();

  recordMove(tp: TopicPartition, from: string, to: string): void {
    const key = keyOf(tp);
    const known = this.#byPartition.get(key);
    if (known !== undefined) {
      this.#byPartition.delete(key);
      this.#byPair.get(pairOf(tp.topic, known))?.delete(key);
    }
    const move = { from: known?.from ?? from, to };
    if (move.from === move.to) return;
    this.#byPartition.set(key, move);
    const pair = pairOf(tp.topic, move);
    const moved = this.#byPair.get(pair) ?? new Map<string, TopicPartition>();
    this.#byPair.set(pair, moved.set(key, tp));
  }

  /**
   * Returns the partition to move instead of `wanted`: a partition of the same topic that has already moved in the opposite
   * direction, or `wanted` itself if there is no such partition.
   */
  moveInstead(wanted: TopicPartition, owner: string, to: string): TopicPartition {
    const from = this.#byPartition.get(keyOf(wanted))?.from ?? owner;
    const back = [...(this.#byPair.get(pairOf(wanted.topic, { from: to, to: from }))?.values() ?? [])];
    return firstInHashSet(back) ?? wanted;
  }
}

function pairOf(topic: string, { from, to }: Move): string {
  return JSON.stringify([topic, from, to]);
}

const LOAD_FACTOR = 0.75;

/** The first element in the iteration order of a java.util.HashSet. */
function firstInHashSet(partitions: readonly TopicPartition[]): TopicPartition | undefined {
  let capacity = 16;
  while (partitions.length > capacity * LOAD_FACTOR) capacity *= 2;
  const bucket = ({ topic, partition }: TopicPartition): number => {
    const hash = (Math.imul(31, 31 + partition) + javaStringHash(topic)) | 0;
    return (hash ^ (hash >>> 16)) & (capacity - 1);
  };
  return partitions.reduce<TopicPartition | undefined>((first, tp) => {
    return first === undefined || bucket(tp) < bucket(first) ? tp : first;
  }, undefined);
}

function keyOf({ topic, partition }: TopicPartition): string {
  return topicPartitionKey(topic, partition);
}
