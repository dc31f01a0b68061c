import type { TargetState } from '../../connect/task-assignment.ts';
import { CHANGES, type Actor, type Change } from '../../herder/recorded-change.ts';
import type { StoredJson } from '../../herder/stores/own-store.ts';

/** Changes whose entry includes the configuration. */
export const CONFIG_CHANGES: ReadonlySet<Change> = new Set(['found', 'created', 'changed', 'restored']);

/** A configuration in the config topic. Java workers may have written null values. */
export type KeptConfig = Readonly<Record<string, string | null>>;

/** One change of a connector. */
export interface HistoryEntry {
  readonly key: string;
  readonly connector: string;
  /** Number of the change; increases with each change of the connector. */
  readonly n: number;
  readonly atMs: number;
  readonly what: Change;
  /** `null`: unknown. */
  readonly by: Actor | null;
  readonly state: TargetState;
  /** The worker that made the change, or found it; absent in entries of earlier versions. */
  readonly worker?: string;
  /** Number of the task that was restarted; absent if the connector was restarted. */
  readonly task?: number;
  /** Set for an automatic restart after a failure. */
  readonly automatic?: boolean;
  /** Number of the change whose configuration was restored. */
  readonly restoredFrom?: number;
  /** The whole configuration after the change. Only set for `CONFIG_CHANGES`, and only if it is not too large. */
  readonly config?: KeptConfig;
  readonly tooLarge?: boolean;
  /** Keys of `config` whose values are secrets, as the plugins declare. */
  readonly secretKeys: readonly string[];
  /** Size of the stored record, in characters of JSON. */
  readonly bytes: number;
}

type NewEntry = Omit<HistoryEntry, 'key' | 'connector' | 'bytes'>;

export const HISTORY_PREFIX = 'history/';
/** OwnStore accepts values of at most 256 kB, which also contain the other members of the entry. */
const MAX_CONFIG_BYTES = 200 * 1024;
/** Caches parsed entries, because all entries are examined after each change. */
const read = new WeakMap<StoredJson, HistoryEntry>();

/** The prefix of the keys of a connector's entries. */
export function prefixOf(connector: string): string {
  // A lone surrogate, which encodeURIComponent refuses, becomes a replacement character.
  return `${HISTORY_PREFIX}${encodeURIComponent(Buffer.from(connector).toString())}/`;
}

export function recordOf(connector: string, { n, atMs, what, by, state, ...more }: NewEntry): [string, StoredJson] {
  const { restoredFrom, config, secretKeys, worker, task, automatic } = more;
  const tooLarge = config !== undefined && Buffer.byteLength(JSON.stringify(config)) > MAX_CONFIG_BYTES;
  return [
    `${prefixOf(connector)}${String(n)}`,
    {
      at: atMs,
      what,
      by,
      state,
      ...(worker === undefined ? {} : { worker }),
      ...(task === undefined ? {} : { task }),
      ...(automatic === true ? { automatic } : {}),
      ...(restoredFrom === undefined ? {} : { restoredFrom }),
      ...(tooLarge ? { tooLarge } : {}),
      ...(config === undefined || tooLarge ? {} : { config, secretKeys }),
    },
  ];
}

/** `undefined`: the record is not a history entry. */
export function entryOf(key: string, stored: StoredJson): HistoryEntry | undefined {
  const entry = read.get(stored) ?? parse(key, stored);
  if (entry !== undefined) read.set(stored, entry);
  return entry;
}

function parse(key: string, stored: StoredJson): HistoryEntry | undefined {
  const n = Number(key.slice(key.lastIndexOf('/') + 1));
  const { at, what, by, state, worker, task, automatic, restoredFrom, config, tooLarge, secretKeys } = stored;
  const change = CHANGES.find((one) => one === what);
  if (!Number.isSafeInteger(n) || typeof at !== 'number' || Number.isNaN(new Date(at).getTime())) return undefined;
  if (change === undefined || (config !== undefined && !isConfig(config))) return undefined;
  return {
    key,
    connector: connectorOf(key),
    n,
    atMs: at,
    what: change,
    by: actorOf(by),
    state: state === 'PAUSED' || state === 'STOPPED' ? state : 'STARTED',
    ...(typeof worker === 'string' ? { worker } : {}),
    ...(typeof task === 'number' ? { task } : {}),
    ...(automatic === true ? { automatic } : {}),
    ...(typeof restoredFrom === 'number' ? { restoredFrom } : {}),
    ...(config === undefined ? {} : { config }),
    ...(tooLarge === true ? { tooLarge } : {}),
    secretKeys: Array.isArray(secretKeys) ? secretKeys.filter((name): name is string => typeof name === 'string') : [],
    bytes: JSON.stringify(stored).length,
  };
}

/** The name of the connector in the key of an entry. */
function connectorOf(key: string): string {
  const encoded = key.slice(HISTORY_PREFIX.length, key.lastIndexOf('/'));
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

function isConfig(config: unknown): config is KeptConfig {
  if (typeof config !== 'object' || config === null || Array.isArray(config)) return false;
  return Object.values(config).every((value) => value === null || typeof value === 'string');
}

function actorOf(by: unknown): Actor | null {
  if (typeof by !== 'object' || by === null) return null;
  const { user, address, via } = by as Partial<Record<keyof Actor, unknown>>;
  return {
    user: typeof user === 'string' ? user : null,
    address: typeof address === 'string' ? address : null,
    ...(typeof via === 'string' ? { via } : {}),
  };
}
