import type { Logger } from '../../observe/logger.ts';
import type { Finding } from '../../data/finding.ts';
import type { ConnectorConfig, DiagnosisContext, PluginBase } from './connector.ts';

/** The context that the worker provides to a service. */
export interface ServiceContext {
  readonly logger: Logger;
  /**
   * Address at which this service listened before its thread ended and was restarted. If the configured port is 0, the
   * service uses the port of this address again.
   */
  readonly earlierAddress?: string | undefined;
}

/**
 * Runs in addition to the connectors, once in each worker whose configuration names it. States: created -> started -> stopped.
 */
export interface Service {
  /**
   * Resolves when the service accepts requests. Systems that it depends on may still be unavailable. If the first start
   * rejects, the worker does not start. A start after the thread of the service has ended is repeated until it
   * succeeds.
   */
  start(): Promise<void>;
  /** Waits a limited time for requests in progress. Called at most once, also after a failed start. */
  stop(): Promise<void>;
  /** The address of the service once it has started, for the log. */
  readonly address?: string | undefined;
}

/**
 * A service of the worker; the worker property `services` lists the services to start. Kafka Connect has no services, and
 * `/connector-plugins` does not list them.
 */
export interface ServicePlugin extends PluginBase {
  readonly type: 'service';
  /** The name of the service in `services`, such as `database-http`. */
  readonly name: string;
  /** Prefix of the worker properties of the service, such as `database.http.`. */
  readonly optionPrefix: string;
  /** Creates the service. `config` contains its properties without their prefix. A ConfigError names the invalid property. */
  create(config: ConnectorConfig, context: ServiceContext): Service;
  /** Like `diagnose` of connectors. */
  diagnose?(config: ConnectorConfig, context: DiagnosisContext): Promise<readonly Finding[]>;
  /** The addresses at which the service would listen with this configuration, as `http://host:port`. The host may be empty. */
  addresses?(config: ConnectorConfig): readonly string[];
  /** The certificate that the service currently presents, as PEM; `undefined` if it serves plain HTTP. */
  certificate?(config: ConnectorConfig): Promise<string | undefined>;
}
