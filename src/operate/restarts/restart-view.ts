import { targetText, type HealingEntry } from './healing-entry.ts';
import type { RestartTarget } from '../../herder/herder-listener.ts';

/** How it stands with the restarts of a connector (`task` null) or of one of its tasks, as `GET …/health` says it. */
export interface RestartView {
  readonly task: number | null;
  readonly state: HealingEntry['state'];
  readonly policy: string;
  readonly attempt: number;
  /** `null`: no limit. */
  readonly maxAttempts: number | null;
  /** ISO 8601. */
  readonly nextAttemptAt: string | null;
  /** Why it is not restarted; `null`: it is. `kind`: `policy` restarts no failure of this kind. */
  readonly givenUpFor: 'policy' | 'kind' | 'attempts' | null;
  readonly kind: HealingEntry['kind'];
  readonly reason: string;
  /** ISO 8601: when it failed first. */
  readonly since: string;
}

export function restartView({ task }: RestartTarget, entry: HealingEntry): RestartView {
  const { state, policy, attempt, maxAttempts, nextAttemptAtMs, kind, reason, sinceMs } = entry;
  return {
    task: task ?? null,
    state,
    policy,
    attempt,
    maxAttempts: maxAttempts < 0 ? null : maxAttempts,
    nextAttemptAt: nextAttemptAtMs === null ? null : new Date(nextAttemptAtMs).toISOString(),
    givenUpFor: givenUpFor(entry),
    kind,
    reason,
    since: new Date(sinceMs).toISOString(),
  };
}

/** As the end of a sentence on a failure: `the next attempt, 3 of 20, is at …`. */
export function restartClause(restart: RestartView): string {
  const { state, policy, attempt, maxAttempts, nextAttemptAt, kind } = restart;
  const count = maxAttempts === null ? String(attempt) : `${String(attempt)} of ${String(maxAttempts)}`;
  if (state === 'WAITING') return `the next attempt, ${count}, is at ${nextAttemptAt ?? ''}`;
  if (state === 'STARTED') return `attempt ${count} has begun`;
  const why = {
    policy: `restart.policy=${policy}`,
    attempts: `restart.max.attempts=${String(maxAttempts ?? -1)} were made`,
    kind: `the failure is of the kind ${kind} and restart.policy=${policy}`,
  };
  return `it is not restarted, because ${why[restart.givenUpFor ?? 'kind']}`;
}

function givenUpFor({ state, policy, attempt, maxAttempts, kind }: HealingEntry): RestartView['givenUpFor'] {
  if (state !== 'GIVEN_UP') return null;
  if (policy === 'never') return 'policy';
  const isExhausted = attempt > 0 || maxAttempts === 0;
  return isExhausted && (policy === 'always' || !PERMANENT.has(kind)) ? 'attempts' : 'kind';
}

const PERMANENT: ReadonlySet<string> = new Set(['configuration', 'data', 'unknown']);

/** For log lines. */
export function restartSentence(target: RestartTarget, entry: HealingEntry): string {
  const view = restartView(target, entry);
  const failed = `${targetText(target)} has failed (${entry.kind}): ${entry.reason.replace(/\.$/, '')}`;
  return `${failed}; ${restartClause(view)}`;
}
