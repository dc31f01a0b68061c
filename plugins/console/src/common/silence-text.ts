import { texts } from '../texts/frame.ts';
import type { FleetSnapshot } from './answers.ts';
import { minutesText } from './format.ts';

/** `now` is by the clock of the worker that serves the console. Work of a lost worker is unassigned for `waitsMs` at most. */
export function silenceText({ worker, since }: FleetSnapshot['silent'][number], now: number, waitsMs: number): string {
  const silent = Math.max(0, now - since);
  const rest = waitsMs - silent;
  const what = texts.doesNotAnswer(worker, minutesText(silent));
  return `${what} ${rest > 0 ? texts.tasksMove(minutesText(rest)) : texts.stillCounted}`;
}
