import { setTimeout as delay } from 'node:timers/promises';
import {
  connectionSettings,
  connectWithAttempts,
  ConnectError,
  DatabaseError,
  encodedFormats,
  openExecutor,
  parseOptions,
  RetriableError,
  Schema,
  toError,
  type EncodedFormatName,
  type EncodedTable,
  type Executor,
  type RowEncoder,
  type SourceCoordinates,
  type SourceRecord,
  type SourceTask,
  type SourceTaskContext,
  type Table,
} from '../../src/index.ts';
import { parseInitialTime } from './initial-time.ts';
import { sourceOptions } from './options.ts';
import { keyColumnsOf, EARLIEST_MICROS, timeColumnOf, type TablePosition } from './table-query.ts';
import { fromOffset, TableReader, toOffset } from './table-reader.ts';
import { tableLabel } from './tables.ts';

const STRING = new Schema('string');

/** A table of this task, and when it is looked at next. */
interface Feed {
  readonly label: string;
  readonly partition: SourceCoordinates;
  readonly topic: string;
  reader: TableReader;
  encoder: RowEncoder;
  dueAtMs: number;
}

/** `com.db.kafka.connect.source.DbSourceTask`: new rows of its tables, table by table in turn, as records. */
export class DbSourceTask implements SourceTask {
  #context: SourceTaskContext | undefined;
  #executor: Executor | undefined;
  /** `undefined` until the tables were found for the first time. */
  #feeds: Feed[] | undefined;
  #initial: TablePosition = { kind: 'from', micros: EARLIEST_MICROS };
  #options: ReturnType<typeof readOptions> | undefined;
  #lookAgainAtMs = 0;
  #complained = new Set<string>();

  async start(context: SourceTaskContext): Promise<void> {
    this.#context = context;
    const options = readOptions(context);
    this.#options = options;
    if (options.initialText !== null) {
      const micros = parseInitialTime(options.initialText, Date.now());
      this.#initial = { kind: 'from', micros: String(micros) };
      context.logger.info(`timestamp.initial is read as ${new Date(micros / 1000).toISOString()}`);
    }
    this.#executor = openExecutor(connectionSettings(options.parsed), { logger: context.logger, poolSize: 2 });
    await this.#connect();
    await this.#refreshTables();
  }

  async poll(): Promise<readonly SourceRecord[]> {
    const { signal } = this.#of(this.#context);
    if (Date.now() >= this.#lookAgainAtMs) await this.#refreshTables();
    const feed = this.#nextFeed();
    const dueAtMs = Math.min(feed?.dueAtMs ?? Infinity, this.#lookAgainAtMs);
    const waitMs = dueAtMs - Date.now();
    if (waitMs > 0) {
      await delay(waitMs, undefined, { signal });
      return [];
    }
    return feed === undefined ? [] : this.#read(feed);
  }

  async stop(): Promise<void> {
    await this.#executor?.close();
    this.#executor = undefined;
  }

  /** The feed that has been due longest; the turn it is given puts it behind the others. */
  #nextFeed(): Feed | undefined {
    return (this.#feeds ?? []).reduce<Feed | undefined>(
      (first, feed) => (first === undefined || feed.dueAtMs < first.dueAtMs ? feed : first),
      undefined,
    );
  }

  async #read(feed: Feed): Promise<readonly SourceRecord[]> {
    const { parsed } = this.#of(this.#options);
    const limit = parsed['fetch.max.rows'];
    try {
      const { rows, positions } = await feed.reader.read(limit, this.#of(this.#context).signal);
      feed.dueAtMs = rows.length === 0 ? Date.now() + parsed['poll.interval.ms'] : Date.now();
      this.#complained.delete(feed.label);
      return rows.flatMap((row, index) => {
        const value = feed.encoder.encode(row);
        return value === null ? [] : [this.#record(feed, value, positions[index])];
      });
    } catch (error) {
      await this.#afterFailure(feed, error);
      return [];
    }
  }

  #record(feed: Feed, value: string, position: TablePosition | undefined): SourceRecord {
    return {
      topic: feed.topic,
      partition: null,
      keySchema: null,
      key: null,
      valueSchema: STRING,
      value,
      timestamp: null,
      headers: [],
      sourcePartition: feed.partition,
      sourceOffset: toOffset(position ?? feed.reader.position),
    };
  }

  /** Waits for a database that is away; a table that is the trouble is left alone until its next turn. */
  async #afterFailure(feed: Feed, thrown: unknown): Promise<void> {
    const { logger, signal } = this.#of(this.#context);
    if (signal.aborted) throw toError(thrown);
    if (!(thrown instanceof DatabaseError)) throw thrown;
    if (thrown.scope === 'infrastructure') {
      logger.warn(`Table ${feed.label} could not be read, connecting again: ${thrown.message}`);
      await this.#connect();
      return;
    }
    feed.dueAtMs = Date.now() + this.#of(this.#options).parsed['poll.interval.ms'];
    this.#lookAgainAtMs = 0;
    if (this.#complained.has(feed.label)) return;
    this.#complained.add(feed.label);
    logger.error(
      { err: thrown },
      `Table ${feed.label} cannot be read and is tried again each poll.interval.ms: ${thrown.message}`,
    );
  }

  async #connect(): Promise<void> {
    const { parsed } = this.#of(this.#options);
    try {
      await connectWithAttempts(this.#of(this.#executor), {
        attempts: parsed['connection.attempts'],
        backoffMs: parsed['connection.backoff.ms'],
        signal: this.#of(this.#context).signal,
      });
    } catch (error) {
      const message = `The source database cannot be reached: ${toError(error).message}`;
      // A database that was there once comes back: the worker polls again. One that never was is a mistake to be seen.
      const isAway = this.#feeds !== undefined && error instanceof DatabaseError && error.scope === 'infrastructure';
      throw isAway ? new RetriableError(message, { cause: error }) : new ConnectError(message, { cause: error });
    }
  }

  /** Takes up what the database says of the task's tables now; one query for all of them. */
  async #refreshTables(): Promise<void> {
    const { parsed, topics } = this.#of(this.#options);
    this.#lookAgainAtMs = Date.now() + parsed['poll.interval.ms'];
    let tables: readonly Table[];
    try {
      tables = await this.#of(this.#executor).catalogue.list();
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.scope !== 'infrastructure') throw error;
      await this.#connect();
      return;
    }
    const feeds: Feed[] = [];
    for (const table of tables) {
      const label = tableLabel(table);
      const topic = topics.get(label);
      if (topic === undefined) continue;
      const feed = await this.#feedOf(table, label, topic);
      if (feed !== undefined) feeds.push(feed);
    }
    this.#feeds = feeds;
  }

  async #feedOf(table: Table, label: string, topic: string): Promise<Feed | undefined> {
    const known = this.#feeds?.find((feed) => feed.label === label);
    if (known !== undefined && sameShape(known.reader.table, table)) return known;
    const { parsed } = this.#of(this.#options);
    const partition = { table: label };
    const position = known?.reader.position ?? (await this.#storedPosition(table, partition));
    const reader = TableReader.create(this.#of(this.#executor), table, parsed['query.interval.ms'], position);
    if (reader === undefined) return undefined;
    return {
      label,
      partition,
      topic,
      reader,
      encoder: encodedFormats[parsed['out.format'] as EncodedFormatName].create(encodedTable(table)),
      dueAtMs: known?.dueAtMs ?? 0,
    };
  }

  async #storedPosition(table: Table, partition: SourceCoordinates): Promise<TablePosition> {
    const offset = await this.#of(this.#context).offset(partition);
    if (offset === null) return this.#initial;
    const time = timeColumnOf(table);
    const keyWidth = time === undefined ? undefined : keyColumnsOf(table, time)?.length;
    try {
      return fromOffset(offset, keyWidth);
    } catch (error) {
      throw new ConnectError(`Table ${tableLabel(table)}: ${toError(error).message}`, { cause: error });
    }
  }

  #of<T>(part: T | undefined): T {
    if (part === undefined) throw new ConnectError('The task was used before it was started, or after it was stopped');
    return part;
  }
}

/** What an encoder is told of a table: it is named in records as it is in topics. */
function encodedTable(table: Table): EncodedTable {
  return { name: { name: tableLabel(table) }, columns: table.columns };
}

function readOptions(context: SourceTaskContext) {
  const parsed = parseOptions(sourceOptions, context.config);
  const topics = new Map(Object.entries(JSON.parse(context.config['tables'] ?? '{}') as Record<string, string>));
  return { parsed, topics, initialText: parsed['timestamp.initial'] };
}

function sameShape(a: Table, b: Table): boolean {
  return (
    a === b ||
    (a.key.join('\0') === b.key.join('\0') &&
      a.columns.length === b.columns.length &&
      a.columns.every(
        (column, i) =>
          column.name === b.columns[i]?.name &&
          column.type === b.columns[i]?.type &&
          column.role === b.columns[i]?.role,
      ))
  );
}
