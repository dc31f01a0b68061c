import assert from 'node:assert/strict';
import { TopicReports } from '../../../src/connect/hosting/topic-reports.ts';
import { until } from '../../support/until.ts';

describe('the topics that a task uses', () => {
  let reported: string[];
  let topics: TopicReports;

  beforeEach(() => {
    reported = [];
    topics = new TopicReports((topic) => reported.push(topic));
  });
  afterEach(() => topics.flush());

  it('are reported at once', () => {
    topics.used('a');
    topics.used('b');
    assert.deepEqual(reported, ['a', 'b']);
  });

  it('are reported once more if they are used again soon, because the list may have been reset', async () => {
    for (let use = 0; use < 1000; use++) topics.used('a');
    assert.deepEqual(reported, ['a']);
    await until(() => reported.length > 1, 'the topic is reported again');
    assert.deepEqual(reported, ['a', 'a']);
  });

  it('are reported before the task ends', () => {
    topics.used('a');
    topics.used('a');
    topics.flush();
    assert.deepEqual(reported, ['a', 'a']);
  });
});
