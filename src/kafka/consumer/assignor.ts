import type { TopicPartition } from '../../data/record.ts';

export type AssignorName = 'range' | 'roundrobin';

/** A member with the topics it subscribed to. */
export interface GroupSubscription {
  readonly memberId: string;
  readonly topics: readonly string[];
}

/** Partition counts of existing topics; a topic that does not exist (yet) is absent. */
export type PartitionCounts = ReadonlyMap<string, number>;

export type Assignor = (
  members: readonly GroupSubscription[],
  partitions: PartitionCounts,
) => ReadonlyMap<string, readonly TopicPartition[]>;

export const ASSIGNORS: Readonly<Record<AssignorName, Assignor>> = { range: assignRange, roundrobin: assignRoundRobin };

function empty(members: readonly GroupSubscription[]): Map<string, TopicPartition[]> {
  return new Map(members.map(({ memberId }) => [memberId, []]));
}

function sortedIds(members: readonly GroupSubscription[]): readonly GroupSubscription[] {
  return [...members].sort((a, b) => compare(a.memberId, b.memberId));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function sortedTopics(members: readonly GroupSubscription[], partitions: PartitionCounts): readonly string[] {
  const topics = new Set(members.flatMap((member) => member.topics));
  return [...topics].filter((topic) => partitions.has(topic)).sort(compare);
}

/**
 * Per topic, contiguous runs in member order, the first members one more (org.apache.kafka.clients.consumer.RangeAssignor).
 * @internal
 */
export function assignRange(
  members: readonly GroupSubscription[],
  partitions: PartitionCounts,
): ReadonlyMap<string, readonly TopicPartition[]> {
  const assignment = empty(members);
  const sorted = sortedIds(members);
  for (const topic of sortedTopics(members, partitions)) {
    const subscribers = sorted.filter((member) => member.topics.includes(topic));
    const count = partitions.get(topic) ?? 0;
    const each = Math.floor(count / subscribers.length);
    const extra = count % subscribers.length;
    let partition = 0;
    subscribers.forEach(({ memberId }, index) => {
      const end = partition + each + (index < extra ? 1 : 0);
      for (; partition < end; partition++) assignment.get(memberId)?.push({ topic, partition });
    });
  }
  return assignment;
}

/**
 * All partitions in topic order, dealt out in member order (org.apache.kafka.clients.consumer.RoundRobinAssignor).
 * @internal
 */
export function assignRoundRobin(
  members: readonly GroupSubscription[],
  partitions: PartitionCounts,
): ReadonlyMap<string, readonly TopicPartition[]> {
  const assignment = empty(members);
  const sorted = sortedIds(members);
  let turn = 0;
  for (const topic of sortedTopics(members, partitions)) {
    for (let partition = 0; partition < (partitions.get(topic) ?? 0); partition++) {
      while (!(sorted[turn % sorted.length]?.topics.includes(topic) ?? true)) turn++;
      assignment.get(sorted[turn % sorted.length]?.memberId ?? '')?.push({ topic, partition });
      turn++;
    }
  }
  return assignment;
}
