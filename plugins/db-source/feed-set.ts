import {
  ConnectError,
  DatabaseError,
  DataError,
  isDocumentedType,
  toError,
  type Executor,
  type SourceCoordinates,
  type SourceTaskContext,
} from '../../src/index.ts';
import { BulkReader } from './bulk-reader.ts';
import { Feed } from './feed.ts';
import type { FeedReader } from './feed-reader.ts';
import { fromOffset, type StoredPosition } from './position.ts';
import { describeQuery } from './query-table.ts';
import { RecordWriter } from './record-writer.ts';
import type { SourceSettings } from './source-settings.ts';
import { tableOrder } from './table-order.ts';
import { TableReader } from './table-reader.ts';
import { tableLabel, type SourceTable } from './tables.ts';
import type { Look, TableWatch } from './table-watch.ts';

export interface FeedSetParts {
  readonly context: SourceTaskContext;
  readonly settings: SourceSettings;
  readonly executor: Executor;
  readonly watch: TableWatch;
  /** Topics by table: the tables of this task. */
  readonly topics: ReadonlyMap<string, string>;
}

/** The tables of a task as they are now, each with its reader and writer. */
export class FeedSet {
  readonly #parts: FeedSetParts;
  readonly #told = new Set<string>();
  readonly #skipsUnspelled: boolean;
  #feeds = new Map<string, Feed>();
  /** Tables that cannot be read or written at all, with the reason. */
  #broken = new Map<string, string>();

  constructor(parts: FeedSetParts) {
    this.#parts = parts;
    this.#skipsUnspelled = parts.context.config['errors.tolerance'] === 'all';
  }

  get all(): ReadonlyMap<string, Feed> {
    return this.#feeds;
  }

  get broken(): ReadonlyMap<string, string> {
    return this.#broken;
  }

  /** Takes up what the database says of the task's tables now: two queries for all of them. Gives those that are gone or changed. */
  async refresh(look: Look): Promise<Feed[]> {
    const { topics, settings, watch, executor } = this.#parts;
    const { query } = settings;
    const tables = query === undefined ? await watch.tables() : [await describeQuery(executor, query)];
    const own = tables.filter((table) => topics.has(tableLabel(table)));
    const offsets = await this.#offsets(own.filter((table) => !this.#feeds.has(tableLabel(table))));
    const before = this.#feeds;
    const replaced: Feed[] = [];
    this.#feeds = new Map();
    this.#broken = new Map();
    for (const table of own) {
      const label = tableLabel(table);
      const known = before.get(label);
      if (known !== undefined && sameShape(known.table, table)) {
        this.#feeds.set(label, known);
        continue;
      }
      if (known !== undefined) replaced.push(known);
      this.#adopt(table, label, known, offsets.get(label) ?? null, look);
    }
    const gone = [...before.values()].filter(({ name }) => !own.some((table) => tableLabel(table) === name));
    for (const { name } of gone) this.#parts.context.logger.info(`Table ${name} is gone`);
    return [...replaced, ...gone];
  }

  #adopt(table: SourceTable, label: string, known: Feed | undefined, offset: SourceCoordinates | null, look: Look) {
    const { settings, topics, context } = this.#parts;
    const partition = partitionOf(label, settings);
    try {
      const reader = this.#readerOf(table, label, known, offset, look);
      const onUnspelled = (error: DataError) => this.#leaveOut(label, error);
      const writer = new RecordWriter(table, settings, {
        topic: topics.get(label) ?? '',
        partition,
        onUnspelled: this.#skipsUnspelled ? onUnspelled : undefined,
      });
      const feed = new Feed(label, partition, { table, reader, writer });
      if (known !== undefined) Object.assign(feed.counts, known.counts);
      this.#feeds.set(label, feed);
      this.#tellOfTypes(table, label);
      if (known !== undefined)
        context.logger.info(`Table ${label} has changed: records have its new shape from here on`);
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
    known: Feed | undefined,
    offset: SourceCoordinates | null,
    look: Look,
  ): FeedReader {
    const { settings, executor } = this.#parts;
    if (settings.mode === 'bulk') return new BulkReader(executor, table);
    const order = tableOrder(table, settings);
    if (typeof order === 'string') throw new DataError(order);
    const before = known?.reader instanceof TableReader ? known.reader : undefined;
    before?.retire();
    const isAnew = before !== undefined && before.table.oid !== table.oid;
    let stored = isAnew
      ? undefined
      : (before?.stored ?? this.#storedPosition(label, order.kind, order.key?.length, offset));
    if (isAnew || (stored?.oid !== undefined && table.oid !== undefined && stored.oid !== table.oid)) {
      this.#parts.context.logger.info(`Table ${label} was created anew: it is read from its beginning`);
      stored = undefined;
    }
    if (!order.isIndexed && settings.query === undefined) {
      this.#once(`index ${label}`, () => {
        this.#parts.context.logger.warn(
          `Table ${label} has no index that begins with ${order.column.name}: each look for new rows reads the whole table`,
        );
      });
    }
    const start: StoredPosition = {
      position: { kind: 'from', at: order.kind === 'time' ? settings.initialMicros : undefined },
      transaction: undefined,
      oid: table.oid,
    };
    const late = isAnew ? undefined : before?.lateRows;
    return new TableReader(executor, table, order, stored ?? start, settings, look, late);
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
    const { context, settings } = this.#parts;
    const offsets = new Map<string, SourceCoordinates | null>();
    await Promise.all(
      tables.map(async (table) => {
        const label = tableLabel(table);
        offsets.set(label, await context.offset(partitionOf(label, settings)));
      }),
    );
    return offsets;
  }

  #leaveOut(label: string, error: DataError): void {
    const feed = this.#feeds.get(label);
    if (feed !== undefined) feed.counts.unspelledRows++;
    this.#parts.context.logger.error(`A row was left out (errors.tolerance=all): ${error.message}`);
  }

  #tellOfTypes(table: SourceTable, label: string): void {
    for (const { name, type } of table.columns) {
      if (isDocumentedType(type)) continue;
      this.#once(`type ${label} ${name} ${type}`, () => {
        this.#parts.context.logger.warn(
          `Column ${name} of table ${label} has the type ${type}, which formats do not know: it is written as text`,
        );
      });
    }
  }

  #once(what: string, tell: () => void): void {
    if (this.#told.has(what)) return;
    this.#told.add(what);
    tell();
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
