import type { RowBatch, WriteReport } from '../data/row-batch.ts';
import { DatabaseError } from '../errors.ts';
import type { WritePolicy } from './api.ts';
import { type Catalogue, missing } from './catalogue.ts';
import type { StatementRunner } from './connection.ts';
import type { Condition } from './pool.ts';
import { ROLLBACK_RETRIES, retryRolledBack } from './retry-rolled-back.ts';
import { inTransaction } from './savepoint.ts';
import { applySessionOptions } from './session.ts';
import { type EncodingOptions, WriteAttempt } from './write-attempt.ts';

/** A table read this short a time ago need not be read again before columns are left out that it does not have. */
const FRESH_MS = 1_000;

/** Where a writer gets its connections: the pool, or one connection within a transaction. */
export interface ConnectionSource {
  lend<T>(
    work: (connection: StatementRunner) => Promise<T>,
    condition: Condition,
    signal: AbortSignal | undefined,
  ): Promise<T>;
}

interface WriterOptions extends EncodingOptions {
  /** The connection is in a transaction: what was rolled back for others' sake must be done again as a whole, by its owner. */
  readonly isInTransaction?: boolean;
}

/** Writes row batches: plan, encode, send, and find the rows that the data makes impossible. */
export class BatchWriter {
  readonly #connections: ConnectionSource;
  readonly #catalogue: Catalogue;
  readonly #options: WriterOptions;

  constructor(connections: ConnectionSource, catalogue: Catalogue, options: WriterOptions) {
    this.#connections = connections;
    this.#catalogue = catalogue;
    this.#options = options;
  }

  /** The same writer on a connection that is in a transaction. */
  within(connections: ConnectionSource, catalogue: Catalogue): BatchWriter {
    return new BatchWriter(connections, catalogue, { ...this.#options, isInTransaction: true });
  }

  async write(batch: RowBatch, policy: WritePolicy): Promise<WriteReport> {
    if (batch.rowCount === 0) return { stored: 0, discarded: 0, collapsed: 0, faults: [] };
    const attempt = await this.#attempt(batch, policy);
    // From a table that is not there nothing needs to be deleted.
    if (attempt === undefined) return { stored: batch.rowCount, discarded: 0, collapsed: 0, faults: [] };
    try {
      return await this.#run(attempt, policy);
    } catch (error) {
      // The table does not fit: it is looked at once more, then it is the caller's matter.
      if (!(error instanceof DatabaseError) || error.scope !== 'table') throw error;
      const again = await this.#freshAttempt(batch, policy);
      if (again === undefined) throw error;
      return await this.#run(again, policy);
    }
  }

  /** Rows are never refused on the strength of what was remembered of the table: it may have changed since. */
  async #attempt(batch: RowBatch, policy: WritePolicy): Promise<WriteAttempt | undefined> {
    const table = this.#catalogue.remembered(batch.table);
    if (table === undefined) return this.#freshAttempt(batch, policy);
    const attempt = new WriteAttempt(batch, table, policy, this.#options);
    const isFresh = this.#catalogue.remembered(batch.table, FRESH_MS) !== undefined;
    const isCertain = !attempt.hasFaults && (isFresh || !attempt.leavesOut);
    return isCertain ? attempt : this.#freshAttempt(batch, policy);
  }

  async #freshAttempt(batch: RowBatch, policy: WritePolicy): Promise<WriteAttempt | undefined> {
    const table = await this.#catalogue.refresh(batch.table);
    if (table === undefined && batch.groups?.list.every(({ operation }) => operation === 'delete') === true) {
      return undefined;
    }
    if (table === undefined) throw missing(batch.table);
    return new WriteAttempt(batch, table, policy, this.#options);
  }

  async #run(attempt: WriteAttempt, policy: WritePolicy): Promise<WriteReport> {
    if (attempt.isEmpty) return attempt.report();
    const timeZone = attempt.readsTimeTexts ? policy.timeZone : undefined;
    return this.#connections.lend(
      async (connection) => {
        await applySessionOptions(connection, { timeZone });
        return attempt.isOneChange || this.#options.isInTransaction === true
          ? attempt.run(connection, this.#options.isInTransaction === true)
          : runAtOnce(attempt, connection);
      },
      timeZone === undefined ? 'clean' : 'used',
      policy.signal,
    );
  }
}

/** All statements or none: between a deletion and the row that follows it nobody sees the row missing. */
async function runAtOnce(first: WriteAttempt, connection: StatementRunner): Promise<WriteReport> {
  let attempt: WriteAttempt | undefined;
  return retryRolledBack(ROLLBACK_RETRIES, async () => {
    const current = (attempt = attempt?.again() ?? first);
    return inTransaction(connection, (runner) => current.run(runner, true));
  });
}
