import assert from 'node:assert/strict';
import type { Restart } from '../../src/common/answers.ts';
import { alike, isFutile, restartText } from '../../src/connector/restart-text.ts';

describe('an automatic restart in the console', () => {
  const restart = (given: Partial<Restart> = {}): Restart => ({
    ...{
      task: 0,
      state: 'WAITING',
      policy: 'infrastructure',
      since: '',
      givenUpFor: null,
      attempt: 3,
      maxAttempts: 20,
    },
    ...{ nextAttemptAt: '2026-01-01T00:01:05.000Z', kind: 'infrastructure', reason: 'the database is unreachable' },
    ...given,
  });
  const now = Date.parse('2026-01-01T00:00:00.000Z');

  it('counts down, and shows its attempt and reason', () => {
    const { what, how, why } = restartText(restart(), now);
    assert.deepEqual(
      [what, how.replace(/at .*/, 'at …'), why],
      ['Task 0 restarts automatically in 1:05', 'attempt 3 of 20, at …', 'infrastructure: the database is unreachable'],
    );
    assert.equal(restartText(restart(), now + 66_000).what, 'Task 0 restarts now');
    assert.equal(
      restartText(restart({ task: null, maxAttempts: null }), now).what,
      'The connector restarts automatically in 1:05',
    );
    assert.equal(restartText(restart({ state: 'STARTED' }), now).what, 'Task 0 was restarted: attempt 3 of 20');
  });

  it('that is not attempted says why', () => {
    const how = (given: Partial<Restart>) => restartText(restart({ state: 'GIVEN_UP', ...given }), now).how;
    assert.deepEqual(
      [how({ givenUpFor: 'policy' }), how({ givenUpFor: 'attempts' }), how({ givenUpFor: 'kind', kind: 'data' })],
      ['restart.policy=never', 'all 20 attempts were made', 'restarting will not help: the record itself is bad'],
    );
  });

  it('shows its reason only if the sentence above does not contain it', () => {
    const why = (summary: string) => restartText(restart(), now, summary).why;
    assert.deepEqual(
      [why('Task 0 has failed: the database is unreachable.'), why('1 task runs.')],
      ['The cause is outside of the connector and may pass.', 'infrastructure: the database is unreachable'],
    );
  });

  it('is shown once for all tasks in the same state', () => {
    const groups = alike([restart(), restart({ task: 2 }), restart({ task: 3, attempt: 4 }), restart({ task: 5 })]);
    assert.deepEqual(
      groups.map(({ first, others }) => [first.task, others]),
      [
        [0, [2, 5]],
        [3, []],
      ],
    );
  });

  it('is futile if each of them was given up because the failure would recur', () => {
    const recurs = restart({ state: 'GIVEN_UP', givenUpFor: 'kind' });
    assert.ok(isFutile([recurs]));
    assert.ok(!isFutile([recurs, restart()]));
    assert.ok(!isFutile([restart({ state: 'GIVEN_UP', givenUpFor: 'attempts' })]));
    assert.ok(!isFutile([]));
  });
});
