import { within } from '../async/within.ts';
import {
  addCounts,
  mainThreadView,
  ownFigures,
  type ThreadCounts,
  type ThreadFigures,
  type ThreadMeasurement,
  type ThreadView,
  type WorkerThreads,
} from '../observe/thread-figures.ts';
import type { RunningThread, ThreadEnd } from './running-thread.ts';

/** Timeout of the request for a thread's figures. Afterwards, its last known figures are shown. */
const FIGURES_MS = 500;

const NO_ENDS: Readonly<Record<ThreadEnd['kind'], number>> = {
  idle: 0,
  asked: 0,
  overdue: 0,
  hang: 0,
  memory: 0,
  error: 0,
  exit: 0,
};

/** The worker threads of this process, and the counts of threads that have ended. */
export class ThreadList implements WorkerThreads {
  readonly #threads = new Set<RunningThread>();
  readonly #numbers = new Set<number>();
  readonly #figures = new WeakMap<RunningThread, ThreadFigures>();
  readonly #asking = new WeakMap<RunningThread, Promise<void>>();
  readonly #ends = { ...NO_ENDS };
  #ofEnded: ThreadCounts = { unhandled: { owned: 0, unknown: 0 }, collapsed: [], collections: {}, services: [] };

  /** Returns the lowest free number, so that threads that replace each other share one series of metrics. */
  takeNumber(): number {
    let number = 1;
    while (this.#numbers.has(number)) number++;
    this.#numbers.add(number);
    return number;
  }

  /** Called when the thread has left the process. Until then, its number stays reserved. */
  freeNumber(number: number): void {
    this.#numbers.delete(number);
  }

  add(thread: RunningThread): void {
    this.#threads.add(thread);
  }

  remove(thread: RunningThread, end: ThreadEnd): void {
    if (!this.#threads.delete(thread)) return;
    this.#ends[end.kind]++;
    const last = this.#figures.get(thread);
    if (last !== undefined) this.#ofEnded = addCounts([this.#ofEnded, last]);
  }

  /** Number of threads that could not be terminated because they are blocked in a system call. */
  get leftBehind(): number {
    return this.#numbers.size - this.#threads.size;
  }

  all(): readonly RunningThread[] {
    return [...this.#threads];
  }

  views(): readonly ThreadView[] {
    return [mainThreadView(), ...this.#inOrder().map(viewOf)];
  }

  async measure(): Promise<ThreadMeasurement> {
    await Promise.all(this.all().map((thread) => this.ask(thread)));
    const main = ownFigures();
    // There must be no `await` from here on. Otherwise a thread that ends in the meantime would be counted twice or not at all.
    const threads = this.#inOrder().map((thread) => ({ ...viewOf(thread), figures: this.#figures.get(thread) }));
    return {
      threads: [{ ...mainThreadView(), figures: main }, ...threads],
      counts: addCounts([main, this.#ofEnded, ...threads.flatMap(({ figures }) => figures ?? [])]),
      ends: { ...this.#ends },
    };
  }

  /** Resolves when the figures of the thread are up to date, or after a timeout. */
  async ask(thread: RunningThread): Promise<void> {
    if (!thread.isUp) return;
    // A thread has only one pending request, even if it hangs.
    const asking = this.#asking.get(thread) ?? this.#ask(thread);
    this.#asking.set(thread, asking);
    await within(asking, FIGURES_MS);
  }

  async #ask(thread: RunningThread): Promise<void> {
    try {
      const figures = await thread.figures();
      if (this.#threads.has(thread)) this.#figures.set(thread, figures);
    } catch {
      // The thread has ended, so its last figures remain.
    } finally {
      this.#asking.delete(thread);
    }
  }

  #inOrder(): RunningThread[] {
    return [...this.#threads].sort((a, b) => a.thread - b.thread);
  }
}

/** Uses only the first word of the purpose, so that metric labels do not contain task names. */
function viewOf({ thread, purpose, board }: RunningThread): ThreadView {
  const [word = ''] = purpose.split(' ', 1);
  return { thread, purpose: word, loopDelaySeconds: board.loopDelaySeconds };
}
