import { minutesText } from '../common/format.ts';
import { texts } from '../texts/connector.ts';
import type { Restart } from './health.ts';

/** The texts of an automatic restart. */
export interface RestartText {
  readonly what: string;
  /** Attempt and time, or the reason why the task is not restarted. */
  readonly how: string;
  readonly why: string;
}

/** `now` is the worker's time. The reason is left out if `summary`, which is shown above, contains it. */
export function restartText(restart: Restart, now: number, summary = ''): RestartText {
  const { task, state, nextAttemptAt, attempt, maxAttempts, kind, reason } = restart;
  const who = task === null ? texts.itself : texts.taskOf(task);
  const count = texts.attemptOf(attempt, maxAttempts);
  const why = summary.includes(reason) ? texts.ofKind(kind) : texts.because(kind, reason);
  if (state === 'STARTED') return { what: texts.restarted(who, count), how: '', why };
  if (state === 'GIVEN_UP') return { what: texts.restartsNot(who), how: whyNot(restart), why };
  const at = nextAttemptAt === null ? now : Date.parse(nextAttemptAt);
  const what = at <= now ? texts.restartsNow(who) : texts.restartsIn(who, minutesText(at - now));
  return { what, how: texts.attemptAt(count, new Date(at).toLocaleTimeString()), why };
}

function whyNot({ givenUpFor, attempt, maxAttempts, kind }: Restart): string {
  if (givenUpFor === 'policy') return texts.policyNever;
  return givenUpFor === 'attempts' ? texts.attemptsMade(maxAttempts ?? attempt) : texts.kindStays(kind);
}
