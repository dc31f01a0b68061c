import type { ConnectorConfig, ConnectorPlugin } from '../connect/api.ts';
import type { PluginRegistry } from '../connect/plugins/plugin-registry.ts';
import { wantedVersion } from '../connect/plugins/plugins-of-config.ts';
import { taskText, type TaskId } from '../connect/task-assignment.ts';
import { RequestError } from '../errors.ts';
import type { ConnectorState } from './stores/config-state.ts';
import type { ConfigStore } from './stores/config-store.ts';
import type { Status, StatusStore } from './stores/status-store.ts';

export interface ConnectorInfo {
  readonly name: string;
  readonly config: ConnectorConfig;
  readonly tasks: readonly TaskId[];
  readonly type: 'sink' | 'source' | 'unknown';
}

export interface ConnectorStatusInfo {
  readonly name: string;
  readonly connector: Status;
  readonly tasks: readonly (readonly [number, Status])[];
  readonly type: 'sink' | 'source' | 'unknown';
}

/**
 * Connectors and tasks with their statuses, as recorded in the stores. For unknown names, the methods throw a
 * RequestError with status 404 unless they document another result.
 */
export class ConnectorDirectory {
  readonly #configs: ConfigStore;
  readonly #statuses: StatusStore;
  readonly #plugins: PluginRegistry;

  constructor(configs: ConfigStore, statuses: StatusStore, plugins: PluginRegistry) {
    this.#configs = configs;
    this.#statuses = statuses;
    this.#plugins = plugins;
  }

  names(): string[] {
    return this.#configs.names();
  }

  require(name: string, message?: string): ConnectorState {
    return this.#configs.require(name, message);
  }

  info(connector: string): ConnectorInfo {
    const { name, config, taskConfigs } = this.require(connector);
    return { name, config, tasks: taskConfigs.map((_, task) => ({ connector: name, task })), type: this.#type(name) };
  }

  config(name: string): ConnectorConfig {
    return this.require(name).config;
  }

  /** Returns the configuration, or `undefined` if the connector does not exist. */
  configOf(name: string): ConnectorConfig | undefined {
    return this.#configs.connector(name)?.config;
  }

  taskConfigs(name: string): readonly { readonly id: TaskId; readonly config: ConnectorConfig }[] {
    return this.require(name).taskConfigs.map((config, task) => ({ id: { connector: name, task }, config }));
  }

  status(name: string): ConnectorStatusInfo {
    const connector = this.#statuses.connector(name);
    if (connector === undefined) throw new RequestError(404, `No status found for connector ${name}`);
    return { name, connector, tasks: this.#statuses.tasks(name), type: this.#type(name) };
  }

  /** Returns the stack trace of a FAILED task; `null` if the task has not failed. */
  traceOf({ connector, task }: TaskId): string | null {
    return this.#statuses.task({ connector, task })?.trace ?? null;
  }

  taskStatus(id: TaskId): Status {
    const status = this.#statuses.task(id);
    if (status === undefined) throw new RequestError(404, `No status found for task ${taskText(id)}`);
    return status;
  }

  /**
   * Returns the plugin of a connector, or `undefined` if the connector does not exist or the plugin is not installed
   * here.
   */
  plugin(connector: string): ConnectorPlugin | undefined {
    const config = this.#configs.connector(connector)?.config ?? {};
    const className = config['connector.class'];
    const wanted = wantedVersion(config, 'connector.plugin.version');
    return className === undefined ? undefined : this.#plugins.tryFind('connector', className, wanted);
  }

  #type(connector: string): ConnectorInfo['type'] {
    return this.plugin(connector)?.type ?? 'unknown';
  }
}
