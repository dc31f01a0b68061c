import { createHash } from 'node:crypto';
import { withoutLimits } from '../../config/rate-limit-options.ts';
import type { ConnectorConfig } from '../../connect/api.ts';
import type { FailureKind } from '../../connect/task-failure.ts';
import { taskText } from '../../connect/task-assignment.ts';
import type { ConnectorState } from '../../herder/stores/config-state.ts';
import type { RestartTarget } from '../../herder/herder-listener.ts';
import type { StoredJson } from '../../herder/stores/own-store.ts';

/**
 * How it stands with the restarts of one target. WAITING: the next attempt has its time. STARTED: the attempt was made, and the
 * target has not run for the quiet time yet. GIVEN_UP: it is not started again.
 */
export interface HealingEntry {
  readonly state: 'WAITING' | 'STARTED' | 'GIVEN_UP';
  readonly policy: string;
  /** The attempt that comes, or the last that was made; 0: none. */
  readonly attempt: number;
  /** -1: no limit. */
  readonly maxAttempts: number;
  /** Milliseconds since the epoch. */
  readonly nextAttemptAtMs: number | null;
  readonly quietMs: number;
  readonly kind: FailureKind;
  readonly reason: string;
  /** When it failed first since it last ran for the quiet time; milliseconds since the epoch. */
  readonly sinceMs: number;
  /** Of the configuration that it was for: for another one it does not count. */
  readonly config: string;
}

const PREFIX = 'healing/';
const INSTANCE = 'connector';

export function healingPrefix(connector?: string): string {
  return connector === undefined ? PREFIX : `${PREFIX}${encodeURIComponent(connector)}/`;
}

export function healingKey({ connector, task }: RestartTarget): string {
  return `${healingPrefix(connector)}${task === undefined ? INSTANCE : String(task)}`;
}

/** `undefined` for a key that is none. */
export function healingTarget(key: string): RestartTarget | undefined {
  const [, name, part] = /^healing\/([^/]+)\/(connector|\d{1,9})$/.exec(key) ?? [];
  if (name === undefined) return undefined;
  try {
    const connector = decodeURIComponent(name);
    return part === INSTANCE ? { connector } : { connector, task: Number(part) };
  } catch {
    return undefined;
  }
}

/** As log lines name it. */
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

export function toStored(entry: HealingEntry): StoredJson {
  return { ...entry };
}

const STATES: ReadonlySet<unknown> = new Set(['WAITING', 'STARTED', 'GIVEN_UP']);
const KINDS: ReadonlySet<unknown> = new Set(['infrastructure', 'hang', 'memory', 'configuration', 'data', 'unknown']);

/** `undefined` for what is not an entry: others may write into the topic. */
export function fromStored(stored: StoredJson | undefined): HealingEntry | undefined {
  if (stored === undefined) return undefined;
  const entry = stored as unknown as HealingEntry;
  const { nextAttemptAtMs } = entry;
  const isEntry =
    STATES.has(entry.state) &&
    KINDS.has(entry.kind) &&
    [entry.policy, entry.reason, entry.config].every((text) => typeof text === 'string') &&
    [entry.attempt, entry.maxAttempts, entry.quietMs].every((value) => Number.isSafeInteger(value)) &&
    [entry.sinceMs, ...(nextAttemptAtMs === null ? [] : [nextAttemptAtMs])].every(isTime) &&
    (entry.state !== 'WAITING' || nextAttemptAtMs !== null);
  return isEntry ? entry : undefined;
}

const LAST_TIME_MS = 8.64e15;

function isTime(value: unknown): boolean {
  return Number.isSafeInteger(value) && Math.abs(value as number) <= LAST_TIME_MS;
}
