import type { TopicPartition } from '../../data/record.ts';
import { rackOf, usesRacks, type GroupSubscription, type PartitionRacks } from './assignor.ts';

export interface MemberData {
  readonly partitions: readonly TopicPartition[];
  /** `undefined` if not reported. */
  readonly generationId: number | undefined;
}

/** Input of a sticky assignment. The members are in the order in which Java's assignor visits them. */
export interface StickyGroup {
  readonly members: readonly GroupSubscription[];
  readonly partitions: PartitionRacks;
  /** Previous partitions by member, without those that another member claims for a later or the same generation. */
  readonly owned: ReadonlyMap<string, TopicPartition[]>;
  readonly memberData: ReadonlyMap<string, MemberData>;
  readonly newestGeneration: number;
  /** Keys of partitions that two members of the same generation claim. */
  readonly contested: ReadonlySet<string>;
  readonly racks: RackMatch;
}

/** Matches members with partitions that have a replica in their rack; see `usesRacks`. */
export class RackMatch {
  readonly usesRacks: boolean;
  readonly #memberRacks = new Map<string, string>();
  readonly #partitions: PartitionRacks;

  constructor(members: readonly GroupSubscription[], partitions: PartitionRacks) {
    for (const member of members) {
      const rack = rackOf(member);
      if (rack !== undefined) this.#memberRacks.set(member.memberId, rack);
    }
    this.#partitions = partitions;
    const racksByPartition = [...partitions.values()].flat();
    this.usesRacks = usesRacks(this.#memberRacks.values(), racksByPartition);
  }

  hasRack(member: string): boolean {
    return this.usesRacks && this.#memberRacks.has(member);
  }

  /** True if the member has a rack, and the partition has a replica in it. */
  matches(member: string, { topic, partition }: TopicPartition): boolean {
    const rack = this.#memberRacks.get(member);
    return this.usesRacks && rack !== undefined && this.#partitions.get(topic)?.[partition]?.has(rack) === true;
  }

  /** True if the member has a rack, but the partition has no replica in it. */
  mismatches(member: string, partition: TopicPartition): boolean {
    return this.hasRack(member) && !this.matches(member, partition);
  }

  /** Sorts partitions by the number of members in the racks of their replicas, lowest first. The sort is stable. */
  sorted(partitions: readonly TopicPartition[]): readonly TopicPartition[] {
    if (this.#memberRacks.size === 0) return partitions;
    const members = new Map<string, number>();
    for (const rack of this.#memberRacks.values()) members.set(rack, (members.get(rack) ?? 0) + 1);
    const near = ({ topic, partition }: TopicPartition): number => {
      let count = 0;
      for (const rack of this.#partitions.get(topic)?.[partition] ?? []) count += members.get(rack) ?? 0;
      return count;
    };
    return [...partitions].sort((a, b) => near(a) - near(b));
  }

  /** Searches circularly from `first` for a member whose rack matches, and returns its index, or -1 if there is none. */
  next(partition: TopicPartition, members: readonly string[], first: number): number {
    for (let step = 0; step < members.length; step++) {
      const index = (first + step) % members.length;
      if (this.matches(members[index] ?? '', partition)) return index;
    }
    return -1;
  }
}

export function allPartitions(topics: Iterable<string>, partitions: PartitionRacks): TopicPartition[] {
  const all: TopicPartition[] = [];
  for (const topic of topics) {
    const count = partitions.get(topic)?.length ?? 0;
    for (let partition = 0; partition < count; partition++) all.push({ topic, partition });
  }
  return all;
}
