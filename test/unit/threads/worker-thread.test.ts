import assert from 'node:assert/strict';
import { LogLevels } from '../../../src/observe/log-levels.ts';
import { relayedLogger } from '../../../src/observe/log-relay.ts';
import { SecretMask } from '../../../src/observe/secret-mask.ts';
import { ThreadList } from '../../../src/threads/thread-list.ts';
import type { ControlFunctions } from '../../../src/threads/thread-protocol.ts';
import { WorkerThread } from '../../../src/threads/worker-thread.ts';
import type { TestThreadFunctions } from '../../support/thread-entry.ts';
import { until } from '../../support/until.ts';

type TestThread = WorkerThread<TestThreadFunctions, ControlFunctions>;

const WARN = 40;

describe('a worker thread', () => {
  let list: ThreadList;
  let levels: LogLevels;
  let secrets: SecretMask;
  let lines: { readonly level: number; readonly msg: string; readonly thread?: number }[];

  beforeEach(() => {
    [list, lines] = [new ThreadList(), []];
  });

  afterEach(() => Promise.all(list.all().map((thread) => thread.end('the test is over'))));

  async function start(memoryMaxMb?: number): Promise<TestThread> {
    const thread = open({}, memoryMaxMb);
    await until(() => thread.isUp, 'the thread is up');
    return thread;
  }

  function open(properties: Readonly<Record<string, string>>, memoryMaxMb?: number): TestThread {
    const logger = relayedLogger((line) => lines.push(JSON.parse(line) as (typeof lines)[number]));
    const surroundings = {
      properties,
      mode: 'standalone',
      exactlyOnceGroup: undefined,
      logLevels: (levels = new LogLevels(logger)),
      secrets: (secrets = new SecretMask()),
      logger,
      threads: list,
    } as const;
    const entry = new URL('../../support/thread-entry.ts', import.meta.url);
    return new WorkerThread<TestThreadFunctions, ControlFunctions>(
      { purpose: 'tasks', entry, memoryMaxMb },
      surroundings,
      {},
    );
  }

  const said = () => lines.map(({ level, msg }) => [level, msg.replace(/\d+ ms/, 'N ms')]);

  it('logs one line for its start, and one for its end with the reason', async () => {
    const thread = await start();
    await thread.end({ kind: 'idle', reason: 'it has no more tasks', error: undefined });
    assert.deepEqual(said(), [
      [30, 'Thread 1 (tasks) started in N ms'],
      [30, 'Thread 1 (tasks) ended: it has no more tasks'],
    ]);
  });

  it('adds its number to its log lines', async () => {
    const thread = await start();
    await thread.calls.call('say', 'something is odd');
    assert.deepEqual(
      lines.filter(({ level }) => level === WARN).map(({ msg, thread: number }) => [msg, number]),
      [['something is odd', 1]],
    );
  });

  it('follows changes of log levels and new secrets', async () => {
    const thread = await start();
    levels.set('root', 'ERROR');
    await thread.calls.call('say', 'not to be seen');
    levels.set('root', 'WARN');
    await thread.calls.call('say', 'to be seen');
    assert.deepEqual(
      lines.filter(({ level }) => level === WARN).map(({ msg }) => msg),
      ['to be seen'],
    );
    secrets.add('swordfish-7');
    assert.equal(await thread.calls.call('hide', 'the password is swordfish-7'), 'the password is [hidden]');
  });

  it('ends with the reason if it fails to start', async () => {
    const { kind, reason, error } = await open({ fails: 'no plugins' }).ended;
    assert.deepEqual([kind, reason, error?.message], ['error', 'it failed to start: no plugins', 'no plugins']);
    assert.deepEqual(said(), [[50, 'Thread 1 (tasks) ended: it failed to start: no plugins']]);
  });

  it('fails if it exits, regardless of the code', async () => {
    const thread = await start();
    thread.calls.tell('leave', 0);
    assert.deepEqual(await thread.ended, { kind: 'exit', reason: 'it exited with code 0', error: undefined });
    assert.deepEqual(said().at(-1), [50, 'Thread 1 (tasks) ended: it exited with code 0']);
    await assert.rejects(thread.figures(), /^Error: Thread 1 \(tasks\) ended: it exited with code 0$/);
  });

  it('ends alone if it exceeds its memory limit', async () => {
    const thread = await start(64);
    thread.calls.tell('fillHeap');
    const { kind, reason } = await thread.ended;
    assert.deepEqual([kind, reason], ['memory', 'its heap reached its limit of 64 MB']);
    assert.deepEqual(said().at(-1), [50, 'Thread 1 (tasks) ended: its heap reached its limit of 64 MB']);
  });

  it('leaves its counts and frees its number when it is terminated', async () => {
    const thread = await start();
    thread.calls.tell('count', 'counted', 5);
    await thread.end({ kind: 'idle', reason: 'it has no more tasks', error: undefined });
    const next = await start();
    assert.equal(next.thread, 1);
    next.calls.tell('count', 'counted', 2);
    const { threads, counts, ends } = await list.measure();
    // Other files of the lane may have counted rows of theirs in this process.
    const counted = counts.collapsed.filter(({ writer }) => 'connector' in writer && writer.connector === 'counted');
    assert.deepEqual(counted, [{ writer: { connector: 'counted' }, rows: 7 }]);
    assert.equal(ends['idle'], 1);
    const figures = threads[1]?.figures ?? assert.fail('it has figures');
    assert.ok(figures.heapBytes > 1_000_000, String(figures.heapBytes));
    if (process.platform === 'linux') assert.ok(Number(figures.cpuSeconds) > 0.01, String(figures.cpuSeconds));
  });

  it('may not write from the moment its termination is requested', async () => {
    const thread = await start();
    thread.board.mayWorkUntil = Infinity;
    assert.equal(thread.board.mayWork, true);
    const ending = thread.end('the test says so');
    assert.deepEqual([thread.board.mayWork, thread.isEnding], [false, true]);
    await ending;
    assert.equal(thread.isUp, false);
  });
});
