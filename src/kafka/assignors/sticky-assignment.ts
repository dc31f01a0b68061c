import { javaHashMapOrder } from '../../java/java-hash-order.ts';
import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import {
  NO_GENERATION,
  rackOf,
  racksCount,
  subscribedPartitions,
  type Assignment,
  type GroupSubscription,
  type PartitionRacks,
} from './assignor.ts';
import { divideAmongAll } from './equal-subscriptions.ts';
import { balance } from './unequal-subscriptions.ts';

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

export interface StickyOutcome {
  readonly assignment: Assignment;
  /** By key, partitions that another member must give up first, with who gets them; `undefined`: to be found by comparison. */
  readonly moving: ReadonlyMap<string, string> | undefined;
  readonly newestGeneration: number;
}

/**
 * Members keep what they held as far as the balance allows (org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor).
 * Java's results, member by member: it looks at the members in the order of a HashMap.
 */
export function assignSticky(
  members: readonly GroupSubscription[],
  racksOfPartitions: PartitionRacks,
  holdingOf: (member: GroupSubscription) => Holding,
  newestSoFar: number,
): StickyOutcome {
  const byId = new Map(members.map((member) => [member.memberId, member]));
  const ordered = javaHashMapOrder([...byId.keys()]).flatMap((id) => byId.get(id) ?? []);
  const partitions = subscribedPartitions(members, racksOfPartitions);
  const holdings = new Map(ordered.map((member) => [member.memberId, holdingOf(member)]));
  const { held, disputed } = lastHolders(ordered, holdings, partitions);
  const newestGeneration = [...holdings.values()].reduce(
    (newest, { generationId = NO_GENERATION }) => Math.max(newest, generationId),
    newestSoFar,
  );
  const racks = new RackMatch(ordered, partitions);
  const group = { members: ordered, partitions, held, holdings, newestGeneration, disputed, racks };
  if (haveEqualTopics(ordered)) return { ...divideAmongAll(group), newestGeneration };
  return { assignment: balance(group), moving: undefined, newestGeneration };
}

function haveEqualTopics(members: readonly GroupSubscription[]): boolean {
  const topics = new Set<string>();
  return members.every((member) => {
    if (topics.size === 0) for (const topic of member.topics) topics.add(topic);
    return member.topics.length === topics.size && member.topics.every((topic) => topics.has(topic));
  });
}

/** Of two members that say that they hold a partition, the one of the later generation does; of the same one, neither. */
function lastHolders(
  members: readonly GroupSubscription[],
  holdings: ReadonlyMap<string, Holding>,
  partitions: PartitionRacks,
): { held: Map<string, TopicPartition[]>; disputed: Set<string> } {
  const held = new Map<string, TopicPartition[]>();
  const holders = new Map<string, GroupSubscription>();
  const disputed = new Set<string>();
  const takeFrom = ({ memberId }: GroupSubscription, key: string): void => {
    const left = held.get(memberId)?.filter(({ topic, partition }) => topicPartitionKey(topic, partition) !== key);
    held.set(memberId, left ?? []);
  };
  for (const member of members) {
    const { partitions: said = [], generationId = NO_GENERATION } = holdings.get(member.memberId) ?? {};
    held.set(member.memberId, []);
    for (const place of said) {
      if (!partitions.has(place.topic)) continue;
      const key = topicPartitionKey(place.topic, place.partition);
      const other = holders.get(key);
      const otherGeneration = other === undefined ? -Infinity : (other.generationId ?? NO_GENERATION);
      if (other !== undefined && generationId < otherGeneration) continue;
      holders.set(key, member);
      if (other !== undefined) takeFrom(other, key);
      if (generationId === otherGeneration) disputed.add(key);
      else held.get(member.memberId)?.push(place);
    }
  }
  return { held, disputed };
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
