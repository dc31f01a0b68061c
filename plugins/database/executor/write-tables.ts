import type { WriteReport } from '../../../src/data/row-batch.ts';
import { tableText } from '../../../src/data/row-batch.ts';
import { DatabaseError } from '../../../src/errors.ts';
import type { TableWrite, WritePolicy } from './api.ts';
import { isOfOneTable } from './sqlstate.ts';
import type { WriteAttempt } from './write-attempt.ts';

/** Each table and its index takes locks, of which a server has about 6,400 for all its sessions. */
const MAX_TABLES_TOGETHER = 100;
/** Batches that are written alone at the same time. */
const LANES = 2;

/** `minCopiedRows`: COPY is used from so many rows on; absent: where it is faster than INSERT for one table. */
export interface PlannedWrite extends TableWrite {
  readonly minCopiedRows?: number | undefined;
}

/** What a writer does for one batch, or for several. */
export interface TableWriting {
  write(write: PlannedWrite): Promise<WriteReport>;
  /** Creates tables that are not known and may be created, all of them or none: then it rejects. */
  create(writes: readonly TableWrite[]): Promise<void>;
  /** The attempt of a batch that may be copied together with others; `undefined`: it goes alone. May throw, as `write` then does. */
  plan(write: PlannedWrite): WriteAttempt | undefined;
  /** Copies all of them, or none and rejects. */
  copy(attempts: readonly WriteAttempt[], policy: WritePolicy): Promise<void>;
}

type Settled = PromiseSettledResult<WriteReport>;

interface Numbered extends PlannedWrite {
  readonly index: number;
}

/**
 * Writes batches of different tables; see Executor.writeAll. What cannot be copied together with others is written as if it had
 * come alone, and so is everything that stood in one transaction with what the server refused.
 *
 * In the order of the tables' names: transactions of the same tables do not wait for each other in a circle.
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
  /** Of what concerns more than one table. */
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
    if (writes.length > 1) await didIt(() => this.#writing.create(writes));
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
      if (await didIt(() => this.#writing.copy(attempts, first.write.policy))) {
        for (const { write, attempt } of together) {
          this.#settled.set(write.index, { status: 'fulfilled', value: attempt.copied() });
        }
      } else {
        // Each by COPY again: what stood in the way of all is noted of its own table, and is not tried together the next time.
        alone.push(...together.map(({ write }) => ({ ...write, minCopiedRows: 1 })));
      }
    }
    await Promise.all(Array.from({ length: LANES }, () => this.#writeAlone(alone)));
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
        if (!(reason instanceof DatabaseError) || !isOfOneTable(reason)) this.#failure ??= settled;
      }
    }
  }
}

/** False where the database did not: then each table shows by itself what stands in its way. */
async function didIt(work: () => Promise<void>): Promise<boolean> {
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
