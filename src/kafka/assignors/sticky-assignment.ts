import { javaHashMapOrder } from '../../java/java-hash-order.ts';
import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import {
  NO_GENERATION,
  subscribedPartitions,
  type Assignment,
  type GroupSubscription,
  type PartitionRacks,
} from './assignor.ts';
import { divideAmongAll } from './equal-subscriptions.ts';
import { RackMatch, type Holding } from './sticky-group.ts';
import { balance } from './unequal-subscriptions.ts';

export interface StickyOutcome {
  readonly assignment: Assignment;
  /**
   * New owners of partitions, by key, that another member must revoke first; `undefined` if they have to be found by
   * comparison.
   */
  readonly moving: ReadonlyMap<string, string> | undefined;
  readonly newestGeneration: number;
}

/**
 * Members keep their previous partitions as far as the balance allows
 * (org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor). The members are visited in the order of a Java
 * HashMap, so that the result equals that of a Java leader.
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

/**
 * If two members claim a partition, the one of the later generation owns it. If the generations are equal, neither
 * does.
 */
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
      if (!exists(place, partitions)) continue;
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

/** A member may claim partitions that do not exist. */
function exists({ topic, partition }: TopicPartition, partitions: PartitionRacks): boolean {
  return partition >= 0 && partition < (partitions.get(topic)?.length ?? 0);
}
