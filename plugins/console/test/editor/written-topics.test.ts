import assert from 'node:assert/strict';
import type { WrittenTopicsAnswer } from '../../src/common/answers.ts';
import { topicsKey, topicSentences, withTopicCreation } from '../../src/editor/written-topics.ts';

function answer(states: readonly WrittenTopicsAnswer['topics'][number]['state'][], more: Partial<WrittenTopicsAnswer>) {
  const topics = states.map((state, index) => ({ name: `t${String(index)}`, state }));
  return { topics, total: topics.length, creation: 'unknown' as const, isCreationEnabled: true, ...more };
}

describe('the topics of a new source', () => {
  it('are named, with what becomes of those that do not exist', () => {
    assert.deepEqual(topicSentences(answer(['exists'], {})), { text: 'Writes to t0. The topic exists.' });
    assert.deepEqual(topicSentences(answer(['exists', 'missing'], { creation: 'source' })), {
      text: 'Writes to t0, t1. t1 does not exist. The source creates what is missing (topic.creation.default.…).',
    });
    assert.deepEqual(topicSentences(answer(['missing', 'missing'], { creation: 'brokers' })), {
      text: 'Writes to t0, t1. These topics do not exist. The brokers create what is missing.',
    });
    assert.deepEqual(topicSentences(answer(['exists', 'denied'], {})), {
      text: 'Writes to t0, t1. The worker may not see whether t1 exist.',
    });
    const many = answer(
      Array.from({ length: 9 }, () => 'exists'),
      { total: 2000 },
    );
    assert.equal(topicSentences(many)?.text, 'Writes to t0, t1, t2 and 1997 more. These topics exist.');
    assert.equal(topicSentences(answer([], {})), undefined);
  });

  it('have a problem where nobody creates them, which the options of the source solve if the worker allows it', () => {
    const nobody = 'The brokers create no topics (auto.create.topics.enable=false), so no record would arrive.';
    assert.deepEqual(topicSentences(answer(['missing'], { creation: 'nobody' })), {
      text: 'Writes to t0.',
      problem: `The topic does not exist. ${nobody}`,
      maySolve: true,
    });
    assert.deepEqual(topicSentences(answer(['missing'], { creation: 'nobody', isCreationEnabled: false })), {
      text: 'Writes to t0.',
      problem: `The topic does not exist. ${nobody} Create them first: this worker lets no connector create topics (topic.creation.enable=false).`,
      maySolve: false,
    });
    assert.deepEqual(topicSentences(answer(['missing'], { creation: 'source', problem: 'too few brokers' })), {
      text: 'Writes to t0.',
      problem: 'The topic does not exist. The source cannot create what is missing: too few brokers',
    });
    assert.deepEqual(withTopicCreation([['name', 'a']]), [
      ['name', 'a'],
      ['topic.creation.default.partitions', '-1'],
      ['topic.creation.default.replication.factor', '-1'],
    ]);
  });

  it('are examined again when an option changes that determines them', () => {
    const key = topicsKey([['connection.url', 'a']]);
    for (const name of ['name', 'tasks.max', 'poll.interval.ms', 'key.converter'])
      assert.equal(
        topicsKey([
          ['connection.url', 'a'],
          [name, '1'],
        ]),
        key,
        name,
      );
    for (const name of [
      ...['table.include', 'topic.prefix', 'topic.creation.default.partitions', 'out.format', 'query', 'transforms'],
      ...['mode', 'timestamp.column.name', 'database.dbname', 'schema.include.list', 'producer.override.acks'],
    ])
      assert.notEqual(
        topicsKey([
          ['connection.url', 'a'],
          [name, '1'],
        ]),
        key,
        name,
      );
  });
});
