import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import { compare, type Assignment } from './assignor.ts';
import { allPartitions, type RackMatch, type StickyGroup } from './sticky-group.ts';

/**
 * Assignment for members that all subscribe to the same topics: partition counts differ by at most one
 * (AbstractStickyAssignor.ConstrainedAssignmentBuilder).
 */
export function assignEqually(group: StickyGroup): { assignment: Assignment; moving: ReadonlyMap<string, string> } {
  const division = new EqualAssignment(group);
  division.keepOwned();
  division.assignUnassigned();
  return division;
}

class EqualAssignment {
  readonly assignment = new Map<string, TopicPartition[]>();
  /** New owners of partitions that another member owns now or owned earlier. */
  readonly moving = new Map<string, string>();
  readonly #group: StickyGroup;
  readonly #racks: RackMatch;
  readonly #owners = new Map<string, string>();
  readonly #assignedKeys = new Set<string>();
  readonly #minQuota: number;
  readonly #maxQuota: number;
  /** Number of members that may still receive more partitions than the minimum quota. */
  #remainingAboveMin: number;
  #underMinQuota: string[] = [];
  /** Members with exactly the minimum quota, which may receive one more partition. */
  #atMinQuota: string[] = [];

  constructor(group: StickyGroup) {
    let total = 0;
    for (const { length } of group.partitions.values()) total += length;
    const members = group.members.length;
    this.#group = group;
    this.#racks = group.racks;
    this.#minQuota = Math.floor(total / members);
    this.#maxQuota = Math.ceil(total / members);
    this.#remainingAboveMin = total % members;
    for (const { memberId } of group.members) this.assignment.set(memberId, []);
  }

  keepOwned(): void {
    for (const { memberId } of this.#group.members) {
      const owned: TopicPartition[] = [];
      for (const tp of this.#group.owned.get(memberId) ?? []) {
        if (this.#racks.mismatches(memberId, tp)) this.#owners.set(keyOf(tp), memberId);
        else if (!this.#group.contested.has(keyOf(tp))) owned.push(tp);
      }
      owned.sort((a, b) => a.partition - b.partition || compare(a.topic, b.topic));
      if (owned.length < this.#minQuota) {
        this.#keep(memberId, owned, owned.length);
        this.#underMinQuota.push(memberId);
      } else if (owned.length >= this.#maxQuota && this.#remainingAboveMin > 0) {
        this.#remainingAboveMin -= 1;
        if (this.#remainingAboveMin === 0) this.#atMinQuota = [];
        this.#keep(memberId, owned, this.#maxQuota);
      } else {
        this.#keep(memberId, owned, this.#minQuota);
        if (this.#remainingAboveMin > 0) this.#atMinQuota.push(memberId);
      }
    }
  }

  assignUnassigned(): void {
    this.#underMinQuota.sort(compare);
    this.#atMinQuota.sort(compare);
    const topics = [...this.#group.partitions.keys()];
    const free = allPartitions(topics, this.#group.partitions).filter((tp) => !this.#assignedKeys.has(keyOf(tp)));
    this.#assignRoundRobin(this.#assignWithinRacks(this.#racks.sorted(free)));
  }

  #keep(member: string, owned: readonly TopicPartition[], count: number): void {
    this.assignment.get(member)?.push(...owned.slice(0, count));
    for (const tp of owned.slice(0, count)) this.#assignedKeys.add(keyOf(tp));
    for (const tp of owned.slice(count)) this.#owners.set(keyOf(tp), member);
  }

  /**
   * Assigns partitions to members that are in the rack of a replica and may receive more, and returns the other
   * partitions.
   */
  #assignWithinRacks(partitions: readonly TopicPartition[]): readonly TopicPartition[] {
    if (!this.#racks.usesRacks) return partitions;
    let first = 0;
    return partitions.filter((tp) => {
      const index = this.#racks.next(tp, this.#underMinQuota, first);
      if (index >= 0) {
        first = this.#assignToUnderMinQuota(tp, index);
        return false;
      }
      const other = this.#racks.next(tp, this.#atMinQuota, 0);
      if (other < 0) return true;
      const member = this.#atMinQuota[other] ?? '';
      if (this.#assign(tp, member) === this.#maxQuota) {
        this.#atMinQuota.splice(other, 1);
        this.#remainingAboveMin -= 1;
        if (this.#remainingAboveMin === 0) this.#atMinQuota = [];
      }
      return false;
    });
  }

  /** Assigns the partition to the member at `index`, and returns the index at which the search for the next member starts. */
  #assignToUnderMinQuota(tp: TopicPartition, index: number): number {
    const member = this.#underMinQuota[index] ?? '';
    const count = this.#assign(tp, member);
    let next = index + 1;
    if (count >= this.#minQuota) {
      next = index;
      this.#underMinQuota.splice(index, 1);
      if (count < this.#maxQuota && this.#remainingAboveMin > 0) this.#atMinQuota.push(member);
    }
    return this.#underMinQuota.length === 0 ? 0 : next % this.#underMinQuota.length;
  }

  #assignRoundRobin(partitions: readonly TopicPartition[]): void {
    let turn = 0;
    for (const tp of partitions) {
      if (turn >= this.#underMinQuota.length) turn = 0;
      const member = this.#underMinQuota[turn];
      if (member === undefined) {
        const next = this.#atMinQuota.shift();
        if (next === undefined) throw new Error('The group has more partitions than the quotas of its members allow');
        this.#assign(tp, next);
      } else if (this.#assign(tp, member) === this.#minQuota) {
        this.#underMinQuota.splice(turn, 1);
        this.#atMinQuota.push(member);
      } else turn += 1;
    }
  }

  #assign(tp: TopicPartition, member: string): number {
    const key = keyOf(tp);
    const before = this.#owners.get(key);
    if ((before !== undefined && before !== member) || this.#group.contested.has(key)) this.moving.set(key, member);
    return this.assignment.get(member)?.push(tp) ?? 0;
  }
}

function keyOf({ topic, partition }: TopicPartition): string {
  return topicPartitionKey(topic, partition);
}
