import type { WriteReport } from '../../../src/data/row-batch.ts';
import { tableText } from '../../../src/data/row-batch.ts';
import { DatabaseError } from '../../../src/errors.ts';
import type { TableWrite, WritePolicy } from './api.ts';
import { isLimitedToTable } from './sqlstate.ts';
import type { WriteAttempt } from './write-attempt.ts';

/**
 * Maximum number of tables per transaction. Each table and index takes a lock, and all sessions of a server share 6,400
 * locks by default.
 */
const MAX_TABLES_TOGETHER = 100;
/** Number of batches that are written individually at the same time. */
const MAX_CONCURRENT_WRITES = 2;

/**
 * A write, and the minimum number of rows for which COPY is used. By default, this is the number from which COPY is
 * faster than INSERT for one table.
 */
export interface PlannedWrite extends TableWrite {
  readonly minCopiedRows?: number | undefined;
}

/** The operations of a writer for one or several batches. */
export interface TableWriting {
  write(write: PlannedWrite): Promise<WriteReport>;
  /** Creates missing tables, as far as permitted, in one transaction; if it rejects, no table was created. */
  create(writes: readonly TableWrite[]): Promise<void>;
  /** Returns an attempt if the batch can be copied together with others, else `undefined`. Throws as `write` does. */
  plan(write: PlannedWrite): WriteAttempt | undefined;
  /** Copies all batches, or rejects and copies none. */
  copy(attempts: readonly WriteAttempt[], policy: WritePolicy): Promise<void>;
}

type Settled = PromiseSettledResult<WriteReport>;

interface Numbered extends PlannedWrite {
  readonly index: number;
}

/**
 * Writes batches of different tables; see Executor.writeAll. Batches that cannot be copied together are written
 * individually, and so are all batches of a transaction that failed. Tables are written in the order of their names, so
 * that transactions on the same tables do not deadlock.
 */
export async function writeTables(writing: TableWriting, writes: readonly TableWrite[]): Promise<readonly Settled[]> {
  const run = new TablesRun(writing);
  const sorted = writes
    .map((write, index): Numbered => ({ ...write, index }))
    .sort((left, right) => compare(tableText(left.batch.table), tableText(right.batch.table)));
  for (let from = 0; from < sorted.length; from += MAX_TABLES_TOGETHER) {
    await run.write(sorted.slice(from, from + MAX_TABLES_TOGETHER));
  }
  return writes.map((_, index) => run.settled(index));
}

class TablesRun {
  readonly #writing: TableWriting;
  readonly #settled = new Map<number, Settled>();
  /** A failure that is not specific to one table. */
  #failure: PromiseRejectedResult | undefined;

  constructor(writing: TableWriting) {
    this.#writing = writing;
  }

  settled(index: number): Settled {
    const settled = this.#settled.get(index) ?? this.#failure;
    if (settled === undefined) throw new RangeError(`batch ${String(index)} was not written`);
    return settled;
  }

  async write(writes: readonly Numbered[]): Promise<void> {
    if (this.#failure !== undefined) return;
    if (writes.length > 1) await succeeds(() => this.#writing.create(writes));
    const alone: Numbered[] = [];
    const together: { readonly write: Numbered; readonly attempt: WriteAttempt }[] = [];
    for (const write of writes) {
      const attempt = writes.length === 1 ? undefined : this.#plan(write);
      if (attempt === undefined) alone.push(write);
      else together.push({ write, attempt });
    }
    const [first] = together;
    if (first !== undefined) {
      const attempts = together.map(({ attempt }) => attempt);
      if (await succeeds(() => this.#writing.copy(attempts, first.write.policy))) {
        for (const { write, attempt } of together) {
          this.#settled.set(write.index, { status: 'fulfilled', value: attempt.copyCompleted() });
        }
      } else {
        // Each batch is copied individually, so that the failure is recorded for the table that caused it. The next
        // batches of that table are inserted (optimistic-path.ts), so that they do not fail a common COPY again.
        alone.push(...together.map(({ write }) => ({ ...write, minCopiedRows: 1 })));
      }
    }
    await Promise.all(Array.from({ length: MAX_CONCURRENT_WRITES }, () => this.#writeAlone(alone)));
  }

  #plan(write: Numbered): WriteAttempt | undefined {
    try {
      return this.#writing.plan({ ...write, minCopiedRows: 1 });
    } catch (error) {
      if (error instanceof DatabaseError) return undefined;
      throw error;
    }
  }

  async #writeAlone(writes: Numbered[]): Promise<void> {
    for (let write = writes.shift(); write !== undefined; write = writes.shift()) {
      if (this.#failure !== undefined) return;
      try {
        this.#settled.set(write.index, { status: 'fulfilled', value: await this.#writing.write(write) });
      } catch (reason) {
        const settled = { status: 'rejected', reason } as const;
        this.#settled.set(write.index, settled);
        if (!(reason instanceof DatabaseError) || !isLimitedToTable(reason)) this.#failure ??= settled;
      }
    }
  }
}

/** Returns false if the database refused the work; each table is then tried individually to find the cause. */
async function succeeds(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof DatabaseError) return false;
    throw error;
  }
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
