import { backoffMs } from '../../async/backoff.ts';
import type { RestartSettings } from '../../config/restart-options.ts';
import type { FailureKind } from '../../connect/task-failure.ts';

/** Whether and when a failed connector or task is restarted. */
export type RestartDecision =
  | { readonly restart: true; readonly attempt: number; readonly delayMs: number }
  /** `policy`: the policy does not restart such failures. `attempts`: the maximum number of attempts was made. */
  | { readonly restart: false; readonly why: 'policy' | 'attempts' };

const TRANSIENT: ReadonlySet<FailureKind> = new Set(['infrastructure', 'hang', 'memory']);

/**
 * Decides about a restart, without side effects. `attempts`: restarts since the last quiet time; `random`: from 0 to 1.
 */
export function decideRestart(
  settings: RestartSettings,
  kind: FailureKind,
  attempts: number,
  random: number,
): RestartDecision {
  const { policy, maxAttempts } = settings;
  if (policy === 'never' || (policy !== 'always' && !TRANSIENT.has(kind))) return { restart: false, why: 'policy' };
  if (maxAttempts >= 0 && attempts >= maxAttempts) return { restart: false, why: 'attempts' };
  const backoff = { firstMs: settings.backoffMs, maxMs: settings.backoffMaxMs };
  return { restart: true, attempt: attempts + 1, delayMs: Math.round(backoffMs(attempts, backoff, random)) };
}
