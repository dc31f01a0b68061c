import type { HistoryLog } from './history-log.ts';

/**
 * Other workers record their own changes within this time. Afterwards, the leader records those that are still missing.
 */
const OTHERS_MS = 5000;
const AGAIN_MS = 500;

/**
 * Records, on the leader, the changes that are in the config topic but that no worker has recorded: those of Java workers,
 * of programs that write to the topic, and of workers that ended before they recorded a change.
 */
export class UnrecordedChanges {
  readonly #log: HistoryLog;
  readonly #names: () => readonly string[];
  readonly #isChanging: (connector: string) => boolean;
  /** When the changes of a connector must be examined; milliseconds since the epoch. */
  readonly #noticed = new Map<string, number>();
  #leads = false;
  #timer: NodeJS.Timeout | undefined;

  /** `names`: the existing connectors; `isChanging`: whether this worker is changing the connector, and will record it. */
  constructor(log: HistoryLog, names: () => readonly string[], isChanging: (connector: string) => boolean) {
    this.#log = log;
    this.#names = names;
    this.#isChanging = isChanging;
  }

  /** Called when this worker leads after a rebalance. */
  lead(): void {
    if (this.#leads) return;
    this.#leads = true;
    const log = this.#log;
    const names = log.isOn ? new Set([...this.#names(), ...log.all().keys()]) : [];
    const snapshots = [...names].map((name) => log.snapshot(name));
    log.inBackground(log.appendUnrecorded(snapshots, 'found'));
    // Another worker with a higher `history.max.changes` may have kept more entries.
    log.inBackground(log.trim());
  }

  /** Called when this worker does not lead any more, or stops. */
  follow(): void {
    this.#leads = false;
    this.#noticed.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  notice(connector: string): void {
    if (!this.#leads || !this.#log.isOn) return;
    this.#noticed.set(connector, Date.now() + OTHERS_MS);
    this.#examineIn(OTHERS_MS);
  }

  #examineIn(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const now = Date.now();
      const due = [...this.#noticed].filter(([name, dueMs]) => dueMs <= now && !this.#isChanging(name));
      for (const [name] of due) this.#noticed.delete(name);
      if (this.#noticed.size > 0) this.#examineIn(AGAIN_MS);
      const log = this.#log;
      const snapshots = due.map(([name]) => log.snapshot(name));
      if (snapshots.length > 0) log.inBackground(log.appendUnrecorded(snapshots, 'created'));
    }, ms).unref();
  }
}
