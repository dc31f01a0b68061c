import assert from 'node:assert/strict';
import type { Restart } from '../../../plugins/console/src/connector/health.ts';
import { restartText, withoutRestart } from '../../../plugins/console/src/connector/restart-text.ts';
import { restartClause, type RestartView } from '../../../src/herder/healing/restart-view.ts';

describe('an automatic restart in the console', () => {
  const restart = (given: Partial<Restart> = {}): Restart => ({
    ...{ task: 0, state: 'WAITING', policy: 'transient', attempt: 3, maxAttempts: 20 },
    ...{ nextAttemptAt: '2026-01-01T00:01:05.000Z', kind: 'infrastructure', reason: 'the database is away' },
    ...given,
  });
  const now = Date.parse('2026-01-01T00:00:00.000Z');

  it('counts down, and is told with its attempt and reason', () => {
    const { what, how, why } = restartText(restart(), now);
    assert.deepEqual(
      [what, how.replace(/at .*/, 'at …'), why],
      ['Task 0 starts again by itself in 1:05', 'attempt 3 of 20, at …', 'infrastructure: the database is away'],
    );
    assert.equal(restartText(restart(), now + 66_000).what, 'Task 0 is to start again now');
    assert.equal(
      restartText(restart({ task: null, maxAttempts: null }), now).what,
      'The connector starts again by itself in 1:05',
    );
    assert.equal(restartText(restart({ state: 'STARTED' }), now).what, 'Task 0 was started again: attempt 3 of 20');
  });

  it('that does not come says why', () => {
    const how = (given: Partial<Restart>) => restartText(restart({ state: 'GIVEN_UP', ...given }), now).how;
    assert.deepEqual(
      [how({ policy: 'never' }), how({ attempt: 20 }), how({ kind: 'data', attempt: 0 })],
      ['restart.policy=never', 'all 20 attempts were made', 'a restart does not mend a failure of the kind data'],
    );
  });

  it('is not told twice: the sentence is without it', () => {
    for (const each of [
      restart(),
      restart({ state: 'STARTED' }),
      restart({ state: 'GIVEN_UP', kind: 'data', attempt: 0 }),
    ]) {
      const sentence = `Task 0 has failed: a; b; ${restartClause({ ...each, since: '' } as RestartView)}.`;
      assert.equal(withoutRestart({ sentence, restarts: [each] }), 'Task 0 has failed: a; b.');
    }
    assert.equal(withoutRestart({ sentence: '1 task runs; attempt it.', restarts: [] }), '1 task runs; attempt it.');
  });
});
