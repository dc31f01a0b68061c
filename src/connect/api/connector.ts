import type { OptionDeclarations, OptionResult } from '../../config/option.ts';
import type { DatabasePlace } from '../../data/database-place.ts';
import type { Finding } from '../../data/finding.ts';
import type { Logger } from '../../observe/logger.ts';

/**
 * A flat configuration, as Connect stores it. Variables of config providers (`${file:…}`) have been replaced by their values.
 */
export type ConnectorConfig = Readonly<Record<string, string>>;

/** Members of all plugins. */
export interface PluginBase {
  /**
   * The full class name, including its package. REST responses contain it. Configurations name the plugin by the full
   * name or by its last part, from which a suffix such as `Connector` can be omitted.
   */
  readonly className: string;
  /** For a plugin in `plugin.path`, the version in its package.json replaces this version. */
  readonly version: string;
  /** The plugin's own options, without those of Connect, in the order in which they are shown. */
  readonly options: OptionDeclarations;
  /**
   * If set, tasks with this plugin run in the main thread of the worker, where they can delay everything else. By default,
   * tasks run in worker threads.
   */
  readonly needsMainThread?: boolean;
  /**
   * Returns the database that a connector or a service uses, for links of the console to its SQL page. It must not connect.
   * @param config the stored configuration: variables of config providers are not resolved
   * @returns `undefined` if the configuration does not determine the database
   */
  databasePlace?(config: ConnectorConfig): DatabasePlace | undefined;
}

/** Members of both kinds of connectors. */
export interface ConnectorPluginBase extends PluginBase {
  /** Class name of the task. Task configurations contain it as `task.class`, and logs show it. */
  readonly taskClassName: string;
  /** Returns a new connector that has not been started. */
  createConnector(config: ConnectorConfig): Connector;
  /**
   * Validates several options together, or against the system that they name. Called after the declared checks of each option.
   * @param config the configuration as the user entered it: any option can be missing or invalid
   * @returns results by option name; their errors are added to those of the declared checks. Invalid values must not cause an
   * exception
   */
  validate?(config: ConnectorConfig): Promise<readonly OptionResult[]>;
  /**
   * Checks the system that a valid configuration names, for `sluice doctor`: whether it is reachable, and whether the connector
   * has the required privileges and settings. It must not change anything.
   * @throws any error; it is reported as a finding
   */
  diagnose?(config: ConnectorConfig, context: DiagnosisContext): Promise<readonly Finding[]>;
}

/** The context that `sluice doctor` provides to plugins. */
export interface DiagnosisContext {
  readonly logger: Logger;
  /** Aborted when the findings are no longer needed. */
  readonly signal: AbortSignal;
  /** Names topics that a source will write, so that the privileges for them are checked. */
  writesTo(topics: readonly string[]): void;
}

/** The context that the worker provides to a connector instance. */
export interface ConnectorContext {
  readonly connectorName: string;
  readonly logger: Logger;
  /** Asks the worker to call `taskConfigs` again, because the work has changed (for instance, because a table was created). */
  requestTaskReconfiguration(): void;
  /** Sets the connector to FAILED with the stack trace of this error. Its tasks continue. */
  raiseError(error: Error): void;
}

/**
 * Decides how the work of a connector is divided into tasks. It does not read or write records. The cluster runs one instance,
 * on the worker that owns the connector.
 */
export interface Connector {
  /**
   * Called once, before `taskConfigs`.
   * @param config the whole configuration of the connector, including Connect's own options
   * @throws any error; it sets the connector to FAILED. A ConfigError names the invalid option
   */
  start(config: ConnectorConfig, context: ConnectorContext): Promise<void>;
  /**
   * Called after `start` and after each request for reconfiguration.
   * @param maxTasks the value of `tasks.max`
   * @returns at most `maxTasks` configurations, one for each task. If there are more, the connector fails, unless
   * `tasks.max.enforce` is `false`
   * @throws any error; it is logged, and the call is repeated after a pause
   */
  taskConfigs(maxTasks: number): Promise<readonly ConnectorConfig[]>;
  /** Releases the resources that `start` acquired. Called at most once, also after a failed start. The worker waits at most 5 s. */
  stop(): Promise<void>;
}
