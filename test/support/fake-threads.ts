import type { TaskAssignment, TaskEvent } from '../../src/connect/task-assignment.ts';
import type { ThreadFigures } from '../../src/observe/thread-figures.ts';
import type { ThreadEnd } from '../../src/threads/running-thread.ts';
import type { TaskThread } from '../../src/threads/task-thread.ts';
import { ThreadBoard } from '../../src/threads/thread-board.ts';
import type { OpenThread } from '../../src/threads/thread-pool.ts';

/** A fake thread. It is ready immediately, and ends when it is asked to. */
export class FakeThread {
  readonly thread: number;
  readonly purpose: string;
  readonly memoryMaxMb: number | undefined;
  /** Sends an event as a task of the thread would. */
  readonly tellEvent: (event: TaskEvent) => void;
  readonly startedAtMs = 0;
  readonly board = new ThreadBoard();
  readonly ended: Promise<ThreadEnd>;
  isUp = true;
  isEnding = false;
  ask: () => Promise<ThreadFigures> = () => Promise.resolve(figuresOf(0));
  lastPlace: string | undefined;
  #onEnded: (end: ThreadEnd) => void = () => undefined;

  constructor(
    thread: number,
    purpose: string,
    memoryMaxMb?: number,
    tellEvent: (event: TaskEvent) => void = () => undefined,
  ) {
    this.thread = thread;
    this.purpose = purpose;
    this.memoryMaxMb = memoryMaxMb;
    this.tellEvent = tellEvent;
    this.ended = new Promise((resolve) => (this.#onEnded = resolve));
  }

  place(): { readonly task: string } | undefined {
    return this.lastPlace === undefined ? undefined : { task: this.lastPlace };
  }

  figures(): Promise<ThreadFigures> {
    return this.ask();
  }

  end(why: ThreadEnd | string): Promise<ThreadEnd> {
    this.isEnding = true;
    this.isUp = false;
    this.#onEnded(typeof why === 'string' ? { kind: 'asked', reason: why, error: undefined } : why);
    return this.ended;
  }
}

/** Opens fake threads. `opened` contains them in order. */
export class FakeThreads {
  readonly opened: FakeThread[] = [];

  readonly open: OpenThread = (purpose, memoryMaxMb, onEvent) => {
    const thread = new FakeThread(this.opened.length + 1, purpose, memoryMaxMb, (event) => {
      onEvent(asThread(thread), event);
    });
    this.opened.push(thread);
    return asThread(thread);
  };
}

export function asThread(thread: FakeThread): TaskThread {
  return thread as unknown as TaskThread;
}

export function endOf(kind: ThreadEnd['kind'], culprit?: string): ThreadEnd {
  return { kind, reason: 'the test says so', error: undefined, culprit };
}

/** Returns figures of a thread that has counted this number of errors and of collapsed rows. */
export function figuresOf(count: number): ThreadFigures {
  return {
    cpuSeconds: count,
    heapBytes: count,
    heapLimitBytes: count,
    heapCommittedBytes: count,
    clients: [],
    collections: {},
    unhandled: { owned: count, unknown: 0 },
    collapsed: [{ writer: { connector: 'sink' }, rows: count }],
    services: [{ name: 'requests_total', help: 'Requests', labels: { route: '/' }, value: count }],
    serviceGauges: [],
  };
}

export function assignmentOf(connector: string, task: number, config: Record<string, string> = {}): TaskAssignment {
  return {
    id: { connector, task },
    type: 'sink',
    tasks: 1,
    connectorConfig: config,
    taskConfig: {},
    targetState: 'STARTED',
  };
}
