import { SerialQueue } from '../../async/serial-queue.ts';
import { within } from '../../async/within.ts';
import type { TargetState } from '../../connect/task-assignment.ts';
import type { PluginRegistry } from '../../connect/plugins/plugin-registry.ts';
import { RequestError, toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { HerderListener } from '../../herder/herder-listener.ts';
import type { Change, ChangeOrigin, ChangeRecorder } from '../../herder/recorded-change.ts';
import type { ConfigStore } from '../../herder/stores/config-store.ts';
import type { OwnStore, StoredJson } from '../../herder/stores/own-store.ts';
import { difference, sameConfig } from './difference.ts';
import type { KeyDifference } from './history-answers.ts';
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

/** An entry as it is shown. */
export interface HistoryItem {
  readonly entry: HistoryEntry;
  /** To the configuration before. `null`: that is not known. */
  readonly difference: readonly KeyDifference[] | null;
}

/** Between the configuration of today and an earlier one. */
export interface DifferenceToToday {
  readonly today: KeptConfig | undefined;
  readonly then: KeptConfig;
  readonly difference: readonly KeyDifference[];
  readonly newest: number;
}

/** One that was deleted and has a history. */
export interface DeletedConnector {
  readonly connector: string;
  readonly atMs: number;
  /** The last change whose configuration can be put back. */
  readonly restores: number | undefined;
}

export interface ConnectorHistoryDependencies {
  readonly configs: ConfigStore;
  readonly own: OwnStore;
  readonly plugins: PluginRegistry;
  readonly workerId: string;
  /** `history.max.changes` */
  readonly maxChanges: number;
  /** Takes known secrets out of a text. */
  readonly hide: (text: string) => string;
  readonly logger: Logger;
}

interface Snapshot {
  readonly connector: string;
  readonly config: KeptConfig | undefined;
  readonly state: TargetState;
  readonly changedAt: number;
}

/** How long the answer to a request waits for its entry. */
const RECORD_MS = 2000;
/** What another worker of the cluster changes, it records itself in less time; what nobody has recorded then, the leader does. */
const OTHERS_MS = 5000;
const AGAIN_MS = 500;
const WRITES_AT_ONCE = 100;

/**
 * What was changed about connectors, by whom, and the configurations of before, in the topic of Sluice's own. The worker that makes a
 * change records it. The leader records what the config topic shows and nobody has recorded: changes by Java workers, by
 * programs that write that topic, and by workers that ended too soon.
 */
export class ConnectorHistory implements HerderListener, ChangeRecorder {
  readonly #dependencies: ConnectorHistoryDependencies;
  readonly #queue = new SerialQueue();
  /** How many changes of a connector are under way here. */
  readonly #underWay = new Map<string, number>();
  /** When what was noticed is to be looked at; milliseconds since the epoch. */
  readonly #noticed = new Map<string, number>();
  #leads = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(dependencies: ConnectorHistoryDependencies) {
    this.#dependencies = dependencies;
  }

  onRebalanced(isLeader: boolean): void {
    if (isLeader) this.#lead();
    else this.#follow();
  }

  async onStopping(): Promise<void> {
    this.#follow();
  }

  /** Resolves when what is being recorded is written, or cannot be in time. */
  async onStopped(): Promise<void> {
    await within(this.#queue.idle(), RECORD_MS);
  }

  /** To be called whenever this worker leads after a division of work. */
  #lead(): void {
    if (this.#leads) return;
    this.#leads = true;
    const { configs, own } = this.#dependencies;
    const recorded = own.entries(HISTORY_PREFIX).flatMap((entry) => entryOf(...entry) ?? []);
    const names = new Set([...configs.names(), ...recorded.map(({ connector }) => connector)]);
    const snapshots = this.#isOn ? [...names].map((name) => this.#snapshot(name)) : [];
    this.#inBackground(this.#recordUnknown(snapshots, 'found'));
    // More may be kept than this worker is to keep.
    this.#inBackground(this.#queue.run(() => this.#trim([])));
  }

  get #isOn(): boolean {
    return this.#dependencies.maxChanges > 0;
  }

  /** It does not lead, or ends. */
  #follow(): void {
    this.#leads = false;
    this.#noticed.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async recorded<T>(origin: ChangeOrigin, work: () => Promise<T>, whatOf: (done: T) => Change | undefined): Promise<T> {
    const { connector } = origin;
    this.#underWay.set(connector, (this.#underWay.get(connector) ?? 0) + 1);
    try {
      const done = await work();
      const what = whatOf(done);
      if (what !== undefined && this.#isOn) await this.#record(origin, what);
      return done;
    } finally {
      const others = (this.#underWay.get(connector) ?? 1) - 1;
      if (others === 0) this.#underWay.delete(connector);
      else this.#underWay.set(connector, others);
    }
  }

  onConnectorChanged(connector: string): void {
    if (!this.#leads || !this.#isOn) return;
    this.#noticed.set(connector, Date.now() + OTHERS_MS);
    this.#look(OTHERS_MS);
  }

  /** The newest first. A RequestError 404 when there is no such connector and never was. */
  async items(connector: string): Promise<HistoryItem[]> {
    const entries = await this.#read(connector);
    const secretKeys = new Set(entries.flatMap((entry) => entry.secretKeys));
    const { hide } = this.#dependencies;
    let config: KeptConfig | undefined;
    const items = entries.map((entry): HistoryItem => {
      const before = entry.what === 'created' ? {} : config;
      const now = entry.config;
      if (entry.what === 'deleted') config = {};
      else if (now !== undefined || entry.tooLarge === true) config = now;
      const shown =
        entry.what === 'found' || before === undefined || now === undefined ? null : ([before, now] as const);
      if (now === undefined && entry.tooLarge !== true) return { entry, difference: [] };
      return { entry, difference: shown && difference(...shown, secretKeys, hide) };
    });
    return items.reverse();
  }

  /** The configuration and state after change `n`. A RequestError when there is none. */
  async configAt(connector: string, n: number): Promise<{ config: KeptConfig; state: TargetState }> {
    const entries = await this.#read(connector);
    const index = entries.findIndex((entry) => entry.n === n);
    const entry = entries[index];
    if (entry === undefined)
      throw new RequestError(404, `The history of connector ${connector} has no change ${String(n)}`);
    if (entry.what === 'deleted') {
      throw new RequestError(400, `Change ${String(n)} deleted the connector; restore one before it`);
    }
    const config = keptConfig(entries.slice(0, index + 1));
    if (config !== undefined) return { config, state: entry.state };
    throw new RequestError(404, `The configuration of connector ${connector} after change ${String(n)} was not kept`);
  }

  /**
   * What would change if the configuration of change `n` were put back; `today` is undefined for a connector that is not
   * there. `newest`: the number of the last change. A RequestError when there is nothing to put back.
   */
  async toToday(connector: string, n: number): Promise<DifferenceToToday> {
    const { configs, plugins, hide } = this.#dependencies;
    const { config: then } = await this.configAt(connector, n);
    const entries = this.#entries(connector);
    const today = configs.connector(connector)?.config;
    const secretKeys = [...entries.flatMap((entry) => entry.secretKeys), ...(await passwordKeys(today ?? {}, plugins))];
    const keys = difference(today ?? {}, then, new Set(secretKeys), hide);
    return { today, then, difference: keys, newest: entries.at(-1)?.n ?? n };
  }

  /** Those that were deleted and have a history, the last first. */
  async deleted(): Promise<readonly DeletedConnector[]> {
    const { configs, own } = this.#dependencies;
    await own.refresh();
    const known = byConnector(own.entries(HISTORY_PREFIX).flatMap((entry) => entryOf(...entry) ?? []));
    const gone = [...known].filter(([name]) => configs.connector(name) === undefined);
    return gone
      .map(([connector, entries]) => ({
        connector,
        atMs: entries.at(-1)?.atMs ?? 0,
        restores: lastRestorable(entries),
      }))
      .sort((a, b) => b.atMs - a.atMs);
  }

  async #read(connector: string): Promise<HistoryEntry[]> {
    const { configs, own } = this.#dependencies;
    await this.#queue.idle();
    await own.refresh();
    const entries = this.#entries(connector);
    if (entries.length === 0 && configs.connector(connector) === undefined) {
      throw new RequestError(404, `Connector ${connector} not found`);
    }
    return entries;
  }

  /** By `n`. */
  #entries(connector: string): HistoryEntry[] {
    const found = this.#dependencies.own.entries(prefixOf(connector)).flatMap((entry) => entryOf(...entry) ?? []);
    return found.sort((a, b) => a.n - b.n);
  }

  #snapshot(connector: string): Snapshot {
    const { configs } = this.#dependencies;
    const { config, targetState: state = 'STARTED' } = configs.connector(connector) ?? {};
    return { connector, config, state, changedAt: configs.changedAt(connector) ?? 0 };
  }

  async #record(origin: ChangeOrigin, what: Change): Promise<void> {
    const snapshot = this.#snapshot(origin.connector);
    const atMs = Date.now();
    const writing = this.#queue.run(async () => {
      await this.#dependencies.own.refresh();
      await this.#trim([await this.#write(snapshot, this.#entries(origin.connector), { ...origin, what }, atMs)]);
    });
    this.#inBackground(writing);
    await within(
      writing.catch(() => undefined),
      RECORD_MS,
    );
  }

  async #write(
    { connector, config, state, changedAt }: Snapshot,
    entries: readonly HistoryEntry[],
    { what, by, restoredFrom, task, automatic }: Omit<ChangeOrigin, 'connector'> & { readonly what: Change },
    atMs = Date.now(),
  ): Promise<readonly [string, StoredJson]> {
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

  /** `added` may not have come back yet. */
  async #trim(added: readonly (readonly [string, StoredJson])[]): Promise<void> {
    const { own, configs, maxChanges } = this.#dependencies;
    const all = new Map([...own.entries(HISTORY_PREFIX), ...added]);
    const entries = [...all].flatMap(([key, value]) => entryOf(key, value) ?? []);
    const exists = (connector: string) => configs.connector(connector) !== undefined;
    for (const key of beyondLimits(entries, exists, maxChanges)) await own.put(key, null);
  }

  /** Looks at all that is due, `inMs` from now. */
  #look(inMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const now = Date.now();
      const due = [...this.#noticed].filter(([name, dueMs]) => dueMs <= now && !this.#underWay.has(name));
      for (const [name] of due) this.#noticed.delete(name);
      if (this.#noticed.size > 0) this.#look(AGAIN_MS);
      if (due.length > 0)
        this.#inBackground(
          this.#recordUnknown(
            due.map(([name]) => this.#snapshot(name)),
            'created',
          ),
        );
    }, inMs).unref();
  }

  /** What the config topic shows and no entry says. `first`: what is said of a connector without entries. */
  async #recordUnknown(snapshots: readonly Snapshot[], first: 'found' | 'created'): Promise<void> {
    const { own, configs } = this.#dependencies;
    await this.#queue.run(async () => {
      await Promise.all([own.refresh(), configs.refresh()]);
      const known = byConnector(own.entries(HISTORY_PREFIX).flatMap((entry) => entryOf(...entry) ?? []));
      const writes = snapshots.flatMap((snapshot) => {
        const entries = known.get(snapshot.connector) ?? [];
        const what = unrecorded(snapshot, entries, first);
        // What has changed since is noticed again.
        const isOld = entries.length > 0 && this.#snapshot(snapshot.connector).changedAt !== snapshot.changedAt;
        return what === undefined || isOld ? [] : [() => this.#write(snapshot, entries, { what, by: null })];
      });
      const added: (readonly [string, StoredJson])[] = [];
      for (let from = 0; from < writes.length; from += WRITES_AT_ONCE) {
        const some = writes.slice(from, from + WRITES_AT_ONCE);
        added.push(...(await Promise.all(some.map((write) => write()))));
      }
      if (added.length > 0) await this.#trim(added);
    });
  }

  #inBackground(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.#dependencies.logger.warn(
        { reason: toError(error).message },
        'Failed to record a change of a connector in its history',
      );
    });
  }
}

/** The configuration after the last of the entries; `undefined` where it was not kept. */
function keptConfig(entries: readonly HistoryEntry[]): KeptConfig | undefined {
  const last = entries.findLast(
    ({ config, what, tooLarge }) => config !== undefined || what === 'deleted' || tooLarge === true,
  );
  return last?.config;
}

function lastRestorable(entries: readonly HistoryEntry[]): number | undefined {
  const end = entries.findLastIndex(({ what }) => what !== 'deleted') + 1;
  return keptConfig(entries.slice(0, end)) === undefined ? undefined : entries[end - 1]?.n;
}

const STATE_CHANGES = { STARTED: 'resumed', PAUSED: 'paused', STOPPED: 'stopped' } as const;

function unrecorded(
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
