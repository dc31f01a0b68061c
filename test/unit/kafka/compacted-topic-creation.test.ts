import assert from 'node:assert/strict';
import { ensureCompactedTopic } from '../../../src/kafka/client/compacted-topic-creation.ts';
import type { KafkaAdmin } from '../../../src/kafka/client/admin.ts';
import type { CompactedTopicOptions } from '../../../src/kafka/api.ts';
import { silentLogger } from '../../../src/observe/logger.ts';

const OPTIONS: CompactedTopicOptions = {
  topic: 'connect-offsets',
  property: 'offset.storage.topic',
  purpose: 'source connector offsets',
  partitions: 25,
  replicationFactor: 3,
  settings: {},
  onRecord: () => undefined,
};

/** A cluster without topics, unless `existing` has their partition counts. Created topics are noted. */
function adminOf(existing: ReadonlyMap<string, number> = new Map()) {
  const topics = new Map(existing);
  const created: string[] = [];
  const admin: Pick<KafkaAdmin, 'describeTopics' | 'createTopic' | 'topicSettings'> = {
    describeTopics: () => Promise.resolve(topics),
    createTopic: ({ name, partitions }) => {
      created.push(name);
      topics.set(name, partitions);
      return Promise.resolve(true);
    },
    topicSettings: () => Promise.resolve(new Map([['cleanup.policy', 'compact']])),
  };
  return { admin: admin as KafkaAdmin, created };
}

describe('an internal topic that is missing', () => {
  it('is created by default', async () => {
    const { admin, created } = adminOf();
    assert.equal(await ensureCompactedTopic(admin, OPTIONS, silentLogger), 25);
    assert.deepEqual(created, ['connect-offsets']);
  });

  it('is an error if the worker may not create it', async () => {
    const { admin, created } = adminOf();
    await assert.rejects(ensureCompactedTopic(admin, { ...OPTIONS, mayCreate: false }, silentLogger), {
      name: 'ConfigError',
      message:
        "Topic 'connect-offsets' supplied via the 'offset.storage.topic' property does not exist, and " +
        "'internal.topics.automatic.creation.enable' is false. Create it with 'cleanup.policy=compact', or set this " +
        'property to true.',
    });
    assert.deepEqual(created, []);
    const existing = adminOf(new Map([['connect-offsets', 5]]));
    assert.equal(await ensureCompactedTopic(existing.admin, { ...OPTIONS, mayCreate: false }, silentLogger), 5);
  });
});
