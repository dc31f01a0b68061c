import type { RowBatch, WriteReport } from '../data/row-batch.ts';
import type { Engine, QueryResult, Rehearsal, Session, WritePolicy } from './api.ts';
import type { BatchWriter } from './batch-writer.ts';
import { Catalogue } from './catalogue.ts';
import type { StatementRunner } from './connection.ts';
import { readEngine } from './engine-mark.ts';
import type { Pool } from './pool.ts';
import { savepoint } from './savepoint.ts';
import { PinnedSession } from './session.ts';

interface Dependencies {
  readonly pool: Pool;
  readonly catalogue: Catalogue;
  readonly writer: BatchWriter;
}

/** Rows and tables that others hold are not waited for longer, and no longer than this are others kept waiting by one. */
const LIMITS = ["SET LOCAL lock_timeout = '2s'", "SET LOCAL statement_timeout = '10s'"];
/** Nothing is committed: what is checked at a commit must be checked before. */
const CHECKS_NOW = 'SET CONSTRAINTS ALL IMMEDIATE';

const UNDONE = new Error('the rehearsal is over');

/** Does `work` in a transaction that is undone; see Executor.rehearse. */
export async function rehearse<T>(
  { pool, catalogue, writer }: Dependencies,
  work: (rehearsal: Rehearsal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return pool.lend(
    async (connection) => {
      const session = new PinnedSession(connection, {});
      try {
        return await undone(
          session,
          () => work(new RehearsingTransaction(session, connection, writer, catalogue)),
          signal,
        );
      } finally {
        await session.end();
      }
    },
    'used',
    signal,
  );
}

async function undone<T>(session: PinnedSession, work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const done: T[] = [];
  const rehearsal = session.transaction(
    async () => {
      for (const setting of [...LIMITS, CHECKS_NOW]) await session.query(setting);
      done.push(await work());
      throw UNDONE;
    },
    { signal },
  );
  try {
    return await rehearsal;
  } catch (error) {
    const [result] = done;
    if (error !== UNDONE || result === undefined) throw error;
    return result;
  }
}

/** Everything has a savepoint, so that what fails for one record does not hide what becomes of the next. */
class RehearsingTransaction implements Rehearsal {
  readonly catalogue: Catalogue;
  readonly #session: Session;
  readonly #inner: Session;
  readonly #writer: BatchWriter;
  #statements: string[] = [];

  constructor(session: Session, connection: StatementRunner, writer: BatchWriter, outside: Catalogue) {
    this.#session = session;
    const runner: StatementRunner = {
      run: async (statement, options) => {
        this.#note(statement.text);
        return this.#undoable(() => connection.run(statement, options));
      },
      ask: async (...call) => this.#undoable(() => connection.ask(...call)),
      copyIn: async (text, ...rest) => {
        this.#note(text);
        return this.#undoable(() => connection.copyIn(text, ...rest));
      },
    };
    this.#inner = {
      query: async (sql, ...rest) => {
        this.#note(sql);
        return session.query(sql, ...rest);
      },
      ask: (...call) => session.ask(...call),
      stream: (...call) => session.stream(...call),
      transaction: (work) => this.#undoable(work),
    };
    const source = { session: <T>(work: (session: Session) => Promise<T>) => work(this.#inner) };
    this.catalogue = new Catalogue(source, outside);
    this.#writer = writer.within({ lend: (work) => work(runner) }, this.catalogue, source);
  }

  takeStatements(): readonly string[] {
    const taken = this.#statements;
    this.#statements = [];
    return taken;
  }

  async query(...call: Parameters<Session['query']>): Promise<QueryResult> {
    return this.#inner.query(...call);
  }

  async ask(...call: Parameters<Session['ask']>): Promise<QueryResult> {
    return this.#inner.ask(...call);
  }

  async session<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#undoable(() => work(this.#inner));
  }

  async attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#undoable(work);
    } catch (error) {
      this.catalogue.forget();
      throw error;
    }
  }

  async engine(): Promise<Engine> {
    return readEngine(this.#session);
  }

  async write(batch: RowBatch, policy: WritePolicy): Promise<WriteReport> {
    return this.#writer.write(batch, { ...policy, plain: true });
  }

  #undoable<T>(work: () => Promise<T>): Promise<T> {
    return savepoint((sql) => this.#session.query(sql), work);
  }

  /** Rows are looked for one by one by the same statement: it is noted once. */
  #note(text: string): void {
    if (!isChange(text) || this.#statements.at(-1) === text) return;
    this.#statements.push(text);
  }
}

const LOOKS = /^\s*(SELECT|SHOW|SET|RESET|WITH|SAVEPOINT|RELEASE|ROLLBACK)\b/i;

/** A hypertable is made by a function. */
function isChange(text: string): boolean {
  return !LOOKS.test(text) || /\bcreate_hypertable\b/.test(text);
}
