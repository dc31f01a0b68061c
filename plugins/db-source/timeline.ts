import type { Logger } from '../../src/index.ts';
import type { DatabaseSnapshot } from './table-watch.ts';

/** Half of what the numbering of transactions can tell apart. */
export const MAX_AGE = 2n ** 31n;
const FIRST_TRANSACTION = 3n;

/**
 * PostgreSQL begins a new timeline when a standby is promoted. Transactions that the standby had not received are lost, and the new
 * primary uses their ids again. What was remembered by id then says nothing about rows of the new primary.
 */
export class Timeline {
  #current: number | undefined;

  /** `stored`: the timeline of an offset; offsets of earlier versions have none. */
  constructor(stored?: number) {
    this.#current = stored;
  }

  get current(): number | undefined {
    return this.#current;
  }

  /** Takes up the timeline of a snapshot. Whether it is another one than before; a server that does not tell its timeline has none. */
  enter({ timeline }: Pick<DatabaseSnapshot, 'timeline'>): boolean {
    if (timeline === undefined || timeline === this.#current) return false;
    const hasChanged = this.#current !== undefined;
    this.#current = timeline;
    return hasChanged;
  }
}

/** The id from which on all transactions count as later ones, whatever was remembered of them. */
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
    `The database has another timeline (${String(timeline)}, before ${String(before.timeline)}): a standby was promoted. Rows of the last ${String(lookBackMs)} ms (timestamp.delay.ms), and those since its last transaction of the old primary, are sent again`,
  );
}
