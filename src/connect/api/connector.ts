import type { OptionDeclarations, OptionResult } from '../../config/option.ts';
import type { Finding } from '../../data/finding.ts';
import type { Logger } from '../../observe/logger.ts';

/** A flat configuration as Connect keeps it. Variables of config providers (`${file:…}`) are already replaced by their values. */
export type ConnectorConfig = Readonly<Record<string, string>>;

/** Members of all plugins. */
export interface PluginBase {
  /** The full class name, with its package: configurations name it, or its last part, and answers show it. */
  readonly className: string;
  /** For a plugin of `plugin.path` the version of its package.json replaces this one. */
  readonly version: string;
  /** The plugin's own options, in the order in which they are shown, without those of Connect. */
  readonly options: OptionDeclarations;
  /** Tasks with this plugin run in the main thread of the worker, where they can hold up everything else; by default in worker threads. */
  readonly needsMainThread?: boolean;
}

/** Members of both kinds of connectors. */
export interface ConnectorPluginBase extends PluginBase {
  /** Class name of the task, kept in task configurations as `task.class` and shown in logs. */
  readonly taskClassName: string;
  /** Returns a new instance, which is not started. */
  createConnector(config: ConnectorConfig): Connector;
  /**
   * Checks of several options together, or against the system that they name, after the declared checks of each option.
   * @param config the configuration as the user gave it: any option can be missing or wrong
   * @returns results by option name; their errors are added to those of the declared checks. No error is thrown for bad values
   */
  validate?(config: ConnectorConfig): Promise<readonly OptionResult[]>;
  /**
   * Checks the system that a valid configuration names, for `sluice doctor`: whether it can be reached, and whether the connector
   * has the rights and settings that it needs. It must not change anything.
   * @throws any error becomes a finding
   */
  diagnose?(config: ConnectorConfig, context: DiagnosisContext): Promise<readonly Finding[]>;
}

/** The context that `sluice doctor` provides to plugins. */
export interface DiagnosisContext {
  readonly logger: Logger;
  /** Aborted when the findings are no longer needed. */
  readonly signal: AbortSignal;
  /** Names topics that a source is going to write, so that the rights on them are looked at. */
  writesTo(topics: readonly string[]): void;
}

/** The context that the worker provides to a connector instance. */
export interface ConnectorContext {
  readonly connectorName: string;
  readonly logger: Logger;
  /** Asks the worker to call `taskConfigs` again, because the work has changed (a table was created, for instance). */
  requestTaskReconfiguration(): void;
  /** Sets the connector to FAILED with the trace of this error; its tasks continue. */
  raiseError(error: Error): void;
}

/**
 * Decides how the work of a connector is divided into tasks. It reads and writes no records itself. One instance runs in the
 * whole cluster, on the worker that owns the connector.
 */
export interface Connector {
  /**
   * Called once, before `taskConfigs`.
   * @param config the whole configuration of the connector, with Connect's own keys
   * @throws any error sets the connector to FAILED; a ConfigError names the option that is wrong
   */
  start(config: ConnectorConfig, context: ConnectorContext): Promise<void>;
  /**
   * Called after `start` and after each request for reconfiguration.
   * @param maxTasks the value of `tasks.max`
   * @returns at most `maxTasks` configurations, one for each task; with more the connector FAILS
   * @throws any error is logged, and the call is repeated after a pause
   */
  taskConfigs(maxTasks: number): Promise<readonly ConnectorConfig[]>;
  /** Releases what `start` acquired. Called at most once, also after a failed start; it has 5 seconds. */
  stop(): Promise<void>;
}
