import { within } from '../../async/within.ts';
import type { TargetState } from '../../connect/task-assignment.ts';
import { RequestError } from '../../errors.ts';
import type { HerderListener } from '../../herder/herder-listener.ts';
import type { Change, ChangeOrigin, ChangeRecorder } from '../../herder/recorded-change.ts';
import { difference } from './difference.ts';
import type { KeyDifference } from './history-answers.ts';
import type { HistoryEntry, KeptConfig } from './history-entry.ts';
import { HistoryLog, type HistoryLogDependencies } from './history-log.ts';
import { passwordKeys } from './password-keys.ts';
import { UnrecordedChanges } from './unrecorded-changes.ts';

/** An entry as it is shown. */
export interface HistoryItem {
  readonly entry: HistoryEntry;
  /** The difference from the previous configuration; `null`: unknown. */
  readonly difference: readonly KeyDifference[] | null;
}

/** The difference between the present configuration and an earlier one. */
export interface DifferenceToToday {
  readonly today: KeptConfig | undefined;
  readonly then: KeptConfig;
  readonly difference: readonly KeyDifference[];
  readonly newest: number;
}

/** A deleted connector with a history. */
export interface DeletedConnector {
  readonly connector: string;
  readonly atMs: number;
  /** Number of the last change before the deletion; `undefined` if its configuration was not kept. */
  readonly restores: number | undefined;
}

/** Maximum time for which the answer to a request waits until its entry is written. */
const RECORD_MS = 2000;

/**
 * The changes of connectors, who made them, and earlier configurations. The worker that makes a change records it; the
 * leader records the changes that no worker has recorded (UnrecordedChanges).
 */
export class ConnectorHistory implements HerderListener, ChangeRecorder {
  readonly #dependencies: HistoryLogDependencies;
  readonly #hide: (text: string) => string;
  readonly #log: HistoryLog;
  readonly #unrecorded: UnrecordedChanges;
  /** Number of changes that this worker is making, by connector. */
  readonly #changing = new Map<string, number>();

  /** `hide` removes known secrets from a text. */
  constructor(dependencies: HistoryLogDependencies, hide: (text: string) => string) {
    this.#dependencies = dependencies;
    this.#hide = hide;
    this.#log = new HistoryLog(dependencies);
    const names = (): readonly string[] => dependencies.configs.names();
    this.#unrecorded = new UnrecordedChanges(this.#log, names, (connector) => this.#changing.has(connector));
  }

  onRebalanced(isLeader: boolean): void {
    if (isLeader) this.#unrecorded.lead();
    else this.#unrecorded.follow();
  }

  async onStopping(): Promise<void> {
    this.#unrecorded.follow();
  }

  /** Resolves when pending entries are written, or after the time limit. */
  async onStopped(): Promise<void> {
    await within(this.#log.idle(), RECORD_MS);
  }

  onConnectorChanged(connector: string): void {
    this.#unrecorded.notice(connector);
  }

  async recorded<T>(origin: ChangeOrigin, work: () => Promise<T>, whatOf: (done: T) => Change | undefined): Promise<T> {
    const { connector } = origin;
    this.#changing.set(connector, (this.#changing.get(connector) ?? 0) + 1);
    try {
      const done = await work();
      const what = whatOf(done);
      if (what !== undefined && this.#log.isOn) await this.#record(origin, what);
      return done;
    } finally {
      const others = (this.#changing.get(connector) ?? 1) - 1;
      if (others === 0) this.#changing.delete(connector);
      else this.#changing.set(connector, others);
    }
  }

  async #record(origin: ChangeOrigin, what: Change): Promise<void> {
    const writing = this.#log.append(origin, what);
    this.#log.inBackground(writing);
    await within(
      writing.catch(() => undefined),
      RECORD_MS,
    );
  }

  /**
   * The changes of a connector, the newest first. Throws a RequestError 404 if the connector does not exist and has no
   * history.
   */
  async items(connector: string): Promise<HistoryItem[]> {
    const entries = await this.#read(connector);
    const secretKeys = new Set(entries.flatMap((entry) => entry.secretKeys));
    const hide = this.#hide;
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

  /** The configuration and state after change `n`. Throws a RequestError if they are unknown. */
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
   * The difference that restoring the configuration of change `n` would make; `today` is undefined for a deleted
   * connector. `newest`: the number of the last change. Throws a RequestError if the configuration is unknown.
   */
  async toToday(connector: string, n: number): Promise<DifferenceToToday> {
    const { configs, plugins } = this.#dependencies;
    const { config: then } = await this.configAt(connector, n);
    const entries = this.#log.entries(connector);
    const today = configs.connector(connector)?.config;
    const secretKeys = [...entries.flatMap((entry) => entry.secretKeys), ...(await passwordKeys(today ?? {}, plugins))];
    const keys = difference(today ?? {}, then, new Set(secretKeys), this.#hide);
    return { today, then, difference: keys, newest: entries.at(-1)?.n ?? n };
  }

  /** Deleted connectors that have a history, the one that was deleted last first. */
  async deleted(): Promise<readonly DeletedConnector[]> {
    const { configs } = this.#dependencies;
    await this.#log.refresh();
    const gone = [...this.#log.all()].filter(([name]) => configs.connector(name) === undefined);
    return gone
      .map(([connector, entries]) => ({
        connector,
        atMs: entries.at(-1)?.atMs ?? 0,
        restores: lastRestorable(entries),
      }))
      .sort((a, b) => b.atMs - a.atMs);
  }

  async #read(connector: string): Promise<HistoryEntry[]> {
    await this.#log.idle();
    await this.#log.refresh();
    const entries = this.#log.entries(connector);
    if (entries.length === 0 && this.#dependencies.configs.connector(connector) === undefined) {
      throw new RequestError(404, `Connector ${connector} not found`);
    }
    return entries;
  }
}

/** The configuration after the last entry; `undefined` if it was not kept. */
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
