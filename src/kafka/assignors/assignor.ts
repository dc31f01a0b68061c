import type { TopicPartition } from '../../data/record.ts';

/** Names in the group's protocol, as JoinGroup carries them. */
export type AssignorName = 'range' | 'roundrobin' | 'sticky' | 'cooperative-sticky';

/** What a member said of itself when it joined. */
export interface GroupSubscription {
  readonly memberId: string;
  /** `group.instance.id`; `undefined`: a dynamic member. */
  readonly instanceId: string | undefined;
  readonly topics: readonly string[];
  readonly userData: Buffer | undefined;
  /** What it holds while it joins. */
  readonly owned: readonly TopicPartition[];
  /** In which it got what it holds; `undefined`: not told. */
  readonly generationId: number | undefined;
  readonly rackId: string | undefined;
}

/** Partition counts of existing topics; a topic that does not exist (yet) is absent. */
export type PartitionCounts = ReadonlyMap<string, number>;

/** Per existing topic and partition: the racks of its replicas, none where they are not known. */
export type PartitionRacks = ReadonlyMap<string, readonly ReadonlySet<string>[]>;

export type Assignment = ReadonlyMap<string, readonly TopicPartition[]>;

/** How partitions are divided among the members of a group (org.apache.kafka.clients.consumer.ConsumerPartitionAssignor). */
export interface Assignor {
  readonly name: AssignorName;
  /** Members may keep what they hold while they join: what moves is free in one round and given in the next. */
  readonly isCooperative: boolean;
  /** What this member adds to its subscription; `undefined`: nothing. */
  userData(): Buffer | undefined;
  /** This member got these partitions in a round that used the assignor. */
  onAssignment(partitions: readonly TopicPartition[], generationId: number): void;
  /** For the leader: the partitions of every member, `members` in the order of the coordinator. */
  assign(members: readonly GroupSubscription[], partitions: PartitionRacks): Assignment;
}

export const NO_GENERATION = -1;

/** As Java compares strings. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Static members come first, by their own ids (AbstractPartitionAssignor.MemberInfo): a restart does not change their place. */
export function inOrder(members: readonly GroupSubscription[]): readonly GroupSubscription[] {
  return [...members].sort((a, b) => {
    if (a.instanceId !== undefined && b.instanceId !== undefined) return compare(a.instanceId, b.instanceId);
    if (a.instanceId !== undefined) return -1;
    return b.instanceId === undefined ? compare(a.memberId, b.memberId) : 1;
  });
}

/** The topics of the group that have partitions. */
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
 * Racks count where members and replicas share one, and not every partition is in all racks of the replicas
 * (AbstractPartitionAssignor#useRackAwareAssignment).
 */
export function racksCount(memberRacks: Iterable<string>, partitions: Iterable<ReadonlySet<string>>): boolean {
  const ofPartitions = [...partitions];
  const all = new Set(ofPartitions.flatMap((racks) => [...racks]));
  if (![...memberRacks].some((rack) => all.has(rack))) return false;
  return ofPartitions.some((racks) => racks.size !== all.size);
}

/** A rack that is not empty; `undefined`: none. */
export function rackOf({ rackId }: GroupSubscription): string | undefined {
  return rackId === '' ? undefined : rackId;
}
