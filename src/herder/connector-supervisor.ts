import { isDeepStrictEqual } from 'node:util';
import { isSameButLimits } from '../config/rate-limit-options.ts';
import type { ResolvedConfig } from '../config/providers/config-resolver.ts';
import { withVariables } from '../config/providers/variables.ts';
import type { ConnectorConfig } from '../connect/api.ts';
import type { ConnectorHost } from '../connect/plugins/connector-host.ts';
import { ConnectError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';
import type { ConnectorState } from './stores/config-state.ts';
import type { LiveConfigs } from './live-configs.ts';
import type { Placement } from './group/placement.ts';
import { Backoff, NO_JITTER } from '../async/backoff.ts';
import { SerialQueue } from '../async/serial-queue.ts';
import type { StatusWriter } from './status-writer.ts';
import type { ConfigStore } from './stores/config-store.ts';

export interface ConnectorSupervisorDependencies {
  readonly configs: ConfigStore;
  readonly placement: Placement;
  readonly connectors: ConnectorHost;
  readonly liveConfigs: LiveConfigs;
  readonly statuses: StatusWriter;
  /** True if the instance has failed, here or on another worker, and its next automatic restart is not due yet. */
  readonly isHeld: () => boolean;
  /** Writes task configurations to the config topic. */
  readonly publish: (configs: readonly ConnectorConfig[]) => Promise<void>;
  /** Logger with the connector as a field. */
  readonly logger: Logger;
}

const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 60_000;

/** One instance of the connector. Results that arrive after `ended` was set are ignored. */
interface Run {
  config: ConnectorConfig;
  /** The configuration after its variables have been resolved; `undefined` before that. */
  resolved: ResolvedConfig<ConnectorConfig> | undefined;
  /** Resolves with true if the instance is running. If the plugin hangs, this stays pending. */
  started: Promise<boolean>;
  running: boolean;
  ended: boolean;
  publishing: boolean;
  publishAgain: boolean;
  readonly retries: Backoff;
  retryTimer: NodeJS.Timeout | undefined;
}

/**
 * Reconciles the instance of one connector with the config store and the placement. A reconciliation waits for the plugin only
 * when the instance is being stopped, and only for a limited time. A connector that hangs can therefore be deleted, changed and
 * restarted.
 *
 * States: none -> starting -> running -> none. An instance that has become running publishes its task configurations.
 * PAUSED and STOPPED connectors have no instance. A failed start is not repeated until the configuration or the target
 * state changes, or the connector is restarted.
 */
export class ConnectorSupervisor {
  readonly #name: string;
  readonly #dependencies: ConnectorSupervisorDependencies;
  readonly #queue = new SerialQueue();
  #run: Run | undefined;
  /** Configuration and target state at the last reconciliation. */
  #appliedConfig: ConnectorConfig | undefined;
  #appliedState: ConnectorState['targetState'] | undefined;

  constructor(name: string, dependencies: ConnectorSupervisorDependencies) {
    this.#name = name;
    this.#dependencies = dependencies;
  }

  /**
   * Starts or stops the instance as the config store and the placement require. Resolves when an instance has been
   * stopped, but does not wait for the end of a start.
   */
  async reconcile(): Promise<void> {
    await this.#queue.run(() => this.#reconcileNow());
  }

  /**
   * Resolves with true when the instance has started and has tried to publish its tasks, and with `false` if it failed
   * to start or its start is delayed (`isHeld`). For a PAUSED or STOPPED connector, which has no instance, resolves
   * with true.
   */
  async settled(): Promise<boolean> {
    return (await this.#run?.started) ?? this.#appliedState !== 'STARTED';
  }

  /** Restarts the instance. Resolves with `false` if the connector does not start. */
  async restart(): Promise<boolean> {
    this.#debug('Restarting the connector');
    await this.#queue.run(async () => {
      await this.#endRun();
      this.#appliedConfig = undefined;
      await this.#reconcileNow();
    });
    const isRunning = await this.settled();
    this.#debug(isRunning ? 'Restarted the connector' : 'The connector did not restart');
    return isRunning;
  }

  /** Requests task configurations from the instance again. */
  reconfigure(): void {
    if (this.#run?.running === true) void this.#publishTasks(this.#run);
  }

  async shutdown(): Promise<void> {
    await this.#queue.run(async () => {
      if (this.#run?.running === true) this.#dependencies.statuses.connector(this.#name, 'UNASSIGNED');
      await this.#endRun();
    });
  }

  async #reconcileNow(): Promise<void> {
    const desired = this.#dependencies.configs.connector(this.#name);
    if (desired === undefined || !this.#dependencies.placement.ownsConnector(this.#name)) {
      const wasApplied = this.#appliedConfig !== undefined;
      await this.#endRun();
      this.#appliedConfig = undefined;
      this.#appliedState = undefined;
      if (wasApplied && desired !== undefined) this.#dependencies.statuses.connector(this.#name, 'UNASSIGNED');
      return;
    }
    if (desired.config === this.#appliedConfig && desired.targetState === this.#appliedState) return;
    if (this.#onlyLimitsChanged(desired)) {
      this.#takeLimits(desired.config);
      return;
    }
    await this.#endRun();
    this.#appliedConfig = desired.config;
    this.#appliedState = desired.targetState;
    if (desired.targetState === 'STARTED') {
      if (!this.#dependencies.isHeld()) this.#beginRun(desired.config);
    } else this.#dependencies.statuses.connector(this.#name, desired.targetState);
  }

  #onlyLimitsChanged({ config, targetState }: ConnectorState): boolean {
    const applied = this.#appliedConfig;
    if (this.#run?.running !== true || targetState !== this.#appliedState || applied === undefined) return false;
    return isSameButLimits(applied, config) && !isDeepStrictEqual(applied, config);
  }

  /**
   * Applies new rate limits to the running instance. Task configurations are not published, because for an exactly-once
   * source this would require fencing before the next start. The workers that run the tasks apply the new limits to
   * them.
   */
  #takeLimits(config: ConnectorConfig): void {
    this.#appliedConfig = config;
    if (this.#run !== undefined) this.#run.config = config;
    this.#dependencies.logger.info(`The rate limit of connector ${this.#name} has changed; nothing is restarted`);
  }

  #beginRun(config: ConnectorConfig): void {
    const run: Run = {
      config,
      resolved: undefined,
      started: Promise.resolve(false),
      running: false,
      ended: false,
      publishing: false,
      publishAgain: false,
      retries: new Backoff(FIRST_RETRY_MS, MAX_RETRY_MS, NO_JITTER),
      retryTimer: undefined,
    };
    this.#run = run;
    this.#debug('Starting the connector');
    run.started = this.#startInstance(run).then(async (running) => {
      run.running = running && !run.ended;
      if (run.running) {
        this.#debug('Started the connector');
        await this.#publishTasks(run);
      }
      return running;
    });
  }

  async #startInstance(run: Run): Promise<boolean> {
    const { connectors, liveConfigs } = this.#dependencies;
    try {
      run.resolved = await liveConfigs.resolve(this.#name, run.config);
      await connectors.prepare(run.resolved.config);
    } catch (error) {
      if (!run.ended) connectors.fail(this.#name, error);
      return false;
    }
    return !run.ended && connectors.start(this.#name, run.resolved.config);
  }

  async #endRun(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    run.ended = true;
    run.running = false;
    clearTimeout(run.retryTimer);
    this.#run = undefined;
    this.#debug('Stopping the connector');
    await this.#dependencies.connectors.stop(this.#name);
    this.#debug('Stopped the connector');
  }

  #debug(message: string, fields: object = {}): void {
    const { logger, placement } = this.#dependencies;
    logger.debug({ generation: placement.generation, ...fields }, message);
  }

  /**
   * Publishes the task configurations. Only one publication runs at a time; any number of requests during it lead to one more.
   */
  async #publishTasks(run: Run): Promise<void> {
    if (run.publishing) {
      run.publishAgain = true;
      return;
    }
    run.publishing = true;
    do {
      run.publishAgain = false;
      await this.#publishOnce(run);
    } while (run.publishAgain && run.running);
    run.publishing = false;
  }

  /**
   * Never rejects. Failures are logged, and the publication is retried after 250 ms; the delay doubles up to 60 s
   * (docs/compatibility.md#life-cycle).
   */
  async #publishOnce(run: Run): Promise<void> {
    const desired = this.#dependencies.configs.connector(this.#name);
    if (desired?.config !== run.config || desired.targetState !== 'STARTED') return;
    clearTimeout(run.retryTimer);
    try {
      const configs = await this.#taskConfigs(desired, run.resolved ?? NOTHING_RESOLVED);
      if (run.ended) return;
      if (configs !== undefined && !isUpToDate(desired, configs)) {
        await this.#dependencies.publish(configs);
        this.#debug('Published task configurations', { tasks: configs.length });
      }
      run.retries.reset();
    } catch (error) {
      if (run.ended) return;
      const waitMs = run.retries.nextMs();
      this.#dependencies.logger.error(
        { err: error },
        `Failed to reconfigure the tasks of connector ${this.#name}; retrying in ${String(waitMs)} ms`,
      );
      run.retryTimer = setTimeout(() => {
        if (run.running) void this.#publishTasks(run);
      }, waitMs);
    }
  }

  /** If the connector generated too many tasks and `tasks.max.enforce` is true, sets it to FAILED and returns `undefined`. */
  async #taskConfigs(
    desired: ConnectorState,
    { config: inUse, values }: ResolvedConfig<ConnectorConfig>,
  ): Promise<ConnectorConfig[] | undefined> {
    const { connectors } = this.#dependencies;
    const plugin = connectors.plugin(inUse);
    const maxTasks = Number(inUse['tasks.max'] ?? '1');
    const configs = await connectors.taskConfigs(this.#name, maxTasks);
    if (configs.length > maxTasks && inUse['tasks.max.enforce']?.trim().toLowerCase() !== 'false') {
      connectors.fail(
        this.#name,
        new ConnectError(tooManyTasks(this.#name, configs.length, maxTasks), { scope: 'caller' }),
      );
      return undefined;
    }
    const topics = plugin.type === 'sink' ? pick(desired.config, ['topics', 'topics.regex']) : {};
    return configs.map((config) => ({
      ...withVariables(config, desired.config, values),
      'task.class': plugin.taskClassName,
      ...topics,
    }));
  }
}

const NOTHING_RESOLVED: ResolvedConfig<ConnectorConfig> = { config: {}, ttlMs: undefined, values: new Map() };

/**
 * Returns true if `configs`, apart from rate limits, are already published and were generated for the current connector
 * configuration.
 */
function isUpToDate(desired: ConnectorState, configs: readonly ConnectorConfig[]): boolean {
  return (
    !desired.inconsistent &&
    desired.taskConfigs.length === configs.length &&
    configs.every((config, task) => isSameButLimits(config, desired.taskConfigs[task] ?? {})) &&
    desired.appliedConfig !== undefined &&
    isSameButLimits(desired.appliedConfig, desired.config)
  );
}

function pick(config: ConnectorConfig, keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.flatMap((key) => (config[key] === undefined ? [] : [[key, config[key]]])));
}

function tooManyTasks(name: string, generated: number, max: number): string {
  return `The connector ${name} has generated ${String(generated)} tasks, which is greater than ${String(max)}, the maximum number of tasks it is configured to create. This behaviour should be considered a bug and is disallowed. If necessary, it can be permitted by reconfiguring the connector with 'tasks.max.enforce' set to false; however, this option will be removed in a future release of Kafka Connect.`;
}
