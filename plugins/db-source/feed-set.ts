import {
  ConnectError,
  DataError,
  toError,
  type SourceCoordinates,
  type SourceTaskContext,
  type TaskPart,
} from '../../src/index.ts';
import { DatabaseError, isDocumentedType, type Executor } from '../database/index.ts';
import { BulkReader } from './bulk-reader.ts';
import { TableFeed } from './table-feed.ts';
import type { FeedReader } from './feed-reader.ts';
import { fromOffset, type StoredPosition } from './position.ts';
import { describeQuery } from './query-table.ts';
import { RecordWriter } from './record-writer.ts';
import type { SourceSettings } from './source-settings.ts';
import { tableOrder } from './table-order.ts';
import { TableReader } from './table-reader.ts';
import { tableLabel, type SourceTable } from './tables.ts';
import type { DatabaseSnapshot, TableWatch } from './table-watch.ts';

/** The tables of a task by label. */
export interface TaskTables {
  /** The tables of this task, with their topics. */
  readonly topics: ReadonlyMap<string, string>;
  /** The tables that no task reads, with the reasons. This task reports them. */
  readonly refused: ReadonlyMap<string, string>;
}

/** The current tables of a task, each with its reader and writer. */
export class FeedSet {
  readonly #context: SourceTaskContext;
  readonly #settings: SourceSettings;
  readonly #executor: Executor;
  readonly #watch: TableWatch;
  readonly #tables: TaskTables;
  readonly #logged = new Set<string>();
  readonly #skipsUnsupported: boolean;
  #feeds = new Map<string, TableFeed>();
  /**
   * The labels of tables that are not read, because they were refused or cannot be read or written, with the reasons.
   */
  #broken = new Map<string, string>();

  constructor(
    context: SourceTaskContext,
    settings: SourceSettings,
    executor: Executor,
    watch: TableWatch,
    tables: TaskTables,
  ) {
    this.#context = context;
    this.#settings = settings;
    this.#executor = executor;
    this.#watch = watch;
    this.#tables = tables;
    this.#skipsUnsupported = context.config['errors.tolerance'] === 'all';
  }

  get all(): ReadonlyMap<string, TableFeed> {
    return this.#feeds;
  }

  /** The tables of the task, including those that are not read, and the refused tables that the task reports. */
  get parts(): readonly TaskPart[] {
    const broken = [...this.#broken].map(([name, error]): TaskPart => ({ name, state: 'FAILED', error, counts: {} }));
    return [...this.#feeds.values(), ...broken];
  }

  get openCursors(): number {
    let open = 0;
    for (const { reader } of this.#feeds.values()) if (reader.hasOpenCursor) open++;
    return open;
  }

  /** Applies the current table definitions. Returns the feeds of removed or changed tables. */
  async refresh(snapshot: DatabaseSnapshot): Promise<TableFeed[]> {
    const { topics } = this.#tables;
    const { query } = this.#settings;
    const tables = query === undefined ? await this.#watch.tables() : [await describeQuery(this.#executor, query)];
    const own = tables.filter((table) => topics.has(tableLabel(table)));
    const offsets = await this.#offsets(own.filter((table) => !this.#feeds.has(tableLabel(table))));
    const before = this.#feeds;
    const replaced: TableFeed[] = [];
    this.#feeds = new Map();
    this.#broken = new Map(this.#tables.refused);
    for (const table of own) {
      const label = tableLabel(table);
      const known = before.get(label);
      if (known !== undefined && sameShape(known.table, table)) {
        this.#feeds.set(label, known);
        continue;
      }
      if (known !== undefined) replaced.push(known);
      this.#addFeed(table, label, known, offsets.get(label) ?? null, snapshot);
    }
    const gone = [...before.values()].filter(({ name }) => !own.some((table) => tableLabel(table) === name));
    for (const { name } of gone) this.#context.logger.info(`Table ${name} no longer exists`);
    return [...replaced, ...gone];
  }

  #addFeed(
    table: SourceTable,
    label: string,
    known: TableFeed | undefined,
    offset: SourceCoordinates | null,
    snapshot: DatabaseSnapshot,
  ) {
    const settings = this.#settings;
    const context = this.#context;
    const { topics } = this.#tables;
    const partition = partitionOf(label, settings);
    try {
      const reader = this.#readerOf(table, label, known, offset, snapshot);
      const onUnsupportedRow = (error: DataError) => this.#skipRow(label, error);
      const onUnsupportedColumn = ({ message }: DataError) =>
        this.#once(`${label}: ${message}`, () => {
          context.logger.error(`Skipped a column of table ${label} (errors.tolerance=all): ${message}`);
        });
      const writer = new RecordWriter(table, settings, {
        topic: topics.get(label) ?? '',
        partition,
        ...(this.#skipsUnsupported ? { onUnsupportedRow, onUnsupportedColumn } : { onUnsupportedRow: undefined }),
      });
      const feed = new TableFeed(label, partition, { table, reader, writer });
      if (known !== undefined) Object.assign(feed.counts, known.counts);
      this.#feeds.set(label, feed);
      this.#logUndocumentedTypes(table, label);
      if (known !== undefined)
        context.logger.info(`Table ${label} has changed; subsequent records follow its new definition`);
    } catch (error) {
      if (!(error instanceof DataError) && !(error instanceof DatabaseError)) throw error;
      this.#broken.set(label, error.message);
      this.#once(`${label}: ${error.message}`, () => {
        context.logger.error(`Table ${label} is not read: ${error.message}`);
      });
    }
  }

  #readerOf(
    table: SourceTable,
    label: string,
    known: TableFeed | undefined,
    offset: SourceCoordinates | null,
    snapshot: DatabaseSnapshot,
  ): FeedReader {
    const settings = this.#settings;
    const executor = this.#executor;
    if (settings.mode === 'bulk') return new BulkReader(executor, table);
    const order = tableOrder(table, settings);
    if (typeof order === 'string') throw new DataError(order);
    const before = known?.reader instanceof TableReader ? known.reader : undefined;
    before?.retire();
    const isRecreated = before !== undefined && before.table.oid !== table.oid;
    let stored = isRecreated
      ? undefined
      : (before?.stored ?? this.#storedPosition(label, order.kind, order.key?.length, offset));
    if (isRecreated || (stored?.oid !== undefined && table.oid !== undefined && stored.oid !== table.oid)) {
      this.#context.logger.info(`Table ${label} was recreated; reading it from the start`);
      stored = undefined;
    }
    if (!order.isIndexed && settings.query === undefined) {
      this.#once(`index ${label}`, () => {
        this.#context.logger.warn(
          `Table ${label} has no index that starts with ${order.column.name}: each check for new rows scans the whole table`,
        );
      });
    }
    const start: StoredPosition = {
      position: { kind: 'from', at: order.kind === 'time' ? settings.initialMicros : undefined },
      transaction: undefined,
      oid: table.oid,
    };
    const readerState = isRecreated ? undefined : before?.readerState;
    return new TableReader(executor, table, order, stored ?? start, settings, snapshot, readerState);
  }

  #storedPosition(
    label: string,
    kind: 'time' | 'number',
    keyWidth: number | undefined,
    offset: SourceCoordinates | null,
  ): StoredPosition | undefined {
    if (offset === null) return undefined;
    try {
      return fromOffset(offset, kind, keyWidth);
    } catch (error) {
      throw new ConnectError(`Table ${label}: ${toError(error).message}`, { cause: error });
    }
  }

  async #offsets(tables: readonly SourceTable[]): Promise<Map<string, SourceCoordinates | null>> {
    const settings = this.#settings;
    const context = this.#context;
    const offsets = new Map<string, SourceCoordinates | null>();
    await Promise.all(
      tables.map(async (table) => {
        const label = tableLabel(table);
        offsets.set(label, await context.offset(partitionOf(label, settings)));
      }),
    );
    return offsets;
  }

  #skipRow(label: string, error: DataError): void {
    const feed = this.#feeds.get(label);
    if (feed !== undefined) feed.counts.skippedRows++;
    this.#context.logger.error(`Skipped a row (errors.tolerance=all): ${error.message}`);
  }

  #logUndocumentedTypes(table: SourceTable, label: string): void {
    for (const { name, type } of table.columns) {
      if (isDocumentedType(type)) continue;
      this.#once(`type ${label} ${name} ${type}`, () => {
        this.#context.logger.warn(
          `Column ${name} of table ${label} has type ${type}, which the formats do not support; it is written as text`,
        );
      });
    }
  }

  #once(key: string, log: () => void): void {
    if (this.#logged.has(key)) return;
    this.#logged.add(key);
    log();
  }
}

function partitionOf(label: string, { query }: SourceSettings): SourceCoordinates {
  return query === undefined ? { table: label } : { query: label };
}

function sameShape(a: SourceTable, b: SourceTable): boolean {
  return (
    a.oid === b.oid &&
    a.key.join('\0') === b.key.join('\0') &&
    a.indexedColumns.join('\0') === b.indexedColumns.join('\0') &&
    a.columns.length === b.columns.length &&
    a.columns.every((column, index) => {
      const other = b.columns[index];
      return (
        column.name === other?.name &&
        column.type === other.type &&
        column.role === other.role &&
        column.nullable === other.nullable
      );
    })
  );
}
