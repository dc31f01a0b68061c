import type { RowBatch, WriteReport } from '../../../src/data/row-batch.ts';
import { DatabaseError } from '../../../src/errors.ts';
import { classify, type StatementKind } from '../sql/classify.ts';
import { qualifiedStatement } from '../sql/own-statement.ts';
import type { Engine, QueryResult, Rehearsal, Session, StatementOptions, WritePolicy } from './api.ts';
import type { BatchWriter } from './batch-writer.ts';
import { Catalogue } from './catalogue.ts';
import type { Database } from './database.ts';
import type { Connection, StatementRunner } from './connection.ts';
import { readEngine } from './engine-mark.ts';
import { savepoint } from './savepoint.ts';
import { PinnedSession } from './session.ts';

/** Default time limit of a whole rehearsal, which bounds how long it holds locks. */
const TIME_LIMIT_MS = 10_000;
/** How long a statement waits for a lock. Other statements queue behind a waiting one. */
const LOCK_TIMEOUT_MS = 1_000;
/** A statement that continues this long after its cancellation is ended by terminating its backend. */
const CANCEL_GRACE_MS = 1_000;
const TERMINATION_TIMEOUT_MS = 5_000;
/** Limits the transaction on the server as well, because a hung worker sends no cancellation. */
const IDLE_LIMIT = `SET LOCAL idle_in_transaction_session_timeout = ${String(TIME_LIMIT_MS)}`;
/** Nothing is committed, so deferred constraints must be checked immediately. */
const CHECKS_NOW = 'SET CONSTRAINTS ALL IMMEDIATE';
const SET_TIMEOUTS = qualifiedStatement(
  'rehearsal: time limits',
  `SELECT pg_catalog.set_config('statement_timeout', $1, true), pg_catalog.set_config('lock_timeout', $2, true)`,
);

const ROLLED_BACK = new Error('the rehearsal is complete');

/** Runs `work` in a transaction that is rolled back; see Executor.rehearse. */
export async function rehearse<T>(
  { pool, catalogue, writer }: Database,
  work: (rehearsal: Rehearsal) => Promise<T>,
  { signal, timeoutMs = TIME_LIMIT_MS }: StatementOptions = {},
): Promise<T> {
  let isCut = false;
  const rehearsed = async (connection: Connection): Promise<T> => {
    const session = new PinnedSession(connection, {});
    const limit = new TimeLimit(timeoutMs, signal);
    const cut = setTimeout(() => {
      isCut = true;
      connection.cut();
    }, timeoutMs + CANCEL_GRACE_MS);
    try {
      return await rollBackAfter(session, limit, () =>
        work(new RehearsingTransaction({ session, connection, writer, outside: catalogue, limit })),
      );
    } finally {
      clearTimeout(cut);
      await session.end();
    }
  };
  try {
    return await pool.lend(rehearsed, 'used', signal);
  } finally {
    if (isCut) await pool.endAbandoned(AbortSignal.timeout(TERMINATION_TIMEOUT_MS));
  }
}

async function rollBackAfter<T>(session: PinnedSession, limit: TimeLimit, work: () => Promise<T>): Promise<T> {
  const done: T[] = [];
  const rehearsal = session.transaction(async () => {
    for (const setting of [IDLE_LIMIT, CHECKS_NOW]) await session.query(setting, [], limit.options());
    done.push(await work());
    throw ROLLED_BACK;
  }, limit.options());
  try {
    return await rehearsal;
  } catch (error) {
    const [result] = done;
    if (error !== ROLLED_BACK || result === undefined) throw limit.explained(error);
    return result;
  }
}

/** The time limit shared by all statements of a rehearsal. */
class TimeLimit {
  readonly signal: AbortSignal;
  readonly #timeoutMs: number;
  readonly #end: number;
  readonly #caller: AbortSignal | undefined;

  constructor(timeoutMs: number, caller: AbortSignal | undefined) {
    const own = AbortSignal.timeout(timeoutMs);
    this.#timeoutMs = timeoutMs;
    this.#end = performance.now() + timeoutMs;
    this.#caller = caller;
    this.signal = caller === undefined ? own : AbortSignal.any([caller, own]);
  }

  /** Returns the values of statement_timeout and lock_timeout, in milliseconds. */
  settings(): readonly [string, string] {
    const leftMs = Math.max(1, Math.ceil(this.#end - performance.now()));
    return [String(leftMs), String(Math.min(leftMs, LOCK_TIMEOUT_MS))];
  }

  options(options: StatementOptions = {}): StatementOptions {
    const { signal } = options;
    return { ...options, signal: signal === undefined ? this.signal : AbortSignal.any([signal, this.signal]) };
  }

  explained(error: unknown): unknown {
    if (!this.signal.aborted || this.#caller?.aborted === true) return error;
    const message = `the rehearsal timed out after ${String(this.#timeoutMs / 1000)} seconds`;
    return new DatabaseError(message, { scope: 'caller', sqlstate: '57014', cause: error });
  }
}

interface RehearsalParts {
  readonly session: Session;
  readonly connection: StatementRunner;
  readonly writer: BatchWriter;
  readonly outside: Catalogue;
  readonly limit: TimeLimit;
}

/**
 * Sets a savepoint around each statement of a write, around `session` and around `attempt`, so that the failure of one
 * record does not affect the next.
 */
class RehearsingTransaction implements Rehearsal {
  readonly catalogue: Catalogue;
  readonly signal: AbortSignal;
  readonly #limit: TimeLimit;
  readonly #session: Session;
  readonly #inner: Session;
  readonly #writer: BatchWriter;
  #statements: string[] = [];

  constructor({ session, connection, writer, outside, limit }: RehearsalParts) {
    this.#session = session;
    this.#limit = limit;
    this.signal = limit.signal;
    const runner: StatementRunner = {
      run: async (statement, options) => {
        this.#record(statement.text);
        return this.#inSavepoint(() => connection.run(statement, limit.options(options)));
      },
      ask: async (statement, values, options) =>
        this.#inSavepoint(() => connection.ask(statement, values, limit.options(options))),
      copyIn: async (text, messages, options) => {
        this.#record(text);
        return this.#inSavepoint(() => connection.copyIn(text, messages, limit.options(options)));
      },
    };
    this.#inner = {
      keepsSettings: session.keepsSettings,
      query: async (sql, parameters, options) => {
        this.#record(sql);
        return session.query(sql, parameters, limit.options(options));
      },
      ask: (statement, parameters, options) => session.ask(statement, parameters, limit.options(options)),
      stream: (sql, parameters, options) => session.stream(sql, parameters, { ...options, ...limit.options(options) }),
      transaction: (work) => this.#inSavepoint(work),
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
    return this.#inSavepoint(() => work(this.#inner));
  }

  async attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#inSavepoint(work);
    } catch (error) {
      this.catalogue.forget();
      throw error;
    }
  }

  async engine(): Promise<Engine> {
    return readEngine(this.#inner);
  }

  async write(batch: RowBatch, policy: WritePolicy): Promise<WriteReport> {
    return this.#writer.write(batch, { ...policy, plain: true });
  }

  /** The limits are set each time, because SQL of a message may have changed them. */
  async #inSavepoint<T>(work: () => Promise<T>): Promise<T> {
    const limit = this.#limit;
    await this.#session.query(SET_TIMEOUTS, limit.settings(), limit.options());
    return savepoint((sql) => this.#session.query(sql, [], limit.options()), work);
  }

  /** Bisection repeats the same statement, which is recorded only once. */
  #record(text: string): void {
    if (!isChange(text) || this.#statements.at(-1) === text) return;
    this.#statements.push(text);
  }
}

const READ_ONLY: ReadonlySet<StatementKind> = new Set(['select', 'show', 'set', 'reset', 'transaction']);

/**
 * Returns true if the statement modifies data or tables. This includes the function call that creates a hypertable.
 * @internal
 */
export function isChange(text: string): boolean {
  const { kind, changing } = classify(text);
  return !READ_ONLY.has(kind) || changing !== undefined || /\bcreate_hypertable\b/.test(text);
}
