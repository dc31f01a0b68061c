import assert from 'node:assert/strict';
import { loadWorkerConfig, type DistributedWorkerConfig } from '../../../../src/config/worker-config.ts';
import { internalTopicFindings } from '../../../../src/cli/doctor/kafka-section.ts';
import { KafkaTools } from '../../../../src/cli/doctor/kafka-tools.ts';
import { TopicCheck } from '../../../../src/cli/doctor/topic-check.ts';
import type { Survey, SurveyedTopic } from '../../../../src/kafka/api.ts';

const CONVERTER = 'org.apache.kafka.connect.storage.StringConverter';

function workerConfig(more: Readonly<Record<string, string>> = {}): DistributedWorkerConfig {
  const properties = {
    'bootstrap.servers': 'kafka:9092',
    'group.id': 'g',
    'key.converter': CONVERTER,
    'value.converter': CONVERTER,
    'config.storage.topic': 'c',
    'offset.storage.topic': 'o',
    'status.storage.topic': 's',
    ...more,
  };
  const config = loadWorkerConfig({ mode: 'distributed', properties });
  assert.ok(config.mode === 'distributed');
  return config;
}

/** Findings about a cluster that has these topics, all compacted, and whose topics can be created. */
async function findingsOf(config: DistributedWorkerConfig, partitions: Readonly<Record<string, number>>) {
  const topics = Object.entries(partitions).map(([name, count]): [string, SurveyedTopic] => [
    name,
    { state: 'exists', partitions: count, leaderless: 0, replicas: 3, allowed: undefined },
  ]);
  const survey: Partial<Survey> = {
    topics: () => Promise.resolve(new Map(topics)),
    topicSettings: () => Promise.resolve(new Map([['cleanup.policy', 'compact']])),
    creationProblem: () => Promise.resolve(undefined),
  };
  const check = new TopicCheck(survey as Survey, new KafkaTools(config.clients.worker));
  return internalTopicFindings(config, check);
}

describe('the internal topics that the doctor checks', () => {
  it("include Sluice's own topic, without which the worker starts", async () => {
    const partitions = { c: 1, o: 25, s: 5, 'c-sluice': 2 };
    const findings = await findingsOf(workerConfig(), partitions);
    assert.deepEqual(
      findings.map(({ level, about }) => [level, about]),
      [
        ['ok', 'config.storage.topic c'],
        ['ok', 'offset.storage.topic o'],
        ['ok', 'status.storage.topic s'],
        ['warn', 'sluice.storage.topic c-sluice'],
      ],
    );
    assert.equal(
      findings[3]?.message,
      'it has 2 partitions and must have one; restart counts, the history and replays are kept in memory',
    );
  });

  it('must exist with internal.topics.automatic.creation.enable=false', async () => {
    const missing = await findingsOf(workerConfig(), { c: 1, s: 5 });
    assert.ok(missing.every(({ level }) => level === 'ok'));
    const config = workerConfig({ 'internal.topics.automatic.creation.enable': 'false' });
    const findings = await findingsOf(config, { c: 1, s: 5 });
    assert.deepEqual(
      findings.map(({ level }) => level),
      ['ok', 'fail', 'ok', 'warn'],
    );
    assert.equal(findings[1]?.message, 'does not exist, and the worker may not create it');
    assert.equal(
      findings[1]?.remedy,
      'kafka-topics.sh --bootstrap-server kafka:9092 --create --topic o --partitions 25 --config cleanup.policy=compact',
    );
  });
});
