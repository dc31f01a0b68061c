import type { Logger } from '../../src/index.ts';
import { ownStatement, type Executor } from '../database/index.ts';
import type { TableFeed } from './table-feed.ts';
import { TableReader } from './table-reader.ts';
import { ask } from './table-watch.ts';

/** The statistics may themselves be up to a second old. */
const EVERY_MS = 3_000;

/** Parameter: OIDs of tables; partitions are counted with their table. */
const INSERTED = ownStatement(
  'source: inserted rows',
  `SELECT o::text, coalesce(
    (SELECT sum(pg_stat_get_tuples_inserted(relid)) FROM pg_partition_tree(o::regclass)),
    pg_stat_get_tuples_inserted(o))::text
  FROM unnest($1::oid[]) o`,
);

/**
 * An idle session reports its inserts up to 10 s later. Until then, rows that were read may not be counted as inserted.
 */
const SETTLED_AFTER_MS = 12_000;

/** The counts of a table when it was first read to its end. */
interface Baseline {
  readonly oid: string;
  readonly inserted: number;
  /** Rows inserted before, minus those that were read: the maximum until the statistics have settled. */
  readonly unread: number;
  readonly passedOver: number;
  readonly settledAt: number;
}

interface PassedOverOptions {
  readonly logger: Logger;
  readonly emitsLateRows: boolean;
  readonly lookBackMs: number;
}

/**
 * Estimates how many rows were inserted before the look-back interval, and thus never read: rows that the database's
 * statistics count as inserted (`n_tup_ins`, including rolled-back transactions), minus the rows that were read. Both
 * are counted from the time when the table had been read to its end and the statistics had settled. The first such
 * rows of a table cause a warning.
 */
export class PassedOver {
  readonly #executor: Executor;
  readonly #options: PassedOverOptions;
  readonly #baselines = new Map<string, Baseline>();
  readonly #now: () => number;
  /** Tables that are being read up to the current time, with the rows inserted before. */
  #reading = { feeds: new Set<TableFeed>(), inserted: new Map() as ReadonlyMap<string, number> };
  #nextAt = 0;

  constructor(executor: Executor, options: PassedOverOptions, now: () => number = Date.now) {
    this.#executor = executor;
    this.#options = options;
    this.#now = now;
  }

  /** Returns inserted rows by OID, or `undefined` if it is too soon. Call it before checking for new rows. */
  async inserted(feeds: readonly TableFeed[], signal: AbortSignal): Promise<ReadonlyMap<string, number> | undefined> {
    if (this.#now() < this.#nextAt) return undefined;
    this.#nextAt = this.#now() + EVERY_MS;
    const oids = feeds.flatMap(({ table, reader }) => (reader instanceof TableReader ? (table.oid ?? []) : []));
    if (oids.length === 0) return undefined;
    const { rows } = await ask(this.#executor, INSERTED, signal, [`{${oids.join(',')}}`]);
    return new Map(rows.map(([oid, inserted]) => [oid ?? '', Number(inserted)]));
  }

  /** Updates the estimates of tables without new rows; those of `reading` are updated by `readToEnd`. */
  found(unchanged: readonly TableFeed[], reading: Set<TableFeed>, inserted: ReadonlyMap<string, number>): void {
    for (const feed of unchanged) this.#update(feed, inserted);
    this.#reading = { feeds: reading, inserted };
  }

  /** Called when a table has been read up to the current time. */
  readToEnd(feed: TableFeed): void {
    const { feeds, inserted } = this.#reading;
    if (feeds.delete(feed)) this.#update(feed, inserted);
  }

  #update(feed: TableFeed, inserted: ReadonlyMap<string, number>): void {
    // Notified rows are yet to be read.
    if (feed.reader.hasUnreadRanges === true) return;
    const isFirst = feed.counts.passedOver === 0;
    const more = this.estimate(feed, inserted);
    if (more === 0 || !isFirst) return;
    const { logger, lookBackMs } = this.#options;
    logger.warn(
      `About ${String(more)} rows of table ${feed.name} were inserted but not read, because their times are older than timestamp.delay.ms (${String(lookBackMs)}), in the future, or null; further ones are only counted (passedOver)`,
    );
  }

  /** Applies the counts of a table without new rows, and returns the increase of the estimate. */
  estimate(
    { name, table: { oid }, counts }: Pick<TableFeed, 'name' | 'table' | 'counts'>,
    inserted: ReadonlyMap<string, number>,
  ): number {
    const count = inserted.get(oid ?? '');
    if (oid === undefined || count === undefined) return 0;
    const unread = count - counts.rows - (this.#options.emitsLateRows ? 0 : counts.lateRows);
    const { passedOver } = counts;
    const baseline = this.#baselines.get(name);
    if (baseline === undefined || baseline.oid !== oid || count < baseline.inserted) {
      const settledAt = this.#now() + SETTLED_AFTER_MS;
      this.#baselines.set(name, { oid, inserted: count, unread, passedOver, settledAt });
      return 0;
    }
    if (this.#now() < baseline.settledAt) {
      this.#baselines.set(name, { ...baseline, unread: Math.max(unread, baseline.unread) });
      return 0;
    }
    const more = Math.max(0, unread - baseline.unread - (passedOver - baseline.passedOver));
    counts.passedOver += more;
    return more;
  }
}
