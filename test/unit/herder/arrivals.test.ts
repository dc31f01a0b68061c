import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { Arrivals } from '../../../src/herder/group/arrivals.ts';

const first = { connector: 'one', task: 0 };
const second = { connector: 'one', task: 1 };

describe('tasks that have come to a worker', () => {
  let told = 0;
  let arrivals: Arrivals;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    told = 0;
    arrivals = new Arrivals(() => (told += 1));
  });

  afterEach(() => {
    arrivals.close();
    mock.timers.reset();
  });

  it('are waited for until the last one delivers', () => {
    arrivals.expect([first, second]);
    arrivals.note(second);
    assert.deepEqual([arrivals.count, told], [1, 0]);
    arrivals.note(first);
    arrivals.note(first);
    assert.deepEqual([arrivals.count, told], [0, 1]);
  });

  it('are waited for no longer than two seconds each', () => {
    arrivals.expect([first]);
    mock.timers.tick(1500);
    arrivals.expect([second]);
    mock.timers.tick(600);
    assert.deepEqual([arrivals.count, told], [1, 0]);
    mock.timers.tick(1400);
    assert.deepEqual([arrivals.count, told], [0, 1]);
  });

  it('are awaited again when they are assigned again', () => {
    arrivals.expect([first]);
    mock.timers.tick(1500);
    arrivals.expect([first]);
    mock.timers.tick(1500);
    assert.deepEqual([arrivals.count, told], [1, 0]);
  });

  it('that are not awaited are ignored', () => {
    arrivals.note(first);
    assert.deepEqual([arrivals.count, told], [0, 0]);
  });
});
