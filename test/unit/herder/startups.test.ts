import assert from 'node:assert/strict';
import { Startups } from '../../../src/herder/startups.ts';
import { DEFAULT_WINDOW } from '../../../src/observe/metrics/sampled-stats.ts';

describe('Starts of tasks', () => {
  it('count once each, and failures of tasks that ran do not count', () => {
    const startups = new Startups(DEFAULT_WINDOW);
    const values = () => Object.values(startups.values('task'));
    assert.deepEqual(values(), [0, 0, 0, 0, 0]);
    startups.succeeded('a');
    startups.succeeded('a');
    startups.failed('b');
    assert.deepEqual(values(), [2, 1, 0.5, 1, 0.5]);
    startups.failed('a');
    assert.deepEqual(values(), [2, 1, 0.5, 1, 0.5]);
    startups.succeeded('a');
    startups.ended('a');
    startups.failed('a');
    assert.deepEqual(values(), [4, 2, 0.5, 2, 0.5]);
  });
});
