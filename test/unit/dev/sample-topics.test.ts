import assert from 'node:assert/strict';
import { createSampleTopics } from '../../../src/dev/sample-data.ts';
import type { Admin, NewTopic } from '../../../src/kafka/api.ts';
import { ErrorCode } from '../../../src/kafka/errors/error-codes.ts';
import { BrokerUnreachableError, KafkaError } from '../../../src/kafka/errors/kafka-errors.ts';

/** A cluster that answers this number of creations with an error. */
function cluster(failures: Error[], existing: readonly string[] = []) {
  const topics = new Map(existing.map((name) => [name, 1]));
  const asked = { closed: 0 };
  const admin: Pick<Admin, 'describeTopics' | 'createTopic' | 'close'> = {
    describeTopics: () => Promise.resolve(topics),
    createTopic: ({ name, partitions }: NewTopic) => {
      const failure = failures.shift();
      if (failure !== undefined) return Promise.reject(failure);
      topics.set(name, partitions);
      return Promise.resolve(true);
    },
    close: () => {
      asked.closed += 1;
      return Promise.resolve();
    },
  };
  return { topics, asked, kafka: { admin: () => admin as Admin } };
}

const fenced = () => KafkaError.ofCode(ErrorCode.invalidReplicationFactor, 'Creating topic host-metrics');

describe('the topics of the sample data', () => {
  it('are created once a broker that is fenced or briefly unreachable accepts them', async () => {
    const { kafka, topics, asked } = cluster([fenced(), new BrokerUnreachableError('closed'), fenced()], ['meters']);
    await createSampleTopics(kafka);
    assert.deepEqual(Object.fromEntries(topics), { 'host-metrics': 2, 'process-metrics': 2, meters: 1 });
    assert.equal(asked.closed, 1);
  });

  it('fail after a time, with one message', async () => {
    const failures = Array.from({ length: 1000 }, fenced);
    await assert.rejects(createSampleTopics(cluster(failures).kafka, { limitMs: 500 }), {
      message:
        /^The topics host-metrics, process-metrics, meters could not be created within 0\.5 s: Creating topic host-metrics: .*INVALID_REPLICATION_FACTOR/,
    });
  });

  it('fail immediately if waiting does not help', async () => {
    const denied = KafkaError.ofCode(ErrorCode.topicAuthorizationFailed, 'Creating topic host-metrics');
    await assert.rejects(createSampleTopics(cluster([denied]).kafka), denied);
  });
});
