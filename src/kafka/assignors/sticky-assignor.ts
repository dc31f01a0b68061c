import type { TopicPartition } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import { javaHashMapOrder } from '../../java/java-hash-order.ts';
import { ResponseReader } from '../protocol/response-reader.ts';
import { MalformedResponseError } from '../errors/kafka-errors.ts';
import {
  NO_GENERATION,
  type Assignment,
  type Assignor,
  type GroupSubscription,
  type PartitionRacks,
} from './assignor.ts';
import { int32, topicsOf, writeTopicPartitions } from './consumer-protocol-fields.ts';
import { assignSticky } from './sticky-assignment.ts';
import type { MemberData } from './sticky-group.ts';

/**
 * Lets members keep their previous partitions as far as the balance allows, but revokes all partitions before a rebalance
 * (org.apache.kafka.clients.consumer.StickyAssignor). The user data contains the member's last assignment: partitions per
 * topic, and the generation.
 */
export class StickyAssignor implements Assignor {
  readonly name = 'sticky';
  readonly isCooperative = false;
  #last: MemberData | undefined;
  #newestGeneration = NO_GENERATION;

  userData(): Buffer | undefined {
    if (this.#last === undefined) return undefined;
    const { partitions, generationId = NO_GENERATION } = this.#last;
    const topics = topicsOf(partitions);
    const ordered = new Map(javaHashMapOrder([...topics.keys()]).map((topic) => [topic, topics.get(topic) ?? []]));
    return Buffer.concat([...writeTopicPartitions(ordered), int32(generationId)]);
  }

  onAssignment(partitions: readonly TopicPartition[], generationId: number): void {
    this.#last = { partitions, generationId };
  }

  assign(members: readonly GroupSubscription[], partitions: PartitionRacks): Assignment {
    const outcome = assignSticky(members, partitions, previousMemberData, this.#newestGeneration);
    this.#newestGeneration = outcome.newestGeneration;
    return outcome.assignment;
  }
}

/** Version 1 of the user data ends with the generation, which version 0 lacks. Unreadable user data counts as no assignment. */
function previousMemberData({ userData }: GroupSubscription): MemberData {
  if (userData === undefined || userData.length === 0) return { partitions: [], generationId: undefined };
  try {
    const reader = new ResponseReader(userData);
    const partitions = reader
      .list(() => {
        const topic = reader.string();
        return reader.list(() => ({ topic, partition: reader.int32() }));
      })
      .flat();
    return { partitions, generationId: reader.hasMore ? reader.int32() : undefined };
  } catch (error) {
    if (error instanceof MalformedResponseError) return { partitions: [], generationId: NO_GENERATION };
    throw toError(error);
  }
}
