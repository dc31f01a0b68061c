import assert from 'node:assert/strict';
import { dbSource } from '../../plugins/db-source/plugin.ts';
import type { Connector, ConnectorConfig, SourceTask } from '../../src/connect/api.ts';
import { coordinatesKey } from '../../src/connect/source/offset-tracker.ts';
import type { SourceCoordinates, SourceRecord } from '../../src/data/record.ts';
import { RetriableError, toError } from '../../src/errors.ts';
import type { Logger } from '../../src/observe/logger.ts';
import { sourceConfig } from '../support/connectors.ts';
import { database, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';

type JsonRow = Readonly<Record<string, unknown>>;

/**
 * The source connector on a real database, its tasks polled here in place of a worker: records are acknowledged when a poll
 * gives them, offsets kept as a worker stores them.
 */
export class RunningSource {
  readonly records: SourceRecord[] = [];
  readonly polls: number[] = [];
  /** Messages by level. */
  readonly log: string[] = [];
  readonly offsets: Map<string, SourceCoordinates>;
  failure: Error | undefined;
  /** Times that the connector asked for another deal. */
  reconfigurations = 0;
  readonly #abort = new AbortController();
  readonly #connector: Connector = dbSource.createConnector({});
  readonly #parsed: { readonly tables: readonly unknown[]; readonly data: readonly JsonRow[] }[] = [];
  #tasks: SourceTask[] = [];
  #polling: Promise<void>[] = [];

  private constructor(offsets: Map<string, SourceCoordinates>) {
    this.offsets = offsets;
  }

  static async start(
    config: ConnectorConfig,
    { offsets = new Map<string, SourceCoordinates>(), maxTasks = 1 } = {},
  ): Promise<RunningSource> {
    const source = new RunningSource(offsets);
    await source.#start(config, maxTasks);
    return source;
  }

  /** The texts of the records of a table, or of all. */
  texts(table?: string): string[] {
    return this.records
      .filter(({ sourcePartition }) => table === undefined || Object.values(sourcePartition).includes(table))
      .map(textOf);
  }

  /** The rows of json_db records. */
  rows(table?: string): JsonRow[] {
    while (this.#parsed.length < this.records.length) {
      const record = this.records[this.#parsed.length];
      if (record === undefined) break;
      const { data } = JSON.parse(textOf(record)) as { data: JsonRow[] };
      this.#parsed.push({ tables: Object.values(record.sourcePartition), data });
    }
    return this.#parsed.flatMap(({ tables, data }) => (table === undefined || tables.includes(table) ? data : []));
  }

  /** Column `n` of the rows. */
  numbers(): unknown[] {
    return this.rows().map(({ n }) => n);
  }

  async untilRows(count: number, table?: string, timeoutMs = 20_000): Promise<JsonRow[]> {
    const what = `${String(count)} rows of ${table ?? 'all tables'}`;
    await until(
      () => {
        if (this.failure !== undefined) throw this.failure;
        const found = this.rows(table).length;
        return found >= count ? true : null;
      },
      what,
      { timeoutMs },
    ).catch((error: unknown) => {
      throw new Error(
        `${toError(error).message}; there are ${String(this.rows(table).length)}\n${this.log.join('\n')}`,
      );
    });
    return this.rows(table);
  }

  /** A table's part of the task, as the tasks report it. */
  part(name: string) {
    return this.#tasks.flatMap((task) => task.parts?.() ?? []).find((part) => part.name === name);
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await Promise.all(this.#polling);
    await Promise.all(this.#tasks.map((task) => task.stop()));
    await this.#connector.stop();
  }

  async #start(config: ConnectorConfig, maxTasks: number): Promise<void> {
    const logger = this.#logger();
    await this.#connector.start(config, {
      connectorName: 'source',
      logger,
      requestTaskReconfiguration: () => this.reconfigurations++,
      raiseError: (error) => (this.failure = error),
    });
    const configs = await this.#connector.taskConfigs(maxTasks);
    this.#tasks = configs.map(() => dbSource.createTask(config));
    for (const [index, task] of this.#tasks.entries()) {
      await task.start({
        connectorName: 'source',
        taskIndex: index,
        config: configs[index] ?? {},
        logger,
        signal: this.#abort.signal,
        offset: (partition) => Promise.resolve(this.offsets.get(coordinatesKey(partition)) ?? null),
      });
    }
    this.#polling = this.#tasks.map((task) => this.#poll(task));
  }

  async #poll(task: SourceTask): Promise<void> {
    while (!this.#abort.signal.aborted && this.failure === undefined) {
      try {
        const records = await task.poll();
        if (records.length > 0) this.polls.push(records.length);
        for (const record of records) {
          if ('value' in record) this.records.push(record);
          this.offsets.set(coordinatesKey(record.sourcePartition), record.sourceOffset);
        }
      } catch (error) {
        if (this.#abort.signal.aborted || error instanceof RetriableError) continue;
        this.failure = toError(error);
      }
      // A worker has other things to do between two polls as well.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #logger(): Logger {
    const write =
      (level: string) =>
      (...parts: unknown[]) => {
        const text = parts.filter((part) => typeof part === 'string').join(' ');
        this.log.push(`${level}: ${text}`);
      };
    const logger = {
      trace: () => undefined,
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
      fatal: write('fatal'),
      child: () => logger,
      isLevelEnabled: () => true,
    };
    return logger as unknown as Logger;
  }
}

function textOf({ value }: SourceRecord): string {
  if (typeof value !== 'string') throw new Error('the source writes text');
  return value;
}

/** A database of its own for one test file, with what runs on it. */
export class SourceFixture {
  readonly db: TestDatabase;
  readonly sql: SqlClient;
  /** A second connection, for transactions that stay open. */
  readonly other: SqlClient;
  #running: RunningSource[] = [];

  private constructor(db: TestDatabase) {
    this.db = db;
    this.sql = new SqlClient(db);
    this.other = new SqlClient(db);
  }

  static async create(): Promise<SourceFixture> {
    return new SourceFixture(await database('source'));
  }

  config(more: Readonly<Record<string, string>>): ConnectorConfig {
    return sourceConfig(this.db, { 'poll.interval.ms': '100', 'topic.prefix': 'p', ...more });
  }

  /** Reads one table unless the options say otherwise. */
  async start(
    tables: string,
    more: Readonly<Record<string, string>> = {},
    options: { offsets?: Map<string, SourceCoordinates>; maxTasks?: number } = {},
  ): Promise<RunningSource> {
    const source = await RunningSource.start(this.config({ 'table.include': tables, ...more }), options);
    this.#running.push(source);
    return source;
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((source) => source.stop()));
  }

  async close(): Promise<void> {
    await this.stopAll();
    await this.sql.close();
    await this.other.close();
  }
}

/** Every element once, whatever the order. */
export function assertOnce(actual: readonly unknown[], expected: readonly unknown[]): void {
  const sorted = (values: readonly unknown[]) => values.map(String).sort();
  assert.deepEqual(sorted(actual), sorted(expected));
}
