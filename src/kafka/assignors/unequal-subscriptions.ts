import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import { NO_GENERATION, compare, type Assignment } from './assignor.ts';
import { FewestFirst } from './fewest-first.ts';
import { Moves } from './partition-moves.ts';
import { allPartitions, type StickyGroup } from './sticky-group.ts';

/**
 * Assignment for members with different subscriptions, as balanced as these allow
 * (AbstractStickyAssignor.GeneralAssignmentBuilder).
 */
export function balance(group: StickyGroup): Assignment {
  const balancing = new Balancing(group);
  return balancing.run();
}

/**
 * One class, because every move changes what each member has, who has each partition, and the order of the members together.
 */
class Balancing {
  readonly #group: StickyGroup;
  /** Subscribers of each topic that has partitions. */
  readonly #subscribers = new Map<string, readonly string[]>();
  readonly #topics = new Map<string, ReadonlySet<string>>();
  #current = new Map<string, TopicPartition[]>();
  readonly #holders = new Map<string, string>();
  readonly #moves = new Moves();
  readonly #members: FewestFirst;
  /** Set if a member owned a partition that it may no longer have. */
  #mustRevoke = false;

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
    const kept = this.#keepHeld();
    const free = all.filter((place) => !kept.has(keyOf(place)));
    for (const member of this.#current.keys()) this.#members.add(member);
    const isFirst = [...this.#current.values()].every(({ length }) => length === 0);
    this.#giveAll(free);
    const fixed = this.#setAside();
    const isShared = ({ topic }: TopicPartition): boolean => this.#isShared(topic);
    const before = new Map([...this.#current].map(([member, places]) => [member, [...places]]));
    const earlier = this.#earlierHolders();
    if (!this.#mustRevoke) this.#even(free.filter(isShared), earlier);
    const hasMoved = this.#even(all.filter(isShared), earlier);
    if (!isFirst && hasMoved && unevenness(this.#current) >= unevenness(before)) this.#current = before;
    return new Map([...this.#current, ...fixed]);
  }

  /** Topics with the fewest subscribers first. */
  #topicsInOrder(): readonly string[] {
    const subscribers = (topic: string): number => this.#subscribers.get(topic)?.length ?? 0;
    return [...this.#subscribers.keys()].sort((a, b) => subscribers(a) - subscribers(b) || compare(a, b));
  }

  /** Assigns the partitions that members may keep, and returns their keys. */
  #keepHeld(): ReadonlySet<string> {
    const kept = new Set<string>();
    for (const { memberId, topics } of this.#group.members) {
      for (const place of this.#group.held.get(memberId) ?? []) {
        this.#holders.set(keyOf(place), memberId);
        if (!topics.includes(place.topic) || this.#group.racks.mismatches(memberId, place)) {
          this.#mustRevoke = true;
        } else {
          this.#current.get(memberId)?.push(place);
          kept.add(keyOf(place));
        }
      }
    }
    return kept;
  }

  /** Partitions that match the rack of a member are assigned first. */
  #giveAll(free: readonly TopicPartition[]): void {
    const { racks } = this.#group;
    const far = racks.counts ? free.filter((place) => !this.#giveOne(place, true)) : free;
    for (const place of far) this.#giveOne(place, false);
  }

  #giveOne(place: TopicPartition, nearOnly: boolean): boolean {
    for (const member of this.#members.inOrder) {
      if (this.#topics.get(member)?.has(place.topic) !== true) continue;
      if (nearOnly && this.#group.racks.mismatches(member, place)) continue;
      this.#members.remove(member);
      this.#current.get(member)?.push(place);
      this.#holders.set(keyOf(place), member);
      this.#members.add(member);
      return true;
    }
    return false;
  }

  /** Removes the members whose partitions cannot move from the balancing, and returns their partitions. */
  #setAside(): ReadonlyMap<string, TopicPartition[]> {
    const fixed = new Map<string, TopicPartition[]>();
    for (const [member, topics] of this.#topics) {
      const places = this.#current.get(member) ?? [];
      if (places.length < this.#mostOf(topics) || places.some(({ topic }) => this.#isShared(topic))) continue;
      this.#members.remove(member);
      this.#current.delete(member);
      fixed.set(member, places);
    }
    return fixed;
  }

  #isShared(topic: string): boolean {
    return (this.#subscribers.get(topic)?.length ?? 0) >= 2;
  }

  #mostOf(topics: Iterable<string>): number {
    let most = 0;
    for (const topic of topics) most += this.#group.partitions.get(topic)?.length ?? 0;
    return most;
  }

  /** Owners of partitions in generations before the newest one. */
  #earlierHolders(): ReadonlyMap<string, string> {
    const earlier = new Map<string, { member: string; generationId: number }>();
    const { holdings, newestGeneration } = this.#group;
    for (const [member, { partitions, generationId = NO_GENERATION }] of holdings) {
      if (generationId >= newestGeneration) continue;
      for (const place of partitions) {
        const known = earlier.get(keyOf(place));
        if (known === undefined || generationId > known.generationId) {
          earlier.set(keyOf(place), { member, generationId });
        }
      }
    }
    return new Map([...earlier].map(([key, { member }]) => [key, member]));
  }

  /** Moves partitions from members with more to members with fewer, until no move improves the balance. */
  #even(places: readonly TopicPartition[], earlier: ReadonlyMap<string, string>): boolean {
    let hasMoved = false;
    for (let again = true; again;) {
      again = false;
      for (const place of places) {
        if (this.#isEven()) break;
        if (!this.#moveOne(place, earlier)) continue;
        again = true;
        hasMoved = true;
      }
    }
    return hasMoved;
  }

  #moveOne(place: TopicPartition, earlier: ReadonlyMap<string, string>): boolean {
    const holder = this.#holders.get(keyOf(place)) ?? '';
    const hasMore = (other: string): boolean => this.#countOf(holder) > this.#countOf(other) + 1;
    const before = earlier.get(keyOf(place));
    if (before !== undefined && this.#topics.get(before)?.has(place.topic) === true && hasMore(before)) {
      this.#move(place, before);
      return true;
    }
    if (!(this.#subscribers.get(place.topic) ?? []).some(hasMore)) return false;
    const fewest = this.#members.inOrder.find((member) => this.#topics.get(member)?.has(place.topic) === true);
    if (fewest !== undefined) this.#move(place, fewest);
    return true;
  }

  /** Another partition of the topic may move instead, to avoid moves in both directions between two members. */
  #move(wanted: TopicPartition, to: string): void {
    const place = this.#moves.instead(wanted, this.#holders.get(keyOf(wanted)) ?? '', to);
    const from = this.#holders.get(keyOf(place)) ?? '';
    this.#members.remove(from);
    this.#members.remove(to);
    this.#moves.note(place, from, to);
    const left = this.#current.get(from) ?? [];
    const index = left.findIndex((each) => keyOf(each) === keyOf(place));
    const last = left.pop();
    if (last !== undefined && index >= 0 && index < left.length) left[index] = last;
    this.#current.get(to)?.push(place);
    this.#holders.set(keyOf(place), to);
    this.#members.add(to);
    this.#members.add(from);
  }

  #isEven(): boolean {
    const { inOrder } = this.#members;
    const [first = '', last = ''] = [inOrder.at(0), inOrder.at(-1)];
    if (this.#countOf(first) >= this.#countOf(last) - 1) return true;
    return !inOrder.some((member) => this.#mayGetMore(member));
  }

  /** True if another member with at least two more partitions owns one that this member may have. */
  #mayGetMore(member: string): boolean {
    const topics = this.#topics.get(member) ?? new Set();
    const count = this.#countOf(member);
    if (count === this.#mostOf(topics)) return false;
    for (const topic of topics) {
      const partitions = this.#group.partitions.get(topic)?.length ?? 0;
      for (let partition = 0; partition < partitions; partition++) {
        const holder = this.#holders.get(topicPartitionKey(topic, partition));
        if (holder !== undefined && holder !== member && count + 1 < this.#countOf(holder)) return true;
      }
    }
    return false;
  }

  #countOf(member: string): number {
    return this.#current.get(member)?.length ?? 0;
  }
}

/** The sum of the differences between all pairs of members. */
function unevenness(current: ReadonlyMap<string, readonly TopicPartition[]>): number {
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
