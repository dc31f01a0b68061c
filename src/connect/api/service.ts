import type { Logger } from '../../observe/logger.ts';
import type { Finding } from '../../data/finding.ts';
import type { ConnectorConfig, DiagnosisContext, PluginBase } from './connector.ts';

/** The context that the worker provides to a service. */
export interface ServiceContext {
  readonly logger: Logger;
  /** The address of the same service before its thread ended. If the configuration leaves the port open, the service uses it again. */
  readonly earlierAddress?: string | undefined;
}

/** Runs in addition to the connectors, once in each worker that names it. created -> started -> stopped. */
export interface Service {
  /** Resolves when the service answers; systems that it depends on can come later. An error ends the start of the worker. */
  start(): Promise<void>;
  /** Waits a limited time for what still runs. Called at most once, also after a failed start. */
  stop(): Promise<void>;
  /** Its address once it is started, for the log. */
  readonly address?: string | undefined;
}

/** A service of the worker, which the worker property `services` starts. Connect has none; `/connector-plugins` does not show it. */
export interface ServicePlugin extends PluginBase {
  readonly type: 'service';
  /** Its name in `services`, such as `database-http`. */
  readonly name: string;
  /** Prefix of its own worker properties, such as `database.http.`. */
  readonly optionPrefix: string;
  /** `config` has the service's properties without their prefix. A ConfigError names what is wrong. */
  create(config: ConnectorConfig, context: ServiceContext): Service;
  /** As for connectors. */
  diagnose?(config: ConnectorConfig, context: DiagnosisContext): Promise<readonly Finding[]>;
  /** Where it would listen, as `http://host:port`; the host may be empty. */
  addresses?(config: ConnectorConfig): readonly string[];
  /** The certificate with which it answers now, as PEM; `undefined`: it answers plain HTTP. */
  certificate?(config: ConnectorConfig): Promise<string | undefined>;
}
