import {
  connectWithAttempts,
  openExecutor,
  toError,
  type Connector,
  type ConnectorConfig,
  type ConnectorContext,
  type Executor,
} from '../../src/index.ts';
import { sourceSettings, type SourceSettings } from './source-settings.ts';
import { tableOrder } from './table-order.ts';
import { TableShares } from './table-shares.ts';
import { tableLabel, type SourceTable } from './tables.ts';
import { TableWatch } from './table-watch.ts';
import { topicNames } from './topic-names.ts';

interface Parts {
  readonly config: ConnectorConfig;
  readonly context: ConnectorContext;
  readonly settings: SourceSettings;
  readonly executor: Executor;
  readonly watch: TableWatch;
}

/**
 * Finds the tables there are, deals them to tasks, and asks for a new deal when tables come or go. One small query per
 * `poll.interval.ms`, however many tables there are.
 *
 * States: stopped -> watching -> stopped.
 */
export class DbSourceConnector implements Connector {
  #started: Parts | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  readonly #abort = new AbortController();
  readonly #shares = new TableShares();
  readonly #leftOut = new Set<string>();
  #dealt = '';

  async start(config: ConnectorConfig, context: ConnectorContext): Promise<void> {
    const settings = sourceSettings(config);
    const executor = openExecutor(settings.connection, { logger: context.logger, poolSize: 1 });
    this.#started = { config, context, settings, executor, watch: new TableWatch(executor) };
    await connectWithAttempts(executor, {
      attempts: settings.attempts,
      backoffMs: settings.backoffMs,
      signal: this.#abort.signal,
    });
    if (settings.query !== undefined) return;
    this.#timer = setInterval(() => {
      this.#looking ??= this.#lookForChanges().finally(() => {
        this.#looking = undefined;
      });
    }, settings.pollIntervalMs);
  }

  async taskConfigs(maxTasks: number): Promise<ConnectorConfig[]> {
    const { config, context } = this.#parts;
    const topics = await this.#topics();
    this.#dealt = [...topics.keys()].join('\n');
    if (topics.size === 0) context.logger.warn('There is no table to read yet; waiting for one');
    return this.#shares.deal([...topics.keys()], maxTasks).map((share) => ({
      ...config,
      tables: JSON.stringify(Object.fromEntries(share.map((table) => [table, topics.get(table)]))),
    }));
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    clearInterval(this.#timer);
    await this.#looking;
    await this.#started?.executor.close();
    this.#started = undefined;
  }

  /** Never rejects: a look that failed is logged, the next one comes. */
  async #lookForChanges(): Promise<void> {
    const { watch, context } = this.#parts;
    const { signal } = this.#abort;
    try {
      if (!(await watch.look(signal)).changed) return;
      if ([...(await this.#topics()).keys()].join('\n') !== this.#dealt) context.requestTaskReconfiguration();
    } catch (error) {
      watch.distrust();
      if (signal.aborted) return;
      context.logger.warn(`Tables could not be looked for and are looked for again: ${toError(error).message}`);
    }
  }

  async #topics(): Promise<Map<string, string>> {
    const { settings, watch } = this.#parts;
    const { query, naming } = settings;
    if (query !== undefined) return topicNames(naming, [query.name]);
    const tables = await watch.tables();
    const labels = tables.filter((table) => this.#isRead(table)).map(tableLabel);
    return topicNames(naming, labels.sort());
  }

  #isRead(table: SourceTable): boolean {
    const { settings, context } = this.#parts;
    const label = tableLabel(table);
    if (!settings.isIncluded(label)) return false;
    const order = settings.mode === 'bulk' ? undefined : tableOrder(table, settings);
    if (typeof order !== 'string') return true;
    if (!this.#leftOut.has(label)) {
      this.#leftOut.add(label);
      context.logger.warn(`Table ${label} is left out: ${order}`);
    }
    return false;
  }

  get #parts(): Parts {
    if (this.#started === undefined) throw new Error('the connector was not started, or was stopped');
    return this.#started;
  }
}
