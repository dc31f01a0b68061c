import { isDeepStrictEqual } from 'node:util';
import type { ConfigResolver, ResolvedConfig } from '../config/providers/config-resolver.ts';
import type { ConnectorConfig } from '../connect/api.ts';
import type { TaskAssignment } from '../connect/task-assignment.ts';
import type { TaskConfigs } from '../connect/hosting/task-host.ts';
import type { Logger } from '../observe/logger.ts';

/** A configuration that something runs with and whose values expire. */
interface Watch {
  readonly given: ConnectorConfig;
  readonly inUse: ConnectorConfig;
  readonly timer: NodeJS.Timeout;
}

/** A provider that says 0 is asked once a second. */
const MIN_TTL_MS = 1000;
/** Longer than a timer can be. */
const MAX_TTL_MS = 2 ** 31 - 1;

/**
 * Configurations as connectors and tasks run with them: with the values of their variables. Values that expire are looked up
 * again; when they have changed, the connector and its tasks start again, unless `config.action.reload=none`. (Java's worker
 * restarts the connector at every expiry, changed or not, and never its tasks; a task would keep a password that is no more.)
 *
 * A connector: unwatched -> watched, while values expire -> unwatched when they have changed, or it is gone.
 */
export class LiveConfigs implements TaskConfigs {
  readonly #resolver: ConfigResolver;
  readonly #onChanged: (connector: string) => void;
  readonly #logger: Logger;
  readonly #watches = new Map<string, Watch>();
  #closed = false;

  /** `onChanged`: values of this connector have changed; it and its tasks are to be started again. */
  constructor(resolver: ConfigResolver, onChanged: (connector: string) => void, logger: Logger) {
    this.#resolver = resolver;
    this.#onChanged = onChanged;
    this.#logger = logger;
  }

  /** The connector's configuration, for something that is started with it. Rejects with a provider's ConfigError. */
  async resolve(connector: string, given: ConnectorConfig): Promise<ResolvedConfig<ConnectorConfig>> {
    const resolved = await this.#resolver.resolve(given);
    // What was started first has the oldest values: it is the one to be watched.
    const isWatched = isDeepStrictEqual(this.#watches.get(connector)?.given, given);
    if (!isWatched) this.#watch(connector, given, resolved.config, resolved.ttlMs);
    return resolved;
  }

  /** The same for a task, whose configuration was made from the connector's. */
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

  /** A provider that cannot be asked now is asked again a second later; what runs goes on. */
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
      this.#logger.info({ connector }, `Values of config providers have changed: connector ${connector} starts again`);
      this.#onChanged(connector);
    } catch (error) {
      this.#logger.warn(
        { err: error, connector },
        `Values of connector ${connector} have expired and cannot be looked up`,
      );
      if (isCurrent()) this.#watch(connector, given, inUse, MIN_TTL_MS);
    }
  }
}
