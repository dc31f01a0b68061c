import type { RowBatch, WriteReport } from '../../../src/data/row-batch.ts';
import { DatabaseError, toError } from '../../../src/errors.ts';
import type { Engine, QueryResult, Session, Transaction, TransactionWork, WritePolicy } from './api.ts';
import type { BatchWriter } from './batch-writer.ts';
import { Catalogue } from './catalogue.ts';
import type { StatementRunner } from './connection.ts';
import type { Database } from './database.ts';
import { readEngine } from './engine-mark.ts';
import { ROLLBACK_RETRIES, retryRolledBack } from './retry-rolled-back.ts';
import { savepoint } from './savepoint.ts';
import { PinnedSession } from './session.ts';

/** Thrown if a statement failed in an attempt without savepoints. */
class NeedsSavepoints extends Error {}

/**
 * Runs `work` in one transaction on one connection; see Executor.atomically. Each savepoint costs two round trips, so
 * the first attempt uses none, unless such attempts have failed recently (optimistic-path.ts). If `write`, `session` or
 * `attempt` fails and the scope is not `infrastructure`, everything is repeated with savepoints.
 */
export async function atomically<T>(database: Database, work: TransactionWork<T>, signal?: AbortSignal): Promise<T> {
  let isOptimistic = database.path.shouldTry();
  return retryRolledBack(ROLLBACK_RETRIES, async () => {
    try {
      return await attemptOnce(database, work, { isOptimistic, signal });
    } catch (error) {
      if (!(error instanceof NeedsSavepoints)) throw error;
      isOptimistic = false;
      return attemptOnce(database, work, { isOptimistic, signal });
    }
  });
}

async function attemptOnce<T>(
  database: Database,
  work: TransactionWork<T>,
  { isOptimistic, signal }: { isOptimistic: boolean; signal: AbortSignal | undefined },
): Promise<T> {
  const { pool, catalogue, writer, path } = database;
  const connection = await pool.acquire(signal);
  const session = new PinnedSession(connection, {});
  const transaction = new WritingTransaction(session, connection, { writer, catalogue, isOptimistic });
  try {
    const result = await session.transaction(
      async () => {
        const value = await work(transaction, database.behaviourOf(connection));
        transaction.check();
        return value;
      },
      { signal },
    );
    if (!transaction.hasChangedTables) catalogue.adopt(transaction.catalogue);
    if (isOptimistic) path.succeeded();
    return result;
  } catch (error) {
    const { firstFailure } = transaction;
    if (firstFailure === undefined) throw error;
    // Later errors are consequences of the first failure. Savepoints do not help if the server is unreachable, or after
    // a deadlock.
    if (signal?.aborted === true || isInfrastructure(firstFailure)) throw firstFailure;
    path.failed();
    throw new NeedsSavepoints('repeated with savepoints', { cause: firstFailure });
  } finally {
    await session.end();
    pool.release(connection, transaction.needsReset ? 'used' : 'clean');
    // Other users of the catalogue must read the changed tables again.
    if (transaction.hasChangedTables) catalogue.forget();
  }
}

function isInfrastructure(error: Error): boolean {
  return error instanceof DatabaseError && error.scope === 'infrastructure';
}

/**
 * Runs the operations of a transaction one after another, even if the caller does not await them. Each statement of a
 * write has a savepoint, so that invalid rows are found as in other writes. Tables are read, created and changed in the
 * transaction as well. Without savepoints (`isOptimistic`), the first failure makes the transaction unusable, and all
 * later operations fail as well.
 */
class WritingTransaction implements Transaction {
  readonly catalogue: Catalogue;
  /** True if the session may have settings that must be reset before reuse. */
  needsReset = false;
  /** First failure of a transaction without savepoints. */
  firstFailure: Error | undefined;
  readonly #isOptimistic: boolean;
  #mayHaveChangedTables = false;
  readonly #session: Session;
  readonly #inner: Session;
  readonly #writer: BatchWriter;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(
    session: Session,
    connection: StatementRunner,
    { writer, catalogue, isOptimistic }: { writer: BatchWriter; catalogue: Catalogue; isOptimistic: boolean },
  ) {
    this.#session = session;
    this.#isOptimistic = isOptimistic;
    const runner: StatementRunner = {
      run: (statement, options) => this.#guarded(() => connection.run(statement, options)),
      ask: (...call) => this.#guarded(() => connection.ask(...call)),
      copyIn: (...call) => this.#guarded(() => connection.copyIn(...call)),
    };
    this.#inner = {
      keepsSettings: session.keepsSettings,
      query: (...call) => session.query(...call),
      ask: (...call) => session.ask(...call),
      stream: (...call) => session.stream(...call),
      transaction: (work) => {
        this.#mayHaveChangedTables = true;
        return this.#guarded(work);
      },
    };
    const source = { session: <T>(work: (session: Session) => Promise<T>) => work(this.#inner) };
    this.catalogue = new Catalogue(source, catalogue);
    this.#writer = writer.within({ lend: (work) => work(runner) }, this.catalogue, source);
  }

  /** True if tables may have been created or changed. */
  get hasChangedTables(): boolean {
    return this.#mayHaveChangedTables || this.catalogue.wasForgotten;
  }

  /** Throws if the transaction must be repeated. */
  check(): void {
    if (this.firstFailure === undefined) return;
    throw new DatabaseError('the transaction must be repeated', { scope: 'infrastructure' });
  }

  async query(...call: Parameters<Session['query']>): Promise<QueryResult> {
    return this.#inTurn(async () => {
      this.check();
      return this.#session.query(...call);
    });
  }

  async ask(...call: Parameters<Session['ask']>): Promise<QueryResult> {
    return this.#inTurn(async () => {
      this.check();
      return this.#session.ask(...call);
    });
  }

  async session<T>(work: (session: Session) => Promise<T>): Promise<T> {
    this.needsReset = true;
    return this.#inTurn(() => this.#guarded(() => work(this.#inner)));
  }

  async attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#guarded(work);
    } catch (error) {
      // Tables created by `work` no longer exist after the rollback.
      if (this.#mayHaveChangedTables) this.catalogue.forget();
      throw error;
    }
  }

  /** Runs `work`. If it rejects, rolls back to a savepoint or, without savepoints, marks the transaction as failed. */
  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#isOptimistic) return savepoint((sql) => this.#session.query(sql), work);
    this.check();
    try {
      return await work();
    } catch (error) {
      this.firstFailure ??= toError(error);
      throw error;
    }
  }

  async engine(): Promise<Engine> {
    return readEngine(this.#session);
  }

  async write(batch: RowBatch, policy: WritePolicy): Promise<WriteReport> {
    return this.#inTurn(() => this.#writer.write(batch, policy));
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#tail.catch(() => undefined).then(work);
    this.#tail = turn;
    return turn;
  }
}
