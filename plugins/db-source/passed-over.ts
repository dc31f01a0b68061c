import { ownStatement, type Executor } from '../../src/index-database.ts';
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

/** A table at a time at which all was read that there was to read. */
interface Baseline {
  readonly oid: string;
  readonly inserted: number;
  readonly taken: number;
}

/**
 * Estimates how many rows were inserted behind what is looked back at, and so never read: what the statistics of the database count as
 * inserted (`n_tup_ins`, rows of transactions that were rolled back among them), less the rows that were read. Both count from
 * the first time at which a table had been read to its end.
 */
export class PassedOver {
  readonly #executor: Executor;
  readonly #baselines = new Map<string, Baseline>();
  #nextAt = 0;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  /** Rows inserted so far by table number; to be asked before it is looked whether tables have new rows. `undefined`: not now. */
  async inserted(feeds: readonly TableFeed[], signal: AbortSignal): Promise<ReadonlyMap<string, number> | undefined> {
    if (Date.now() < this.#nextAt) return undefined;
    this.#nextAt = Date.now() + EVERY_MS;
    const oids = feeds.flatMap(({ table, reader }) => (reader instanceof TableReader ? (table.oid ?? []) : []));
    if (oids.length === 0) return undefined;
    const { rows } = await ask(this.#executor, INSERTED, signal, [`{${oids.join(',')}}`]);
    return new Map(rows.map(([oid, inserted]) => [oid ?? '', Number(inserted)]));
  }

  /** Takes up what was counted for a table that has no new rows; gives how many more were passed over than was known. */
  estimate(feed: TableFeed, inserted: ReadonlyMap<string, number>, emitsLateRows: boolean): number {
    const { name, table, counts } = feed;
    const now = inserted.get(table.oid ?? '');
    if (table.oid === undefined || now === undefined) return 0;
    const taken = counts.rows + (emitsLateRows ? 0 : counts.lateRows);
    const baseline = this.#baselines.get(name);
    if (baseline === undefined || baseline.oid !== table.oid || now < baseline.inserted) {
      this.#baselines.set(name, { oid: table.oid, inserted: now, taken });
      return 0;
    }
    const missing = now - baseline.inserted - (taken - baseline.taken);
    const more = Math.max(0, missing - counts.passedOver);
    counts.passedOver += more;
    return more;
  }
}
