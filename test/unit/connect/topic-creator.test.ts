import assert from 'node:assert/strict';
import { TopicCreator } from '../../../src/connect/source/topic-creator.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import type { Admin, NewTopic } from '../../../src/kafka/api.ts';
import { ErrorCode } from '../../../src/kafka/errors/error-codes.ts';
import { KafkaError } from '../../../src/kafka/errors/kafka-errors.ts';

const DEFAULTS = {
  'topic.creation.default.partitions': '3',
  'topic.creation.default.replication.factor': '-1',
  'topic.creation.default.cleanup.policy': 'delete',
};

/** Keeps what is created; `existing` is there before. */
function bench(config: Record<string, string>, { enabled = true, existing = [] as string[], code = 0 } = {}) {
  const created: NewTopic[] = [];
  const admin = {
    describeTopics: (names: readonly string[]) =>
      Promise.resolve(new Map(names.filter((name) => existing.includes(name)).map((name) => [name, 1]))),
    createTopic: (topic: NewTopic) => {
      if (code !== 0) return Promise.reject(KafkaError.ofCode(code, `Topic ${topic.name}`));
      created.push(topic);
      return Promise.resolve(true);
    },
    close: () => Promise.resolve(),
  } as Partial<Admin> as Admin;
  return { created, topics: new TopicCreator(config, enabled, () => admin, silentLogger) };
}

describe('topics of source connectors', () => {
  it('are created by the first group that takes and does not exclude them, else by the default', async () => {
    const { created, topics } = bench({
      ...DEFAULTS,
      'topic.creation.groups': 'logs, metrics',
      'topic.creation.logs.include': 'log-.*',
      'topic.creation.logs.exclude': 'log-secret, log-x.*',
      'topic.creation.logs.partitions': '1',
      'topic.creation.logs.retention.ms': '1000',
      'topic.creation.metrics.include': 'log-x1, metric',
      'topic.creation.metrics.replication.factor': '2',
    });
    for (const name of ['log-a', 'log-secret', 'log-x1', 'metrics', 'metric']) await topics.ensure(name);
    const byDefault = { partitions: 3, replicationFactor: -1, settings: { 'cleanup.policy': 'delete' } };
    const metrics = { partitions: 3, replicationFactor: 2, settings: {} };
    assert.deepEqual(created, [
      { name: 'log-a', partitions: 1, replicationFactor: -1, settings: { 'retention.ms': '1000' } },
      { name: 'log-secret', ...byDefault },
      { name: 'log-x1', ...metrics },
      { name: 'metrics', ...byDefault },
      { name: 'metric', ...metrics },
    ]);
  });

  it('are left alone when they exist, when the worker does not allow it, and without settings', async () => {
    for (const { created, topics } of [
      bench(DEFAULTS, { existing: ['t'] }),
      bench(DEFAULTS, { enabled: false }),
      bench({}),
    ]) {
      await topics.ensure('t');
      assert.deepEqual(created, []);
    }
  });

  it('fail the task when they cannot be created, in Java’s words', async () => {
    const texts = [
      [
        ErrorCode.topicAuthorizationFailed,
        'Task failed to create new topic (name=t, numPartitions=3, replicationFactor=-1, replicasAssignments=null, configs={cleanup.policy=delete}). Ensure that the task is authorized to create topics or that the topic exists and restart the task',
      ],
      [ErrorCode.invalidReplicationFactor, "Error while attempting to create/find topic(s) 't'"],
      [ErrorCode.policyViolation, /^Unable to create topic\(s\) 't': Topic t: .*POLICY_VIOLATION/],
    ] as const;
    for (const [code, text] of texts) {
      const { topics } = bench(DEFAULTS, { code });
      await assert.rejects(topics.ensure('t'), { name: 'ConnectError', message: text });
    }
  });

  it('need partitions and a replication factor that are numbers', () => {
    assert.throws(
      () => bench({ ...DEFAULTS, 'topic.creation.default.partitions': '0' }),
      /topic\.creation\.default\.partitions must be a positive number, or -1 for the broker's default; it is 0/,
    );
  });
});
