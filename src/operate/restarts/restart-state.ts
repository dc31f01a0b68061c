import { createHash } from 'node:crypto';
import { withoutLimits } from '../../config/rate-limit-options.ts';
import type { ConnectorConfig } from '../../connect/api.ts';
import type { FailureKind } from '../../connect/task-failure.ts';
import { taskText } from '../../connect/task-assignment.ts';
import type { ConnectorState } from '../../herder/stores/config-state.ts';
import type { RestartTarget } from '../../herder/herder-listener.ts';
import type { StoredJson } from '../../herder/stores/own-store.ts';

/**
 * The restart state of a failed connector or task. WAITING: the next attempt is scheduled. STARTED: the attempt was made,
 * and the target has not run for the quiet time yet. GIVEN_UP: it is not restarted.
 */
export interface RestartState {
  readonly state: 'WAITING' | 'STARTED' | 'GIVEN_UP';
  readonly policy: string;
  /** Number of the next attempt, or of the last one that was made; 0: none. */
  readonly attempt: number;
  /** -1: no limit. */
  readonly maxAttempts: number;
  /** Milliseconds since the epoch. */
  readonly nextAttemptAtMs: number | null;
  readonly quietMs: number;
  readonly kind: FailureKind;
  readonly reason: string;
  /** Time of the first failure after the target last ran for the quiet time; milliseconds since the epoch. */
  readonly sinceMs: number;
  /** Fingerprint of the configuration; the state does not apply to another configuration. */
  readonly config: string;
}

const PREFIX = 'healing/';
const INSTANCE = 'connector';

export function restartPrefix(connector?: string): string {
  return connector === undefined ? PREFIX : `${PREFIX}${encodeURIComponent(connector)}/`;
}

export function restartKey({ connector, task }: RestartTarget): string {
  return `${restartPrefix(connector)}${task === undefined ? INSTANCE : String(task)}`;
}

/** `undefined`: the key is not that of a restart state. */
export function restartTarget(key: string): RestartTarget | undefined {
  const [, name, part] = /^healing\/([^/]+)\/(connector|\d{1,9})$/.exec(key) ?? [];
  if (name === undefined) return undefined;
  try {
    const connector = decodeURIComponent(name);
    return part === INSTANCE ? { connector } : { connector, task: Number(part) };
  } catch {
    return undefined;
  }
}

/** The name of the target in log lines. */
export function targetText({ connector, task }: RestartTarget): string {
  return task === undefined ? `Connector ${connector}` : `Task ${taskText({ connector, task })}`;
}

/** `undefined`: there is no such target. */
export function configFingerprint(state: ConnectorState | undefined, task: number | undefined): string | undefined {
  if (state === undefined) return undefined;
  if (task === undefined) return fingerprint([state.config]);
  const taskConfig = state.taskConfigs[task];
  return taskConfig && fingerprint([state.appliedConfig ?? state.config, taskConfig]);
}

function fingerprint(configs: readonly ConnectorConfig[]): string {
  const sorted = configs.map((config) => Object.entries(withoutLimits(config)).sort(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 32);
}

export function toStored(state: RestartState): StoredJson {
  return { ...state };
}

const STATES: ReadonlySet<unknown> = new Set(['WAITING', 'STARTED', 'GIVEN_UP']);
const KINDS: ReadonlySet<unknown> = new Set(['infrastructure', 'hang', 'memory', 'configuration', 'data', 'unknown']);

/** `undefined`: the value is not a restart state; other programs may write into the topic. */
export function fromStored(stored: StoredJson | undefined): RestartState | undefined {
  if (stored === undefined) return undefined;
  const state = stored as unknown as RestartState;
  const { nextAttemptAtMs } = state;
  const isState =
    STATES.has(state.state) &&
    KINDS.has(state.kind) &&
    [state.policy, state.reason, state.config].every((text) => typeof text === 'string') &&
    [state.attempt, state.maxAttempts, state.quietMs].every((value) => Number.isSafeInteger(value)) &&
    [state.sinceMs, ...(nextAttemptAtMs === null ? [] : [nextAttemptAtMs])].every(isTime) &&
    (state.state !== 'WAITING' || nextAttemptAtMs !== null);
  return isState ? state : undefined;
}

const LAST_TIME_MS = 8.64e15;

function isTime(value: unknown): boolean {
  return Number.isSafeInteger(value) && Math.abs(value as number) <= LAST_TIME_MS;
}
