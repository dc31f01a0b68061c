import type { TopicPartition } from '../../data/record.ts';
import {
  compare,
  inOrder,
  rackOf,
  racksCount,
  subscribedPartitions,
  type Assignment,
  type Assignor,
  type GroupSubscription,
  type PartitionRacks,
} from './assignor.ts';

/**
 * Assigns each topic's partitions as contiguous ranges in the order of the members; the first members receive one more
 * (org.apache.kafka.clients.consumer.RangeAssignor). With rack-aware assignment, members first receive partitions with
 * a replica in their rack, and topics with the same subscribers and partition counts are co-partitioned.
 */
export class RangeAssignor implements Assignor {
  readonly name = 'range';
  readonly isCooperative = false;

  userData(): undefined {
    return undefined;
  }

  onAssignment(): void {
    // This assignor is stateless.
  }

  assign(members: readonly GroupSubscription[], partitions: PartitionRacks): Assignment {
    const assignment = new Map<string, TopicPartition[]>(members.map(({ memberId }) => [memberId, []]));
    const sorted = inOrder(members);
    const topics = [...subscribedPartitions(members, partitions)].map(
      ([topic, racks]) => new TopicDivision(topic, racks, sorted, assignment),
    );
    const withRacks = topics.some(({ racksCount }) => racksCount);
    if (withRacks) for (const together of alike(topics)) matchRacks(together);
    for (const topic of topics) topic.divide(() => true);
    if (withRacks) for (const ofMember of assignment.values()) ofMember.sort(byTopic);
    return assignment;
  }
}

function byTopic(a: TopicPartition, b: TopicPartition): number {
  return compare(a.topic, b.topic) || a.partition - b.partition;
}

/** Groups topics with the same subscribers and partition count, which are co-partitioned. */
function alike(topics: readonly TopicDivision[]): readonly TopicDivision[][] {
  const groups = new Map<string, TopicDivision[]>();
  for (const topic of topics) {
    const key = JSON.stringify([topic.members, topic.knownCount]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [topic]);
    else group.push(topic);
  }
  return [...groups.values()];
}

function matchRacks(topics: readonly TopicDivision[]): void {
  const [first, second] = topics;
  if (first === undefined) return;
  if (second === undefined) {
    if (first.racksCount) first.divide((member, partition) => first.isNear(member, partition));
    return;
  }
  const left = new Set(first.members);
  for (let partition = 0; partition < first.knownCount; partition++) {
    const near = [...left].find((member) =>
      topics.every((topic) => topic.isNear(member, partition) && topic.room(member) > 0),
    );
    if (near === undefined) continue;
    for (const topic of topics) topic.give(near, [partition]);
    if (!topics.some((topic) => topic.room(near) > 0)) left.delete(near);
  }
}

/** Assignment state of one topic. */
class TopicDivision {
  readonly topic: string;
  readonly members: readonly string[];
  readonly racksCount: boolean;
  readonly #partitionRacks: readonly ReadonlySet<string>[];
  readonly #memberRacks = new Map<string, string>();
  readonly #assignment: ReadonlyMap<string, TopicPartition[]>;
  readonly #given = new Map<string, number>();
  readonly #left: Set<number>;
  readonly #each: number;
  #extra: number;

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
    this.racksCount = racksCount(this.#memberRacks.values(), racks);
    this.#assignment = assignment;
    this.#left = new Set(racks.keys());
    this.#each = Math.floor(racks.length / members.length);
    this.#extra = racks.length % members.length;
  }

  /** The partition count, or 0 if no member has a rack. */
  get knownCount(): number {
    return this.#memberRacks.size === 0 ? 0 : this.#partitionRacks.length;
  }

  /** True for every partition if the member has no rack. */
  isNear(member: string, partition: number): boolean {
    const rack = this.#memberRacks.get(member);
    return rack === undefined || this.#partitionRacks[partition]?.has(rack) === true;
  }

  /** Number of further partitions that the member may receive. */
  room(member: string): number {
    return Math.max(0, this.#each + (this.#extra > 0 ? 1 : 0) - (this.#given.get(member) ?? 0));
  }

  /** Assigns each member, in order, the unassigned partitions that `mayReceive` accepts, up to its capacity. */
  divide(mayHave: (member: string, partition: number) => boolean): void {
    for (const member of this.members) {
      const partitions = [...this.#left].filter((partition) => mayHave(member, partition));
      this.give(member, partitions.slice(0, this.room(member)));
    }
  }

  give(member: string, partitions: readonly number[]): void {
    if (partitions.length === 0) return;
    for (const partition of partitions) {
      this.#left.delete(partition);
      this.#assignment.get(member)?.push({ topic: this.topic, partition });
    }
    const given = (this.#given.get(member) ?? 0) + partitions.length;
    this.#given.set(member, given);
    if (given > this.#each) this.#extra -= 1;
  }
}
