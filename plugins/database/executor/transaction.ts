import type { RowBatch, WriteReport } from '../../../src/data/row-batch.ts';
import { DatabaseError, toError } from '../../../src/errors.ts';
import type { Engine, QueryResult, Session, Transaction, WritePolicy } from './api.ts';
import type { BatchWriter } from './batch-writer.ts';
import { Catalogue } from './catalogue.ts';
import type { StatementRunner } from './connection.ts';
import type { Database } from './database.ts';
import { readEngine } from './engine-mark.ts';
import { ROLLBACK_RETRIES, retryRolledBack } from './retry-rolled-back.ts';
import { savepoint } from './savepoint.ts';
import { PinnedSession } from './session.ts';

/** The try without savepoints has come to something that only they can answer. */
class NeedsSavepoints extends Error {}

/**
 * Does `work` in one transaction of one connection; see Executor.atomically. It is tried without savepoints first, each of which
 * is two round trips; when a statement fails there for what it says, all of it is done again with them.
 */
export async function atomically<T>(
  database: Database,
  work: (transaction: Transaction) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
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
  { pool, catalogue, writer, path }: Database,
  work: (transaction: Transaction) => Promise<T>,
  { isOptimistic, signal }: { isOptimistic: boolean; signal: AbortSignal | undefined },
): Promise<T> {
  const connection = await pool.acquire(signal);
  const session = new PinnedSession(connection, {});
  const transaction = new WritingTransaction(session, connection, { writer, catalogue, isOptimistic });
  try {
    const result = await session.transaction(
      async () => {
        const given = await work(transaction);
        transaction.check();
        return given;
      },
      { signal },
    );
    if (!transaction.hasChangedTables) catalogue.adopt(transaction.catalogue);
    if (isOptimistic) path.succeeded();
    return result;
  } catch (error) {
    const { spoiledBy } = transaction;
    if (spoiledBy === undefined) throw error;
    // What followed from it says less. Savepoints help neither against a server that is away nor against a deadlock.
    if (signal?.aborted === true || isInfrastructure(spoiledBy)) throw spoiledBy;
    path.failed();
    throw new NeedsSavepoints('done again with savepoints', { cause: spoiledBy });
  } finally {
    await session.end();
    pool.release(connection, transaction.isTouched ? 'used' : 'clean');
    // Others see what was changed when they look again.
    if (transaction.hasChangedTables) catalogue.forget();
  }
}

function isInfrastructure(error: Error): boolean {
  return error instanceof DatabaseError && error.scope === 'infrastructure';
}

/**
 * The writes of one transaction, one after another whatever the caller awaits. Each statement that may fail has a savepoint, so
 * that bad rows are found as everywhere else. Tables are looked at, made and changed within the transaction too.
 *
 * Without savepoints (`isOptimistic`) it is spoiled by the first thing that fails; all that is asked of it then fails as well.
 */
class WritingTransaction implements Transaction {
  readonly catalogue: Catalogue;
  /** The connection may be left with settings that others must not meet. */
  isTouched = false;
  /** The first thing that failed in a transaction without savepoints. */
  spoiledBy: Error | undefined;
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
    this.#writer = writer.within(
      {
        lend: (work, condition) => {
          if (condition === 'used') this.isTouched = true;
          return work(runner);
        },
      },
      this.catalogue,
      source,
    );
  }

  /** Tables were, or may have been, made or changed. */
  get hasChangedTables(): boolean {
    return this.#mayHaveChangedTables || this.catalogue.wasForgotten;
  }

  /** Throws when the transaction must be done again. */
  check(): void {
    if (this.spoiledBy === undefined) return;
    throw new DatabaseError('the transaction must be done again', { scope: 'infrastructure' });
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
    this.isTouched = true;
    return this.#inTurn(() => this.#guarded(() => work(this.#inner)));
  }

  async attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#guarded(work);
    } catch (error) {
      // What was made in it is gone.
      if (this.#mayHaveChangedTables) this.catalogue.forget();
      throw error;
    }
  }

  /** Undoes what `work` did when it rejects, or has all of it done again. */
  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#isOptimistic) return savepoint((sql) => this.#session.query(sql), work);
    this.check();
    try {
      return await work();
    } catch (error) {
      this.spoiledBy ??= toError(error);
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
