import type { Logger } from '../../src/index.ts';
import type { Executor } from '../database/index.ts';
import type { FeedSet } from './feed-set.ts';
import type { PageQueue } from './page-queue.ts';
import { RowNotices, type RowNotice } from './row-notices.ts';
import type { TableFeed } from './table-feed.ts';

/** The tables of a task for which the database has sent notifications about new rows. */
export class NoticedTables {
  readonly #feeds: FeedSet;
  readonly #notices: RowNotices;
  readonly #logger: Logger;
  /** OIDs of the tables with notifications since the last `take`. */
  readonly #noticed = new Set<string>();

  /** Notifications wake the queue. `refresh` is called when notifications may have been missed. */
  constructor(executor: Executor, logger: Logger, feeds: FeedSet, queue: PageQueue<TableFeed>, refresh: () => void) {
    this.#feeds = feeds;
    this.#logger = logger;
    const onRows = (notice: RowNotice) => {
      this.#note(notice);
      queue.wake();
    };
    const onGap = () => {
      refresh();
      queue.wake();
    };
    this.#notices = new RowNotices(executor, logger, onRows, onGap);
  }

  /** Subscribes to notifications. If `problem` describes why they cannot arrive, only logs the problem. */
  async listen(problem: string | undefined): Promise<void> {
    if (problem === undefined) await this.#notices.listen();
    else this.#logger.warn(problem);
  }

  close(): Promise<void> {
    return this.#notices.close();
  }

  /** Creates the missing triggers of all tables. */
  install(): Promise<void> {
    const tables = [...this.#feeds.all.values()].map(({ table, reader }) => {
      return { table, column: reader.notifiedColumn };
    });
    return this.#notices.install(tables);
  }

  /** The tables with notifications since the last call. */
  take(): readonly TableFeed[] {
    if (this.#noticed.size === 0) return [];
    const noticed = new Set(this.#noticed);
    this.#noticed.clear();
    return [...this.#feeds.all.values()].filter(({ table }) => table.oid !== undefined && noticed.has(table.oid));
  }

  #note({ oid, inserted }: RowNotice): void {
    this.#noticed.add(oid);
    if (inserted === undefined) return;
    for (const { table, reader } of this.#feeds.all.values()) {
      if (table.oid === oid && reader.notifiedColumn === inserted.column) reader.addRange?.(inserted.range);
    }
  }
}
