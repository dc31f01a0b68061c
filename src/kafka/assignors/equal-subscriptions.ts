import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import { compare, type Assignment } from './assignor.ts';
import { allPartitions, type RackMatch, type StickyGroup } from './sticky-group.ts';

/**
 * Assignment for members that all subscribe to the same topics: partition counts differ by at most one
 * (AbstractStickyAssignor.ConstrainedAssignmentBuilder).
 */
export function divideAmongAll(group: StickyGroup): { assignment: Assignment; moving: ReadonlyMap<string, string> } {
  const division = new EqualDivision(group);
  division.keepHeld();
  division.giveTheRest();
  return division;
}

class EqualDivision {
  readonly assignment = new Map<string, TopicPartition[]>();
  /** New owners of partitions that another member owns or owned. */
  readonly moving = new Map<string, string>();
  readonly #group: StickyGroup;
  readonly #racks: RackMatch;
  readonly #holders = new Map<string, string>();
  readonly #kept = new Set<string>();
  readonly #least: number;
  readonly #most: number;
  /** Remaining number of members that may exceed the minimum quota. */
  #extra: number;
  #short: string[] = [];
  /** Members with exactly the minimum quota, which may receive one more partition. */
  #atLeast: string[] = [];

  constructor(group: StickyGroup) {
    let total = 0;
    for (const { length } of group.partitions.values()) total += length;
    const members = group.members.length;
    this.#group = group;
    this.#racks = group.racks;
    this.#least = Math.floor(total / members);
    this.#most = Math.ceil(total / members);
    this.#extra = total % members;
    for (const { memberId } of group.members) this.assignment.set(memberId, []);
  }

  keepHeld(): void {
    for (const { memberId } of this.#group.members) {
      const held: TopicPartition[] = [];
      for (const place of this.#group.held.get(memberId) ?? []) {
        if (this.#racks.mismatches(memberId, place)) this.#holders.set(keyOf(place), memberId);
        else if (!this.#group.disputed.has(keyOf(place))) held.push(place);
      }
      held.sort((a, b) => a.partition - b.partition || compare(a.topic, b.topic));
      if (held.length < this.#least) {
        this.#keep(memberId, held, held.length);
        this.#short.push(memberId);
      } else if (held.length >= this.#most && this.#extra > 0) {
        this.#extra -= 1;
        if (this.#extra === 0) this.#atLeast = [];
        this.#keep(memberId, held, this.#most);
      } else {
        this.#keep(memberId, held, this.#least);
        if (this.#extra > 0) this.#atLeast.push(memberId);
      }
    }
  }

  giveTheRest(): void {
    this.#short.sort(compare);
    this.#atLeast.sort(compare);
    const topics = [...this.#group.partitions.keys()];
    const free = allPartitions(topics, this.#group.partitions).filter((place) => !this.#kept.has(keyOf(place)));
    this.#giveInTurn(this.#giveWithinRacks(this.#racks.sorted(free)));
  }

  #keep(member: string, held: readonly TopicPartition[], count: number): void {
    this.assignment.get(member)?.push(...held.slice(0, count));
    for (const place of held.slice(0, count)) this.#kept.add(keyOf(place));
    for (const place of held.slice(count)) this.#holders.set(keyOf(place), member);
  }

  /** Returns the partitions that no member can receive within its rack. */
  #giveWithinRacks(partitions: readonly TopicPartition[]): readonly TopicPartition[] {
    if (!this.#racks.counts) return partitions;
    let first = 0;
    return partitions.filter((place) => {
      const index = this.#racks.next(place, this.#short, first);
      if (index >= 0) {
        first = this.#giveToShort(place, index);
        return false;
      }
      const other = this.#racks.next(place, this.#atLeast, 0);
      if (other < 0) return true;
      const member = this.#atLeast[other] ?? '';
      if (this.#give(place, member) === this.#most) {
        this.#atLeast.splice(other, 1);
        this.#extra -= 1;
        if (this.#extra === 0) this.#atLeast = [];
      }
      return false;
    });
  }

  /** Returns the index at which the next search starts. */
  #giveToShort(place: TopicPartition, index: number): number {
    const member = this.#short[index] ?? '';
    const count = this.#give(place, member);
    let next = index + 1;
    if (count >= this.#least) {
      next = index;
      this.#short.splice(index, 1);
      if (count < this.#most && this.#extra > 0) this.#atLeast.push(member);
    }
    return this.#short.length === 0 ? 0 : next % this.#short.length;
  }

  #giveInTurn(partitions: readonly TopicPartition[]): void {
    let turn = 0;
    for (const place of partitions) {
      if (turn >= this.#short.length) turn = 0;
      const member = this.#short[turn];
      if (member === undefined) {
        const next = this.#atLeast.shift();
        if (next === undefined) throw new Error('The partitions of the group are more than its members may have');
        this.#give(place, next);
      } else if (this.#give(place, member) === this.#least) {
        this.#short.splice(turn, 1);
        this.#atLeast.push(member);
      } else turn += 1;
    }
  }

  #give(place: TopicPartition, member: string): number {
    const key = keyOf(place);
    const before = this.#holders.get(key);
    if ((before !== undefined && before !== member) || this.#group.disputed.has(key)) this.moving.set(key, member);
    return this.assignment.get(member)?.push(place) ?? 0;
  }
}

function keyOf({ topic, partition }: TopicPartition): string {
  return topicPartitionKey(topic, partition);
}
