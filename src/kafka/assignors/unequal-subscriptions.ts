import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import { NO_GENERATION, compare, type Assignment } from './assignor.ts';
import { FewestFirst } from './fewest-first.ts';
import { PartitionMovements } from './partition-movements.ts';
import { allPartitions, type StickyGroup } from './sticky-group.ts';

/**
 * Assigns partitions to members with different subscriptions, as evenly as the subscriptions allow
 * (AbstractStickyAssignor.GeneralAssignmentBuilder).
 */
export function assignUnequally(group: StickyGroup): Assignment {
  const balancing = new UnequalAssignment(group);
  return balancing.run();
}

class UnequalAssignment {
  readonly #group: StickyGroup;
  readonly #subscribers = new Map<string, readonly string[]>();
  readonly #topics = new Map<string, ReadonlySet<string>>();
  #current = new Map<string, TopicPartition[]>();
  readonly #owners = new Map<string, string>();
  readonly #movements = new PartitionMovements();
  readonly #members: FewestFirst;
  /** True if a member must revoke a partition whose topic it no longer subscribes to, or that has no replica in its rack. */
  #hasRevoked = false;

  constructor(group: StickyGroup) {
    this.#group = group;
    for (const topic of group.partitions.keys()) {
      const subscribed = group.members.filter(({ topics }) => topics.includes(topic));
      this.#subscribers.set(
        topic,
        subscribed.map(({ memberId }) => memberId),
      );
    }
    for (const { memberId, topics } of group.members) {
      this.#topics.set(memberId, new Set(topics.filter((topic) => group.partitions.has(topic))));
      this.#current.set(memberId, []);
    }
    this.#members = new FewestFirst((member) => this.#countOf(member));
  }

  run(): Assignment {
    const all = allPartitions(this.#topicsInOrder(), this.#group.partitions);
    const kept = this.#keepOwned();
    const free = all.filter((tp) => !kept.has(keyOf(tp)));
    for (const member of this.#current.keys()) this.#members.add(member);
    const isFirst = [...this.#current.values()].every(({ length }) => length === 0);
    this.#assignAll(free);
    const fixed = this.#removeFixed();
    const isShared = ({ topic }: TopicPartition): boolean => this.#isShared(topic);
    const before = new Map([...this.#current].map(([member, partitions]) => [member, [...partitions]]));
    const previousOwners = this.#previousOwners();
    if (!this.#hasRevoked) this.#rebalance(free.filter(isShared), previousOwners);
    const hasMoved = this.#rebalance(all.filter(isShared), previousOwners);
    if (!isFirst && hasMoved && balanceScore(this.#current) >= balanceScore(before)) this.#current = before;
    return new Map([...this.#current, ...fixed]);
  }

  /** Returns the topics, those with the fewest subscribers first. */
  #topicsInOrder(): readonly string[] {
    const subscribers = (topic: string): number => this.#subscribers.get(topic)?.length ?? 0;
    return [...this.#subscribers.keys()].sort((a, b) => subscribers(a) - subscribers(b) || compare(a, b));
  }

  /** Assigns the partitions that members may keep, and returns their keys. */
  #keepOwned(): ReadonlySet<string> {
    const kept = new Set<string>();
    for (const { memberId, topics } of this.#group.members) {
      for (const tp of this.#group.owned.get(memberId) ?? []) {
        this.#owners.set(keyOf(tp), memberId);
        if (!topics.includes(tp.topic) || this.#group.racks.mismatches(memberId, tp)) {
          this.#hasRevoked = true;
        } else {
          this.#current.get(memberId)?.push(tp);
          kept.add(keyOf(tp));
        }
      }
    }
    return kept;
  }

  /**
   * Assigns partitions to subscribers that have no rack or share a rack with a replica, and then the rest to any subscribers.
   */
  #assignAll(free: readonly TopicPartition[]): void {
    const { racks } = this.#group;
    const remaining = racks.usesRacks ? free.filter((tp) => !this.#assignOne(tp, true)) : free;
    for (const tp of remaining) this.#assignOne(tp, false);
  }

  #assignOne(tp: TopicPartition, nearOnly: boolean): boolean {
    for (const member of this.#members.inOrder) {
      if (this.#topics.get(member)?.has(tp.topic) !== true) continue;
      if (nearOnly && this.#group.racks.mismatches(member, tp)) continue;
      this.#members.remove(member);
      this.#current.get(member)?.push(tp);
      this.#owners.set(keyOf(tp), member);
      this.#members.add(member);
      return true;
    }
    return false;
  }

  /** Excludes from the balancing the members whose partitions cannot move, and returns their partitions. */
  #removeFixed(): ReadonlyMap<string, TopicPartition[]> {
    const fixed = new Map<string, TopicPartition[]>();
    for (const [member, topics] of this.#topics) {
      const owned = this.#current.get(member) ?? [];
      if (owned.length < this.#potentialCount(topics) || owned.some(({ topic }) => this.#isShared(topic))) continue;
      this.#members.remove(member);
      this.#current.delete(member);
      fixed.set(member, owned);
    }
    return fixed;
  }

  #isShared(topic: string): boolean {
    return (this.#subscribers.get(topic)?.length ?? 0) >= 2;
  }

  #potentialCount(topics: Iterable<string>): number {
    let most = 0;
    for (const topic of topics) most += this.#group.partitions.get(topic)?.length ?? 0;
    return most;
  }

  #previousOwners(): ReadonlyMap<string, string> {
    const previousOwners = new Map<string, { member: string; generationId: number }>();
    const { memberData, newestGeneration } = this.#group;
    for (const [member, { partitions, generationId = NO_GENERATION }] of memberData) {
      if (generationId >= newestGeneration) continue;
      for (const tp of partitions) {
        const known = previousOwners.get(keyOf(tp));
        if (known === undefined || generationId > known.generationId) {
          previousOwners.set(keyOf(tp), { member, generationId });
        }
      }
    }
    return new Map([...previousOwners].map(([key, { member }]) => [key, member]));
  }

  /** Moves partitions from members with more partitions to members with fewer, until no move improves the balance. */
  #rebalance(partitions: readonly TopicPartition[], previousOwners: ReadonlyMap<string, string>): boolean {
    let hasMoved = false;
    for (let again = true; again;) {
      again = false;
      for (const tp of partitions) {
        if (this.#isBalanced()) break;
        if (!this.#moveOne(tp, previousOwners)) continue;
        again = true;
        hasMoved = true;
      }
    }
    return hasMoved;
  }

  #moveOne(tp: TopicPartition, previousOwners: ReadonlyMap<string, string>): boolean {
    const owner = this.#owners.get(keyOf(tp)) ?? '';
    const hasMore = (other: string): boolean => this.#countOf(owner) > this.#countOf(other) + 1;
    const before = previousOwners.get(keyOf(tp));
    if (before !== undefined && this.#topics.get(before)?.has(tp.topic) === true && hasMore(before)) {
      this.#move(tp, before);
      return true;
    }
    if (!(this.#subscribers.get(tp.topic) ?? []).some(hasMore)) return false;
    const fewest = this.#members.inOrder.find((member) => this.#topics.get(member)?.has(tp.topic) === true);
    if (fewest !== undefined) this.#move(tp, fewest);
    return true;
  }

  /** Moves the partition, or another partition of its topic if that avoids moves in both directions between two members. */
  #move(wanted: TopicPartition, to: string): void {
    const tp = this.#movements.moveInstead(wanted, this.#owners.get(keyOf(wanted)) ?? '', to);
    const from = this.#owners.get(keyOf(tp)) ?? '';
    this.#members.remove(from);
    this.#members.remove(to);
    this.#movements.recordMove(tp, from, to);
    const unassigned = this.#current.get(from) ?? [];
    const index = unassigned.findIndex((each) => keyOf(each) === keyOf(tp));
    const last = unassigned.pop();
    if (last !== undefined && index >= 0 && index < unassigned.length) unassigned[index] = last;
    this.#current.get(to)?.push(tp);
    this.#owners.set(keyOf(tp), to);
    this.#members.add(to);
    this.#members.add(from);
  }

  #isBalanced(): boolean {
    const { inOrder } = this.#members;
    const [first = '', last = ''] = [inOrder.at(0), inOrder.at(-1)];
    if (this.#countOf(first) >= this.#countOf(last) - 1) return true;
    return !inOrder.some((member) => this.#mayReceiveMore(member));
  }

  /** True if a partition of the member's topics belongs to another member that has at least two partitions more. */
  #mayReceiveMore(member: string): boolean {
    const topics = this.#topics.get(member) ?? new Set();
    const count = this.#countOf(member);
    if (count === this.#potentialCount(topics)) return false;
    for (const topic of topics) {
      const partitions = this.#group.partitions.get(topic)?.length ?? 0;
      for (let partition = 0; partition < partitions; partition++) {
        const owner = this.#owners.get(topicPartitionKey(topic, partition));
        if (owner !== undefined && owner !== member && count + 1 < this.#countOf(owner)) return true;
      }
    }
    return false;
  }

  #countOf(member: string): number {
    return this.#current.get(member)?.length ?? 0;
  }
}

/** The sum of the differences in partition count between all pairs of members. */
function balanceScore(current: ReadonlyMap<string, readonly TopicPartition[]>): number {
  const counts = [...current.values()].map(({ length }) => length);
  let sum = 0;
  for (const [index, count] of counts.entries()) {
    for (const other of counts.slice(index + 1)) sum += Math.abs(count - other);
  }
  return sum;
}

function keyOf({ topic, partition }: TopicPartition): string {
  return topicPartitionKey(topic, partition);
}
