import {
  ConnectError,
  recordsOfBlock,
  toError,
  type FailedRecord,
  type Logger,
  type SourceRecord,
  type SourceTask,
  type SourceTaskContext,
  type TaskPart,
  type WaitingInTask,
} from '../../src/index.ts';
import {
  DatabaseError,
  isTableChanged,
  databaseText,
  notificationProblem,
  openNamedExecutor,
  probeHints,
  type Executor,
  type ServerProbe,
} from '../database/index.ts';
import type { TableFeed } from './table-feed.ts';
import { rowCount, TableChangedError, type Page } from './feed-reader.ts';
import { FeedSet } from './feed-set.ts';
import { feedsWithRows } from './idle-check.ts';
import { NoticedTables } from './noticed-tables.ts';
import { PageQueue } from './page-queue.ts';
import { PassedOver } from './passed-over.ts';
import type { RecordPart } from './record-writer.ts';
import { isLost, isUnavailable, SourceConnection } from './source-connection.ts';
import { sourceSettings, type SourceSettings } from './source-settings.ts';
import { SourceLog } from './source-log.ts';
import { SourceWaits } from './source-waits.ts';
import { TableReader } from './table-reader.ts';
import { TableWatch, type DatabaseSnapshot } from './table-watch.ts';
import { logPromotion } from './timeline.ts';

/** Maximum number of cursors that stay open while other tables are read. */
const MAX_OPEN_CURSORS = 4;
/** Connections for the open cursors, for three pages that are being read, and for a refresh. */
export const CONNECTIONS = 8;
/** Refreshes take place after this share of poll.interval.ms, so that new rows are read and sent within the interval. */
const REFRESH_SHARE = 0.9;
/** A waiting poll returns after this time, so that the worker can pause the task. */
const MAX_WAIT_MS = 1_000;

interface Parts {
  readonly context: SourceTaskContext;
  /** Aborted when the worker requests a stop of the task, and at the latest when `stop` is called. */
  readonly signal: AbortSignal;
  readonly settings: SourceSettings;
  readonly executor: Executor;
  readonly watch: TableWatch;
  readonly feeds: FeedSet;
  readonly queue: PageQueue<TableFeed>;
  readonly noticed: NoticedTables | undefined;
  readonly passedOver: PassedOver;
  readonly waits: SourceWaits;
  readonly connection: SourceConnection;
  readonly log: SourceLog;
}

/**
 * `com.db.kafka.connect.source.DbSourceTask`: produces records from new rows of its tables. Every poll.interval.ms, it
 * checks whether table definitions have changed and which tables have new rows. The new rows are read in pages (the rows
 * of one fetch, feed-reader.ts) up to the current time.
 */
export class DbSourceTask implements SourceTask {
  #started: Parts | undefined;
  #snapshot: DatabaseSnapshot | undefined;
  #refreshAt = 0;
  /** Aborts pending operations when the task stops, also after a failure. */
  readonly #stopped = new AbortController();

  async start(context: SourceTaskContext): Promise<void> {
    const settings = sourceSettings(context.config);
    const topics = entriesOf(context.config['tables']);
    logInitialTime(settings, context.logger);
    const executor = openNamedExecutor(settings.connection, context, CONNECTIONS);
    const watch = new TableWatch(executor);
    const refused = entriesOf(context.config['tables.refused']);
    const feeds = new FeedSet(context, settings, executor, watch, { topics, refused });
    const queue = new PageQueue<TableFeed>(
      (feed) => this.#read(feed),
      ({ reader }) =>
        reader.hasOpenCursor || feeds.openCursors < (reader.needsCursor ? MAX_OPEN_CURSORS : MAX_OPEN_CURSORS + 1),
    );
    const refresh = () => {
      this.#refreshAt = 0;
    };
    const noticed = settings.notify ? new NoticedTables(executor, context.logger, feeds, queue, refresh) : undefined;
    const signal = AbortSignal.any([context.signal, this.#stopped.signal]);
    const passedOver = new PassedOver(executor, { ...settings, logger: context.logger });
    const waits = new SourceWaits(executor, signal, databaseText(settings.connection));
    const log = new SourceLog(context.logger);
    const connection = new SourceConnection(executor, settings, context, waits);
    const progress = { feeds, queue, noticed, passedOver, waits, log };
    this.#started = { context, signal, settings, executor, watch, connection, ...progress };
    const problem = await connection.open(async () => {
      watch.invalidate();
      const snapshot = await watch.refresh(context.signal);
      await feeds.refresh(snapshot);
      this.#snapshot = snapshot;
      return problemOf(await executor.probe({ writes: false }), settings);
    });
    waits.available();
    await noticed?.listen(problem);
  }

  hints(): readonly string[] {
    return hintsOf(this.#started);
  }

  async poll(): Promise<readonly (SourceRecord | FailedRecord)[]> {
    const parts = await this.pollBlocks();
    return parts.flatMap((part) => ('packed' in part ? recordsOfBlock(part) : [part]));
  }

  async pollBlocks(): Promise<readonly RecordPart[]> {
    const { queue, settings, context, noticed } = this.#parts;
    if (Date.now() >= this.#refreshAt) await this.#refresh();
    const withNotices = noticed?.take() ?? [];
    if (withNotices.length > 0) await this.#readNoticed(withNotices);
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
    await parts.noticed?.close();
    await parts.executor.close();
  }

  parts(): readonly TaskPart[] {
    return this.#started?.feeds.parts ?? [];
  }

  waiting(): WaitingInTask | undefined {
    return this.#started?.waits.values(this.#started.queue.oldestRead());
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
    const { settings, signal, context, feeds, log } = this.#parts;
    const snapshot = this.#snapshot;
    if (snapshot === undefined) throw new Error('there is no snapshot of the database yet');
    const mayKeepCursor = () => feeds.openCursors <= MAX_OPEN_CURSORS;
    const { first, max, grows } = settings.fetchRows;
    const maxRows = Math.min(max, context.pollMax?.() ?? max);
    const size = { firstRows: Math.min(first, maxRows), maxRows, grows };
    const startedAt = performance.now();
    const page = await feed.reader.read({ size, signal, snapshot, mayKeepCursor });
    log.read(feed, page, performance.now() - startedAt);
    return page;
  }

  async #collect(records: RecordPart[], feed: TableFeed, page: Page): Promise<void> {
    const { context, settings, passedOver, log } = this.#parts;
    if (feed.recover()) context.logger.info(`Table ${feed.name} can be read again`);
    const made = await feed.writer.records(page);
    log.returned(feed, made);
    feed.counts.rows += rowCount(page);
    for (const part of made) feed.counts.records += 'packed' in part ? part.packed.length : 1;
    if (page.lateRows > 0) log.lateRows(feed, page.lateRows, settings.emitsLateRows);
    feed.counts.lateRows += page.lateRows;
    if (page.isLast) passedOver.readToEnd(feed);
    if (feed.reader instanceof TableReader && feed.reader.isCrowded) this.#refreshAt = 0;
    if (records.length === 0 && made.length < 10_000) records.push(...made);
    else for (const record of made) records.push(record);
  }

  /** Updates the snapshot and the tables, and adds the tables to read to the queue. Called at least once per poll.interval.ms. */
  async #refresh(): Promise<void> {
    const { context, settings, watch, feeds, queue, noticed, waits, log } = this.#parts;
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
      await noticed?.install();
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
    const unchanged = toCheck.map(({ feed }) => feed).filter((feed) => !reading.has(feed));
    if (inserted !== undefined) passedOver.found(unchanged, reading, inserted);
  }

  /** Reads the tables for which the database has sent notifications. */
  async #readNoticed(noticed: readonly TableFeed[]): Promise<void> {
    const { watch, queue, context, waits } = this.#parts;
    try {
      this.#snapshot = await waits.refreshing(() => watch.snapshot(context.signal));
    } catch (error) {
      if (context.signal.aborted || !isUnavailable(error)) throw error;
      await this.#reconnect(error);
    }
    for (const feed of noticed) queue.add(feed);
  }

  /** Handles a failed read. If the database is unavailable, waits for it. If only this table fails, the next refresh retries it. */
  async #handleFailure(feed: TableFeed, thrown: unknown): Promise<void> {
    const { context, watch, feeds } = this.#parts;
    context.signal.throwIfAborted();
    if (feeds.all.get(feed.name) !== feed) return;
    if (thrown instanceof TableChangedError || (thrown instanceof DatabaseError && isTableChanged(thrown))) {
      watch.invalidate();
      this.#refreshAt = 0;
      if (feed.countFailure() <= 2) return;
    } else if (isLost(thrown)) {
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
    const { settings, feeds, connection } = this.#parts;
    for (const { reader } of feeds.all.values()) reader.release();
    // A server that is reachable but unable to do the work is not queried again immediately.
    this.#refreshAt = isLost(cause) ? 0 : Date.now() + settings.backoffMs;
    await connection.reopen(cause);
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

function logInitialTime({ initialMicros }: SourceSettings, logger: Logger): void {
  if (initialMicros === undefined) return;
  logger.info(`timestamp.initial is read as ${new Date(Number(initialMicros / 1000n)).toISOString()}`);
}

function hintsOf(parts: Parts | undefined): readonly string[] {
  const server = parts?.executor.behaviour;
  if (parts === undefined || server === undefined) return [];
  const problem = problemOf(server, parts.settings);
  return [...probeHints(server), ...(problem === undefined ? [] : [problem])];
}

/** With `notify`, the reason if notifications cannot arrive from this server. */
function problemOf(server: ServerProbe, { notify }: SourceSettings): string | undefined {
  return notify ? notificationProblem(server) : undefined;
}
