import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { TopicPartition } from '../../../src/data/record.ts';
import type { Assignor, AssignorName } from '../../../src/kafka/assignors/assignor.ts';
import { createAssignor } from '../../../src/kafka/assignors/assignors.ts';
import { decodeSubscription, encodeSubscription } from '../../../src/kafka/consumer/consumer-protocol.ts';

/**
 * Assignments of kafka-clients 4.3.1 for random groups in consecutive rebalances: members join and leave, topics grow,
 * some have racks.
 */
interface JavaCase {
  readonly assignor: AssignorName;
  readonly rounds: readonly {
    /** In the order of the coordinator; `bytes`: the subscription as Java wrote it. */
    readonly members: readonly {
      readonly id: string;
      readonly instance?: string;
      readonly owned: string;
      readonly generation: number;
      readonly bytes: string;
    }[];
    /** Per partition, the racks of its replicas. */
    readonly topics: Readonly<Record<string, readonly string[]>>;
    readonly assignment: Readonly<Record<string, string>>;
  }[];
}

const cases = JSON.parse(readFileSync(new URL('./java-assignments.json', import.meta.url), 'utf8')) as JavaCase[];

const words = (text: string): readonly string[] => (text === '' ? [] : text.split(' '));

function partitions(text: string): readonly TopicPartition[] {
  return words(text).map((word) => {
    const [topic = '', partition] = word.split(':');
    return { topic, partition: Number(partition) };
  });
}

function text(places: readonly TopicPartition[]): string {
  const sorted = [...places].sort((a, b) =>
    a.topic < b.topic ? -1 : a.topic > b.topic ? 1 : a.partition - b.partition,
  );
  return sorted.map(({ topic, partition }) => `${topic}:${String(partition)}`).join(' ');
}

describe('the assignors, compared with Java’s', () => {
  for (const [index, { assignor, rounds }] of cases.entries()) {
    it(`${assignor}, group ${String(index)}: equal subscriptions and equal assignment`, () => {
      const leader = createAssignor(assignor);
      const ownOf = new Map<string, Assignor>();
      for (const { members, topics, assignment } of rounds) {
        const subscriptions = members.map(({ id, instance, owned, generation, bytes }) => {
          const own = ownOf.get(id) ?? createAssignor(assignor);
          ownOf.set(id, own);
          if (generation >= 0) own.onAssignment?.(partitions(owned), generation);
          const said = decodeSubscription(Buffer.from(bytes, 'base64'));
          const again = encodeSubscription({
            topics: said.topics,
            userData: own.userData?.(),
            owned: own.isCooperative ? partitions(owned) : [],
            generationId: generation < 0 ? undefined : generation,
            rackId: said.rackId,
          });
          assert.equal(again.toString('base64'), bytes);
          return { ...said, memberId: id, instanceId: instance };
        });
        const racks = Object.entries(topics).map(
          ([topic, ofTopic]) => [topic, ofTopic.map((each) => new Set(words(each)))] as const,
        );
        const divided = leader.assign(subscriptions, new Map(racks));
        const found = Object.fromEntries([...divided].map(([id, places]) => [id, text(places)]));
        assert.deepEqual(found, assignment);
      }
    });
  }
});
