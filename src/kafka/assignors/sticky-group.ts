import type { TopicPartition } from '../../data/record.ts';
import { rackOf, racksCount, type GroupSubscription, type PartitionRacks } from './assignor.ts';

/** What a member held before, and since when. */
export interface Holding {
  readonly partitions: readonly TopicPartition[];
  /** `undefined`: not told. */
  readonly generationId: number | undefined;
}

/** The members in the order in which Java's assignors look at them, with what is to be kept. */
export interface StickyGroup {
  readonly members: readonly GroupSubscription[];
  readonly partitions: PartitionRacks;
  /** What each member held last; nobody else held it later. */
  readonly held: ReadonlyMap<string, TopicPartition[]>;
  readonly holdings: ReadonlyMap<string, Holding>;
  readonly newestGeneration: number;
  /** Two members of one generation said that they hold these. */
  readonly disputed: ReadonlySet<string>;
  readonly racks: RackMatch;
}

/** Which members are in the rack of a replica, where racks count; see `racksCount`. */
export class RackMatch {
  readonly counts: boolean;
  readonly #memberRacks = new Map<string, string>();
  readonly #partitions: PartitionRacks;

  constructor(members: readonly GroupSubscription[], partitions: PartitionRacks) {
    for (const member of members) {
      const rack = rackOf(member);
      if (rack !== undefined) this.#memberRacks.set(member.memberId, rack);
    }
    this.#partitions = partitions;
    const ofPartitions = [...partitions.values()].flat();
    this.counts = racksCount(this.#memberRacks.values(), ofPartitions);
  }

  hasRack(member: string): boolean {
    return this.counts && this.#memberRacks.has(member);
  }

  /** The member is in a rack, and a replica of the partition is there. */
  matches(member: string, { topic, partition }: TopicPartition): boolean {
    const rack = this.#memberRacks.get(member);
    return this.counts && rack !== undefined && this.#partitions.get(topic)?.[partition]?.has(rack) === true;
  }

  /** The member is in a rack, and no replica of the partition is there. */
  mismatches(member: string, partition: TopicPartition): boolean {
    return this.hasRack(member) && !this.matches(member, partition);
  }

  /** Those that the fewest members are near to come first; else in their order. */
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

  /** Where in `members`, from `first` on and then from the beginning, one is near; -1: nowhere. */
  next(partition: TopicPartition, members: readonly string[], first: number): number {
    for (let step = 0; step < members.length; step++) {
      const index = (first + step) % members.length;
      if (this.matches(members[index] ?? '', partition)) return index;
    }
    return -1;
  }
}

/** All partitions, topic by topic. */
export function allPartitions(topics: Iterable<string>, partitions: PartitionRacks): TopicPartition[] {
  const all: TopicPartition[] = [];
  for (const topic of topics) {
    const count = partitions.get(topic)?.length ?? 0;
    for (let partition = 0; partition < count; partition++) all.push({ topic, partition });
  }
  return all;
}
