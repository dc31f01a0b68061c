import assert from 'node:assert/strict';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { failureOf } from '../../../src/connect/task-failure.ts';
import {
  ConfigError,
  ConnectError,
  DatabaseError,
  DataError,
  RequestError,
  RetriableError,
  SluiceError,
  UnavailableError,
} from '../../../src/errors.ts';
import { ErrorCode } from '../../../src/kafka/errors/error-codes.ts';
import {
  AuthenticationError,
  BrokerUnreachableError,
  ClosedError,
  CodecError,
  CommitRefusedError,
  KafkaError,
  MalformedResponseError,
  MembershipLostError,
  RecordFormatError,
  TimeoutError,
} from '../../../src/kafka/errors/kafka-errors.ts';
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
  new DataError('bad record', { table: 't', column: 'c' }),
  new ConfigError('bad setting'),
  new SluiceError('mine', { javaName: 'com.example.MineException' }),
  new SluiceError('bad row', { scope: 'record' }),
  new RequestError(409, 'conflict'),
  new DatabaseError('timed out', { scope: 'infrastructure' }),
  new DatabaseError('no such role', { scope: 'caller', sqlstate: '28000', table: 't', column: 'c' }),
  KafkaError.ofCode(ErrorCode.notLeaderOrFollower, 'Topic orders'),
  KafkaError.ofCode(ErrorCode.topicAuthorizationFailed, 'Topic orders'),
  KafkaError.ofCode(ErrorCode.unknownTopicOrPartition, 'Topic orders').asFinal(),
  new BrokerUnreachableError('connection refused', { cause: new AuthenticationError('ssl', 'unknown CA') }),
  new TimeoutError('no response'),
  new AuthenticationError('sasl', 'wrong password'),
  new CommitRefusedError('not a member'),
  new MembershipLostError('group'),
  new CodecError('no snappy'),
  new MalformedResponseError('short response'),
  new RecordFormatError('corrupt batch'),
  new ClosedError('The producer'),
  new RangeError('too far'),
  Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' }),
];

function definedFields(error: Error): Record<string, unknown> {
  const fields = Object.entries(error).filter(([key, value]) => key !== 'cause' && value !== undefined);
  return Object.fromEntries(fields);
}

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

  it('reject with an error of the same class, name, text, stack, fields, failure kind and cause', async () => {
    for (const [which, error] of ERRORS.entries()) {
      const refused = await refusal(which);
      assert.equal(refused.message, error.message);
      assert.equal(refused.name, error.name);
      assert.equal(refused.stack, error.stack);
      assert.equal((refused as NodeJS.ErrnoException).code, (error as NodeJS.ErrnoException).code);
      assert.deepEqual(failureOf(refused), failureOf(error));
      if (error instanceof SluiceError) {
        assert.equal(refused.constructor, error.constructor);
        assert.deepEqual(definedFields(refused), definedFields(error));
      }
    }
    const { cause: carried } = await refusal(0);
    assert.equal((carried as Error).name, 'TypeError');
    assert.equal((carried as Error).message, 'the reason');
  });

  it('reject with the nearest known class for an error of another class', async () => {
    class PeerSilentError extends RetriableError {}
    const { port1, port2 } = new MessageChannel();
    const asking = new ThreadCalls<object, { go(): Promise<void> }>(port1, {});
    void new ThreadCalls<{ go(): Promise<void> }, object>(port2, {
      go: () => Promise.reject(new PeerSilentError('silent')),
    });
    await assert.rejects(asking.call('go'), (error) => {
      assert.ok(error instanceof RetriableError);
      assert.equal(error.name, 'PeerSilentError');
      assert.equal(failureOf(error).kind, 'infrastructure');
      return true;
    });
    port1.close();
    port2.close();
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
