import type { Logger } from '../../src/index.ts';
import type { DatabaseSnapshot } from './table-watch.ts';

/** Half of the range of transaction ids. */
export const MAX_AGE = 2n ** 31n;
const FIRST_TRANSACTION = 3n;

/**
 * Detects the promotion of a standby, with which PostgreSQL starts a new timeline. Transactions that the standby had not received
 * are lost, and the new primary reuses their ids. What was recorded about a transaction id may then not apply to the new rows.
 */
export class Timeline {
  #current: number | undefined;

  /**
   * `stored` is the timeline of an offset; `undefined` if there is no offset, or if it was stored by an earlier
   * version.
   */
  constructor(stored?: number) {
    this.#current = stored;
  }

  get current(): number | undefined {
    return this.#current;
  }

  /** Applies a snapshot and returns whether the timeline has changed; false if the snapshot has no timeline. */
  enter({ timeline }: Pick<DatabaseSnapshot, 'timeline'>): boolean {
    if (timeline === undefined || timeline === this.#current) return false;
    const hasChanged = this.#current !== undefined;
    this.#current = timeline;
    return hasChanged;
  }
}

/** The first id of the range of 2^31 ids that ends with `next`. All existing transactions are in this range. */
export function firstTransactionBefore(next: bigint): bigint {
  return next > MAX_AGE ? next - MAX_AGE + 1n : FIRST_TRANSACTION;
}

export function logPromotion(
  logger: Logger,
  before: DatabaseSnapshot | undefined,
  { timeline }: DatabaseSnapshot,
  lookBackMs: number,
): void {
  if (before?.timeline === undefined || timeline === undefined || timeline === before.timeline) return;
  logger.warn(
    `The timeline of the database changed from ${String(before.timeline)} to ${String(timeline)}: a standby was promoted. Rows of the last ${String(lookBackMs)} ms (timestamp.delay.ms), and rows that were written since the last transaction that it received from the old primary, are sent again`,
  );
}
