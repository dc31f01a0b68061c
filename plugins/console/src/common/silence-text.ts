import { texts } from '../texts/frame.ts';
import { minutesText } from './format.ts';

/** A worker that has tasks and does not answer; since when, by the clock of the worker that serves the console. */
export interface SilentWorker {
  readonly worker: string;
  readonly since: number;
}

/** `now` is the time of the worker that serves the console, which waits for a lost one for `waitsMs` at most. */
export function silenceText({ worker, since }: SilentWorker, now: number, waitsMs: number): string {
  const silent = Math.max(0, now - since);
  const rest = waitsMs - silent;
  const what = texts.doesNotAnswer(worker, minutesText(silent));
  return `${what} ${rest > 0 ? texts.tasksMove(minutesText(rest)) : texts.stillCounted}`;
}
