import { texts } from '../texts/frame.ts';
import type { FleetSnapshot } from './answers.ts';
import { minutesText } from './format.ts';

/** `now`: the time of the worker that serves the console. `waitsMs`: longest time until the tasks of a lost worker run on other workers. */
export function silenceText({ worker, since }: FleetSnapshot['silent'][number], now: number, waitsMs: number): string {
  const silent = Math.max(0, now - since);
  const rest = waitsMs - silent;
  const what = texts.doesNotAnswer(worker, minutesText(silent));
  return `${what} ${rest > 0 ? texts.tasksMove(minutesText(rest)) : texts.stillCounted}`;
}
