import assert from 'node:assert/strict';
import type { NewTopic, Survey } from '../../../../src/kafka/api.ts';
import { WrittenTopics } from '../../../../src/operate/console/written-topics.ts';

const CREATION = { 'topic.creation.default.partitions': '-1', 'topic.creation.default.replication.factor': '3' };

interface Given {
  readonly enabled?: boolean;
  /** Whether the brokers create topics. */
  readonly creates?: 'yes' | 'no' | 'hidden';
  readonly problem?: string;
}

/** A cluster in which `here` exists, and `secret` may not be seen. */
function topics({ enabled = true, creates = 'no', problem = '' }: Given = {}) {
  const asked: NewTopic[] = [];
  let open = 0;
  const survey = {
    topics: (names: readonly string[]) =>
      Promise.resolve(
        new Map(
          names.map((name) => [name, { state: name === 'here' ? 'exists' : name === 'secret' ? 'denied' : 'missing' }]),
        ),
      ),
    brokersCreateTopics: () => Promise.resolve(creates === 'hidden' ? undefined : creates === 'yes'),
    creationProblem: (topic: NewTopic) => {
      asked.push(topic);
      return Promise.resolve(problem === '' ? undefined : new Error(problem));
    },
    close: () => {
      open -= 1;
      return Promise.resolve();
    },
  };
  const written = new WrittenTopics(() => {
    open += 1;
    return survey as unknown as Survey;
  }, enabled);
  return { written, asked, open: () => open };
}

describe('the topics of a new source', () => {
  it('are named with their state, and who creates the missing ones', async () => {
    const { written, asked, open } = topics();
    assert.deepEqual(await written.of({}, ['new', 'here', 'secret', 'new']), {
      topics: [
        { name: 'here', state: 'exists' },
        { name: 'new', state: 'missing' },
        { name: 'secret', state: 'denied' },
      ],
      ...{ total: 3, creation: 'nobody', isCreationEnabled: true },
    });
    assert.equal((await topics({ creates: 'yes' }).written.of({}, ['new'])).creation, 'brokers');
    assert.equal((await topics({ creates: 'hidden' }).written.of({}, ['new'])).creation, 'unknown');
    assert.equal((await topics({ enabled: false }).written.of(CREATION, ['new'])).creation, 'nobody');
    const found = await written.of(CREATION, ['here', 'new']);
    assert.deepEqual([found.creation, found.problem], ['source', undefined]);
    assert.deepEqual(asked, [{ name: 'new', partitions: -1, replicationFactor: 3, settings: {} }]);
    assert.equal(open(), 0);
  });

  it('have the reason why the source could not create them', async () => {
    const { written } = topics({ problem: 'Replication factor 3 is larger than 1' });
    assert.equal((await written.of(CREATION, ['new'])).problem, 'Replication factor 3 is larger than 1');
    const wrong = await written.of({ ...CREATION, 'topic.creation.default.partitions': 'x' }, ['new']);
    assert.match(wrong.problem ?? '', /^topic\.creation\.default\.partitions must be a positive number/);
    assert.equal((await written.of(CREATION, ['here'])).problem, undefined);
  });

  it('are unknown behind a transform, and in another cluster than that of the worker', async () => {
    const { written } = topics();
    const unknown = { topics: [], total: 0, creation: 'unknown', isCreationEnabled: true };
    assert.deepEqual(await written.of({ transforms: 'route' }, ['new']), unknown);
    assert.deepEqual(await written.of({ 'producer.override.bootstrap.servers': 'other:9092' }, ['new']), unknown);
    assert.deepEqual(await written.of({}, []), unknown);
  });
});
