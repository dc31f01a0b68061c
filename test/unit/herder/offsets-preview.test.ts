import assert from 'node:assert/strict';
import { overridePolicy } from '../../../src/config/override-policy.ts';
import { KafkaTaskClients } from '../../../src/connect/tasks/kafka-task-clients.ts';
import { previewSink, type OffsetTarget } from '../../../src/herder/offsets-preview.ts';
import type { ConnectValue } from '../../../src/data/value.ts';
import type { Admin } from '../../../src/kafka/api.ts';
import { silentLogger } from '../../../src/observe/logger.ts';

/** Clients of a worker with these `consumer.` properties. */
function clientsOf(consumer: Readonly<Record<string, string>>): KafkaTaskClients {
  const defaults = { consumer, producer: {}, admin: {} };
  return new KafkaTaskClients(defaults, overridePolicy('All', []), () => Promise.resolve('w'), silentLogger);
}

/** A topic `t` with one partition, whose records have the offsets 10 to 19. */
function adminOf(committed?: number): Admin {
  const at = (offset: number) => [{ topic: 't', partition: 0, offset }];
  const admin: Partial<Admin> = {
    groupOffsets: () => Promise.resolve(committed === undefined ? [] : at(committed)),
    topics: () => Promise.resolve(['t']),
    describeTopics: () => Promise.resolve(new Map([['t', 1]])),
    offsetsAt: () => Promise.resolve(at(10)),
    endOffsets: () => Promise.resolve(at(20)),
  };
  return admin as Admin;
}

async function counts(offsetReset: string, committed: number | undefined, target: OffsetTarget) {
  const group = { groupId: 'connect-c', offsetReset };
  const { again, skipped } = await previewSink(adminOf(committed), group, { topics: 't' }, target);
  return [again, skipped];
}

describe('the effect of an offset change of a sink', () => {
  const end: OffsetTarget = { to: 'latest' };

  it('depends on auto.offset.reset if the group has no offset, or one that is out of range', async () => {
    for (const committed of [undefined, 4, 21]) {
      assert.deepEqual(await counts('earliest', committed, end), [0, 10]);
      assert.deepEqual(await counts('latest', committed, end), [0, 0]);
      assert.deepEqual(await counts('latest', committed, { to: 'earliest' }), [10, 0]);
      assert.deepEqual(await counts('none', committed, end), [null, null], 'the task fails');
    }
    assert.deepEqual(await counts('none', 15, end), [0, 5]);
    const partition = new Map<string, ConnectValue>([
      ['kafka_topic', 't'],
      ['kafka_partition', 0n],
    ]);
    const removed = { partition, offset: null };
    assert.deepEqual(await counts('latest', 15, { offsets: [removed] }), [0, 5]);
  });

  it("is computed with the connector's auto.offset.reset, or else the worker's", () => {
    const override = { 'consumer.override.auto.offset.reset': 'none' };
    assert.equal(clientsOf({}).sinkOffsetReset({}), 'earliest');
    assert.equal(clientsOf({ 'auto.offset.reset': ' Latest ' }).sinkOffsetReset({}), 'latest');
    assert.equal(clientsOf({ 'auto.offset.reset': 'latest' }).sinkOffsetReset(override), 'none');
  });
});
