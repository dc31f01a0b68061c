import assert from 'node:assert/strict';
import { silentLogger } from '../../../src/observe/logger.ts';
import type { ThreadEnd } from '../../../src/threads/running-thread.ts';
import { ThreadPool } from '../../../src/threads/thread-pool.ts';
import { assignmentOf, endOf, FakeThreads } from '../../support/fake-threads.ts';

describe('the pool of threads', () => {
  let fakes: FakeThreads;
  let pool: ThreadPool;
  let mayWorkUntil: number;
  let ends: [thread: number, ThreadEnd][];
  let events: string[];

  function openPool(size: number, idleMs = 60_000): ThreadPool {
    fakes = new FakeThreads();
    const opened = new ThreadPool({
      size,
      idleMs,
      hangTimeoutMs: 60_000,
      mayWorkUntil: () => mayWorkUntil,
      open: fakes.open,
      logger: silentLogger,
    });
    opened.listen({
      onEvent: (thread, event) => events.push(`${String(thread.thread)} ${event.id.connector} ${event.state}`),
      onEnd: (thread, end) => ends.push([thread.thread, end]),
    });
    return opened;
  }

  const deal = (connector: string, task: number, config: Record<string, string> = {}): number =>
    pool.deal(assignmentOf(connector, task, config)).thread;

  beforeEach(() => {
    [mayWorkUntil, ends, events] = [Date.now() + 60_000, [], []];
    pool = openPool(3);
  });

  afterEach(() => pool.close());

  it('starts a thread for each task until there are as many as there may be', () => {
    assert.deepEqual(fakes.opened, []);
    assert.deepEqual([deal('a', 0), deal('b', 0), deal('c', 0), deal('d', 0)], [1, 2, 3, 1]);
    assert.deepEqual(
      fakes.opened.map(({ purpose }) => purpose),
      ['tasks', 'tasks', 'tasks'],
    );
  });

  it('gives the tasks of a connector different threads, also where others have fewer tasks in all', () => {
    assert.deepEqual([deal('a', 0), deal('a', 1), deal('b', 0)], [1, 2, 3]);
    assert.deepEqual([deal('d', 0), deal('d', 1), deal('d', 2)].sort(), [1, 2, 3]);
    assert.deepEqual([deal('a', 2), deal('b', 1), deal('b', 2)], [3, 1, 2]);
  });

  it('takes the thread with the fewest tasks where none has one of the connector', () => {
    for (const [connector, tasks] of [
      ['a', 3],
      ['b', 2],
    ] as const) {
      for (let task = 0; task < tasks; task++) deal(connector, task);
    }
    assert.equal(deal('c', 0), 3);
  });

  it('takes an idle thread before it starts another', () => {
    const first = pool.deal(assignmentOf('a', 0));
    pool.left(first, ['a-0']);
    assert.equal(deal('b', 0), 1);
    assert.equal(fakes.opened.length, 1);
  });

  it('starts threads for tasks that are to come, no more than there may be, and ends those that get none', async () => {
    await pool.close();
    pool = openPool(2, 20);
    pool.prepare(1);
    assert.equal(fakes.opened.length, 1);
    pool.prepare(5);
    assert.equal(fakes.opened.length, 2);
    assert.equal(deal('a', 0), 1);
    assert.equal((await fakes.opened[1]?.ended)?.kind, 'idle');
    assert.equal(pool.threads().length, 1);
  });

  it('gives a task with task.isolation=own a thread that no other task gets, with its limit of memory', () => {
    const own = { 'task.isolation': ' OWN ', 'task.memory.max.mb': '64' };
    assert.equal(deal('a', 0, own), 1);
    assert.deepEqual([deal('b', 0), deal('b', 1), deal('b', 2), deal('b', 3)].includes(1), false);
    assert.deepEqual([fakes.opened[0]?.purpose, fakes.opened[0]?.memoryMaxMb], ['task a-0', 64]);
    assert.equal(fakes.opened.length, 4, 'it does not count as one of the shared threads');
  });

  it('ends a thread that has been idle, and not one that got a task again', async () => {
    await pool.close();
    pool = openPool(2, 20);
    const [first, second] = [pool.deal(assignmentOf('a', 0)), pool.deal(assignmentOf('a', 1))];
    pool.left(first, ['a-0']);
    pool.left(second, ['a-1']);
    assert.equal(deal('b', 0), 1);
    assert.equal((await second.ended).kind, 'idle');
    assert.equal(first.isEnding, false);
    assert.deepEqual(pool.threads(), [first]);
  });

  it('ends the thread of one task as soon as that task has stopped', async () => {
    const own = pool.deal(assignmentOf('a', 0, { 'task.isolation': 'own' }));
    pool.left(own, ['a-0']);
    assert.equal((await own.ended).kind, 'idle');
  });

  it('gives no task to a thread that is ending', () => {
    const first = pool.deal(assignmentOf('a', 0));
    void first.end('the test says so');
    assert.equal(deal('b', 0), 2);
  });

  it('tells which task ended the thread: the one that is known, the only one, or the one that was entered last', async () => {
    await pool.close();
    pool = openPool(1);
    ends = [];
    deal('a', 0);
    await fakes.opened[0]?.end(endOf('memory'));
    deal('a', 0);
    deal('b', 0);
    if (fakes.opened[1] !== undefined) fakes.opened[1].lastPlace = 'b-0';
    await fakes.opened[1]?.end(endOf('exit'));
    deal('a', 0);
    deal('b', 0);
    await fakes.opened[2]?.end(endOf('hang', 'a-0'));
    deal('a', 0);
    deal('b', 0);
    await fakes.opened[3]?.end(endOf('error'));
    deal('a', 0);
    await fakes.opened[4]?.end(endOf('overdue'));
    assert.deepEqual(
      ends.map(([thread, { culprit }]) => [thread, culprit]),
      [
        [1, 'a-0'],
        [2, 'b-0'],
        [3, 'a-0'],
        [4, undefined],
        [5, undefined],
      ],
    );
    assert.deepEqual(pool.threads(), []);
  });

  it('tells all its threads at once until when they may write', () => {
    const threads = [pool.deal(assignmentOf('a', 0)), pool.deal(assignmentOf('a', 1))];
    assert.deepEqual(
      threads.map(({ board }) => board.mayWork),
      [true, true],
    );
    mayWorkUntil = 0;
    pool.publishMayWork();
    assert.deepEqual(
      threads.map(({ board }) => board.mayWork),
      [false, false],
    );
  });

  it('passes on what tasks tell, with their thread, and ends all threads when it is closed', async () => {
    deal('a', 0);
    deal('a', 1);
    fakes.opened[1]?.tellEvent({ id: { connector: 'a', task: 1 }, state: 'RUNNING' });
    assert.deepEqual(events, ['2 a RUNNING']);
    await pool.close();
    assert.deepEqual(
      ends.map(([thread, { kind }]) => [thread, kind]),
      [
        [1, 'asked'],
        [2, 'asked'],
      ],
    );
  });
});
