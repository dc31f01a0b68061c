import assert from 'node:assert/strict';
import { causeFirst } from '../../src/common/cause.ts';

describe('the cause of a verdict', () => {
  it('comes before the task and the counts', () => {
    const lock = 'the database waits for a lock that pid 999 holds, application "night-migration"';
    assert.equal(
      causeFirst(`Task 0: 2235 records wait, and nothing was delivered for 2476 s: ${lock}.`),
      'Locked by night-migration (pid 999) (task 0, 2235 records wait)',
    );
    assert.equal(
      causeFirst('Task 3: The task waits, and nothing was acknowledged for 61 s: the cause is not known.'),
      'The cause is not known (task 3, it waits)',
    );
  });

  it('of a failure has no names of classes and no restart', () => {
    const failed =
      'Task 0 has failed: RuntimeException: password authentication failed for user "a"; it is not restarted, because the failure is of the kind configuration and restart.policy=transient.';
    assert.equal(causeFirst(failed), 'Password authentication failed for user "a" (task 0)');
    assert.equal(causeFirst('The connector has failed: Table x is missing.'), 'Table x is missing');
    assert.equal(causeFirst('Task 2 has failed: cannot connect.'), 'Cannot connect (task 2)');
    assert.equal(causeFirst('Task 1 has failed: orders.v: not a number.'), 'orders.v: not a number (task 1)');
  });

  it('is the whole sentence if its form is not known', () => {
    assert.equal(causeFirst('2 tasks run, 0 records behind.'), '2 tasks run, 0 records behind.');
  });
});
