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

  it('starts a thread for each task up to the limit', () => {
    assert.deepEqual(fakes.opened, []);
    assert.deepEqual([deal('a', 0), deal('b', 0), deal('c', 0), deal('d', 0)], [1, 2, 3, 1]);
    assert.deepEqual(
      fakes.opened.map(({ purpose }) => purpose),
      ['tasks', 'tasks', 'tasks'],
    );
  });

  it('assigns the tasks of a connector to different threads, even if others have fewer tasks in total', () => {
    assert.deepEqual([deal('a', 0), deal('a', 1), deal('b', 0)], [1, 2, 3]);
    assert.deepEqual([deal('d', 0), deal('d', 1), deal('d', 2)].sort(), [1, 2, 3]);
    assert.deepEqual([deal('a', 2), deal('b', 1), deal('b', 2)], [3, 1, 2]);
  });

  it('selects the thread with the fewest tasks if none has a task of the connector', () => {
    for (const [connector, tasks] of [
      ['a', 3],
      ['b', 2],
    ] as const) {
      for (let task = 0; task < tasks; task++) deal(connector, task);
    }
    assert.equal(deal('c', 0), 3);
  });

  it('reuses an idle thread before it starts another', () => {
    const first = pool.deal(assignmentOf('a', 0));
    pool.left(first, ['a-0']);
    assert.equal(deal('b', 0), 1);
    assert.equal(fakes.opened.length, 1);
  });

  it('starts threads in advance up to the limit, and terminates those that receive no task', async () => {
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

  it('runs a task with task.isolation=own in a thread of its own, with its memory limit', () => {
    const own = { 'task.isolation': ' OWN ', 'task.memory.max.mb': '64' };
    assert.equal(deal('a', 0, own), 1);
    assert.deepEqual([deal('b', 0), deal('b', 1), deal('b', 2), deal('b', 3)].includes(1), false);
    assert.deepEqual([fakes.opened[0]?.purpose, fakes.opened[0]?.memoryMaxMb], ['task a-0', 64]);
    assert.equal(fakes.opened.length, 4, 'it does not count as one of the shared threads');
  });

  it('terminates an idle thread unless it receives a task again', async () => {
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

  it('terminates the thread of an isolated task as soon as the task has stopped', async () => {
    const own = pool.deal(assignmentOf('a', 0, { 'task.isolation': 'own' }));
    pool.left(own, ['a-0']);
    assert.equal((await own.ended).kind, 'idle');
  });

  it('assigns no task to a thread that is ending', () => {
    const first = pool.deal(assignmentOf('a', 0));
    void first.end('the test says so');
    assert.equal(deal('b', 0), 2);
  });

  it('determines the task that ended the thread: the known one, the only one, or the one whose code ran last', async () => {
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

  it('updates the write deadline of all threads', () => {
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

  it('forwards task events with their thread, and terminates all threads when closed', async () => {
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
