import type { RestartSettings } from '../../config/restart-options.ts';
import type { FailureKind } from '../../connect/task-failure.ts';

/** Whether, and when, what has failed is started again. */
export type RestartDecision =
  | { readonly restart: true; readonly attempt: number; readonly delayMs: number }
  /** `policy`: such failures are not mended by restarts. `attempts`: there were as many as there may be. */
  | { readonly restart: false; readonly why: 'policy' | 'attempts' };

const TRANSIENT: ReadonlySet<FailureKind> = new Set(['infrastructure', 'hang', 'memory']);
const SPREAD = 0.2;
/** Beyond it, doubling exceeds every longest wait. */
const MAX_DOUBLINGS = 53;

/** Pure. `attempts`: restarts since the last quiet time; `random`: from 0 to 1. */
export function decideRestart(
  settings: RestartSettings,
  kind: FailureKind,
  attempts: number,
  random: number,
): RestartDecision {
  const { policy, maxAttempts } = settings;
  if (policy === 'never' || (policy !== 'always' && !TRANSIENT.has(kind))) return { restart: false, why: 'policy' };
  if (maxAttempts >= 0 && attempts >= maxAttempts) return { restart: false, why: 'attempts' };
  return { restart: true, attempt: attempts + 1, delayMs: restartDelayMs(settings, attempts, random) };
}

function restartDelayMs({ backoffMs, backoffMaxMs }: RestartSettings, attempts: number, random: number): number {
  const doubled = Math.min(backoffMaxMs, backoffMs * 2 ** Math.min(attempts, MAX_DOUBLINGS));
  return Math.round(doubled * (1 - SPREAD + 2 * SPREAD * random));
}
