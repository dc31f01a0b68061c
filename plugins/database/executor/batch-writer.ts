import type { Fault } from '../../../src/data/fault.ts';
import type { RowBatch, WriteReport } from '../../../src/data/row-batch.ts';
import { DatabaseError } from '../../../src/errors.ts';
import type { GrowingPolicy, TableWrite, WritePolicy } from './api.ts';
import { nothingStored } from './batch-faults.ts';
import { type Catalogue, type CatalogueSource, missing } from './catalogue.ts';
import type { CatalogueTable } from './catalogue-query.ts';
import type { StatementRunner } from './connection.ts';
import type { Condition } from './pool.ts';
import { PlannedBatch } from './planned-batch.ts';
import type { ServerProbe } from './probe-result.ts';
import { ROLLBACK_RETRIES, retryRolledBack } from './retry-rolled-back.ts';
import { inTransaction } from './savepoint.ts';
import { SchemaGrowth } from './schema-growth.ts';
import { fits } from './schema-growth-plan.ts';
import { copyScript } from '../sql/copy-script.ts';
import { quoteTable } from '../sql/quote.ts';
import { setTimeZone } from './session.ts';
import { upsertProblem } from './server-probe.ts';
import { isTableChanged } from './sqlstate.ts';
import { TablePreparation } from './table-preparation.ts';
import { type EncodingOptions, NeedsTransaction, WriteAttempt } from './write-attempt.ts';
import { type PlannedWrite, writeTables } from './write-tables.ts';

/** A column that the cached table lacks or computes is ignored only if the cached definition is at most this old. */
const FRESH_MS = 1_000;

const NOTHING_STORED = nothingStored([]);

/** Source of connections: the pool, or the single connection of a transaction. */
export interface ConnectionSource {
  lend<T>(
    work: (connection: StatementRunner) => Promise<T>,
    condition: Condition,
    signal: AbortSignal | undefined,
  ): Promise<T>;
}

interface WriterOptions extends EncodingOptions {
  /**
   * True if the connection is in a transaction. If the server rolls back the transaction, the owner of the connection
   * must repeat all statements of the transaction.
   */
  readonly isInTransaction?: boolean;
  /** True if COPY must not be used, because the server may keep the rows of a COPY that fails or is rolled back. */
  readonly avoidsCopy?: boolean;
  /** The reason why no INSERT with a conflict clause can be used. */
  readonly upsertProblem?: string | undefined;
}

/** The plan for writing a batch; without `attempt`, there is nothing to send. */
interface Planned {
  readonly attempt: WriteAttempt | undefined;
  /** Faults of the rows for which the table cannot be extended. */
  readonly faults: readonly Fault[];
  /** True if the faults are based on the current state of the database. */
  readonly isCurrent: boolean;
}

/**
 * Writes row batches: creates or extends the table, plans, encodes and sends the rows, and finds the rows that cannot
 * be stored because of their data.
 */
export class BatchWriter {
  readonly #connections: ConnectionSource;
  readonly #catalogue: Catalogue;
  readonly #preparation: TablePreparation;
  #options: WriterOptions;

  /** Tables are changed through `session`. */
  constructor(connections: ConnectionSource, catalogue: Catalogue, session: CatalogueSource, options: WriterOptions) {
    this.#connections = connections;
    this.#catalogue = catalogue;
    this.#preparation = new TablePreparation(catalogue, new SchemaGrowth(session, catalogue));
    this.#options = options;
  }

  /** Returns a writer with the same options for a connection that is in a transaction. */
  within(connections: ConnectionSource, catalogue: Catalogue, session: CatalogueSource): BatchWriter {
    return new BatchWriter(connections, catalogue, session, { ...this.#options, isInTransaction: true });
  }

  /** From now on, rows are written as this server requires. */
  adapt(server: ServerProbe): void {
    const avoidsCopy = server.rollsBackCopies === 'no';
    this.#options = { ...this.#options, avoidsCopy, upsertProblem: upsertProblem(server) };
  }

  async prepare(batch: RowBatch, policy: GrowingPolicy): Promise<void> {
    await this.#preparation.prepare(batch, policy.shape, policy, await this.#catalogue.find(batch.table));
  }

  async write(batch: RowBatch, wanted: WritePolicy, minCopiedRows?: number): Promise<WriteReport> {
    if (batch.rowCount === 0) return NOTHING_STORED;
    const policy = this.#options.avoidsCopy === true ? { ...wanted, plain: true } : wanted;
    for (let isRetry = false; ; isRetry = true) {
      const { attempt, faults } = await this.#plan({ batch, policy, minCopiedRows }, isRetry);
      if (policy.allOrNothing === true && faults.length > 0) return nothingStored(faults);
      // Without a table, the batch consists of deletions, and there is nothing to delete.
      if (attempt === undefined) return { ...NOTHING_STORED, stored: batch.rowCount };
      try {
        const report = await this.#run(attempt, policy);
        return faults.length === 0 ? report : { ...report, faults: [...faults, ...report.faults] };
      } catch (error) {
        // If the table does not match, it is read again, once. A second failure is passed to the caller.
        if (isRetry || !(error instanceof DatabaseError) || !isTableChanged(error)) throw error;
      }
    }
  }

  async writeAll(writes: readonly TableWrite[]): Promise<readonly PromiseSettledResult<WriteReport>[]> {
    return writeTables(
      {
        write: (write) => this.write(write.batch, write.policy, write.minCopiedRows),
        create: (some) => this.#createMissing(some),
        plan: (write) => this.#planCopy(write),
        copy: (attempts, policy) => this.#copyTogether(attempts, policy),
      },
      writes,
    );
  }

  async #createMissing(writes: readonly TableWrite[]): Promise<void> {
    await this.#preparation.createAll(
      writes.filter(({ batch }) => batch.rowCount > 0 && this.#catalogue.remembered(batch.table) === undefined),
    );
  }

  /**
   * Plans a batch that COPY can store in the cached table together with other batches; `undefined` if the table must be
   * read or changed first, if the rows must be inserted, and for policies with `allOrNothing` or an exact shape.
   */
  #planCopy(write: PlannedWrite): WriteAttempt | undefined {
    const { batch, policy } = write;
    const known = this.#catalogue.remembered(batch.table);
    if (known === undefined || batch.rowCount === 0 || policy.allOrNothing === true) return undefined;
    if (this.#options.avoidsCopy === true) return undefined;
    if (policy.shape !== undefined && (policy.shape.exact || !fits(known, batch, policy.shape))) return undefined;
    const attempt = this.#attempt(known, write);
    const isCertain = this.#isCertain({ attempt, faults: [], isCurrent: false }, known, batch);
    return isCertain && attempt.copy !== undefined ? attempt : undefined;
  }

  async #copyTogether(attempts: readonly WriteAttempt[], { signal, timeoutMs }: WritePolicy): Promise<void> {
    const copies = attempts.flatMap(({ copy }) => copy ?? []);
    const script = copyScript(copies.map(({ target }) => target));
    const messages = Buffer.concat(copies.map((copy) => copy.messages));
    await this.#connections.lend(
      (connection) => connection.copyIn(script, messages, { signal, timeoutMs }),
      'clean',
      signal,
    );
  }

  /** Rows are never refused because of the cached table alone, as it may be outdated. */
  async #plan(write: PlannedWrite, isRetry: boolean): Promise<Planned> {
    const { batch } = write;
    const known = isRetry ? undefined : this.#catalogue.remembered(batch.table);
    if (known !== undefined) {
      const planned = await this.#planOn(known, write);
      if (this.#isCertain(planned, known, batch)) return planned;
    }
    return this.#planOn(await this.#catalogue.refresh(batch.table), write);
  }

  #isCertain({ attempt, faults, isCurrent }: Planned, known: CatalogueTable, { table }: RowBatch): boolean {
    if (attempt === undefined) return false;
    const { planned } = attempt;
    // If the preparation has just changed the table, the plan is based on its current definition.
    if (planned.table !== known) return true;
    if (planned.hasFaults || (faults.length > 0 && !isCurrent)) return false;
    return !planned.skipsColumns || this.#catalogue.remembered(table, FRESH_MS) !== undefined;
  }

  async #planOn(known: CatalogueTable | undefined, write: PlannedWrite): Promise<Planned> {
    const { batch, policy } = write;
    const { shape } = policy;
    if (shape !== undefined) {
      const prepared = await this.#preparation.prepare(batch, shape, policy, known);
      const { faults, isCurrent } = prepared;
      return { attempt: this.#attempt(prepared.table, { ...write, batch: prepared.batch }), faults, isCurrent };
    }
    if (known !== undefined) return { attempt: this.#attempt(known, write), faults: [], isCurrent: false };
    if (batch.groups?.list.every(({ operation }) => operation === 'delete') !== true) throw missing(batch.table);
    return { attempt: undefined, faults: [], isCurrent: false };
  }

  #attempt(table: CatalogueTable, { batch, policy, minCopiedRows }: PlannedWrite): WriteAttempt {
    const planned = new PlannedBatch(batch, table, policy, minCopiedRows);
    const { upsertProblem: problem } = this.#options;
    if (problem !== undefined && planned.upserts) {
      const message = `${problem}, which table ${quoteTable(table.name)} requires because it has a key`;
      throw new DatabaseError(message, { scope: 'caller', sqlstate: '0A000' });
    }
    return new WriteAttempt(planned, policy, this.#options);
  }

  async #run(attempt: WriteAttempt, policy: WritePolicy): Promise<WriteReport> {
    const { allOrNothing } = policy;
    const { planned } = attempt;
    if ((allOrNothing === true && planned.hasFaults) || planned.isEmpty) return attempt.report();
    const timeZone = planned.readsTimeTexts ? policy.timeZone : undefined;
    return this.#connections.lend(
      async (connection) => {
        if (this.#options.isInTransaction === true) {
          await setTimeZone(connection, timeZone);
          return attempt.run(connection, true);
        }
        const isAtomic = allOrNothing === true ? planned.isOneStatement : planned.isOneChange;
        if (!isAtomic || timeZone !== undefined) return runInTransaction(attempt, connection, timeZone);
        try {
          return await attempt.run(connection, false);
        } catch (error) {
          if (error instanceof NeedsTransaction) return runInTransaction(attempt.restart(), connection);
          throw error;
        }
      },
      'clean',
      policy.signal,
    );
  }
}

/**
 * Runs all statements of a batch in one transaction. No other session then misses a row between its deletion and the
 * insertion of its successor, or sees only a part of an all-or-nothing batch.
 */
async function runInTransaction(
  first: WriteAttempt,
  connection: StatementRunner,
  timeZone?: string,
): Promise<WriteReport> {
  let attempt: WriteAttempt | undefined;
  return retryRolledBack(ROLLBACK_RETRIES, async () => {
    const current = (attempt = attempt?.restart() ?? first);
    try {
      return await inTransaction(connection, async (runner) => {
        await setTimeZone(connection, timeZone);
        const report = await current.run(runner, true);
        if (current.planned.storesNothing) throw ROLLED_BACK;
        return report;
      });
    } catch (error) {
      if (error !== ROLLED_BACK) throw error;
      return current.report();
    }
  });
}

const ROLLED_BACK = new Error('the transaction is rolled back');
