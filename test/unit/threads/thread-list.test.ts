import assert from 'node:assert/strict';
import type { ThreadFigures } from '../../../src/observe/thread-figures.ts';
import { ThreadList } from '../../../src/threads/thread-list.ts';
import { asThread, endOf, FakeThread, figuresOf } from '../../support/fake-threads.ts';

describe('the list of threads', () => {
  let list: ThreadList;

  beforeEach(() => (list = new ThreadList()));

  function add(purpose: string, count = 0): FakeThread {
    const thread = new FakeThread(list.takeNumber(), purpose);
    thread.ask = () => Promise.resolve(figuresOf(count));
    list.add(asThread(thread));
    return thread;
  }

  function remove(thread: FakeThread, ...end: Parameters<typeof endOf>): void {
    thread.isUp = false;
    list.remove(asThread(thread), endOf(...end));
    list.freeNumber(thread.thread);
  }

  /** Counts of the threads, less those of this process itself. */
  async function counted(): Promise<{ owned: number; collapsed: number; requests: number }> {
    const { threads, counts } = await list.measure();
    const own = threads[0]?.figures?.unhandled.owned ?? Number.NaN;
    const ofSink = counts.collapsed.find(({ writer }) => 'connector' in writer && writer.connector === 'sink');
    const requests = counts.services.find(({ name }) => name === 'requests_total')?.value ?? 0;
    return { owned: counts.unhandled.owned - own, collapsed: ofSink?.rows ?? 0, requests };
  }

  it('assigns the lowest free number to a new thread', () => {
    const [first, second] = [add('tasks'), add('tasks'), add('tasks')];
    remove(second, 'idle');
    remove(first, 'idle');
    assert.deepEqual([list.takeNumber(), list.takeNumber(), list.takeNumber()], [1, 2, 4]);
  });

  it('reserves the number of a thread until it has left the process', () => {
    const first = add('tasks');
    list.remove(asThread(first), endOf('hang'));
    assert.equal(list.takeNumber(), 2);
    list.freeNumber(1);
    assert.equal(list.takeNumber(), 1);
  });

  it('shows the main thread first, then the others by number, with purposes without task names', async () => {
    const [first] = [add('tasks'), add('task sink-0'), add('services')];
    remove(first, 'idle');
    add('tasks', 7);
    const { threads } = await list.measure();
    assert.deepEqual(
      threads.map(({ thread, purpose }) => [thread, purpose]),
      [
        ['main', 'main'],
        [1, 'tasks'],
        [2, 'task'],
        [3, 'services'],
      ],
    );
    assert.deepEqual(
      list.views().map(({ thread }) => thread),
      ['main', 1, 2, 3],
    );
    assert.deepEqual(threads[1]?.figures, figuresOf(7));
    assert.ok((threads[0]?.figures?.heapBytes ?? 0) > 1_000_000);
  });

  it('adds up the counts of all threads, including ended ones', async () => {
    const [first] = [add('tasks', 2), add('tasks', 3)];
    assert.deepEqual(await counted(), { owned: 5, collapsed: 5, requests: 5 });
    remove(first, 'memory');
    assert.deepEqual(await counted(), { owned: 5, collapsed: 5, requests: 5 });
    const again = add('tasks', 4);
    assert.equal(again.thread, 1);
    assert.deepEqual(await counted(), { owned: 9, collapsed: 9, requests: 9 });
    remove(again, 'idle');
    assert.deepEqual(await counted(), { owned: 9, collapsed: 9, requests: 9 });
  });

  it('counts a thread once that ends while the others are queried', async () => {
    const [first, second] = [add('tasks', 2), add('tasks', 3)];
    await list.measure();
    let answer: (figures: ThreadFigures) => void = () => undefined;
    second.ask = () => new Promise((resolve) => (answer = resolve));
    const measured = list.measure();
    remove(first, 'exit');
    answer(figuresOf(4));
    const { threads, counts } = await measured;
    assert.deepEqual(
      threads.map(({ thread }) => thread),
      ['main', 2],
    );
    assert.equal(counts.unhandled.owned - (threads[0]?.figures?.unhandled.owned ?? 0), 6);
  });

  it('shows the last figures of an unresponsive thread, and sends it one request', async () => {
    const thread = add('tasks', 2);
    await list.measure();
    let asked = 0;
    thread.ask = () => {
      asked++;
      return new Promise(() => undefined);
    };
    for (let page = 0; page < 2; page++) assert.equal((await list.measure()).threads[1]?.figures?.cpuSeconds, 2);
    assert.equal(asked, 1);
  });

  it('continues without a thread that ends instead of responding', async () => {
    const thread = add('tasks');
    thread.ask = () => Promise.reject(new Error('Thread 1 (tasks) ended'));
    assert.equal((await list.measure()).threads[1]?.figures, undefined);
  });

  it('counts the ends of threads by reason', async () => {
    const kinds = ['idle', 'hang', 'hang', 'memory', 'error', 'exit', 'overdue', 'asked'] as const;
    for (const kind of kinds) remove(add('tasks'), kind);
    const thread = add('tasks');
    for (let times = 0; times < 2; times++) remove(thread, 'idle');
    const expected = { idle: 2, asked: 1, overdue: 1, hang: 2, memory: 1, error: 1, exit: 1 };
    assert.deepEqual((await list.measure()).ends, expected);
  });
});
