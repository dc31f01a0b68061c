import type { Restart } from '../common/answers.ts';
import { minutesText } from '../common/format.ts';
import { clockTime } from '../common/time.ts';
import { texts } from '../texts/connector.ts';

/** The texts of an automatic restart. */
export interface RestartText {
  readonly what: string;
  /** The number and time of the next attempt, or the reason why there is none; empty after a restart. */
  readonly how: string;
  readonly why: string;
}

/** Describes a restart. `now`: the worker's time. `summary`: the sentence shown above; a reason that it contains is not repeated. */
export function restartText(restart: Restart, now: number, summary = ''): RestartText {
  const { task, state, nextAttemptAt, attempt, maxAttempts, kind, reason } = restart;
  const who = task === null ? texts.itself : texts.taskOf(task);
  const count = texts.attemptOf(attempt, maxAttempts);
  const why = summary.includes(reason) ? texts.ofKind(kind) : texts.because(kind, reason);
  if (state === 'STARTED') return { what: texts.restarted(who, count), how: '', why };
  if (state === 'GIVEN_UP') {
    const isSaid = restart.givenUpFor === 'kind' && summary.includes(reason);
    return { what: texts.restartsNot(who), how: whyNot(restart), why: isSaid ? '' : why };
  }
  const at = nextAttemptAt === null ? now : Date.parse(nextAttemptAt);
  const what = at <= now ? texts.restartsNow(who) : texts.restartsIn(who, minutesText(at - now));
  return { what, how: texts.attemptAt(count, clockTime(at)), why };
}

/** Whether every restart was given up because the failure would recur. */
export function isFutile(restarts: readonly Pick<Restart, 'givenUpFor'>[]): boolean {
  return restarts.length > 0 && restarts.every(({ givenUpFor }) => givenUpFor === 'kind');
}

/** Groups restarts that differ only in their task. `others`: the tasks of the group except that of the first restart. */
export function alike(
  restarts: readonly Restart[],
): readonly { readonly first: Restart; readonly others: readonly number[] }[] {
  const groups = new Map<string, { first: Restart; others: number[] }>();
  for (const restart of restarts) {
    const key = JSON.stringify([
      restart.state,
      restart.givenUpFor,
      restart.attempt,
      restart.nextAttemptAt,
      restart.kind,
      restart.reason,
    ]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { first: restart, others: [] });
    else if (restart.task !== null) group.others.push(restart.task);
  }
  return [...groups.values()];
}

function whyNot({ givenUpFor, attempt, maxAttempts, kind }: Restart): string {
  if (givenUpFor === 'policy') return texts.policyNever;
  return givenUpFor === 'attempts' ? texts.attemptsMade(maxAttempts ?? attempt) : texts.kindStays(kind);
}
