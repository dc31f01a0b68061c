import type { TopicPartition } from '../../data/record.ts';
import {
  inOrder,
  subscribedPartitions,
  type Assignment,
  type Assignor,
  type GroupSubscription,
  type PartitionRacks,
} from './assignor.ts';

/**
 * Assigns all partitions in topic order to the subscribed members in turn (org.apache.kafka.clients.consumer.RoundRobinAssignor).
 */
export class RoundRobinAssignor implements Assignor {
  readonly name = 'roundrobin';
  readonly isCooperative = false;

  assign(members: readonly GroupSubscription[], partitions: PartitionRacks): Assignment {
    const assignment = new Map<string, TopicPartition[]>(members.map(({ memberId }) => [memberId, []]));
    const sorted = inOrder(members);
    let turn = 0;
    for (const [topic, { length }] of subscribedPartitions(members, partitions)) {
      for (let partition = 0; partition < length; partition++) {
        while (sorted[turn % sorted.length]?.topics.includes(topic) === false) turn++;
        assignment.get(sorted[turn % sorted.length]?.memberId ?? '')?.push({ topic, partition });
        turn++;
      }
    }
    return assignment;
  }
}
