import { restartSettings, restartKeys, type RestartSettings } from '../../config/restart-options.ts';
import type { ConfigResolver } from '../../config/providers/config-resolver.ts';
import type { RawConfig } from '../../config/parse.ts';
import type { Failure } from '../../connect/task-failure.ts';
import { toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import { within } from '../../async/within.ts';
import type { ConnectorChange, HerderListener } from '../../herder/herder-listener.ts';
import { mayWork, type Placement } from '../../herder/group/placement.ts';
import type { ConfigStore } from '../../herder/stores/config-store.ts';
import type { OwnStore } from '../../herder/stores/own-store.ts';
import { HealingBook } from './healing-book.ts';
import { healingKey, targetText, type HealingEntry } from './healing-entry.ts';
import type { RestartTarget } from '../../herder/herder-listener.ts';
import { RestartCounts, type RestartFigures } from './restart-counts.ts';
import { decideRestart } from './restart-policy.ts';
import { restartSentence, type RestartView } from './restart-view.ts';

/** Starts and holds what has failed. */
export interface RestartedWork {
  /** Starts it anew; its failure comes back by `onFailed`. */
  restart(target: RestartTarget): Promise<unknown>;
  /** It is FAILED on this worker now, and waits for its next attempt. */
  hold(target: RestartTarget, reason: string): void;
}

export interface HealingDependencies {
  readonly own: OwnStore;
  readonly configs: Pick<ConfigStore, 'connector'>;
  readonly placement: Pick<Placement, 'ownsConnector' | 'ownsTask' | 'mayWorkUntil'>;
  readonly resolver: Pick<ConfigResolver, 'resolve'>;
  /** The properties of the worker: defaults of its connectors. */
  readonly defaults: RawConfig;
  /** Takes secrets out of a reason. */
  readonly hide: (text: string) => string;
  readonly work: RestartedWork;
  readonly logger: Logger;
}

/** A target of this worker that has failed. */
interface Care {
  readonly target: RestartTarget;
  readonly failure: Failure;
  /** `undefined`: not decided yet; while the connector is paused, nothing is decided. */
  entry: HealingEntry | undefined;
  isPaused: boolean;
  timer: NodeJS.Timeout | undefined;
}

const SESSION_CHECK_MS = 1000;
/** At the end of the worker; the broker may be away for long. */
const LAST_WRITES_MS = 5000;

/**
 * Restarts failed connectors and tasks of this worker, by `restart.policy`. How it stands is kept in the own store, so that
 * another worker goes on counting.
 *
 * A target: well -> failed -> WAITING -> STARTED -> well after the quiet time, or failed again; or failed -> GIVEN_UP. A request,
 * a pause and another configuration make it well at once.
 */
export class Healing implements HerderListener {
  readonly #dependencies: HealingDependencies;
  readonly #book: HealingBook;
  readonly #counts = new RestartCounts();
  readonly #cares = new Map<string, Care>();
  #closed = false;
  /** Settles when the entries are stored, or cannot be in time. */
  #stored: Promise<unknown> = Promise.resolve();

  constructor(dependencies: HealingDependencies) {
    this.#dependencies = dependencies;
    this.#book = new HealingBook(dependencies.own, dependencies.configs, dependencies.logger);
  }

  /** Nothing is restarted any more. */
  async onStopping(): Promise<void> {
    this.#closed = true;
    for (const { timer } of this.#cares.values()) clearTimeout(timer);
    // The time runs while the tasks stop.
    this.#stored = within(this.#book.idle(), LAST_WRITES_MS);
  }

  async onStopped(): Promise<void> {
    await this.#stored;
  }

  /** The leader removes what is stored of connectors and tasks that do not exist. */
  onRebalanced(isLeader: boolean): void {
    if (isLeader) this.#book.sweep();
  }

  onFailed(target: RestartTarget, failure: Failure): void {
    if (this.#closed || !this.#isOwn(target)) return;
    const key = healingKey(target);
    const before = this.#cares.get(key);
    // It says so twice.
    if (before !== undefined && (before.entry === undefined || before.entry.state === 'WAITING')) return;
    clearTimeout(before?.timer);
    const reason = this.#dependencies.hide(failure.reason);
    const care: Care = { target, failure: { ...failure, reason }, entry: undefined, isPaused: false, timer: undefined };
    this.#cares.set(key, care);
    void this.#decide(care, this.#book.entry(target));
  }

  /** It runs. After the quiet time its restarts are forgotten. */
  onRunning(target: RestartTarget): void {
    const entry = this.#book.entry(target);
    if (entry === undefined) return;
    if (entry.attempt === 0) {
      this.onRestart(target);
      return;
    }
    const care = this.#cares.get(healingKey(target)) ?? this.#adopt(target, entry);
    if (entry.state !== 'STARTED') this.#set(care, { ...entry, state: 'STARTED', nextAttemptAtMs: null });
    clearTimeout(care.timer);
    care.timer = setTimeout(() => {
      const ran = `${targetText(target)} has run for ${String(entry.quietMs)} ms since its last restart`;
      this.#dependencies.logger.info({ ...target }, `${ran}: its restarts count from the beginning`);
      this.onRestart(target);
    }, entry.quietMs).unref();
  }

  /** Whether the start of what has come to this worker has to wait for the time of its next attempt. */
  isHeld(target: RestartTarget): boolean {
    const entry = this.#book.entry(target);
    if (entry === undefined || this.#cares.has(healingKey(target))) return entry?.state === 'WAITING';
    if (entry.state !== 'WAITING') return false;
    if (!this.#isWanted(target)) {
      this.onRestart(target);
      return false;
    }
    const care = this.#adopt(target, entry);
    const waitMs = (entry.nextAttemptAtMs ?? 0) - Date.now();
    if (waitMs <= 0) {
      this.#begin(care, entry);
      return false;
    }
    this.#wait(care, waitMs);
    this.#dependencies.logger.info({ ...target }, `Taken over: ${restartSentence(target, entry)}`);
    this.#dependencies.work.hold(target, entry.reason);
    return true;
  }

  /** This worker has given it up; what is stored stays for the next one. */
  onLeft(target: RestartTarget): void {
    this.#drop(target);
    this.#book.release(target);
  }

  /** Its restarts count from the beginning. */
  onRestart(target: RestartTarget): void {
    this.#drop(target);
    this.#book.remove(target);
  }

  onRestartAll(connector: string): void {
    for (const { target } of this.#of(connector)) this.onRestart(target);
  }

  onConnectorChanged(connector: string, change: ConnectorChange): void {
    if (change === 'target state') this.#targetStateChanged(connector);
    else this.#configChanged(connector);
  }

  #configChanged(connector: string): void {
    for (const { target, entry } of this.#of(connector)) {
      if (entry !== undefined && this.#book.fingerprint(target) !== entry.config) this.onRestart(target);
    }
  }

  #targetStateChanged(connector: string): void {
    const state = this.#dependencies.configs.connector(connector)?.targetState;
    for (const care of this.#of(connector)) {
      const { target, entry } = care;
      const staysFailed = target.task !== undefined && entry?.state !== 'STARTED';
      if (state === 'STARTED') {
        if (care.isPaused) void this.#decide(care, undefined);
      } else if (state === 'PAUSED' && staysFailed) this.#pause(care);
      else this.onRestart(target);
    }
  }

  /** `isLeader`: what other workers have stored is removed too. */
  onForgotten(connector: string, isLeader: boolean): void {
    this.onRestartAll(connector);
    this.#counts.forget(connector);
    this.#book.forget(connector, isLeader);
  }

  /** Of all workers, by task; the connector's own first. */
  views(connector: string): readonly RestartView[] {
    return this.#book.views(connector);
  }

  figures(): RestartFigures {
    const waiting = new Map<string, number>();
    for (const { target, entry } of this.#cares.values()) {
      waiting.set(target.connector, (waiting.get(target.connector) ?? 0) + (entry?.state === 'WAITING' ? 1 : 0));
    }
    return { made: this.#counts.all(), waiting };
  }

  async #decide(care: Care, earlier: HealingEntry | undefined): Promise<void> {
    const { target, failure } = care;
    care.isPaused = !this.#isWanted(target);
    if (care.isPaused) return;
    const settings = await settingsOf(target.connector, this.#dependencies);
    const config = this.#book.fingerprint(target);
    const isCurrent = this.#cares.get(healingKey(target)) === care && !care.isPaused;
    if (this.#closed || config === undefined || !isCurrent) return;
    const attempts = earlier?.attempt ?? 0;
    const decision = decideRestart(settings, failure.kind, attempts, Math.random());
    const now = Date.now();
    const entry: HealingEntry = {
      state: decision.restart ? 'WAITING' : 'GIVEN_UP',
      policy: settings.policy,
      attempt: decision.restart ? decision.attempt : attempts,
      maxAttempts: settings.maxAttempts,
      nextAttemptAtMs: decision.restart ? now + decision.delayMs : null,
      quietMs: settings.quietMs,
      kind: failure.kind,
      reason: failure.reason,
      sinceMs: earlier?.sinceMs ?? now,
      config,
    };
    this.#set(care, entry);
    if (decision.restart) this.#wait(care, decision.delayMs);
    this.#dependencies.logger.warn({ ...target }, restartSentence(target, entry));
  }

  #wait(care: Care, ms: number): void {
    clearTimeout(care.timer);
    care.timer = setTimeout(() => {
      this.#attempt(care);
    }, ms).unref();
  }

  #attempt(care: Care): void {
    const { target, entry } = care;
    const { placement, logger, work } = this.#dependencies;
    if (this.#closed || entry === undefined) return;
    if (!this.#isOwn(target)) {
      this.onLeft(target);
      return;
    }
    if (!mayWork(placement)) {
      this.#wait(care, SESSION_CHECK_MS);
      return;
    }
    this.#begin(care, entry);
    work.restart(target).catch((error: unknown) => {
      logger.error({ err: error, ...target }, `${targetText(target)} could not be restarted`);
    });
  }

  #begin(care: Care, entry: HealingEntry): void {
    const { target } = care;
    this.#set(care, { ...entry, state: 'STARTED', nextAttemptAtMs: null });
    this.#counts.add(target, entry.kind);
    const count = `${String(entry.attempt)}${entry.maxAttempts < 0 ? '' : ` of ${String(entry.maxAttempts)}`}`;
    this.#dependencies.logger.info(
      { ...target },
      `${targetText(target)} is restarted, attempt ${count}, because it has failed (${entry.kind}): ${entry.reason}`,
    );
  }

  /** It stays FAILED, and is looked at anew when the connector is resumed. */
  #pause(care: Care): void {
    clearTimeout(care.timer);
    care.entry = undefined;
    care.isPaused = true;
    this.#book.remove(care.target);
  }

  #set(care: Care, entry: HealingEntry): void {
    care.entry = entry;
    this.#book.put(care.target, entry);
  }

  #adopt(target: RestartTarget, entry: HealingEntry): Care {
    const { kind, reason } = entry;
    const care: Care = { target, failure: { kind, reason }, entry, isPaused: false, timer: undefined };
    this.#cares.set(healingKey(target), care);
    return care;
  }

  #drop(target: RestartTarget): void {
    const key = healingKey(target);
    clearTimeout(this.#cares.get(key)?.timer);
    this.#cares.delete(key);
  }

  #of(connector: string): Care[] {
    return [...this.#cares.values()].filter(({ target }) => target.connector === connector);
  }

  #isOwn({ connector, task }: RestartTarget): boolean {
    const { placement } = this.#dependencies;
    return task === undefined ? placement.ownsConnector(connector) : placement.ownsTask({ connector, task });
  }

  #isWanted({ connector }: RestartTarget): boolean {
    return this.#dependencies.configs.connector(connector)?.targetState === 'STARTED';
  }
}

/** Those of the connector, or of the worker where the connector's cannot be read. */
async function settingsOf(
  connector: string,
  { configs, resolver, defaults, logger }: HealingDependencies,
): Promise<RestartSettings> {
  try {
    const { config } = await resolver.resolve(restartKeys(configs.connector(connector)?.config ?? {}));
    return restartSettings(config, defaults);
  } catch (error) {
    logger.warn(
      { connector, reason: toError(error).message },
      `The options restart.… of connector ${connector} cannot be read; the options of the worker apply`,
    );
    return restartSettings({}, defaults);
  }
}
