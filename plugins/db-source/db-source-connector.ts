import {
  connectionSettings,
  connectWithAttempts,
  openExecutor,
  parseOptions,
  toError,
  type Connector,
  type ConnectorConfig,
  type ConnectorContext,
  type Executor,
  type Table,
} from '../../src/index.ts';
import { sourceOptions } from './options.ts';
import { timeColumnOf } from './table-query.ts';
import { TableShares } from './table-shares.ts';
import { tableLabel } from './tables.ts';
import { topicNames, type TopicNaming } from './topic-names.ts';

/**
 * Finds the tables there are, deals them to tasks, and asks for a new deal when tables come or go. One query per
 * `poll.interval.ms`, however many tables there are.
 *
 * States: stopped -> watching -> stopped.
 */
export class DbSourceConnector implements Connector {
  #config: ConnectorConfig = {};
  #context: ConnectorContext | undefined;
  #naming: TopicNaming | undefined;
  #executor: Executor | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  readonly #abort = new AbortController();
  readonly #shares = new TableShares();
  readonly #withoutTime = new Set<string>();
  #dealt = '';

  async start(config: ConnectorConfig, context: ConnectorContext): Promise<void> {
    const options = parseOptions(sourceOptions, config);
    const settings = connectionSettings(options);
    this.#config = config;
    this.#naming = {
      prefix: options['topic.prefix'],
      delimiter: options['topic.delimiter'],
      perTable: options['topic.per.stable'],
      ignoreDatabase: options['topic.ignore.db'],
      database: settings.database,
      format: options['out.format'],
    };
    this.#context = context;
    this.#executor = openExecutor(settings, { logger: context.logger, poolSize: 1 });
    await connectWithAttempts(this.#executor, {
      attempts: options['connection.attempts'],
      backoffMs: options['connection.backoff.ms'],
      signal: this.#abort.signal,
    });
    this.#timer = setInterval(() => {
      this.#looking ??= this.#lookForChanges().finally(() => {
        this.#looking = undefined;
      });
    }, options['poll.interval.ms']);
  }

  async taskConfigs(maxTasks: number): Promise<ConnectorConfig[]> {
    const topics = this.#topicsOf(await this.#tables());
    this.#dealt = [...topics.keys()].join('\n');
    if (topics.size === 0) this.#context?.logger.warn('There is no table with a timestamp column yet; waiting for one');
    return this.#shares.deal([...topics.keys()], maxTasks).map((share) => ({
      ...this.#config,
      tables: JSON.stringify(Object.fromEntries(share.map((table) => [table, topics.get(table)]))),
    }));
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    clearInterval(this.#timer);
    await this.#looking;
    await this.#executor?.close();
    this.#executor = undefined;
  }

  /** Never rejects: a look that failed is logged, the next one comes. */
  async #lookForChanges(): Promise<void> {
    try {
      const topics = this.#topicsOf(await this.#tables());
      if ([...topics.keys()].join('\n') !== this.#dealt) this.#context?.requestTaskReconfiguration();
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      this.#context?.logger.warn(`Tables could not be looked for and are looked for again: ${toError(error).message}`);
    }
  }

  async #tables(): Promise<string[]> {
    if (this.#executor === undefined) throw new Error('the connector was stopped');
    const tables = await this.#executor.catalogue.list();
    return tables
      .filter((table) => this.#isReadable(table))
      .map(tableLabel)
      .sort();
  }

  #isReadable(table: Table): boolean {
    if (timeColumnOf(table) !== undefined) return true;
    const label = tableLabel(table);
    if (!this.#withoutTime.has(label)) {
      this.#withoutTime.add(label);
      this.#context?.logger.warn(`Table ${label} is left out: it has no timestamp column to read it by`);
    }
    return false;
  }

  #topicsOf(tables: readonly string[]): Map<string, string> {
    if (this.#naming === undefined) throw new Error('the connector was not started');
    return topicNames(this.#naming, tables);
  }
}
