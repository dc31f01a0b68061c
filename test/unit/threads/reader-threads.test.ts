import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RequestError } from '../../../src/errors.ts';
import { LogLevels } from '../../../src/observe/log-levels.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { SecretMask } from '../../../src/observe/secret-mask.ts';
import { ReaderThreads } from '../../../src/threads/reader-threads.ts';
import { ThreadList } from '../../../src/threads/thread-list.ts';
import type { FakeReading } from '../../support/reader-thread-fake.ts';
import { until } from '../../support/until.ts';

const ENTRY = new URL('../../support/reader-thread-fake.ts', import.meta.url);
const PATIENT_MS = 60_000;

describe('threads that read messages for users (S1)', () => {
  let threads: ThreadList;
  let readers: ReaderThreads<FakeReading>;

  beforeEach(() => {
    threads = new ThreadList();
    readers = new ReaderThreads(ENTRY, {
      properties: {},
      mode: 'standalone',
      exactlyOnceGroup: undefined,
      logLevels: new LogLevels(silentLogger),
      secrets: new SecretMask(),
      logger: silentLogger,
      threads,
    });
  });

  afterEach(() => readers.stop());

  function read(reading: FakeReading, signal = new AbortController().signal, timeoutMs = PATIENT_MS): Promise<string> {
    return readers.read(reading, { signal, timeoutMs });
  }

  const refusedWith =
    (status: number, message: RegExp) =>
    (error: unknown): boolean =>
      error instanceof RequestError && error.status === status && message.test(error.message);

  it('serve consecutive requests in the same thread', async () => {
    assert.deepEqual([await read('number of the thread'), await read('number of the thread')], ['1', '1']);
    await assert.rejects(read('refuse'), refusedWith(404, /^There is no such message$/));
    assert.equal(await read('number of the thread'), '1');
    assert.equal(threads.all().length, 1);
  });

  it('are terminated at their time limit without failing other requests', async () => {
    const hanging = read('hang', undefined, 3000);
    const others = Promise.all([1, 2, 3].map(() => read('number of the thread')));
    await assert.rejects(hanging, refusedWith(503, /took longer than 3 s/));
    assert.equal((await others).length, 3);
    assert.equal((await read('number of the thread')).length, 1);
    await until(() => threads.all().length === 1, 'the thread that hung has ended');
  });

  it('fail only the request that exhausts their heap', async () => {
    await assert.rejects(read('fill the heap'), refusedWith(503, /its heap reached its limit of 512 MB/));
    assert.equal(typeof (await read('number of the thread')), 'string');
  });

  it('abandon the work of a client that has left, or are terminated soon', async () => {
    const first = new AbortController();
    const answer = read('wait to be abandoned', first.signal);
    await until(() => threads.all().some(({ isUp }) => isUp), 'the thread is up');
    first.abort();
    assert.equal(await answer, '1');
    const second = new AbortController();
    const hanging = read('hang', second.signal);
    await nextTurn();
    second.abort();
    await assert.rejects(hanging, refusedWith(503, /its client has left/));
  });

  it('queue sixteen requests and reject more with 503', async () => {
    const leaving = new AbortController();
    setMaxListeners(18, leaving.signal);
    const reading = Array.from({ length: 18 }, () => read('wait to be abandoned', leaving.signal));
    const outcomes = Promise.allSettled(reading);
    await assert.rejects(
      read('number of the thread'),
      refusedWith(503, /16 other requests are waiting to read messages; try again later/),
    );
    leaving.abort();
    const statuses = (await outcomes).map((each) =>
      each.status === 'rejected' ? (each.reason as RequestError).status : 200,
    );
    assert.equal(statuses.filter((status) => status === 409).length, 16);
  });
});
