import { ownStatement, type Executor } from '../database/index.ts';
import type { TableFeed } from './table-feed.ts';
import { TableReader } from './table-reader.ts';
import { ask } from './table-watch.ts';

/** The statistics that this asks for may be a second old themselves. */
const EVERY_MS = 3_000;

/** Of tables by their numbers; partitions are counted with their table. */
const INSERTED = ownStatement(
  'source: inserted rows',
  `SELECT o::text, coalesce(
    (SELECT sum(pg_stat_get_tuples_inserted(relid)) FROM pg_partition_tree(o::regclass)),
    pg_stat_get_tuples_inserted(o))::text
  FROM unnest($1::oid[]) o`,
);

/** An idle session reports what it has inserted up to 10 s later. Until then, rows that were read may not be counted as inserted. */
const SETTLED_AFTER_MS = 12_000;

/** A table since the first time at which all was read that there was to read. */
interface Baseline {
  readonly oid: string;
  readonly inserted: number;
  /** Rows inserted before, less those that were read: the highest number until the statistics have settled. */
  readonly unread: number;
  readonly passedOver: number;
  readonly settledAt: number;
}

/**
 * Estimates how many rows were inserted behind what is looked back at, and so never read: what the statistics of the database count as
 * inserted (`n_tup_ins`, rows of transactions that were rolled back among them), less the rows that were read. Both count from
 * the time at which a table had been read to its end and the statistics had settled.
 */
export class PassedOver {
  readonly #executor: Executor;
  readonly #baselines = new Map<string, Baseline>();
  readonly #now: () => number;
  #nextAt = 0;

  constructor(executor: Executor, now: () => number = Date.now) {
    this.#executor = executor;
    this.#now = now;
  }

  /** Rows inserted so far by table number; to be asked before it is looked whether tables have new rows. `undefined`: not now. */
  async inserted(feeds: readonly TableFeed[], signal: AbortSignal): Promise<ReadonlyMap<string, number> | undefined> {
    if (this.#now() < this.#nextAt) return undefined;
    this.#nextAt = this.#now() + EVERY_MS;
    const oids = feeds.flatMap(({ table, reader }) => (reader instanceof TableReader ? (table.oid ?? []) : []));
    if (oids.length === 0) return undefined;
    const { rows } = await ask(this.#executor, INSERTED, signal, [`{${oids.join(',')}}`]);
    return new Map(rows.map(([oid, inserted]) => [oid ?? '', Number(inserted)]));
  }

  /** Takes up what was counted for a table that has no new rows; gives how many more were passed over than was known. */
  estimate(
    { name, table: { oid }, counts }: Pick<TableFeed, 'name' | 'table' | 'counts'>,
    inserted: ReadonlyMap<string, number>,
    emitsLateRows: boolean,
  ): number {
    const count = inserted.get(oid ?? '');
    if (oid === undefined || count === undefined) return 0;
    const unread = count - counts.rows - (emitsLateRows ? 0 : counts.lateRows);
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
