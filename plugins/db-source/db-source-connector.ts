import { toError, type Connector, type ConnectorConfig, type ConnectorContext } from '../../src/index.ts';
import {
  connectWithAttempts,
  databaseText,
  openNamedExecutor,
  unavailableReason,
  type Executor,
} from '../database/index.ts';
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
 * Finds the tables, distributes them to tasks, and requests a reconfiguration when tables are added or removed. Unless
 * the option `query` is set, it runs one small query per `poll.interval.ms`, regardless of the number of tables.
 */
export class DbSourceConnector implements Connector {
  #started: Parts | undefined;
  #timer: NodeJS.Timeout | undefined;
  #checking: Promise<void> | undefined;
  readonly #abort = new AbortController();
  readonly #shares = new TableShares();
  readonly #logged = new Set<string>();
  #assigned = '';

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
        context.logger.warn(`The connector cannot start yet: ${place} cannot be reached: ${unavailableReason(error)}`);
      },
    });
    const hint = prefixHint(settings.naming);
    if (hint !== undefined) context.logger.warn(`Topics of this connector: ${hint}`);
    if (settings.query !== undefined) return;
    this.#timer = setInterval(() => {
      this.#checking ??= this.#checkForChanges().finally(() => {
        this.#checking = undefined;
      });
    }, settings.pollIntervalMs);
  }

  async taskConfigs(maxTasks: number): Promise<ConnectorConfig[]> {
    const { config, context } = this.#parts;
    const names = await this.#topics();
    const { topics, refused } = names;
    this.#assigned = assignmentText(names);
    if (topics.size === 0) context.logger.warn('There is no table to read yet; waiting for one');
    const shares = this.#shares.distribute([...topics.keys()], maxTasks);
    // At least one task is needed to report the refused tables.
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
    await this.#checking;
    await this.#started?.executor.close();
    this.#started = undefined;
  }

  /** Never rejects. A failure is logged, and the next check takes place as usual. */
  async #checkForChanges(): Promise<void> {
    const { watch, context } = this.#parts;
    const { signal } = this.#abort;
    try {
      if (!(await watch.refresh(signal)).changed) return;
      if (assignmentText(await this.#topics()) !== this.#assigned) context.requestTaskReconfiguration();
    } catch (error) {
      watch.invalidate();
      if (signal.aborted) return;
      context.logger.warn(`Failed to check for changed tables; will retry: ${toError(error).message}`);
    }
  }

  async #topics(): Promise<TopicNames> {
    const { settings, watch } = this.#parts;
    const { query, naming } = settings;
    if (query !== undefined) return topicNames(naming, [query.name]);
    const tables = await watch.tables();
    const labels = tables.filter((table) => this.#isRead(table)).map(tableLabel);
    const names = topicNames(naming, labels.sort());
    this.#logRefused(names);
    await this.#logViews();
    return names;
  }

  /** Logs each view once. */
  async #logViews(): Promise<void> {
    const { settings, watch, context } = this.#parts;
    const views = (await watch.views()).filter((view) => settings.isIncluded(view) && !this.#logged.has(view));
    for (const view of views) this.#logged.add(view);
    if (views.length > 0) context.logger.warn(`Skipped views: ${named(views)}; read one with the option query`);
  }

  /** Logs each reason once, even if it applies to several tables. */
  #logRefused({ refused }: TopicNames): void {
    for (const reason of new Set(refused.values())) {
      if (this.#logged.has(reason)) continue;
      this.#logged.add(reason);
      this.#parts.context.logger.warn(`Skipped tables: ${reason}`);
    }
  }

  #isRead(table: SourceTable): boolean {
    const { settings, context } = this.#parts;
    const label = tableLabel(table);
    if (!settings.isIncluded(label)) return false;
    const order = settings.mode === 'bulk' ? undefined : tableOrder(table, settings);
    if (typeof order !== 'string') return true;
    if (!this.#logged.has(label)) {
      this.#logged.add(label);
      context.logger.warn(`Skipped table ${label}: ${order}`);
    }
    return false;
  }

  get #parts(): Parts {
    if (this.#started === undefined) throw new Error('the connector was not started, or was stopped');
    return this.#started;
  }
}

function assignmentText({ topics, refused }: TopicNames): string {
  return JSON.stringify([[...topics.keys()], [...refused]]);
}
