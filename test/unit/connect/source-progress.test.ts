import assert from 'node:assert/strict';
import { SourceProgress } from '../../../src/connect/source/source-progress.ts';

const nothing = { waiting: 0, waitedMs: 0, deliveredAtMs: undefined };

describe('the progress of a source task', () => {
  it('names a call that fails repeatedly until it succeeds, and counts each retry', () => {
    const progress = new SourceProgress({ waiting: () => nothing });
    progress.retried('poll() of the task', new Error('no room'));
    progress.retried('poll() of the task', new Error('still no room'));
    progress.succeeded('something else');
    const { cause, retries } = progress.values(undefined);
    const expected = 'poll() of the task has failed 2 times in a row and is retried, the last error was: still no room';
    assert.deepEqual([cause, retries], [expected, 2]);
    progress.succeeded('poll() of the task');
    assert.equal(progress.values(undefined).cause, undefined);
  });

  it('names what has waited the longest', () => {
    const progress = new SourceProgress({ waiting: () => ({ ...nothing, waiting: 3, waitedMs: 60_000 }) });
    progress.begin('poll');
    const { cause, waiting, waitedMs } = progress.values({ records: 0, waitedMs: 1000, cause: 'the database is busy' });
    assert.deepEqual([cause, waiting, waitedMs], ['Kafka has not acknowledged the records', 3, 60_000]);
  });

  it('takes the word of the task for a poll that does not return', () => {
    const progress = new SourceProgress({ waiting: () => nothing });
    const { cause } = progress.values({ records: 0, waitedMs: 5000, cause: 'the database is unreachable' });
    assert.equal(cause, 'the database is unreachable');
  });
});
