import type { TopicPartition } from '../../data/record.ts';
import {
  compare,
  inOrder,
  rackOf,
  usesRacks,
  subscribedPartitions,
  type Assignment,
  type Assignor,
  type GroupSubscription,
  type PartitionRacks,
} from './assignor.ts';

/**
 * Assigns each topic's partitions as contiguous ranges in the order of the members; if the division is uneven, the first
 * members receive one more (org.apache.kafka.clients.consumer.RangeAssignor). With rack-aware assignment, members first receive
 * partitions with a replica in their rack, and topics with the same subscribers and partition counts are co-partitioned.
 */
export class RangeAssignor implements Assignor {
  readonly name = 'range';
  readonly isCooperative = false;

  assign(members: readonly GroupSubscription[], partitions: PartitionRacks): Assignment {
    const assignment = new Map<string, TopicPartition[]>(members.map(({ memberId }) => [memberId, []]));
    const sorted = inOrder(members);
    const topics = [...subscribedPartitions(members, partitions)].map(
      ([topic, racks]) => new TopicAssignment(topic, racks, sorted, assignment),
    );
    const withRacks = topics.some(({ usesRacks }) => usesRacks);
    if (withRacks) for (const together of coPartitioned(topics)) assignWithinRacks(together);
    for (const topic of topics) topic.assignRanges(() => true);
    if (withRacks) for (const ofMember of assignment.values()) ofMember.sort(byTopic);
    return assignment;
  }
}

function byTopic(a: TopicPartition, b: TopicPartition): number {
  return compare(a.topic, b.topic) || a.partition - b.partition;
}

/** Groups topics with the same subscribers and partition count, which are co-partitioned. */
function coPartitioned(topics: readonly TopicAssignment[]): readonly TopicAssignment[][] {
  const groups = new Map<string, TopicAssignment[]>();
  for (const topic of topics) {
    const key = JSON.stringify([topic.members, topic.rackedPartitionCount]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [topic]);
    else group.push(topic);
  }
  return [...groups.values()];
}

function assignWithinRacks(topics: readonly TopicAssignment[]): void {
  const [first, second] = topics;
  if (first === undefined) return;
  if (second === undefined) {
    if (first.usesRacks) first.assignRanges((member, partition) => first.matchesRack(member, partition));
    return;
  }
  const unassigned = new Set(first.members);
  for (let partition = 0; partition < first.rackedPartitionCount; partition++) {
    const near = [...unassigned].find((member) =>
      topics.every((topic) => topic.matchesRack(member, partition) && topic.capacity(member) > 0),
    );
    if (near === undefined) continue;
    for (const topic of topics) topic.assign(near, [partition]);
    if (!topics.some((topic) => topic.capacity(near) > 0)) unassigned.delete(near);
  }
}

class TopicAssignment {
  readonly topic: string;
  readonly members: readonly string[];
  readonly usesRacks: boolean;
  readonly #partitionRacks: readonly ReadonlySet<string>[];
  readonly #memberRacks = new Map<string, string>();
  readonly #assignment: ReadonlyMap<string, TopicPartition[]>;
  readonly #assignedCounts = new Map<string, number>();
  readonly #unassigned: Set<number>;
  readonly #minQuota: number;
  #remainingAboveMin: number;

  constructor(
    topic: string,
    racks: readonly ReadonlySet<string>[],
    sorted: readonly GroupSubscription[],
    assignment: ReadonlyMap<string, TopicPartition[]>,
  ) {
    const members = sorted.filter(({ topics }) => topics.includes(topic));
    for (const member of members) {
      const rack = rackOf(member);
      if (rack !== undefined) this.#memberRacks.set(member.memberId, rack);
    }
    this.topic = topic;
    this.members = members.map(({ memberId }) => memberId);
    this.#partitionRacks = racks;
    this.usesRacks = usesRacks(this.#memberRacks.values(), racks);
    this.#assignment = assignment;
    this.#unassigned = new Set(racks.keys());
    this.#minQuota = Math.floor(racks.length / members.length);
    this.#remainingAboveMin = racks.length % members.length;
  }

  /** The partition count, or 0 if no member has a rack. */
  get rackedPartitionCount(): number {
    return this.#memberRacks.size === 0 ? 0 : this.#partitionRacks.length;
  }

  /** True for every partition if the member has no rack. */
  matchesRack(member: string, partition: number): boolean {
    const rack = this.#memberRacks.get(member);
    return rack === undefined || this.#partitionRacks[partition]?.has(rack) === true;
  }

  /** Number of further partitions that the member may receive. */
  capacity(member: string): number {
    return Math.max(
      0,
      this.#minQuota + (this.#remainingAboveMin > 0 ? 1 : 0) - (this.#assignedCounts.get(member) ?? 0),
    );
  }

  /** Assigns each member, in order, the unassigned partitions that `mayReceive` accepts, up to its capacity. */
  assignRanges(mayReceive: (member: string, partition: number) => boolean): void {
    for (const member of this.members) {
      const partitions = [...this.#unassigned].filter((partition) => mayReceive(member, partition));
      this.assign(member, partitions.slice(0, this.capacity(member)));
    }
  }

  assign(member: string, partitions: readonly number[]): void {
    if (partitions.length === 0) return;
    for (const partition of partitions) {
      this.#unassigned.delete(partition);
      this.#assignment.get(member)?.push({ topic: this.topic, partition });
    }
    const count = (this.#assignedCounts.get(member) ?? 0) + partitions.length;
    this.#assignedCounts.set(member, count);
    if (count > this.#minQuota) this.#remainingAboveMin -= 1;
  }
}
