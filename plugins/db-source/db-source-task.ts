import { setTimeout as delay } from 'node:timers/promises';
import {
  connectWithAttempts,
  ConnectError,
  DatabaseError,
  openExecutor,
  RetriableError,
  toError,
  type Executor,
  type SourceRecord,
  type SourceTask,
  type SourceTaskContext,
  type TaskPart,
} from '../../src/index.ts';
import type { Feed } from './feed.ts';
import { TableChangedError, type Page } from './feed-reader.ts';
import { FeedSet } from './feed-set.ts';
import { feedsWithRows } from './idle-check.ts';
import { PageQueue } from './page-queue.ts';
import { RowNotices } from './row-notices.ts';
import { sourceSettings, type SourceSettings } from './source-settings.ts';
import { TableReader } from './table-reader.ts';
import { TableWatch, type Look } from './table-watch.ts';

/** Cursors that may stay open while other tables have their turn. */
const MAX_HELD = 4;
/** Beside the held ones: three pages being read, and a look at the tables. */
const CONNECTIONS = 8;
/** Looks come this much earlier than poll.interval.ms, so that new rows are read and sent within it. */
const LOOK_SHARE = 0.9;
/** A waiting poll returns this often, so that the worker can pause the task. */
const MAX_WAIT_MS = 1_000;

interface Parts {
  readonly context: SourceTaskContext;
  /** Aborted when the worker wants the task to end, and when it stops. */
  readonly signal: AbortSignal;
  readonly settings: SourceSettings;
  readonly executor: Executor;
  readonly watch: TableWatch;
  readonly feeds: FeedSet;
  readonly queue: PageQueue<Feed>;
  readonly notices: RowNotices | undefined;
}

/**
 * `com.db.kafka.connect.source.DbSourceTask`: new rows of its tables as records, table by table in turn.
 *
 * Every poll.interval.ms it looks at the database once: have tables changed, and which of those that were read up to now have
 * new rows. Tables with rows are read page by page, in turn, until now is reached.
 */
export class DbSourceTask implements SourceTask {
  #started: Parts | undefined;
  #look: Look | undefined;
  #lookAgainAt = 0;
  /** Ends what runs also when the task stops for a failure. */
  readonly #stopped = new AbortController();
  /** Tables with new rows, by their numbers. */
  readonly #noticed = new Set<string>();

  async start(context: SourceTaskContext): Promise<void> {
    const settings = sourceSettings(context.config);
    const topics = new Map(Object.entries(JSON.parse(context.config['tables'] ?? '{}') as Record<string, string>));
    const { initialMicros } = settings;
    if (initialMicros !== undefined) {
      context.logger.info(`timestamp.initial is read as ${new Date(Number(initialMicros / 1000n)).toISOString()}`);
    }
    const executor = openExecutor(settings.connection, { logger: context.logger, poolSize: CONNECTIONS });
    const watch = new TableWatch(executor);
    const feeds = new FeedSet({ context, settings, executor, watch, topics });
    const queue = new PageQueue<Feed>({
      read: (feed) => this.#read(feed),
      mayRead: ({ reader }) => reader.isHolding || this.#held() < (reader.needsCursor ? MAX_HELD : MAX_HELD + 1),
    });
    const notices = settings.notify ? this.#notices(executor, context) : undefined;
    const signal = AbortSignal.any([context.signal, this.#stopped.signal]);
    this.#started = { context, signal, settings, executor, watch, feeds, queue, notices };
    await this.#connect();
    this.#look = await watch.look(context.signal);
    await feeds.refresh(this.#look);
    await notices?.listen();
  }

  async poll(): Promise<readonly SourceRecord[]> {
    const { queue, settings } = this.#parts;
    if (Date.now() >= this.#lookAgainAt) await this.#lookAround();
    if (this.#noticed.size > 0) await this.#readNoticed();
    queue.pump();
    if (queue.peek() === undefined) {
      await this.#wait();
      if (queue.peek() === undefined) return [];
    }
    const records: SourceRecord[] = [];
    let rows = 0;
    for (let next = queue.peek(); next !== undefined; next = queue.peek()) {
      if (next.page === undefined && records.length > 0) break;
      rows += next.page?.rows.length ?? 0;
      if (rows > settings.fetchMaxRows && records.length > 0) break;
      queue.take();
      if (next.page === undefined) {
        await this.#afterFailure(next.feed, next.error);
        break;
      }
      this.#collect(records, next.feed, next.page);
    }
    return records;
  }

  async stop(): Promise<void> {
    const parts = this.#started;
    this.#started = undefined;
    this.#stopped.abort();
    if (parts === undefined) return;
    await parts.queue.drained();
    for (const { reader } of parts.feeds.all.values()) reader.release();
    await parts.notices?.close();
    await parts.executor.close();
  }

  /** How each table is doing. */
  parts(): readonly TaskPart[] {
    const feeds = this.#started?.feeds;
    const broken = [...(feeds?.broken ?? [])].map(([name, error]): TaskPart => {
      return { name, state: 'FAILED', error, counts: {} };
    });
    return [...(feeds?.all.values() ?? []), ...broken];
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
    const waitMs = Math.min(MAX_WAIT_MS, this.#lookAgainAt - Date.now());
    if (waitMs <= 0) return;
    const wake = () => {
      queue.wake();
    };
    context.signal.addEventListener('abort', wake, { once: true });
    try {
      if (!context.signal.aborted) await queue.arrival(waitMs);
    } finally {
      context.signal.removeEventListener('abort', wake);
    }
    context.signal.throwIfAborted();
  }

  async #read(feed: Feed): Promise<Page> {
    const { settings, signal } = this.#parts;
    const look = this.#look;
    if (look === undefined) throw new Error('the database was not looked at yet');
    const mayHold = () => this.#held() <= MAX_HELD;
    return feed.reader.read({ maxRows: settings.fetchMaxRows, signal, look, mayHold });
  }

  #held(): number {
    let held = 0;
    for (const { reader } of this.#parts.feeds.all.values()) if (reader.isHolding) held++;
    return held;
  }

  #collect(records: SourceRecord[], feed: Feed, page: Page): void {
    const { logger } = this.#parts.context;
    if (feed.recover()) logger.info(`Table ${feed.name} can be read again`);
    const made = feed.writer.records(page);
    feed.counts.rows += page.rows.length;
    feed.counts.records += made.length;
    if (page.lateRows > 0) this.#tellOfLateRows(feed, page);
    if (feed.reader instanceof TableReader && feed.reader.isCrowded) this.#lookAgainAt = 0;
    if (records.length === 0 && made.length < 10_000) records.push(...made);
    else for (const record of made) records.push(record);
  }

  #tellOfLateRows(feed: Feed, { lateRows }: Page): void {
    const { context, settings } = this.#parts;
    const isFirst = feed.counts.lateRows === 0;
    feed.counts.lateRows += lateRows;
    const message = `${String(lateRows)} rows of table ${feed.name} were committed behind rows already read, or changed since; they are ${settings.emitsLateRows ? 'sent now' : 'not sent (late.rows=count)'}`;
    if (isFirst) context.logger.warn(message);
    else context.logger.debug(message);
  }

  /** Once per poll.interval.ms. */
  async #lookAround(): Promise<void> {
    const { context, settings, watch, feeds, queue, notices } = this.#parts;
    this.#lookAgainAt = Date.now() + settings.pollIntervalMs * LOOK_SHARE;
    try {
      const look = await watch.look(context.signal);
      this.#look = look;
      if (look.changed) {
        for (const feed of await feeds.refresh(look)) {
          queue.remove(feed);
          feed.reader.release();
        }
      }
      await notices?.install([...feeds.all.values()].map(({ table }) => table));
      await this.#findWork(look);
    } catch (error) {
      watch.distrust();
      if (context.signal.aborted || !isAway(error)) throw error;
      await this.#reconnect(error);
    }
  }

  async #findWork(look: Look): Promise<void> {
    const { feeds, queue, executor, context } = this.#parts;
    const toCheck: { feed: Feed; condition: string }[] = [];
    for (const feed of feeds.all.values()) {
      if (!queue.isResting(feed)) continue;
      const step = feed.reader.nextStep(look);
      if (step.kind === 'read' || feed.state === 'FAILED') queue.add(feed);
      else if (step.kind === 'check') toCheck.push({ feed, condition: step.condition });
    }
    for (const feed of await feedsWithRows(executor, toCheck, context.signal)) queue.add(feed);
  }

  #notices(executor: Executor, { logger }: SourceTaskContext): RowNotices {
    const onRows = (oid: string) => {
      this.#noticed.add(oid);
      this.#started?.queue.wake();
    };
    const onGap = () => {
      this.#lookAgainAt = 0;
      this.#started?.queue.wake();
    };
    return new RowNotices(executor, logger, onRows, onGap);
  }

  /** Reads the tables of which the database has told that they have new rows. */
  async #readNoticed(): Promise<void> {
    const { watch, feeds, queue, context } = this.#parts;
    const noticed = new Set(this.#noticed);
    this.#noticed.clear();
    const known = [...feeds.all.values()].filter(({ table }) => table.oid !== undefined && noticed.has(table.oid));
    if (known.length === 0) return;
    try {
      this.#look = await watch.glance(context.signal);
    } catch (error) {
      if (context.signal.aborted || !isAway(error)) throw error;
      await this.#reconnect(error);
    }
    for (const feed of known) queue.add(feed);
  }

  /** Waits for a database that is away; a table that is the trouble is told of, and left alone until the next look. */
  async #afterFailure(feed: Feed, thrown: unknown): Promise<void> {
    const { context, watch, feeds } = this.#parts;
    context.signal.throwIfAborted();
    if (feeds.all.get(feed.name) !== feed) return;
    if (thrown instanceof TableChangedError || isShapeError(thrown)) {
      watch.distrust();
      this.#lookAgainAt = 0;
      if (feed.stumble() <= 2) return;
    } else if (isAway(thrown)) {
      await this.#reconnect(thrown);
      return;
    }
    if (!(thrown instanceof DatabaseError) && !(thrown instanceof TableChangedError)) throw thrown;
    this.#lookAgainAt = Math.max(this.#lookAgainAt, Date.now() + 100);
    const { message } = toError(thrown);
    if (!feed.fail(message)) return;
    context.logger.error(
      { err: thrown },
      `Table ${feed.name} cannot be read and is tried again each poll.interval.ms: ${message}`,
    );
  }

  async #reconnect(cause: unknown): Promise<void> {
    const { context, feeds } = this.#parts;
    context.logger.warn(`The source database went away, connecting again: ${toError(cause).message}`);
    for (const { reader } of feeds.all.values()) reader.release();
    this.#lookAgainAt = 0;
    await this.#connect();
  }

  async #connect(): Promise<void> {
    const { executor, settings, context } = this.#parts;
    try {
      await connectWithAttempts(executor, {
        attempts: settings.attempts,
        backoffMs: settings.backoffMs,
        signal: context.signal,
      });
    } catch (error) {
      const message = `The source database cannot be reached: ${toError(error).message}`;
      // A database that was there once comes back: the worker polls again. One that never was is a mistake to be seen.
      if (this.#look === undefined || !isAway(error)) throw new ConnectError(message, { cause: error });
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

/** No statement can be answered now, whatever it asks; other infrastructure failures (a timeout, a lock) are one table's. */
function isAway(error: unknown): boolean {
  if (!(error instanceof DatabaseError) || error.scope !== 'infrastructure') return false;
  return error.sqlstate === undefined || /^(?:08|57P|53300|25P0[34]|26)/.test(error.sqlstate);
}

/** The table, a column or a type is not what it was. */
function isShapeError(error: unknown): boolean {
  return error instanceof DatabaseError && /^(?:42P01|42703|42704|42883|42804|3F000|0A000)$/.test(error.sqlstate ?? '');
}
