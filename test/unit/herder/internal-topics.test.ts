import assert from 'node:assert/strict';
import { InternalTopics } from '../../../src/herder/internal-topics.ts';
import type { Survey, SurveyedTopic } from '../../../src/kafka/api.ts';

const USES = [
  { name: 'configs', property: 'config.storage.topic', singlePartition: true },
  { name: 'gone', property: 'offset.storage.topic' },
];
const CONFIGS: SurveyedTopic = { state: 'exists', partitions: 1, leaderless: 0, replicas: 3, allowed: undefined };

function survey(more: Partial<Survey> = {}): { opened: number; closed: number; open: () => Survey } {
  const counts = { opened: 0, closed: 0 };
  const missing: SurveyedTopic = { ...CONFIGS, state: 'missing', partitions: 0, replicas: 0 };
  const open = (): Survey => {
    counts.opened += 1;
    return {
      cluster: () => Promise.resolve({ clusterId: 'c', brokers: 3, release: undefined }),
      topics: () => Promise.resolve(new Map([['configs', CONFIGS] as const, ['gone', missing] as const])),
      topicSizes: () => Promise.resolve(new Map([['configs', 1234]])),
      topicSettings: (name: string) =>
        name === 'configs'
          ? Promise.resolve(
              new Map([
                ['cleanup.policy', 'delete'],
                ['min.insync.replicas', '2'],
              ]),
            )
          : Promise.reject(new Error('unknown topic')),
      close: () => {
        counts.closed += 1;
        return Promise.resolve();
      },
      ...more,
    } as unknown as Survey;
  };
  return Object.assign(counts, { open });
}

describe('the internal topics of a group', () => {
  it('are shown as the brokers describe them, and missing ones as missing', async () => {
    const fake = survey();
    const { brokers, topics } = await new InternalTopics(fake.open, USES).view();
    assert.equal(brokers, 3);
    assert.deepEqual(topics, [
      {
        name: 'configs',
        property: 'config.storage.topic',
        state: 'exists',
        partitions: 1,
        leaderless: 0,
        singlePartition: true,
        replicas: 3,
        cleanupPolicy: 'delete',
        minInsyncReplicas: 2,
        bytes: 1234,
      },
      {
        name: 'gone',
        property: 'offset.storage.topic',
        state: 'missing',
        partitions: 0,
        leaderless: 0,
        singlePartition: false,
        replicas: 0,
        cleanupPolicy: null,
        minInsyncReplicas: null,
        bytes: null,
      },
    ]);
    assert.equal(fake.closed, 1);
  });

  it('are looked at once for all that ask at the same time', async () => {
    const fake = survey();
    const topics = new InternalTopics(fake.open, USES);
    await Promise.all([topics.view(), topics.view()]);
    assert.equal(fake.opened, 1);
    await topics.view();
    assert.equal(fake.opened, 2);
  });

  it('are shown without sizes if the brokers do not report them', async () => {
    const fake = survey({ topicSizes: () => Promise.reject(new Error('denied')) });
    const { topics } = await new InternalTopics(fake.open, USES).view();
    assert.deepEqual([topics[0]?.bytes, topics[0]?.partitions], [null, 1]);
  });

  it('leave no client open when the brokers are unreachable', async () => {
    const fake = survey({ cluster: () => Promise.reject(new Error('away')) });
    await assert.rejects(new InternalTopics(fake.open, USES).view(), /away/);
    assert.equal(fake.closed, 1);
  });
});
