import { javaTrace, toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { Connector, ConnectorConfig } from '../api.ts';
import type { PluginRegistry } from './plugin-registry.ts';
import { wantedVersion } from './plugins-of-config.ts';

/** What a connector instance tells the control side. */
export type ConnectorEvent =
  | { readonly connector: string; readonly state: 'RUNNING' | 'PAUSED' | 'STOPPED' }
  | { readonly connector: string; readonly state: 'FAILED'; readonly trace: string }
  | { readonly connector: string; readonly state: 'RECONFIGURE' };

interface HostedConnector {
  readonly instance: Connector;
  /** Set once stopped, so that late callbacks of the plugin are not heard any more. */
  muted: boolean;
}

/** Runs connector instances. A plugin that hangs in `start` or `stop` keeps nobody waiting beyond the time given. */
export class ConnectorHost {
  readonly #plugins: PluginRegistry;
  readonly #onEvent: (event: ConnectorEvent) => void;
  readonly #logger: Logger;
  readonly #connectors = new Map<string, HostedConnector>();

  constructor(plugins: PluginRegistry, onEvent: (event: ConnectorEvent) => void, logger: Logger) {
    this.#plugins = plugins;
    this.#onEvent = onEvent;
    this.#logger = logger;
  }

  /** The plugin must have been loaded. `false` when the connector failed to start; the FAILED event then has the trace. */
  async start(name: string, config: ConnectorConfig): Promise<boolean> {
    let hosted: HostedConnector | undefined;
    try {
      const wanted = wantedVersion(config, 'connector.plugin.version');
      const plugin = this.#plugins.find('connector', config['connector.class'] ?? '', wanted);
      const started: HostedConnector = { instance: plugin.createConnector(), muted: false };
      hosted = started;
      this.#connectors.set(name, started);
      await started.instance.start(config, {
        connectorName: name,
        logger: this.#logger.child({ connector: name, logger: plugin.className }),
        requestTaskReconfiguration: () => {
          if (!started.muted) this.#onEvent({ connector: name, state: 'RECONFIGURE' });
        },
        raiseError: (error) => {
          if (!started.muted) this.#fail(name, error);
        },
      });
      if (started.muted) return false;
      this.#onEvent({ connector: name, state: 'RUNNING' });
      return true;
    } catch (error) {
      if (hosted?.muted !== true) this.#fail(name, error);
      return false;
    }
  }

  /** Rejects with what the plugin threw, or when the connector is not running here. */
  async taskConfigs(name: string, maxTasks: number): Promise<readonly ConnectorConfig[]> {
    const hosted = this.#connectors.get(name);
    if (hosted === undefined) throw new Error(`Connector ${name} is not running on this worker`);
    return hosted.instance.taskConfigs(maxTasks);
  }

  async stop(name: string, timeoutMs: number): Promise<void> {
    const hosted = this.#connectors.get(name);
    if (hosted === undefined) return;
    this.#connectors.delete(name);
    hosted.muted = true;
    // A plugin that hangs in start cannot be told apart from one that is slow; its stop is called all the same.
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<'timeout'>((resolve) => {
      timer = setTimeout(resolve, timeoutMs, 'timeout');
    });
    const stopped = hosted.instance.stop().catch((error: unknown) => {
      this.#logger.error({ err: error, connector: name }, `Connector ${name} failed while it was stopped`);
    });
    if ((await Promise.race([stopped, timeout])) === 'timeout') {
      this.#logger.warn({ connector: name }, `Connector ${name} did not stop within ${String(timeoutMs)} ms`);
    }
    clearTimeout(timer);
  }

  /** For a connector whose reconfiguration or task limits make it FAILED. */
  fail(name: string, error: unknown): void {
    this.#fail(name, error);
  }

  #fail(name: string, thrown: unknown): void {
    const error = toError(thrown);
    this.#logger.error({ err: error, connector: name }, `Connector ${name} failed`);
    this.#onEvent({ connector: name, state: 'FAILED', trace: javaTrace(error) });
  }
}
