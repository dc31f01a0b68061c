import { toError, type Connector, type ConnectorConfig, type ConnectorContext } from '../../src/index.ts';
import { connectWithAttempts, databaseText, openNamedExecutor, whyAway, type Executor } from '../database/index.ts';
import { sourceSettings, type SourceSettings } from './source-settings.ts';
import { tableOrder } from './table-order.ts';
import { TableShares } from './table-shares.ts';
import { named, tableLabel, type SourceTable } from './tables.ts';
import { TableWatch } from './table-watch.ts';
import { prefixHint, topicNames, type TopicNames } from './topic-names.ts';

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
    const executor = openNamedExecutor(settings.connection, context, 1);
    this.#started = { config, context, settings, executor, watch: new TableWatch(executor) };
    await connectWithAttempts(executor, {
      attempts: settings.attempts,
      backoffMs: settings.backoffMs,
      signal: this.#abort.signal,
      onFailure: (error, attempt) => {
        if (attempt > 1) return;
        const place = databaseText(settings.connection);
        context.logger.warn(`The connector cannot start yet: ${place} cannot be reached: ${whyAway(error)}`);
      },
    });
    const hint = prefixHint(settings.naming);
    if (hint !== undefined) context.logger.warn(`Topics of this connector: ${hint}`);
    if (settings.query !== undefined) return;
    this.#timer = setInterval(() => {
      this.#looking ??= this.#lookForChanges().finally(() => {
        this.#looking = undefined;
      });
    }, settings.pollIntervalMs);
  }

  async taskConfigs(maxTasks: number): Promise<ConnectorConfig[]> {
    const { config, context } = this.#parts;
    const names = await this.#topics();
    const { topics, refused } = names;
    this.#dealt = dealText(names);
    if (topics.size === 0) context.logger.warn('There is no table to read yet; waiting for one');
    const shares = this.#shares.deal([...topics.keys()], maxTasks);
    // Some task has to tell of them.
    if (shares.length === 0 && refused.size > 0) shares.push([]);
    return shares.map((share, index) => ({
      ...config,
      tables: JSON.stringify(Object.fromEntries(share.map((table) => [table, topics.get(table)]))),
      ...(index === 0 && refused.size > 0 ? { 'tables.refused': JSON.stringify(Object.fromEntries(refused)) } : {}),
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
      if (!(await watch.refresh(signal)).changed) return;
      if (dealText(await this.#topics()) !== this.#dealt) context.requestTaskReconfiguration();
    } catch (error) {
      watch.invalidate();
      if (signal.aborted) return;
      context.logger.warn(`Tables could not be looked for and are looked for again: ${toError(error).message}`);
    }
  }

  async #topics(): Promise<TopicNames> {
    const { settings, watch } = this.#parts;
    const { query, naming } = settings;
    if (query !== undefined) return topicNames(naming, [query.name]);
    const tables = await watch.tables();
    const labels = tables.filter((table) => this.#isRead(table)).map(tableLabel);
    const names = topicNames(naming, labels.sort());
    this.#tellOfRefused(names);
    await this.#logViews();
    return names;
  }

  /** Each view once. */
  async #logViews(): Promise<void> {
    const { settings, watch, context } = this.#parts;
    const views = (await watch.views()).filter((view) => settings.isIncluded(view) && !this.#leftOut.has(view));
    for (const view of views) this.#leftOut.add(view);
    if (views.length > 0) context.logger.warn(`Views are left out: ${named(views)}; read one with the option query`);
  }

  /** Each reason once, also when it is that of several tables. */
  #tellOfRefused({ refused }: TopicNames): void {
    for (const reason of new Set(refused.values())) {
      if (this.#leftOut.has(reason)) continue;
      this.#leftOut.add(reason);
      this.#parts.context.logger.warn(`Tables are left out: ${reason}`);
    }
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

function dealText({ topics, refused }: TopicNames): string {
  return JSON.stringify([[...topics.keys()], [...refused]]);
}
