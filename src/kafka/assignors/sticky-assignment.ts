import { javaHashMapOrder } from '../../java/java-hash-order.ts';
import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import {
  NO_GENERATION,
  subscribedPartitions,
  type Assignment,
  type GroupSubscription,
  type PartitionRacks,
} from './assignor.ts';
import { assignEqually } from './equal-subscriptions.ts';
import { RackMatch, type MemberData } from './sticky-group.ts';
import { assignUnequally } from './unequal-subscriptions.ts';

export interface StickyOutcome {
  readonly assignment: Assignment;
  /**
   * New owners, by partition key, of the partitions that another member must revoke first. `undefined` if the caller must
   * compute them by comparing the assignments.
   */
  readonly moving: ReadonlyMap<string, string> | undefined;
  readonly newestGeneration: number;
}

/**
 * Lets members keep their previous partitions as far as the balance allows
 * (org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor). The members are visited in the order of a Java HashMap,
 * so that the result equals that of a Java leader.
 */
export function assignSticky(
  members: readonly GroupSubscription[],
  racksOfPartitions: PartitionRacks,
  memberDataOf: (member: GroupSubscription) => MemberData,
  newestSoFar: number,
): StickyOutcome {
  const byId = new Map(members.map((member) => [member.memberId, member]));
  const ordered = javaHashMapOrder([...byId.keys()]).flatMap((id) => byId.get(id) ?? []);
  const partitions = subscribedPartitions(members, racksOfPartitions);
  const memberData = new Map(ordered.map((member) => [member.memberId, memberDataOf(member)]));
  const { owned, contested } = latestOwners(ordered, memberData, partitions);
  const newestGeneration = [...memberData.values()].reduce(
    (newest, { generationId = NO_GENERATION }) => Math.max(newest, generationId),
    newestSoFar,
  );
  const racks = new RackMatch(ordered, partitions);
  const group = { members: ordered, partitions, owned, memberData, newestGeneration, contested, racks };
  if (haveEqualTopics(ordered)) return { ...assignEqually(group), newestGeneration };
  return { assignment: assignUnequally(group), moving: undefined, newestGeneration };
}

function haveEqualTopics(members: readonly GroupSubscription[]): boolean {
  const topics = new Set<string>();
  return members.every((member) => {
    if (topics.size === 0) for (const topic of member.topics) topics.add(topic);
    return member.topics.length === topics.size && member.topics.every((topic) => topics.has(topic));
  });
}

/**
 * If two members claim a partition, the member of the later generation owns it. If the generations are equal, neither owns it.
 */
function latestOwners(
  members: readonly GroupSubscription[],
  memberData: ReadonlyMap<string, MemberData>,
  partitions: PartitionRacks,
): { owned: Map<string, TopicPartition[]>; contested: Set<string> } {
  const owned = new Map<string, TopicPartition[]>();
  const owners = new Map<string, GroupSubscription>();
  const contested = new Set<string>();
  const removeFrom = ({ memberId }: GroupSubscription, key: string): void => {
    const unassigned = owned
      .get(memberId)
      ?.filter(({ topic, partition }) => topicPartitionKey(topic, partition) !== key);
    owned.set(memberId, unassigned ?? []);
  };
  for (const member of members) {
    const { partitions: claimed = [], generationId = NO_GENERATION } = memberData.get(member.memberId) ?? {};
    owned.set(member.memberId, []);
    for (const tp of claimed) {
      if (!exists(tp, partitions)) continue;
      const key = topicPartitionKey(tp.topic, tp.partition);
      const other = owners.get(key);
      const otherGeneration = other === undefined ? -Infinity : (other.generationId ?? NO_GENERATION);
      if (other !== undefined && generationId < otherGeneration) continue;
      owners.set(key, member);
      if (other !== undefined) removeFrom(other, key);
      if (generationId === otherGeneration) contested.add(key);
      else owned.get(member.memberId)?.push(tp);
    }
  }
  return { owned, contested };
}

/** A member may claim partitions that do not exist. */
function exists({ topic, partition }: TopicPartition, partitions: PartitionRacks): boolean {
  return partition >= 0 && partition < (partitions.get(topic)?.length ?? 0);
}
