import assert from 'node:assert/strict';
import { Retries } from '../../../plugins/db-sink/retries.ts';
import type { Executor } from '../../../plugins/database/index.ts';
import { DatabaseError } from '../../../src/errors.ts';
import { silentLogger } from '../../../src/observe/logger.ts';

const LIMITS = { maxRetries: 1, retryBackoffMs: 1, connectionAttempts: 1, connectionBackoffMs: 1 };
const ATTEMPTED = { what: 'A row', from: '', done: 'written' } as const;
const NEVER = new AbortController().signal;

describe('the retries of a sink', () => {
  const executor = { query: () => Promise.resolve() } as unknown as Executor;
  let mayWrite: boolean;
  let stop: AbortController;
  let tries: number;
  let retries: Retries;

  beforeEach(() => {
    mayWrite = true;
    tries = 0;
    stop = new AbortController();
    const context = { signal: stop.signal, logger: silentLogger, mayWrite: () => mayWrite };
    retries = new Retries(executor, LIMITS, context);
  });

  const write = (given = NEVER) => retries.run(ATTEMPTED, given, () => Promise.resolve(++tries));
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it('write nothing while another worker may run the task, and continue if it does not', async () => {
    mayWrite = false;
    const writing = write();
    await turn();
    assert.equal(tries, 0);
    mayWrite = true;
    assert.equal(await writing, 1);
  });

  it('check again before each attempt', async () => {
    const writing = retries.run(ATTEMPTED, NEVER, () => {
      tries++;
      mayWrite = false;
      return Promise.reject(new DatabaseError('gone', { scope: 'infrastructure' }));
    });
    setTimeout(() => {
      stop.abort();
    }, 60);
    await assert.rejects(writing, { name: 'AbortError' });
    assert.equal(tries, 1);
  });

  it('abandon a write that may not begin when the task stops or its partitions are revoked', async () => {
    mayWrite = false;
    const gone = new AbortController();
    const dropped = assert.rejects(write(gone.signal), { name: 'AbortError' });
    gone.abort();
    await dropped;
    const stopped = assert.rejects(write(), { name: 'AbortError' });
    stop.abort();
    await stopped;
    assert.equal(tries, 0);
  });
});
