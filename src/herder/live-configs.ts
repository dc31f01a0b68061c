import { isDeepStrictEqual } from 'node:util';
import type { ConfigResolver, ResolvedConfig } from '../config/providers/config-resolver.ts';
import type { ConnectorConfig } from '../connect/api.ts';
import type { TaskAssignment } from '../connect/task-assignment.ts';
import type { TaskConfigs } from '../connect/hosting/task-host.ts';
import type { Logger } from '../observe/logger.ts';

/** A configuration in use whose values will expire. */
interface Watch {
  readonly given: ConnectorConfig;
  readonly inUse: ConnectorConfig;
  readonly timer: NodeJS.Timeout;
}

/** Minimum time between two requests to a provider, even if its values expire immediately. */
const MIN_TTL_MS = 1000;
/** The longest delay that a timer supports. */
const MAX_TTL_MS = 2 ** 31 - 1;

/**
 * Resolves the variables in the configurations of connectors and tasks. Expired values are requested again, unless
 * `config.action.reload=none`. If they have changed, the connector and its tasks are restarted. (Java's worker restarts
 * the connector whenever a value expires, even without a change. It never restarts the tasks, which therefore keep an
 * old password.)
 *
 *   unwatched --resolved values will expire--> watched --values changed, or the connector was deleted--> unwatched
 */
export class LiveConfigs implements TaskConfigs {
  readonly #resolver: ConfigResolver;
  readonly #onChanged: (connector: string) => void;
  readonly #logger: Logger;
  readonly #watches = new Map<string, Watch>();
  #closed = false;

  /** `onChanged` is called when values of the connector have changed, so that the connector and its tasks must be restarted. */
  constructor(resolver: ConfigResolver, onChanged: (connector: string) => void, logger: Logger) {
    this.#resolver = resolver;
    this.#onChanged = onChanged;
    this.#logger = logger;
  }

  /**
   * Resolves the configuration of a connector before the connector or a task starts. Rejects with the ConfigError of a
   * provider.
   */
  async resolve(connector: string, given: ConnectorConfig): Promise<ResolvedConfig<ConnectorConfig>> {
    const resolved = await this.#resolver.resolve(given);
    // The connector and its tasks resolve the same configuration. Only the values of the first of them to start are watched,
    // because these are the oldest.
    const isWatched = isDeepStrictEqual(this.#watches.get(connector)?.given, given);
    if (!isWatched) this.#watch(connector, given, resolved.config, resolved.ttlMs);
    return resolved;
  }

  /** Resolves the configurations of a task. */
  async resolveAssignment(assignment: TaskAssignment): Promise<TaskAssignment> {
    const { config: connectorConfig } = await this.resolve(assignment.id.connector, assignment.connectorConfig);
    const { config: taskConfig } = await this.#resolver.resolve(assignment.taskConfig);
    return { ...assignment, connectorConfig, taskConfig };
  }

  forget(connector: string): void {
    clearTimeout(this.#watches.get(connector)?.timer);
    this.#watches.delete(connector);
  }

  close(): void {
    this.#closed = true;
    for (const connector of [...this.#watches.keys()]) this.forget(connector);
  }

  #watch(connector: string, given: ConnectorConfig, inUse: ConnectorConfig, ttlMs: number | undefined): void {
    this.forget(connector);
    const reload = inUse['config.action.reload']?.trim().toLowerCase() ?? 'restart';
    if (ttlMs === undefined || reload === 'none' || this.#closed) return;
    const timer = setTimeout(
      () => void this.#expire(connector, given, inUse),
      Math.min(Math.max(ttlMs, MIN_TTL_MS), MAX_TTL_MS),
    );
    this.#watches.set(connector, { given, inUse, timer });
  }

  /**
   * Requests expired values again. If a provider fails, the request is retried after a second; connector and tasks continue to
   * run.
   */
  async #expire(connector: string, given: ConnectorConfig, inUse: ConnectorConfig): Promise<void> {
    const isCurrent = (): boolean => this.#watches.get(connector)?.inUse === inUse;
    try {
      const { config, ttlMs } = await this.#resolver.resolve(given);
      if (!isCurrent()) return;
      if (isDeepStrictEqual(config, inUse)) {
        this.#watch(connector, given, inUse, ttlMs);
        return;
      }
      this.forget(connector);
      this.#logger.info({ connector }, `Values of config providers have changed; restarting connector ${connector}`);
      this.#onChanged(connector);
    } catch (error) {
      this.#logger.warn(
        { err: error, connector },
        `Failed to look up the expired values of connector ${connector}; retrying`,
      );
      if (isCurrent()) this.#watch(connector, given, inUse, MIN_TTL_MS);
    }
  }
}
