import { isDeepStrictEqual } from 'node:util';
import type { ConnectorConfig } from '../connect/api.ts';
import type { ConnectorHost } from '../connect/connector-host.ts';
import type { PluginRegistry } from '../connect/plugin-registry.ts';
import { ConnectError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';
import type { ConnectorState } from './config-state.ts';
import type { Placement } from './placement.ts';
import { SerialQueue } from './serial-queue.ts';
import type { StatusWriter } from './status-writer.ts';
import type { ConfigStore } from './stores/config-store.ts';

export interface SupervisorParts {
  readonly configs: ConfigStore;
  readonly placement: Placement;
  readonly plugins: PluginRegistry;
  readonly connectors: ConnectorHost;
  readonly statuses: StatusWriter;
  readonly logger: Logger;
  /** How long a plugin may take to stop. */
  readonly connectorStopTimeoutMs: number;
}

const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 60_000;

/**
 * Brings one connector's instance to what the config store and placement say, one step after the other, so that a plugin
 * that hangs keeps only its own connector waiting.
 *
 * States: none -> running (instance started, task configurations published) -> none. PAUSED and STOPPED connectors have
 * no instance. A start that failed is remembered: it is not tried again until the configuration changes or someone
 * restarts it.
 */
export class ConnectorSupervisor {
  readonly #name: string;
  readonly #parts: SupervisorParts;
  readonly #queue = new SerialQueue();
  /** The configuration the instance was started with, or failed with. */
  #appliedConfig: ConnectorConfig | undefined;
  #appliedState: ConnectorState['targetState'] | undefined;
  #running = false;
  #retryTimer: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;

  constructor(name: string, parts: SupervisorParts) {
    this.#name = name;
    this.#parts = parts;
  }

  get running(): boolean {
    return this.#running;
  }

  /** Resolves when the instance is what the stores said at the time of its turn. */
  async reconcile(): Promise<void> {
    await this.#queue.run(() => this.#reconcileNow());
  }

  /** `false` when the connector does not start. */
  async restart(): Promise<boolean> {
    return this.#queue.run(async () => {
      await this.#stopInstance();
      this.#appliedConfig = undefined;
      await this.#reconcileNow();
      return this.#running || this.#appliedState !== 'STARTED';
    });
  }

  /** Asks the instance for task configurations again. */
  reconfigure(): void {
    void this.#queue.run(() => this.#publishTasks());
  }

  async shutdown(): Promise<void> {
    clearTimeout(this.#retryTimer);
    await this.#queue.run(async () => {
      if (this.#running) this.#parts.statuses.connector(this.#name, 'UNASSIGNED');
      await this.#stopInstance();
    });
  }

  async #reconcileNow(): Promise<void> {
    const desired = this.#parts.configs.connector(this.#name);
    if (desired === undefined || !this.#parts.placement.ownsConnector(this.#name)) {
      await this.#stopInstance();
      this.#appliedConfig = undefined;
      this.#appliedState = undefined;
      return;
    }
    if (desired.config === this.#appliedConfig && desired.targetState === this.#appliedState) return;
    await this.#stopInstance();
    this.#appliedConfig = desired.config;
    this.#appliedState = desired.targetState;
    if (desired.targetState !== 'STARTED') {
      this.#parts.statuses.connector(this.#name, desired.targetState);
      return;
    }
    this.#running = await this.#parts.connectors.start(this.#name, desired.config);
    if (this.#running) await this.#publishTasks();
  }

  async #stopInstance(): Promise<void> {
    clearTimeout(this.#retryTimer);
    this.#running = false;
    await this.#parts.connectors.stop(this.#name, this.#parts.connectorStopTimeoutMs);
  }

  /** Never rejects: failures are logged and tried again, 250 ms doubling to 60 s (reference/kafka-connect.md 2.2). */
  async #publishTasks(): Promise<void> {
    const desired = this.#parts.configs.connector(this.#name);
    if (!this.#running || desired?.targetState !== 'STARTED' || desired.config !== this.#appliedConfig) return;
    clearTimeout(this.#retryTimer);
    try {
      const configs = await this.#taskConfigs(desired);
      if (configs !== undefined && !isUpToDate(desired, configs)) {
        await this.#parts.configs.putTaskConfigs(this.#name, configs);
      }
      this.#retryMs = FIRST_RETRY_MS;
    } catch (error) {
      this.#parts.logger.error(
        { err: error, connector: this.#name },
        `Failed to reconfigure the tasks of connector ${this.#name}; trying again in ${String(this.#retryMs)} ms`,
      );
      this.#retryTimer = setTimeout(() => {
        this.reconfigure();
      }, this.#retryMs);
      this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
    }
  }

  /** `undefined` when the connector made more tasks than it may; it is FAILED then. */
  async #taskConfigs(desired: ConnectorState): Promise<ConnectorConfig[] | undefined> {
    const plugin = this.#parts.plugins.find('connector', desired.config['connector.class'] ?? '');
    const maxTasks = Number(desired.config['tasks.max'] ?? '1');
    const configs = await this.#parts.connectors.taskConfigs(this.#name, maxTasks);
    if (configs.length > maxTasks && desired.config['tasks.max.enforce']?.trim().toLowerCase() !== 'false') {
      this.#parts.connectors.fail(this.#name, new ConnectError(tooManyTasks(this.#name, configs.length, maxTasks)));
      return undefined;
    }
    const topics = plugin.type === 'sink' ? pick(desired.config, ['topics', 'topics.regex']) : {};
    return configs.map((config) => ({ ...config, 'task.class': plugin.taskClassName, ...topics }));
  }
}

/** Tasks are made again when they differ, or when they were made for another connector configuration. */
function isUpToDate(desired: ConnectorState, configs: readonly ConnectorConfig[]): boolean {
  return (
    !desired.inconsistent &&
    isDeepStrictEqual(desired.taskConfigs, configs) &&
    desired.appliedConfig !== undefined &&
    isDeepStrictEqual(desired.appliedConfig, desired.config)
  );
}

function pick(config: ConnectorConfig, keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.flatMap((key) => (config[key] === undefined ? [] : [[key, config[key]]])));
}

function tooManyTasks(name: string, generated: number, max: number): string {
  return `The connector ${name} has generated ${String(generated)} tasks, which is greater than ${String(max)}, the maximum number of tasks it is configured to create. This behaviour should be considered a bug and is disallowed. If necessary, it can be permitted by reconfiguring the connector with 'tasks.max.enforce' set to false; however, this option will be removed in a future release of Kafka Connect.`;
}
