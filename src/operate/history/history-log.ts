import { SerialQueue } from '../../async/serial-queue.ts';
import type { PluginRegistry } from '../../connect/plugins/plugin-registry.ts';
import type { TargetState } from '../../connect/task-assignment.ts';
import { toError } from '../../errors.ts';
import type { Change, ChangeOrigin } from '../../herder/recorded-change.ts';
import type { ConfigStore } from '../../herder/stores/config-store.ts';
import type { OwnStore, StoredJson } from '../../herder/stores/own-store.ts';
import type { Logger } from '../../observe/logger.ts';
import { sameConfig } from './difference.ts';
import {
  CONFIG_CHANGES,
  entryOf,
  HISTORY_PREFIX,
  prefixOf,
  recordOf,
  type HistoryEntry,
  type KeptConfig,
} from './history-entry.ts';
import { passwordKeys } from './password-keys.ts';
import { beyondLimits, byConnector } from './retention.ts';

export interface HistoryLogDependencies {
  readonly configs: ConfigStore;
  readonly own: OwnStore;
  readonly plugins: PluginRegistry;
  readonly workerId: string;
  /** `history.max.changes` */
  readonly maxChanges: number;
  readonly logger: Logger;
}

/** The state of a connector in the config topic at one time; `config` is undefined if the connector does not exist. */
export interface Snapshot {
  readonly connector: string;
  readonly config: KeptConfig | undefined;
  readonly state: TargetState;
  readonly changedAt: number;
}

type StoredEntry = readonly [key: string, stored: StoredJson];

const WRITES_AT_ONCE = 100;
const STATE_CHANGES = { STARTED: 'resumed', PAUSED: 'paused', STOPPED: 'stopped' } as const;

/** The history entries of all connectors in OwnStore. Calls that write are performed one after another. */
export class HistoryLog {
  readonly #dependencies: HistoryLogDependencies;
  readonly #queue = new SerialQueue();

  constructor(dependencies: HistoryLogDependencies) {
    this.#dependencies = dependencies;
  }

  /** Whether changes are recorded: `history.max.changes` is not 0. */
  get isOn(): boolean {
    return this.#dependencies.maxChanges > 0;
  }

  /** Resolves when all pending entries are written or have failed. */
  async idle(): Promise<void> {
    await this.#queue.idle();
  }

  /** Catches up with the entries of other workers. */
  async refresh(): Promise<void> {
    await this.#dependencies.own.refresh();
  }

  /** The entries of a connector, in the order of `n`. */
  entries(connector: string): HistoryEntry[] {
    const found = this.#dependencies.own.entries(prefixOf(connector)).flatMap((entry) => entryOf(...entry) ?? []);
    return found.sort((a, b) => a.n - b.n);
  }

  /** The entries of each connector, in the order of `n`. */
  all(): ReadonlyMap<string, HistoryEntry[]> {
    return byConnector(this.#dependencies.own.entries(HISTORY_PREFIX).flatMap((entry) => entryOf(...entry) ?? []));
  }

  snapshot(connector: string): Snapshot {
    const { configs } = this.#dependencies;
    const { config, targetState: state = 'STARTED' } = configs.connector(connector) ?? {};
    return { connector, config, state, changedAt: configs.changedAt(connector) ?? 0 };
  }

  /** Appends an entry with the present state of the connector and, for `CONFIG_CHANGES`, its present configuration. */
  async append(origin: ChangeOrigin, what: Change): Promise<void> {
    const snapshot = this.snapshot(origin.connector);
    const atMs = Date.now();
    await this.#queue.run(async () => {
      await this.refresh();
      await this.#trim([await this.#write(snapshot, this.entries(origin.connector), { ...origin, what }, atMs)]);
    });
  }

  /**
   * Appends changes that the config topic shows and that have no entry yet. `first`: the kind of change for a connector
   * without entries.
   */
  async appendUnrecorded(snapshots: readonly Snapshot[], first: 'found' | 'created'): Promise<void> {
    await this.#queue.run(async () => {
      await Promise.all([this.refresh(), this.#dependencies.configs.refresh()]);
      const known = this.all();
      const writes = snapshots.flatMap((snapshot) => {
        const entries = known.get(snapshot.connector) ?? [];
        const what = unrecordedChange(snapshot, entries, first);
        // If the connector has changed since the snapshot, this is noticed separately and recorded then.
        const isOld = entries.length > 0 && this.snapshot(snapshot.connector).changedAt !== snapshot.changedAt;
        return what === undefined || isOld ? [] : [() => this.#write(snapshot, entries, { what, by: null })];
      });
      const added: StoredEntry[] = [];
      for (let from = 0; from < writes.length; from += WRITES_AT_ONCE) {
        const some = writes.slice(from, from + WRITES_AT_ONCE);
        added.push(...(await Promise.all(some.map((write) => write()))));
      }
      if (added.length > 0) await this.#trim(added);
    });
  }

  /** Removes the entries beyond the limits. */
  async trim(): Promise<void> {
    await this.#queue.run(() => this.#trim([]));
  }

  /** Logs the failure of a write that no caller waits for. */
  inBackground(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.#dependencies.logger.warn(
        { reason: toError(error).message },
        'Failed to record a change of a connector in its history',
      );
    });
  }

  async #write(
    { connector, config, state, changedAt }: Snapshot,
    entries: readonly HistoryEntry[],
    { what, by, restoredFrom, task, automatic }: Omit<ChangeOrigin, 'connector'> & { readonly what: Change },
    atMs = Date.now(),
  ): Promise<StoredEntry> {
    const { own, plugins, workerId } = this.#dependencies;
    const withConfig = config !== undefined && CONFIG_CHANGES.has(what);
    const [key, stored] = recordOf(connector, {
      n: Math.max(changedAt, (entries.at(-1)?.n ?? 0) + 1),
      atMs,
      what,
      by,
      state,
      worker: workerId,
      ...(task === undefined ? {} : { task }),
      ...(automatic === true ? { automatic } : {}),
      ...(restoredFrom === undefined ? {} : { restoredFrom }),
      ...(withConfig ? { config } : {}),
      secretKeys: withConfig ? await passwordKeys(config, plugins) : [],
    });
    await own.put(key, stored);
    return [key, stored];
  }

  /** `added`: new entries, which this worker may not have read back yet. */
  async #trim(added: readonly StoredEntry[]): Promise<void> {
    const { own, configs, maxChanges } = this.#dependencies;
    const all = new Map([...own.entries(HISTORY_PREFIX), ...added]);
    const entries = [...all].flatMap(([key, value]) => entryOf(key, value) ?? []);
    const exists = (connector: string) => configs.connector(connector) !== undefined;
    for (const key of beyondLimits(entries, exists, maxChanges)) await own.put(key, null);
  }
}

function unrecordedChange(
  { config, state }: Snapshot,
  entries: readonly HistoryEntry[],
  first: 'found' | 'created',
): Change | undefined {
  const last = entries.at(-1);
  if (config === undefined) return last === undefined || last.what === 'deleted' ? undefined : 'deleted';
  if (last === undefined) return first;
  if (last.what === 'deleted') return 'created';
  const kept = entries.findLast((entry) => entry.config !== undefined || entry.tooLarge === true);
  if (kept?.config !== undefined && !sameConfig(kept.config, config)) return 'changed';
  return last.state === state ? undefined : STATE_CHANGES[state];
}
