import { setTimeout as delay } from 'node:timers/promises';
import type { RowBatch, WriteReport } from '../data/row-batch.ts';
import type { TableShape } from '../data/table-shape.ts';
import { DatabaseError } from '../errors.ts';
import type { Engine, QueryResult, Session, Transaction, WritePolicy } from './api.ts';
import type { BatchWriter } from './batch-writer.ts';
import { Catalogue } from './catalogue.ts';
import type { StatementRunner } from './connection.ts';
import { readEngine } from './engine-mark.ts';
import { GrowingWriter } from './growing-writer.ts';
import type { Pool } from './pool.ts';
import { SchemaGrowth } from './schema-growth.ts';
import { savepoint } from './savepoint.ts';
import { PinnedSession } from './session.ts';
import { isRollback } from './sqlstate.ts';

/** A transaction that the server rolled back for others' sake (class 40) is done again this often. */
const RETRIES = 5;
const BACKOFF_MS = 20;

interface Parts {
  readonly pool: Pool;
  readonly catalogue: Catalogue;
  readonly writer: BatchWriter;
}

/** Does `work` in one transaction of one connection; see Executor.atomically. */
export async function atomically<T>(
  parts: Parts,
  work: (transaction: Transaction) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await attemptOnce(parts, work, signal);
    } catch (error) {
      if (!(error instanceof DatabaseError) || !isRollback(error) || attempt >= RETRIES) throw error;
    }
    await delay(BACKOFF_MS * 2 ** attempt * (0.5 + Math.random()));
  }
}

async function attemptOnce<T>(
  { pool, catalogue, writer }: Parts,
  work: (transaction: Transaction) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  return pool.lend(
    async (connection) => {
      const session = new PinnedSession(connection, {});
      const transaction = new WritingTransaction(session, connection, { writer, catalogue });
      try {
        const result = await session.transaction(() => work(transaction), { signal });
        if (!transaction.hasChangedTables) catalogue.adopt(transaction.catalogue);
        return result;
      } finally {
        await session.end();
        // Others see what was changed when they look again.
        if (transaction.hasChangedTables) catalogue.forget();
      }
    },
    'used',
    signal,
  );
}

/**
 * The writes of one transaction, one after another whatever the caller awaits. Each statement that may fail has a savepoint, so
 * that bad rows are found as everywhere else. Tables are looked at, made and changed within the transaction too.
 */
class WritingTransaction implements Transaction {
  readonly catalogue: Catalogue;
  #mayHaveChangedTables = false;
  readonly #session: Session;
  readonly #inner: Session;
  readonly #run: (sql: string) => Promise<unknown>;
  readonly #writer: BatchWriter;
  readonly #growingWriter: GrowingWriter;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(session: Session, connection: StatementRunner, { writer, catalogue }: Omit<Parts, 'pool'>) {
    this.#session = session;
    const run = (sql: string): Promise<unknown> => session.query(sql);
    this.#run = run;
    const runner: StatementRunner = {
      run: (statement, options) => savepoint(run, () => connection.run(statement, options)),
      copyIn: (...call) => savepoint(run, () => connection.copyIn(...call)),
    };
    this.#inner = {
      query: (...call) => session.query(...call),
      stream: (...call) => session.stream(...call),
      transaction: (work) => {
        this.#mayHaveChangedTables = true;
        return savepoint(run, work);
      },
    };
    const source = { session: <T>(work: (session: Session) => Promise<T>) => work(this.#inner) };
    this.catalogue = new Catalogue(source, catalogue);
    this.#writer = writer.within({ lend: (work) => work(runner) }, this.catalogue);
    this.#growingWriter = new GrowingWriter(this.catalogue, new SchemaGrowth(source, this.catalogue), this.#writer);
  }

  /** Tables were, or may have been, made or changed. */
  get hasChangedTables(): boolean {
    return this.#mayHaveChangedTables || this.catalogue.wasForgotten;
  }

  async query(...call: Parameters<Session['query']>): Promise<QueryResult> {
    return this.#inTurn(() => this.#session.query(...call));
  }

  async session<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#inTurn(() => savepoint(this.#run, () => work(this.#inner)));
  }

  async attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await savepoint(this.#run, work);
    } catch (error) {
      // What was made in it is gone.
      if (this.#mayHaveChangedTables) this.catalogue.forget();
      throw error;
    }
  }

  async engine(): Promise<Engine> {
    return readEngine(this.#session);
  }

  async write(batch: RowBatch, policy: WritePolicy): Promise<WriteReport> {
    return this.#inTurn(() => this.#writer.write(batch, policy));
  }

  async writeGrowing(batch: RowBatch, shape: TableShape, policy: WritePolicy): Promise<WriteReport> {
    return this.#inTurn(() => this.#growingWriter.write(batch, shape, policy));
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#tail.catch(() => undefined).then(work);
    this.#tail = turn;
    return turn;
  }
}
