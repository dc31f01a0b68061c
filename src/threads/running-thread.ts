import type { Worker } from 'node:worker_threads';
import type { ThreadFigures } from '../observe/thread-figures.ts';
import type { Place } from '../observe/work-place.ts';
import type { ThreadBoard } from './thread-board.ts';

/** Why a thread has ended. */
export interface ThreadEnd {
  /** `asked`: the worker requested the end. `overdue`: something in the thread did not stop or respond in time. */
  readonly kind: 'idle' | 'asked' | 'overdue' | 'hang' | 'memory' | 'error' | 'exit';
  /** Part of a sentence, such as `its heap reached the limit of 64 MB`. */
  readonly reason: string;
  readonly error: Error | undefined;
  /** The task that caused the end, such as `sink-0`, if known. */
  readonly culprit?: string | undefined;
  /** The last recorded activity of this task before the thread ended, if known. */
  readonly place?: Place | undefined;
}

export interface RunningThread {
  /** Number of the thread, starting at 1. */
  readonly thread: number;
  readonly purpose: string;
  readonly isUp: boolean;
  /** True if the thread has ended or is being terminated. */
  readonly isEnding: boolean;
  readonly startedAtMs: number;
  readonly board: ThreadBoard;
  readonly worker: Worker;
  readonly ended: Promise<ThreadEnd>;
  place(task?: string): Place | undefined;
  /** Rejects if the thread has ended. Stays pending while the thread hangs. */
  figures(): Promise<ThreadFigures>;
  end(why: ThreadEnd | string): Promise<ThreadEnd>;
}

/** True if the worker ended the thread (`idle`, `asked` or `overdue`), rather than a failure in the thread. */
export function isOrderly({ kind }: ThreadEnd): boolean {
  return kind === 'idle' || kind === 'asked' || kind === 'overdue';
}
