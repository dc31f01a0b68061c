import type { TopicPartition } from '../../data/record.ts';

/** Protocol names as sent in JoinGroup. */
export type AssignorName = 'range' | 'roundrobin' | 'sticky' | 'cooperative-sticky';

export interface GroupSubscription {
  readonly memberId: string;
  /** `group.instance.id`; `undefined` for a dynamic member. */
  readonly instanceId: string | undefined;
  readonly topics: readonly string[];
  readonly userData: Buffer | undefined;
  readonly owned: readonly TopicPartition[];
  /** Generation in which `owned` was assigned; `undefined` if not reported. */
  readonly generationId: number | undefined;
  readonly rackId: string | undefined;
}

/** Partition counts by topic; topics that do not exist are absent. */
export type PartitionCounts = ReadonlyMap<string, number>;

/** Racks of the replicas by topic and partition. A set is empty if the racks are unknown. */
export type PartitionRacks = ReadonlyMap<string, readonly ReadonlySet<string>[]>;

export type Assignment = ReadonlyMap<string, readonly TopicPartition[]>;

/** Assigns partitions to the members of a group (org.apache.kafka.clients.consumer.ConsumerPartitionAssignor). */
export interface Assignor {
  readonly name: AssignorName;
  /**
   * Cooperative rebalancing: members keep their partitions while they join. A partition that moves is revoked in one rebalance and
   * assigned in the next.
   */
  readonly isCooperative: boolean;
  /** User data of the member for the leader; absent in assignors without state, like `onAssignment`. */
  userData?(): Buffer | undefined;
  /** Called on a member after a rebalance that used this assignor. */
  onAssignment?(partitions: readonly TopicPartition[], generationId: number): void;
  /** Called on the leader, with the members in the coordinator's order. */
  assign(members: readonly GroupSubscription[], partitions: PartitionRacks): Assignment;
}

export const NO_GENERATION = -1;

/** Compares like Java's `String.compareTo`. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Static members precede dynamic ones and are ordered by instance id, so that a restart does not change their position
 * (AbstractPartitionAssignor.MemberInfo).
 */
export function inOrder(members: readonly GroupSubscription[]): readonly GroupSubscription[] {
  return [...members].sort((a, b) => {
    if (a.instanceId !== undefined && b.instanceId !== undefined) return compare(a.instanceId, b.instanceId);
    if (a.instanceId !== undefined) return -1;
    return b.instanceId === undefined ? compare(a.memberId, b.memberId) : 1;
  });
}

export function subscribedPartitions(
  members: readonly GroupSubscription[],
  partitions: PartitionRacks,
): Map<string, readonly ReadonlySet<string>[]> {
  const subscribed = new Map<string, readonly ReadonlySet<string>[]>();
  for (const topic of [...new Set(members.flatMap(({ topics }) => topics))].sort(compare)) {
    const ofTopic = partitions.get(topic);
    if (ofTopic !== undefined && ofTopic.length > 0) subscribed.set(topic, ofTopic);
  }
  return subscribed;
}

/**
 * Rack-aware assignment applies if members and replicas share a rack and not every partition has a replica in all racks
 * (AbstractPartitionAssignor#useRackAwareAssignment).
 */
export function usesRacks(memberRacks: Iterable<string>, partitions: Iterable<ReadonlySet<string>>): boolean {
  const racksByPartition = [...partitions];
  const all = new Set(racksByPartition.flatMap((racks) => [...racks]));
  if (![...memberRacks].some((rack) => all.has(rack))) return false;
  return racksByPartition.some((racks) => racks.size !== all.size);
}

export function rackOf({ rackId }: GroupSubscription): string | undefined {
  return rackId === '' ? undefined : rackId;
}
