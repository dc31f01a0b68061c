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
  /** Whether a start without anybody's request has to wait, because the instance has failed elsewhere a moment ago. */
  readonly isHeld: () => boolean;
  /** Brings task configurations into the config topic. */
  readonly publish: (configs: readonly ConnectorConfig[]) => Promise<void>;
  /** Has the connector as a field. */
  readonly logger: Logger;
}

const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 60_000;

/** One instance of the connector, from its start on. What it still does after `ended` counts for nothing. */
interface Run {
  config: ConnectorConfig;
  /** The same with the values of its variables, once they were looked up. */
  resolved: ResolvedConfig<ConnectorConfig> | undefined;
  /** Resolves with whether it runs; never, when the plugin hangs. */
  started: Promise<boolean>;
  running: boolean;
  ended: boolean;
  publishing: boolean;
  publishAgain: boolean;
  readonly retries: Backoff;
  retryTimer: NodeJS.Timeout | undefined;
}

/**
 * Brings one connector's instance to what the config store and placement say. Nothing here waits for the plugin, except for
 * a bounded time when it is stopped: one that hangs can be deleted, changed and restarted like any other.
 *
 * States: none -> starting -> running (task configurations published) -> none. PAUSED and STOPPED connectors have no
 * instance. A start that failed is remembered: it is not tried again until the configuration changes or someone
 * restarts it.
 */
export class ConnectorSupervisor {
  readonly #name: string;
  readonly #dependencies: ConnectorSupervisorDependencies;
  readonly #queue = new SerialQueue();
  #run: Run | undefined;
  /** What the connector record and target state were when the instance was started, or left out. */
  #appliedConfig: ConnectorConfig | undefined;
  #appliedState: ConnectorState['targetState'] | undefined;

  constructor(name: string, dependencies: ConnectorSupervisorDependencies) {
    this.#name = name;
    this.#dependencies = dependencies;
  }

  /** Resolves when the instance has been told to be what the stores said at the time of its turn. */
  async reconcile(): Promise<void> {
    await this.#queue.run(() => this.#reconcileNow());
  }

  /** Resolves when the instance has started and published its tasks, or failed to; `false` when it failed. */
  async settled(): Promise<boolean> {
    return (await this.#run?.started) ?? this.#appliedState !== 'STARTED';
  }

  /** `false` when the connector does not start. */
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

  /** Asks the instance for task configurations again. */
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
      const wasHere = this.#appliedConfig !== undefined;
      await this.#endRun();
      this.#appliedConfig = undefined;
      this.#appliedState = undefined;
      if (wasHere && desired !== undefined) this.#dependencies.statuses.connector(this.#name, 'UNASSIGNED');
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

  /** Tasks are told by the worker that has them. Nothing is published: what has new task configurations is fenced before its next start. */
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

  /** One publication at a time; those asked for meanwhile are one more afterwards. */
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

  /** Never rejects: failures are logged and tried again, 250 ms doubling to 60 s (docs/compatibility.md#life-cycle). */
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
        `Failed to reconfigure the tasks of connector ${this.#name}; trying again in ${String(waitMs)} ms`,
      );
      run.retryTimer = setTimeout(() => {
        if (run.running) void this.#publishTasks(run);
      }, waitMs);
    }
  }

  /** `undefined` when the connector made more tasks than it may; it is FAILED then. */
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

/** Tasks are made again when they differ, or when they were made for another connector configuration. */
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
