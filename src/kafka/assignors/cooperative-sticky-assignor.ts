import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import {
  NO_GENERATION,
  type Assignment,
  type Assignor,
  type GroupSubscription,
  type PartitionRacks,
} from './assignor.ts';
import { int32 } from './consumer-protocol-fields.ts';
import { assignSticky } from './sticky-assignment.ts';
import type { MemberData } from './sticky-group.ts';

const GENERATION_BYTES = 4;

/**
 * Like StickyAssignor, but members keep their partitions while they join
 * (org.apache.kafka.clients.consumer.CooperativeStickyAssignor). A partition that moves stays unassigned until its owner has
 * rejoined without it.
 */
export class CooperativeStickyAssignor implements Assignor {
  readonly name = 'cooperative-sticky';
  readonly isCooperative = true;
  #generationId = NO_GENERATION;
  #newestGeneration = NO_GENERATION;

  userData(): Buffer {
    return int32(this.#generationId);
  }

  onAssignment(_partitions: readonly TopicPartition[], generationId: number): void {
    this.#generationId = generationId;
  }

  assign(members: readonly GroupSubscription[], partitions: PartitionRacks): Assignment {
    const outcome = assignSticky(members, partitions, currentMemberData, this.#newestGeneration);
    this.#newestGeneration = outcome.newestGeneration;
    const moving = outcome.moving ?? movedAway(members, outcome.assignment);
    const stays = (memberId: string, { topic, partition }: TopicPartition): boolean =>
      moving.get(topicPartitionKey(topic, partition)) !== memberId;
    return new Map([...outcome.assignment].map(([id, owned]) => [id, owned.filter((tp) => stays(id, tp))] as const));
  }
}

/** Before version 2 of the subscription, members report the generation in their user data. */
function currentMemberData({ owned, generationId, userData }: GroupSubscription): MemberData {
  if (generationId !== undefined || userData === undefined) return { partitions: owned, generationId };
  const reported = userData.length < GENERATION_BYTES ? NO_GENERATION : userData.readInt32BE(0);
  return { partitions: owned, generationId: reported };
}

/** New owners of the partitions that another member still owns. */
function movedAway(members: readonly GroupSubscription[], assignment: Assignment): ReadonlyMap<string, string> {
  const added = new Map<string, string>();
  const revoked = new Set<string>();
  for (const { memberId, owned } of members) {
    const ownedKeys = new Set(owned.map(keyOf));
    const assigned = new Set((assignment.get(memberId) ?? []).map(keyOf));
    for (const key of assigned) if (!ownedKeys.has(key)) added.set(key, memberId);
    for (const key of ownedKeys) if (!assigned.has(key)) revoked.add(key);
  }
  return new Map([...added].filter(([key]) => revoked.has(key)));
}

function keyOf({ topic, partition }: TopicPartition): string {
  return topicPartitionKey(topic, partition);
}
