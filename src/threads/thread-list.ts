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

/** A thread that does not answer for so long shows its last figures. */
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

/** The threads of this worker beside the main one, whatever they are for, and what those have counted that have ended. */
export class ThreadList implements WorkerThreads {
  readonly #threads = new Set<RunningThread>();
  readonly #numbers = new Set<number>();
  readonly #figures = new WeakMap<RunningThread, ThreadFigures>();
  readonly #asking = new WeakMap<RunningThread, Promise<void>>();
  readonly #ends = { ...NO_ENDS };
  #ofEnded: ThreadCounts = { unhandled: { owned: 0, unknown: 0 }, collapsed: [], collections: {}, services: [] };

  /** The lowest that no thread has, so that the figures of threads that replace one another are one series. */
  takeNumber(): number {
    let number = 1;
    while (this.#numbers.has(number)) number++;
    this.#numbers.add(number);
    return number;
  }

  /** The thread of this number has left the process; until then nothing else may be called so. */
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

  /** Threads that could not be ended, because they wait in a system call, and are still in the process. */
  get leftBehind(): number {
    return this.#numbers.size - this.#threads.size;
  }

  /** Those that have not ended. */
  all(): readonly RunningThread[] {
    return [...this.#threads];
  }

  views(): readonly ThreadView[] {
    return [mainThreadView(), ...this.#inOrder().map(viewOf)];
  }

  async measure(): Promise<ThreadMeasurement> {
    await Promise.all(this.all().map((thread) => this.ask(thread)));
    const main = ownFigures();
    // From here on nothing may wait: a thread that ends meanwhile would count twice, or not at all.
    const threads = this.#inOrder().map((thread) => ({ ...viewOf(thread), figures: this.#figures.get(thread) }));
    return {
      threads: [{ ...mainThreadView(), figures: main }, ...threads],
      counts: addCounts([main, this.#ofEnded, ...threads.flatMap(({ figures }) => figures ?? [])]),
      ends: { ...this.#ends },
    };
  }

  /** Resolves when the figures of the thread are known anew, or cannot be had in time. */
  async ask(thread: RunningThread): Promise<void> {
    if (!thread.isUp) return;
    // A thread that hangs is asked once, however often its figures are wanted.
    const asking = this.#asking.get(thread) ?? this.#ask(thread);
    this.#asking.set(thread, asking);
    await within(asking, FIGURES_MS);
  }

  async #ask(thread: RunningThread): Promise<void> {
    try {
      const figures = await thread.figures();
      if (this.#threads.has(thread)) this.#figures.set(thread, figures);
    } catch {
      // It has ended, and keeps its last figures.
    } finally {
      this.#asking.delete(thread);
    }
  }

  #inOrder(): RunningThread[] {
    return [...this.#threads].sort((a, b) => a.thread - b.thread);
  }
}

/** The first word of the purpose: labels of metrics do not grow with the names of tasks. */
function viewOf({ thread, purpose, board }: RunningThread): ThreadView {
  const [word = ''] = purpose.split(' ', 1);
  return { thread, purpose: word, loopDelaySeconds: board.loopDelaySeconds };
}
