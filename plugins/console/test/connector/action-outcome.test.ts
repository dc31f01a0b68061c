import assert from 'node:assert/strict';
import { restartOutcome, type Sample } from '../../src/connector/action-outcome.ts';

const TRACE = 'org.X: tolerance exceeded\n\tat a\nCaused by: org.Y: no number\n\tat b';

function status(state: 'RUNNING' | 'FAILED', trace?: string): Sample['status'] {
  const task = { id: 0, state, worker_id: 'w', ...(trace === undefined ? {} : { trace }) };
  return { connector: { state: 'RUNNING', worker_id: 'w' }, tasks: [task] };
}

const at = (ms: number, given: Sample['status']): Sample => ({ ms, status: given });

describe('the outcome of a restart', () => {
  const failed = status('FAILED', TRACE);

  it('is another failure, with the time and whether the cause is the same', () => {
    assert.equal(
      restartOutcome(failed, [at(100, status('RUNNING')), at(400, failed)]),
      'Restarted, and failed again after 0.4 s with the same cause.',
    );
    assert.equal(
      restartOutcome(failed, [at(100, status('RUNNING')), at(1500, status('FAILED', 'org.Z: no table'))]),
      'Restarted, and failed again after 1.5 s with another cause.',
    );
  });

  it('is not known while the old state may still be shown, nor until the task has run for some time', () => {
    assert.equal(restartOutcome(failed, []), undefined);
    assert.equal(restartOutcome(failed, [at(100, failed)]), undefined);
    assert.equal(restartOutcome(failed, [at(100, status('RUNNING'))]), undefined);
  });

  it('is a task that runs', () => {
    assert.equal(restartOutcome(failed, [at(100, failed), at(3100, status('RUNNING'))]), 'Restarted, and running.');
  });
});
