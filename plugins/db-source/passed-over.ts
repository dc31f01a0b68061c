import type { Logger } from '../../src/index.ts';
import { ownStatement, type Executor } from '../database/index.ts';
import type { TableFeed } from './table-feed.ts';
import { TableReader } from './table-reader.ts';
import { ask } from './table-watch.ts';

/** Minimum interval between two queries of the statistics, which may be up to a second old. */
const QUERY_INTERVAL_MS = 3_000;

/** The parameter contains OIDs of tables. The rows of partitions are counted with their table. */
const INSERTED = ownStatement(
  'source: inserted rows',
  `SELECT o::text, coalesce(
    (SELECT sum(pg_stat_get_tuples_inserted(relid)) FROM pg_partition_tree(o::regclass)),
    pg_stat_get_tuples_inserted(o))::text
  FROM unnest($1::oid[]) o`,
);

/**
 * Time until the statistics include all inserts. An idle session reports its inserts up to 10 s later, so until then, rows may
 * have been read that are not counted as inserted yet.
 */
const SETTLED_AFTER_MS = 12_000;

/** The counts of a table when it was first read to its end. */
interface Baseline {
  readonly oid: string;
  readonly inserted: number;
  /** Number of inserted rows minus number of rows that were read: the highest difference seen until `settledAt`. */
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
 * Estimates how many rows were inserted but not read, because their times are before the look-back interval, in the future, or
 * null. The estimate is the number of inserted rows minus the number of rows that were read. The inserted rows are those of the
 * database's statistics (`n_tup_ins`, which includes rolled-back transactions). Both numbers are counted from the time when the
 * table had been read to its end and the statistics had settled. A warning is logged for the first unread rows of a table.
 */
export class PassedOver {
  readonly #executor: Executor;
  readonly #options: PassedOverOptions;
  readonly #baselines = new Map<string, Baseline>();
  readonly #now: () => number;
  /** Tables that are being read up to the current time, and the counts of inserted rows from before the reads. */
  #reading = { feeds: new Set<TableFeed>(), inserted: new Map() as ReadonlyMap<string, number> };
  #nextAt = 0;

  constructor(executor: Executor, options: PassedOverOptions, now: () => number = Date.now) {
    this.#executor = executor;
    this.#options = options;
    this.#now = now;
  }

  /**
   * Resolves with the number of inserted rows by OID; `undefined` if the statistics were queried less than three seconds ago, or
   * if no table is counted. Must be called before the check for new rows.
   */
  async inserted(feeds: readonly TableFeed[], signal: AbortSignal): Promise<ReadonlyMap<string, number> | undefined> {
    if (this.#now() < this.#nextAt) return undefined;
    this.#nextAt = this.#now() + QUERY_INTERVAL_MS;
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
    // Rows that were reported by notifications have not been read yet, so they must not be counted.
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
