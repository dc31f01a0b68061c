import { within } from '../../async/within.ts';
import { javaTrace, toError } from '../../errors.ts';
import { eventLoopWatch } from '../../observe/event-loop-watch.ts';
import type { Logger } from '../../observe/logger.ts';
import { ownedBy, ownedByNobody, type CodeOwner } from '../../observe/unhandled-errors.ts';
import type { Connector, ConnectorConfig, ConnectorPlugin } from '../api.ts';
import { failureOf, type Failure } from '../task-failure.ts';
import type { PluginRegistry } from './plugin-registry.ts';
import { wantedVersion } from './plugins-of-config.ts';

/** Time limit for a connector instance to stop, as in Connect (docs/compatibility.md#life-cycle). */
const STOP_TIMEOUT_MS = 5000;

/** Notifications of a connector instance. */
export type ConnectorEvent =
  | { readonly connector: string; readonly state: 'RUNNING' | 'PAUSED' | 'STOPPED' }
  | { readonly connector: string; readonly state: 'FAILED'; readonly trace: string; readonly failure: Failure }
  | { readonly connector: string; readonly state: 'RECONFIGURE' };

interface HostedConnector {
  readonly instance: Connector;
  readonly owner: CodeOwner;
  /** True after the stop, so that late callbacks of the plugin are ignored. */
  muted: boolean;
}

/** Runs connector instances. Waits only a limited time for a plugin that hangs in `stop`. */
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

  /** Loads the plugins that the configuration names. */
  async prepare(config: ConnectorConfig): Promise<void> {
    await this.#plugins.prepare(config);
  }

  /** The plugin that the configuration names. Throws if it does not exist. */
  plugin(config: ConnectorConfig): ConnectorPlugin {
    const wanted = wantedVersion(config, 'connector.plugin.version');
    return this.#plugins.find('connector', config['connector.class'] ?? '', wanted);
  }

  /**
   * Starts a connector whose plugin has been loaded. Resolves with `false` if the connector failed to start or was
   * stopped in the meantime. After a failure, the FAILED event contains the stack trace.
   */
  async start(name: string, config: ConnectorConfig): Promise<boolean> {
    let hosted: HostedConnector | undefined;
    try {
      const plugin = this.plugin(config);
      let failure: Error | undefined;
      const owner = {
        name: `connector ${name}`,
        onUnhandled: (error: Error) => {
          failure ??= error;
          if (!started.muted) this.#fail(name, error);
        },
      };
      const instance = ownedBy(owner, () => plugin.createConnector(config));
      const started: HostedConnector = { instance, owner, muted: false };
      hosted = started;
      this.#connectors.set(name, started);
      const context = {
        connectorName: name,
        logger: this.#logger.child({ connector: name, logger: plugin.className }),
        requestTaskReconfiguration: () => {
          if (!started.muted) ownedByNobody(() => this.#onEvent({ connector: name, state: 'RECONFIGURE' }));
        },
        raiseError: (error: Error) => {
          if (!started.muted) ownedByNobody(() => this.#fail(name, error));
        },
      };
      await ownedBy(owner, () =>
        eventLoopWatch.during(`start of connector ${name}`, () => instance.start(config, context)),
      );
      if (started.muted || failure !== undefined) return false;
      this.#onEvent({ connector: name, state: 'RUNNING' });
      return true;
    } catch (error) {
      if (hosted?.muted !== true) this.#fail(name, error);
      return false;
    }
  }

  /** Rejects with the error of the plugin, or if the connector is not running on this worker. */
  async taskConfigs(name: string, maxTasks: number): Promise<readonly ConnectorConfig[]> {
    const hosted = this.#connectors.get(name);
    if (hosted === undefined) throw new Error(`Connector ${name} is not running on this worker`);
    const activity = `task configurations of connector ${name}`;
    return ownedBy(hosted.owner, () => eventLoopWatch.during(activity, () => hosted.instance.taskConfigs(maxTasks)));
  }

  /** Resolves when the instance has stopped, or after Connect's time limit. */
  async stop(name: string): Promise<void> {
    const hosted = this.#connectors.get(name);
    if (hosted === undefined) return;
    this.#connectors.delete(name);
    hosted.muted = true;
    // A plugin that hangs in `start` cannot be distinguished from a slow one, so `stop` is called in either case.
    const stopped = ownedBy(hosted.owner, () =>
      eventLoopWatch.during(`stop of connector ${name}`, () => hosted.instance.stop()),
    ).catch((error: unknown) => {
      this.#logger.error({ err: error, connector: name }, `Connector ${name} failed while it was stopped`);
    });
    if (!(await within(stopped, STOP_TIMEOUT_MS))) {
      this.#logger.warn({ connector: name }, `Connector ${name} did not stop within ${String(STOP_TIMEOUT_MS)} ms`);
    }
  }

  /**
   * Sets a connector to FAILED because its configuration cannot be resolved, its plugins cannot be loaded, or it generated too
   * many tasks.
   */
  fail(name: string, error: unknown): void {
    this.#fail(name, error);
  }

  #fail(name: string, thrown: unknown): void {
    const error = toError(thrown);
    this.#logger.error({ err: error, connector: name }, `Connector ${name} failed`);
    this.#onEvent({ connector: name, state: 'FAILED', trace: javaTrace(error), failure: failureOf(error) });
  }
}
