import { minutesText } from '../common/format.ts';
import { texts } from '../texts/connector.ts';
import type { Health, Restart } from './health.ts';

/** The texts of an automatic restart. */
export interface RestartText {
  readonly what: string;
  /** Attempt and time, or the reason why the task is not restarted. */
  readonly how: string;
  readonly why: string;
}

const CLAUSES = ['; the next attempt, ', '; it is not restarted, because ', '; attempt '];
const PERMANENT = new Set(['configuration', 'data', 'unknown']);

/** The health sentence without its clause about the restart, which is shown separately. */
export function withoutRestart({ sentence, restarts }: Pick<Health, 'sentence' | 'restarts'>): string {
  if (restarts.length === 0) return sentence;
  const at = Math.max(...CLAUSES.map((clause) => sentence.lastIndexOf(clause)));
  return at < 0 ? sentence : `${sentence.slice(0, at)}.`;
}

/** `now` is the worker's time. The reason is left out if `sentence`, which is shown above, contains it. */
export function restartText(restart: Restart, now: number, sentence = ''): RestartText {
  const { task, state, nextAttemptAt, attempt, maxAttempts, kind, reason } = restart;
  const who = task === null ? texts.itself : texts.taskOf(task);
  const count = texts.attemptOf(attempt, maxAttempts);
  const why = sentence.includes(reason) ? texts.ofKind(kind) : texts.because(kind, reason);
  if (state === 'STARTED') return { what: texts.restarted(who, count), how: '', why };
  if (state === 'GIVEN_UP') return { what: texts.restartsNot(who), how: whyNot(restart), why };
  const at = nextAttemptAt === null ? now : Date.parse(nextAttemptAt);
  const what = at <= now ? texts.restartsNow(who) : texts.restartsIn(who, minutesText(at - now));
  return { what, how: texts.attemptAt(count, new Date(at).toLocaleTimeString()), why };
}

function whyNot({ policy, attempt, maxAttempts, kind }: Restart): string {
  if (policy === 'never') return texts.policyNever;
  const isExhausted = attempt > 0 || maxAttempts === 0;
  if (isExhausted && (policy === 'always' || !PERMANENT.has(kind))) return texts.attemptsMade(maxAttempts ?? attempt);
  return texts.kindStays(kind);
}
