import assert from 'node:assert/strict';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import {
  ConfigError,
  ConnectError,
  DataError,
  RetriableError,
  SluiceError,
  UnavailableError,
} from '../../../src/errors.ts';
import { ThreadCalls } from '../../../src/threads/thread-calls.ts';

interface Functions {
  note(text: string): void;
  add(a: number, b: number): Promise<number>;
  fail(which: number): Promise<void>;
  never(): Promise<void>;
  notes(): readonly string[];
}

const cause = new TypeError('the reason');
const ERRORS: readonly Error[] = [
  new ConnectError('no', { cause }),
  new RetriableError('again'),
  new UnavailableError('away'),
  new DataError('bad record'),
  new ConfigError('bad setting'),
  new SluiceError('mine', { javaName: 'com.example.MineException' }),
  new RangeError('too far'),
  Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' }),
];

describe('calls between threads', () => {
  let ports: readonly [MessagePort, MessagePort];
  let calls: ThreadCalls<object, Functions>;
  let notes: string[];

  beforeEach(() => {
    notes = [];
    const { port1, port2 } = new MessageChannel();
    ports = [port1, port2];
    calls = new ThreadCalls<object, Functions>(port1, {});
    const answering: Functions = {
      note: (text) => void notes.push(text),
      add: (a, b) => Promise.resolve(a + b),

      fail: (which) => Promise.reject(ERRORS[which] ?? new Error('none')),
      never: () => new Promise(() => undefined),
      notes: () => notes,
    };
    void new ThreadCalls<Functions, object>(port2, answering);
  });

  afterEach(() => {
    for (const port of ports) port.close();
  });

  async function refusal(which: number): Promise<Error> {
    try {
      await calls.call('fail', which);
    } catch (error) {
      return error as Error;
    }
    return assert.fail('it did not fail');
  }

  it('resolve with their own responses', async () => {
    assert.deepEqual(await Promise.all([calls.call('add', 1, 2), calls.call('add', 3, 4)]), [3, 7]);
  });

  it('arrive in the order of the calls, including those without a response', async () => {
    for (let n = 0; n < 50; n++) calls.tell('note', String(n));
    assert.deepEqual(
      await calls.call('notes'),
      Array.from({ length: 50 }, (_, n) => String(n)),
    );
  });

  it('reject with an error of the same class, name, text, stack, code and cause', async () => {
    for (const [which, error] of ERRORS.entries()) {
      const refused = await refusal(which);
      assert.equal(refused.message, error.message);
      assert.equal(refused.name, error.name);
      assert.equal(refused.stack, error.stack);
      assert.equal((refused as NodeJS.ErrnoException).code, (error as NodeJS.ErrnoException).code);
      if (error instanceof SluiceError) {
        assert.equal(refused.constructor, error.constructor);
        assert.ok(refused instanceof SluiceError);
        assert.equal(refused.javaName, error.javaName);
      }
    }
    const { cause: carried } = await refusal(0);
    assert.equal((carried as Error).name, 'TypeError');
    assert.equal((carried as Error).message, 'the reason');
  });

  it('transfer an error that is its own cause', async () => {
    const error: Error & { cause?: unknown } = new Error('round');
    error.cause = error;
    const { port1, port2 } = new MessageChannel();
    const asking = new ThreadCalls<object, { go(): Promise<void> }>(port1, {});
    void new ThreadCalls<{ go(): Promise<void> }, object>(port2, { go: () => Promise.reject(error) });
    await assert.rejects(asking.call('go'), /^Error: round$/);
    port1.close();
    port2.close();
  });

  it('reject if the other side has no such function, even if its objects inherit one', async () => {
    for (const name of ['nothing', 'toString', 'constructor']) {
      await assert.rejects(calls.call(name as 'notes'), new RegExp(`^Error: This thread has no function ${name}$`));
    }
  });

  it('reject immediately when the other side has ended, both pending and later ones', async () => {
    const waiting = calls.call('never');
    calls.close(new Error('Thread 1 ended'));
    calls.close(new Error('again'));
    await assert.rejects(waiting, /^Error: Thread 1 ended$/);
    await assert.rejects(calls.call('add', 1, 2), /^Error: Thread 1 ended$/);
    calls.tell('note', 'late');
    assert.deepEqual(notes, []);
  });
});
