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
import { RestartStates } from './restart-states.ts';
import { restartKey, targetText, type RestartState } from './restart-state.ts';
import type { RestartTarget } from '../../herder/herder-listener.ts';
import { RestartCounts, type RestartFigures } from './restart-counts.ts';
import { decideRestart } from './restart-policy.ts';
import { restartSentence, type RestartView } from './restart-view.ts';

/** Restarts failed connectors and tasks, or keeps them from starting. */
export interface RestartedWork {
  /** Restarts the target; if it fails again, `onFailed` is called. */
  restart(target: RestartTarget): Promise<unknown>;
  /** Keeps the target FAILED on this worker until its next attempt. */
  hold(target: RestartTarget, reason: string): void;
}

export interface AutomaticRestartsDependencies {
  readonly own: OwnStore;
  readonly configs: Pick<ConfigStore, 'connector'>;
  readonly placement: Pick<Placement, 'ownsConnector' | 'ownsTask' | 'mayWorkUntil'>;
  readonly resolver: Pick<ConfigResolver, 'resolve'>;
  /** The properties of the worker: defaults for its connectors. */
  readonly defaults: RawConfig;
  /** Hides secrets in a reason. */
  readonly hide: (text: string) => string;
  readonly work: RestartedWork;
  readonly logger: Logger;
}

/** A connector or task of this worker that has failed. */
interface FailedTarget {
  readonly target: RestartTarget;
  readonly failure: Failure;
  /** `undefined`: not decided yet; nothing is decided while the connector is paused. */
  restart: RestartState | undefined;
  isPaused: boolean;
  timer: NodeJS.Timeout | undefined;
}

const SESSION_CHECK_MS = 1000;
/** Limit of the last writes when the worker stops, because the broker may be unreachable. */
const LAST_WRITES_MS = 5000;

/**
 * Restarts failed connectors and tasks of this worker by `restart.policy`. The restart states are kept in OwnStore, so
 * that another worker continues the count.
 *
 * A target: healthy -> failed -> WAITING -> STARTED -> healthy after the quiet time, or failed again; or failed ->
 * GIVEN_UP. A restart request, a change of the configuration, or pausing or stopping the connector removes the restart
 * state of the target.
 */
export class AutomaticRestarts implements HerderListener {
  readonly #dependencies: AutomaticRestartsDependencies;
  readonly #states: RestartStates;
  readonly #counts = new RestartCounts();
  readonly #failed = new Map<string, FailedTarget>();
  #closed = false;
  /** Settles when the restart states are stored, or after the time limit. */
  #stored: Promise<unknown> = Promise.resolve();

  constructor(dependencies: AutomaticRestartsDependencies) {
    this.#dependencies = dependencies;
    this.#states = new RestartStates(dependencies.own, dependencies.configs, dependencies.logger);
  }

  /** Restarts nothing from now on. */
  async onStopping(): Promise<void> {
    this.#closed = true;
    for (const { timer } of this.#failed.values()) clearTimeout(timer);
    // The time limit starts now, so that it runs while the tasks stop.
    this.#stored = within(this.#states.idle(), LAST_WRITES_MS);
  }

  async onStopped(): Promise<void> {
    await this.#stored;
  }

  /** The leader removes the states of connectors and tasks that do not exist. */
  onRebalanced(isLeader: boolean): void {
    if (isLeader) this.#states.sweep();
  }

  onFailed(target: RestartTarget, failure: Failure): void {
    if (this.#closed || !this.#isOwn(target)) return;
    const key = restartKey(target);
    const before = this.#failed.get(key);
    // An earlier call has already reported this failure.
    if (before !== undefined && (before.restart === undefined || before.restart.state === 'WAITING')) return;
    clearTimeout(before?.timer);
    const hidden = { ...failure, reason: this.#dependencies.hide(failure.reason) };
    const failed: FailedTarget = { target, failure: hidden, restart: undefined, isPaused: false, timer: undefined };
    this.#failed.set(key, failed);
    void this.#decide(failed, this.#states.get(target));
  }

  /** Called when a target runs. If it does not fail within the quiet time, its restarts are forgotten. */
  onRunning(target: RestartTarget): void {
    const restart = this.#states.get(target);
    if (restart === undefined) return;
    if (restart.attempt === 0) {
      this.onRestart(target);
      return;
    }
    const failed = this.#failed.get(restartKey(target)) ?? this.#adopt(target, restart);
    if (restart.state !== 'STARTED') this.#set(failed, { ...restart, state: 'STARTED', nextAttemptAtMs: null });
    clearTimeout(failed.timer);
    failed.timer = setTimeout(() => {
      const ran = `${targetText(target)} has run for ${String(restart.quietMs)} ms since its last restart`;
      this.#dependencies.logger.info({ ...target }, `${ran}; its restart count was reset`);
      this.onRestart(target);
    }, restart.quietMs).unref();
  }

  /** Whether the start of a target that was assigned to this worker must wait for its next attempt. */
  isHeld(target: RestartTarget): boolean {
    const restart = this.#states.get(target);
    if (restart === undefined || this.#failed.has(restartKey(target))) return restart?.state === 'WAITING';
    if (restart.state !== 'WAITING') return false;
    if (!this.#isWanted(target)) {
      this.onRestart(target);
      return false;
    }
    const failed = this.#adopt(target, restart);
    const waitMs = (restart.nextAttemptAtMs ?? 0) - Date.now();
    if (waitMs <= 0) {
      this.#begin(failed, restart);
      return false;
    }
    this.#wait(failed, waitMs);
    this.#dependencies.logger.info({ ...target }, `Taken over: ${restartSentence(target, restart)}`);
    this.#dependencies.work.hold(target, restart.reason);
    return true;
  }

  /** Called when the target was revoked; the stored state stays for its next worker. */
  onLeft(target: RestartTarget): void {
    this.#drop(target);
    this.#states.release(target);
  }

  /** Forgets the restarts of the target: the next ones are counted from the start. */
  onRestart(target: RestartTarget): void {
    this.#drop(target);
    this.#states.remove(target);
  }

  onRestartAll(connector: string): void {
    for (const { target } of this.#of(connector)) this.onRestart(target);
  }

  onConnectorChanged(connector: string, change: ConnectorChange): void {
    if (change === 'target state') this.#targetStateChanged(connector);
    else this.#configChanged(connector);
  }

  #configChanged(connector: string): void {
    for (const { target, restart } of this.#of(connector)) {
      if (restart !== undefined && this.#states.fingerprint(target) !== restart.config) this.onRestart(target);
    }
  }

  #targetStateChanged(connector: string): void {
    const targetState = this.#dependencies.configs.connector(connector)?.targetState;
    for (const failed of this.#of(connector)) {
      const { target, restart } = failed;
      const staysFailed = target.task !== undefined && restart?.state !== 'STARTED';
      if (targetState === 'STARTED') {
        if (failed.isPaused) void this.#decide(failed, undefined);
      } else if (targetState === 'PAUSED' && staysFailed) this.#pause(failed);
      else this.onRestart(target);
    }
  }

  /** Called when a connector was deleted. The leader also removes the states that other workers have stored. */
  onForgotten(connector: string, isLeader: boolean): void {
    this.onRestartAll(connector);
    this.#counts.forget(connector);
    this.#states.forget(connector, isLeader);
  }

  /** The restart states on all workers, by task; the connector's own first. */
  views(connector: string): readonly RestartView[] {
    return this.#states.views(connector);
  }

  figures(): RestartFigures {
    const waiting = new Map<string, number>();
    for (const { target, restart } of this.#failed.values()) {
      waiting.set(target.connector, (waiting.get(target.connector) ?? 0) + (restart?.state === 'WAITING' ? 1 : 0));
    }
    return { made: this.#counts.all(), waiting };
  }

  async #decide(failed: FailedTarget, earlier: RestartState | undefined): Promise<void> {
    const { target, failure } = failed;
    failed.isPaused = !this.#isWanted(target);
    if (failed.isPaused) return;
    const settings = await settingsOf(target.connector, this.#dependencies);
    const config = this.#states.fingerprint(target);
    const isCurrent = this.#failed.get(restartKey(target)) === failed && !failed.isPaused;
    if (this.#closed || config === undefined || !isCurrent) return;
    const attempts = earlier?.attempt ?? 0;
    const decision = decideRestart(settings, failure.kind, attempts, Math.random());
    const now = Date.now();
    const restart: RestartState = {
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
    this.#set(failed, restart);
    if (decision.restart) this.#wait(failed, decision.delayMs);
    this.#dependencies.logger.warn({ ...target }, restartSentence(target, restart));
  }

  #wait(failed: FailedTarget, ms: number): void {
    clearTimeout(failed.timer);
    failed.timer = setTimeout(() => {
      this.#attempt(failed);
    }, ms).unref();
  }

  #attempt(failed: FailedTarget): void {
    const { target, restart } = failed;
    const { placement, logger, work } = this.#dependencies;
    if (this.#closed || restart === undefined) return;
    if (!this.#isOwn(target)) {
      this.onLeft(target);
      return;
    }
    if (!mayWork(placement)) {
      this.#wait(failed, SESSION_CHECK_MS);
      return;
    }
    this.#begin(failed, restart);
    work.restart(target).catch((error: unknown) => {
      logger.error({ err: error, ...target }, `${targetText(target)} could not be restarted`);
    });
  }

  #begin(failed: FailedTarget, restart: RestartState): void {
    const { target } = failed;
    this.#set(failed, { ...restart, state: 'STARTED', nextAttemptAtMs: null });
    this.#counts.add(target, restart.kind);
    const count = `${String(restart.attempt)}${restart.maxAttempts < 0 ? '' : ` of ${String(restart.maxAttempts)}`}`;
    this.#dependencies.logger.info(
      { ...target },
      `${targetText(target)} is restarted, attempt ${count}, because it has failed (${restart.kind}): ${restart.reason}`,
    );
  }

  /** The target stays FAILED; its restart is decided again when the connector is resumed. */
  #pause(failed: FailedTarget): void {
    clearTimeout(failed.timer);
    failed.restart = undefined;
    failed.isPaused = true;
    this.#states.remove(failed.target);
  }

  #set(failed: FailedTarget, restart: RestartState): void {
    failed.restart = restart;
    this.#states.put(failed.target, restart);
  }

  #adopt(target: RestartTarget, restart: RestartState): FailedTarget {
    const { kind, reason } = restart;
    const failed: FailedTarget = { target, failure: { kind, reason }, restart, isPaused: false, timer: undefined };
    this.#failed.set(restartKey(target), failed);
    return failed;
  }

  #drop(target: RestartTarget): void {
    const key = restartKey(target);
    clearTimeout(this.#failed.get(key)?.timer);
    this.#failed.delete(key);
  }

  #of(connector: string): FailedTarget[] {
    return [...this.#failed.values()].filter(({ target }) => target.connector === connector);
  }

  #isOwn({ connector, task }: RestartTarget): boolean {
    const { placement } = this.#dependencies;
    return task === undefined ? placement.ownsConnector(connector) : placement.ownsTask({ connector, task });
  }

  #isWanted({ connector }: RestartTarget): boolean {
    return this.#dependencies.configs.connector(connector)?.targetState === 'STARTED';
  }
}

/**
 * The options of the connector, with those of the worker as defaults. If they cannot be read, only the worker's apply.
 */
async function settingsOf(
  connector: string,
  { configs, resolver, defaults, logger }: AutomaticRestartsDependencies,
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
