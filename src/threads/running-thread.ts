import type { Worker } from 'node:worker_threads';
import type { ThreadFigures } from '../observe/thread-figures.ts';
import type { Place } from '../observe/work-place.ts';
import type { ThreadBoard } from './thread-board.ts';

/** Why a thread is no more. */
export interface ThreadEnd {
  /** `overdue`: something in it did not stop in time. */
  readonly kind: 'idle' | 'asked' | 'overdue' | 'hang' | 'memory' | 'error' | 'exit';
  /** As part of a sentence: `its heap reached the limit of 64 MB`. */
  readonly reason: string;
  readonly error: Error | undefined;
  /** The task whose fault it was, where it is known: `sink-0`. */
  readonly culprit?: string | undefined;
  /** Where that task was. */
  readonly place?: Place | undefined;
}

/** A thread, whatever it is for. */
export interface RunningThread {
  /** From 1. */
  readonly thread: number;
  readonly purpose: string;
  readonly isUp: boolean;
  /** It has ended, or is about to. */
  readonly isEnding: boolean;
  readonly startedAtMs: number;
  readonly board: ThreadBoard;
  readonly worker: Worker;
  readonly ended: Promise<ThreadEnd>;
  place(task?: string): Place | undefined;
  /** Rejects when the thread has ended; does not resolve while it hangs. */
  figures(): Promise<ThreadFigures>;
  end(why: ThreadEnd | string): Promise<ThreadEnd>;
}

/** Whether it ended because the worker wanted that. */
export function isOrderly({ kind }: ThreadEnd): boolean {
  return kind === 'idle' || kind === 'asked' || kind === 'overdue';
}
