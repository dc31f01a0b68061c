import { setTimeout as delay } from 'node:timers/promises';
import {
  ConnectError,
  recordsOfBlock,
  RetriableError,
  toError,
  type SourceRecord,
  type SourceTask,
  type SourceTaskContext,
  type TaskPart,
  type WaitingInTask,
} from '../../src/index.ts';
import {
  beginWithAttempts,
  DatabaseError,
  isTableChanged,
  isUnavailable as mayRecover,
  databaseText,
  isUnreachableOrFull,
  openNamedExecutor,
  type Executor,
} from '../database/index.ts';
import type { TableFeed } from './table-feed.ts';
import { rowCount, TableChangedError, type Page } from './feed-reader.ts';
import { FeedSet } from './feed-set.ts';
import { feedsWithRows } from './idle-check.ts';
import { PageQueue } from './page-queue.ts';
import { PassedOver } from './passed-over.ts';
import type { RecordPart } from './record-writer.ts';
import { RowNotices, type RowNotice } from './row-notices.ts';
import { sourceSettings, type SourceSettings } from './source-settings.ts';
import { SourceLog } from './source-log.ts';
import { SourceWaits } from './source-waits.ts';
import { TableReader } from './table-reader.ts';
import { TableWatch, type DatabaseSnapshot } from './table-watch.ts';
import { logPromotion } from './timeline.ts';

/** Cursors that may stay open while other tables are read. */
const MAX_OPEN_CURSORS = 4;
/** In addition to the open cursors: three pages being read, and a refresh. */
export const CONNECTIONS = 8;
/** Refreshes happen this much earlier than poll.interval.ms, so that new rows are read and sent within it. */
const REFRESH_SHARE = 0.9;
/** A waiting poll returns after this time, so that the worker can pause the task. */
const MAX_WAIT_MS = 1_000;

interface Parts {
  readonly context: SourceTaskContext;
  /** Aborted when the worker requests the task to stop, and when it stops. */
  readonly signal: AbortSignal;
  readonly settings: SourceSettings;
  readonly executor: Executor;
  readonly watch: TableWatch;
  readonly feeds: FeedSet;
  readonly queue: PageQueue<TableFeed>;
  readonly notices: RowNotices | undefined;
  readonly passedOver: PassedOver;
  readonly waits: SourceWaits;
  readonly log: SourceLog;
}

/**
 * `com.db.kafka.connect.source.DbSourceTask`: produces records from new rows of its tables. Every poll.interval.ms, it
 * checks whether tables have changed and which have new rows; these are read page by page up to the current time.
 * One class, because refreshing, reading and failure handling change the same queue and snapshot.
 */
export class DbSourceTask implements SourceTask {
  #started: Parts | undefined;
  #snapshot: DatabaseSnapshot | undefined;
  #refreshAt = 0;
  /** Aborts pending operations when the task stops, also after a failure. */
  readonly #stopped = new AbortController();
  /** Tables that are being read up to the current time, with the rows inserted before. */
  #toEstimate = { feeds: new Set<TableFeed>(), inserted: new Map() as ReadonlyMap<string, number> };
  /** OIDs of tables with notified rows. */
  readonly #noticed = new Set<string>();

  async start(context: SourceTaskContext): Promise<void> {
    const settings = sourceSettings(context.config);
    const topics = entriesOf(context.config['tables']);
    const { initialMicros } = settings;
    if (initialMicros !== undefined) {
      context.logger.info(`timestamp.initial is read as ${new Date(Number(initialMicros / 1000n)).toISOString()}`);
    }
    const executor = openNamedExecutor(settings.connection, context, CONNECTIONS);
    const watch = new TableWatch(executor);
    const refused = entriesOf(context.config['tables.refused']);
    const feeds = new FeedSet(context, settings, executor, watch, { topics, refused });
    const queue = new PageQueue<TableFeed>(
      (feed) => this.#read(feed),
      ({ reader }) =>
        reader.hasOpenCursor || this.#openCursors() < (reader.needsCursor ? MAX_OPEN_CURSORS : MAX_OPEN_CURSORS + 1),
    );
    const notices = settings.notify ? this.#notices(executor, context) : undefined;
    const signal = AbortSignal.any([context.signal, this.#stopped.signal]);
    const passedOver = new PassedOver(executor);
    const waits = new SourceWaits(executor, signal, databaseText(settings.connection));
    const log = new SourceLog(context.logger);
    this.#started = { context, signal, settings, executor, watch, feeds, queue, notices, passedOver, waits, log };
    this.#snapshot = await this.#connect(async () => {
      watch.invalidate();
      const snapshot = await watch.refresh(context.signal);
      await feeds.refresh(snapshot);
      return snapshot;
    });
    waits.available();
    await notices?.listen();
  }

  async poll(): Promise<readonly SourceRecord[]> {
    const parts = await this.pollBlocks();
    return parts.flatMap((part) => ('packed' in part ? recordsOfBlock(part) : [part]));
  }

  async pollBlocks(): Promise<readonly RecordPart[]> {
    const { queue, settings, context } = this.#parts;
    if (Date.now() >= this.#refreshAt) await this.#refresh();
    if (this.#noticed.size > 0) await this.#readNoticed();
    queue.pump();
    if (queue.peek() === undefined) {
      await this.#wait();
      if (queue.peek() === undefined) return [];
    }
    const records: RecordPart[] = [];
    const { max } = settings.fetchRows;
    const maxRows = Math.min(max, context.pollMax?.() ?? max);
    let rows = 0;
    for (let next = queue.peek(); next !== undefined; next = queue.peek()) {
      if (next.page === undefined && records.length > 0) break;
      rows += next.page === undefined ? 0 : rowCount(next.page);
      if (rows > maxRows && records.length > 0) break;
      queue.take();
      if (next.page === undefined) {
        await this.#handleFailure(next.feed, next.error);
        break;
      }
      await this.#collect(records, next.feed, next.page);
    }
    return records;
  }

  commit(): Promise<void> {
    this.#started?.log.committed();
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    const parts = this.#started;
    this.#started = undefined;
    this.#stopped.abort();
    if (parts === undefined) return;
    await parts.queue.end();
    for (const { reader } of parts.feeds.all.values()) reader.release();
    await parts.notices?.close();
    await parts.executor.close();
  }

  parts(): readonly TaskPart[] {
    const feeds = this.#started?.feeds;
    const broken = [...(feeds?.broken ?? [])].map(([name, error]): TaskPart => {
      return { name, state: 'FAILED', error, counts: {} };
    });
    return [...(feeds?.all.values() ?? []), ...broken];
  }

  waiting(): WaitingInTask | undefined {
    if (this.#started === undefined) return undefined;
    const oldest = this.#started.queue.oldestRead();
    const read = oldest && {
      name: oldest.feed.name,
      table: oldest.feed.table.oid === undefined ? undefined : oldest.feed.table.name.name,
      readMs: oldest.readMs,
    };
    return this.#started.waits.values(read);
  }

  describe(record: SourceRecord): string | undefined {
    for (const { writer } of this.#started?.feeds.all.values() ?? []) {
      const text = writer.describe(record);
      if (text !== undefined) return text;
    }
    return undefined;
  }

  async #wait(): Promise<void> {
    const { queue, context } = this.#parts;
    const waitMs = Math.min(MAX_WAIT_MS, this.#refreshAt - Date.now());
    if (waitMs <= 0) return;
    const wake = () => {
      queue.wake();
    };
    context.signal.addEventListener('abort', wake, { once: true });
    try {
      if (!context.signal.aborted) await queue.nextOutcome(waitMs);
    } finally {
      context.signal.removeEventListener('abort', wake);
    }
    context.signal.throwIfAborted();
  }

  async #read(feed: TableFeed): Promise<Page> {
    const { settings, signal, context, log } = this.#parts;
    const snapshot = this.#snapshot;
    if (snapshot === undefined) throw new Error('there is no snapshot of the database yet');
    const mayKeepCursor = () => this.#openCursors() <= MAX_OPEN_CURSORS;
    const { first, max, grows } = settings.fetchRows;
    const maxRows = Math.min(max, context.pollMax?.() ?? max);
    const size = { firstRows: Math.min(first, maxRows), maxRows, grows };
    const startedAt = performance.now();
    const page = await feed.reader.read({ size, signal, snapshot, mayKeepCursor });
    log.read(feed, page, performance.now() - startedAt);
    return page;
  }

  #openCursors(): number {
    let open = 0;
    for (const { reader } of this.#parts.feeds.all.values()) if (reader.hasOpenCursor) open++;
    return open;
  }

  async #collect(records: RecordPart[], feed: TableFeed, page: Page): Promise<void> {
    const { context, settings, log } = this.#parts;
    if (feed.recover()) context.logger.info(`Table ${feed.name} can be read again`);
    const made = await feed.writer.records(page);
    log.returned(feed, made);
    feed.counts.rows += rowCount(page);
    for (const part of made) feed.counts.records += 'packed' in part ? part.packed.length : 1;
    if (page.lateRows > 0) log.lateRows(feed, page.lateRows, settings.emitsLateRows);
    feed.counts.lateRows += page.lateRows;
    if (page.isLast && this.#toEstimate.feeds.delete(feed)) this.#estimatePassedOver(feed, this.#toEstimate.inserted);
    if (feed.reader instanceof TableReader && feed.reader.isCrowded) this.#refreshAt = 0;
    if (records.length === 0 && made.length < 10_000) records.push(...made);
    else for (const record of made) records.push(record);
  }

  /** Once per poll.interval.ms. */
  async #refresh(): Promise<void> {
    const { context, settings, watch, feeds, queue, notices, waits, log } = this.#parts;
    this.#refreshAt = Date.now() + settings.pollIntervalMs * REFRESH_SHARE;
    try {
      const snapshot = await waits.refreshing(() => watch.refresh(context.signal));
      logPromotion(context.logger, this.#snapshot, snapshot, settings.lookBackMs);
      this.#snapshot = snapshot;
      if (snapshot.changed) {
        for (const feed of await feeds.refresh(snapshot)) {
          queue.remove(feed);
          feed.reader.release();
        }
      }
      log.refreshed(snapshot, feeds.all.size);
      await notices?.install(
        [...feeds.all.values()].map(({ table, reader }) => ({ table, column: reader.notifiedColumn })),
      );
      await this.#findWork(snapshot);
    } catch (error) {
      watch.invalidate();
      if (context.signal.aborted || !isUnavailable(error)) throw error;
      await this.#reconnect(error);
    }
  }

  async #findWork(snapshot: DatabaseSnapshot): Promise<void> {
    const { feeds, queue, executor, context, passedOver, log } = this.#parts;
    const inserted = await passedOver.inserted([...feeds.all.values()], context.signal);
    const toCheck: { feed: TableFeed; condition: string }[] = [];
    const reading = new Set<TableFeed>();
    for (const feed of feeds.all.values()) {
      if (!queue.isIdle(feed)) continue;
      const step = feed.reader.nextStep(snapshot);
      if (step.kind === 'read' || feed.state === 'FAILED') reading.add(feed);
      else if (step.kind === 'check') toCheck.push({ feed, condition: step.condition });
    }
    for (const feed of await feedsWithRows(executor, toCheck, context.signal)) reading.add(feed);
    for (const feed of reading) queue.add(feed);
    log.found(reading, toCheck.length);
    if (inserted === undefined) return;
    for (const { feed } of toCheck) if (!reading.has(feed)) this.#estimatePassedOver(feed, inserted);
    this.#toEstimate = { feeds: reading, inserted };
  }

  #estimatePassedOver(feed: TableFeed, inserted: ReadonlyMap<string, number>): void {
    const { context, settings, passedOver } = this.#parts;
    // Notified rows are yet to be read.
    if (feed.reader.hasUnreadRanges === true) return;
    const isFirst = feed.counts.passedOver === 0;
    const more = passedOver.estimate(feed, inserted, settings.emitsLateRows);
    if (more === 0 || !isFirst) return;
    context.logger.warn(
      `About ${String(more)} rows of table ${feed.name} were inserted but not read, because their times are older than timestamp.delay.ms (${String(settings.lookBackMs)}), in the future, or null; further ones are only counted (passedOver)`,
    );
  }

  #notices(executor: Executor, { logger }: SourceTaskContext): RowNotices {
    const onRows = ({ oid, inserted }: RowNotice) => {
      this.#noticed.add(oid);
      if (inserted !== undefined) {
        for (const { table, reader } of this.#started?.feeds.all.values() ?? []) {
          if (table.oid === oid && reader.notifiedColumn === inserted.column) reader.addRange?.(inserted.range);
        }
      }
      this.#started?.queue.wake();
    };
    const onGap = () => {
      this.#refreshAt = 0;
      this.#started?.queue.wake();
    };
    return new RowNotices(executor, logger, onRows, onGap);
  }

  /** Reads the tables for which the database has sent notifications. */
  async #readNoticed(): Promise<void> {
    const { watch, feeds, queue, context, waits } = this.#parts;
    const noticed = new Set(this.#noticed);
    this.#noticed.clear();
    const known = [...feeds.all.values()].filter(({ table }) => table.oid !== undefined && noticed.has(table.oid));
    if (known.length === 0) return;
    try {
      this.#snapshot = await waits.refreshing(() => watch.snapshot(context.signal));
    } catch (error) {
      if (context.signal.aborted || !isUnavailable(error)) throw error;
      await this.#reconnect(error);
    }
    for (const feed of known) queue.add(feed);
  }

  /** Waits for an unavailable database. A single table that fails is not read until the next refresh. */
  async #handleFailure(feed: TableFeed, thrown: unknown): Promise<void> {
    const { context, watch, feeds } = this.#parts;
    context.signal.throwIfAborted();
    if (feeds.all.get(feed.name) !== feed) return;
    if (thrown instanceof TableChangedError || (thrown instanceof DatabaseError && isTableChanged(thrown))) {
      watch.invalidate();
      this.#refreshAt = 0;
      if (feed.countFailure() <= 2) return;
    } else if (thrown instanceof DatabaseError && isUnreachableOrFull(thrown)) {
      await this.#reconnect(thrown);
      return;
    }
    if (!(thrown instanceof DatabaseError) && !(thrown instanceof TableChangedError)) throw thrown;
    this.#refreshAt = Math.max(this.#refreshAt, Date.now() + 100);
    const { message } = toError(thrown);
    if (!feed.fail(message)) return;
    context.logger.error(
      { err: thrown },
      `Failed to read table ${feed.name}; will retry every poll.interval.ms: ${message}`,
    );
  }

  async #reconnect(cause: unknown): Promise<void> {
    const { context, settings, feeds, waits } = this.#parts;
    waits.unavailable(cause);
    context.logger.warn(`Lost the connection to the source database; reconnecting: ${toError(cause).message}`);
    for (const { reader } of feeds.all.values()) reader.release();
    // A server that is reachable but unable to do the work is not queried again immediately.
    this.#refreshAt =
      cause instanceof DatabaseError && isUnreachableOrFull(cause) ? 0 : Date.now() + settings.backoffMs;
    await this.#connect(() => Promise.resolve());
    if (cause instanceof DatabaseError && isUnreachableOrFull(cause)) waits.available();
  }

  async #connect<T>(begin: () => Promise<T>): Promise<T> {
    const { executor, settings, context, waits } = this.#parts;
    const { attempts, backoffMs } = settings;
    let isConnected = false;
    try {
      const onFailure = (error: unknown): void => {
        waits.unavailable(error);
      };
      return await beginWithAttempts(executor, { attempts, backoffMs, signal: context.signal, onFailure }, () => {
        isConnected = true;
        return begin();
      });
    } catch (error) {
      if (isConnected && !isUnavailable(error)) throw error;
      const message = `The source database cannot be reached: ${toError(error).message}`;
      // A database that was reachable before will recover; otherwise, it is a configuration error.
      if (this.#snapshot === undefined || !isUnavailable(error)) throw new ConnectError(message, { cause: error });
      waits.unavailable(error);
      await delay(settings.backoffMs, undefined, { signal: context.signal });
      throw new RetriableError(message, { cause: error });
    }
  }

  get #parts(): Parts {
    if (this.#started === undefined) {
      throw new ConnectError('The task was used before it was started, or after it was stopped');
    }
    return this.#started;
  }
}

function entriesOf(json = '{}'): ReadonlyMap<string, string> {
  return new Map(Object.entries(JSON.parse(json) as Record<string, string>));
}

/** Returns true if the same request may succeed later. */
function isUnavailable(error: unknown): boolean {
  return error instanceof DatabaseError && mayRecover(error);
}
