import { targetText, type RestartState } from './restart-state.ts';
import type { RestartTarget } from '../../herder/herder-listener.ts';

/** The restart state of a connector (`task` null) or of one of its tasks, as `GET …/health` shows it. */
export interface RestartView {
  readonly task: number | null;
  readonly state: RestartState['state'];
  readonly policy: string;
  readonly attempt: number;
  /** `null`: no limit. */
  readonly maxAttempts: number | null;
  /** ISO 8601. */
  readonly nextAttemptAt: string | null;
  /** Why it is not restarted; `null`: it is restarted. `kind`: the policy does not restart failures of this kind. */
  readonly givenUpFor: 'policy' | 'kind' | 'attempts' | null;
  readonly kind: RestartState['kind'];
  readonly reason: string;
  /** ISO 8601: when it first failed. */
  readonly since: string;
}

export function restartView({ task }: RestartTarget, restart: RestartState): RestartView {
  const { state, policy, attempt, maxAttempts, nextAttemptAtMs, kind, reason, sinceMs } = restart;
  return {
    task: task ?? null,
    state,
    policy,
    attempt,
    maxAttempts: maxAttempts < 0 ? null : maxAttempts,
    nextAttemptAt: nextAttemptAtMs === null ? null : new Date(nextAttemptAtMs).toISOString(),
    givenUpFor: givenUpFor(restart),
    kind,
    reason,
    since: new Date(sinceMs).toISOString(),
  };
}

/** The end of a sentence about a failure: `the next attempt, 3 of 20, is at …`. */
export function restartClause(restart: RestartView): string {
  const { state, policy, attempt, maxAttempts, nextAttemptAt, kind } = restart;
  const count = maxAttempts === null ? String(attempt) : `${String(attempt)} of ${String(maxAttempts)}`;
  if (state === 'WAITING') return `the next attempt, ${count}, is at ${nextAttemptAt ?? ''}`;
  if (state === 'STARTED') return `attempt ${count} has begun`;
  const why = {
    policy: `restart.policy=${policy}`,
    attempts: `all attempts were made (restart.max.attempts=${String(maxAttempts ?? -1)})`,
    kind: `the failure is of the kind ${kind} and restart.policy=${policy}`,
  };
  return `it is not restarted, because ${why[restart.givenUpFor ?? 'kind']}`;
}

function givenUpFor({ state, policy, attempt, maxAttempts, kind }: RestartState): RestartView['givenUpFor'] {
  if (state !== 'GIVEN_UP') return null;
  if (policy === 'never') return 'policy';
  const isExhausted = attempt > 0 || maxAttempts === 0;
  return isExhausted && (policy === 'always' || !PERMANENT.has(kind)) ? 'attempts' : 'kind';
}

const PERMANENT: ReadonlySet<string> = new Set(['configuration', 'data', 'unknown']);

/** The failure and its restart, for log lines. */
export function restartSentence(target: RestartTarget, restart: RestartState): string {
  const view = restartView(target, restart);
  const failed = `${targetText(target)} has failed (${restart.kind}): ${restart.reason.replace(/\.$/, '')}`;
  return `${failed}; ${restartClause(view)}`;
}
