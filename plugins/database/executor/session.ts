import { DatabaseError } from '../../../src/errors.ts';
import { type OwnStatement, qualifiedStatement } from '../sql/own-statement.ts';
import type { QueryResult, Session, SessionOptions, StatementOptions, StreamOptions } from './api.ts';
import type { Connection, StatementRunner } from './connection.ts';
import { readCursor } from './cursor.ts';

/** Statements whose traces no cleaning removes: the connection is dropped after its turn. */
const LASTING_COMMANDS: ReadonlySet<string> = new Set(['PREPARE', 'LOAD']);

/**
 * A connection pinned for one piece of work. Statements run one after another, whatever the caller awaits.
 * After `end` every call rejects: a session that escaped must not touch a connection that others use.
 */
export class PinnedSession implements Session {
  readonly #connection: Connection;
  readonly #readOnly: boolean;
  #tail: Promise<unknown> = Promise.resolve();
  #state: 'open' | 'reading' | 'ended' = 'open';
  #inTransaction = false;

  constructor(connection: Connection, options: SessionOptions) {
    this.#connection = connection;
    this.#readOnly = options.readOnly ?? false;
  }

  async query(
    sql: string,
    parameters: readonly (string | null)[] = [],
    options: StatementOptions = {},
  ): Promise<QueryResult> {
    this.#mustBeOpen();
    return this.#inTurn(async () => {
      const result = await this.#explained(() => this.#connection.run({ text: sql, values: parameters }, options));
      if (LASTING_COMMANDS.has(result.command)) this.#connection.wearOut();
      return result;
    });
  }

  async ask(
    statement: OwnStatement,
    parameters: readonly (string | null)[] = [],
    options: StatementOptions = {},
  ): Promise<QueryResult> {
    this.#mustBeOpen();
    return this.#inTurn(() => this.#explained(() => this.#connection.ask(statement, parameters, options)));
  }

  async *stream(
    sql: string,
    parameters: readonly (string | null)[],
    options: StreamOptions,
  ): AsyncGenerator<QueryResult> {
    this.#mustBeOpen();
    await this.#tail.catch(() => undefined);
    this.#mustBeOpen();
    this.#state = 'reading';
    try {
      yield* readCursor(this.#connection, { text: sql, values: parameters }, options);
    } catch (error) {
      throw this.#explain(error);
    } finally {
      this.#state = 'open';
    }
  }

  async transaction<T>(work: () => Promise<T>, options: StatementOptions = {}): Promise<T> {
    if (this.#inTransaction)
      throw new DatabaseError('transactions do not nest', { scope: 'caller', sqlstate: '25001' });
    await this.query('BEGIN', [], options);
    this.#inTransaction = true;
    try {
      const result = await work();
      const end = await this.query('COMMIT', [], options);
      if (end.command === 'ROLLBACK') {
        throw new DatabaseError('the transaction was rolled back, because a statement in it had failed', {
          scope: 'caller',
          sqlstate: '25P02',
        });
      }
      return result;
    } catch (error) {
      // When the connection is gone the server has rolled back; the first error is the one to tell.
      if (this.#connection.client.getTransactionStatus() !== 'I') await this.query('ROLLBACK').catch(() => undefined);
      throw error;
    } finally {
      this.#inTransaction = false;
    }
  }

  /** Waits for the statement that still runs, if any, and closes the session for good. */
  async end(): Promise<void> {
    // A result that was not read to its end holds the connection: it cannot be cleaned any more.
    if (this.#state === 'reading') this.#connection.wearOut();
    else await this.#tail.catch(() => undefined);
    this.#state = 'ended';
  }

  #mustBeOpen(): void {
    if (this.#state === 'open') return;
    const message = this.#state === 'ended' ? 'the session has ended' : 'a result is still being read on this session';
    throw new DatabaseError(message, { scope: 'caller' });
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#tail.catch(() => undefined).then(work);
    this.#tail = turn;
    return turn;
  }

  async #explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /** 25006 means a standby, except in a session that asked to be read-only: there the caller's statement is wrong. */
  #explain(error: unknown): unknown {
    if (!this.#readOnly || !(error instanceof DatabaseError) || error.sqlstate !== '25006') return error;
    return new DatabaseError(error.message, { scope: 'caller', sqlstate: '25006', cause: error.cause });
  }
}

/** By the number of settings, less one. */
const SET_SETTINGS = [1, 2, 3].map((count) => {
  const calls = Array.from(
    { length: count },
    (_, index) => `pg_catalog.set_config($${String(2 * index + 1)}, $${String(2 * index + 2)}, false)`,
  );
  return qualifiedStatement(`session: ${String(count)} settings`, `SELECT ${calls.join(', ')}`);
});

/** Puts a session's settings in force; the pool's cleaning undoes them. A value that the server refuses: scope `caller`. */
export async function applySessionOptions(connection: StatementRunner, options: SessionOptions): Promise<void> {
  const settings: [string, string][] = [];
  if (options.timeZone !== undefined) settings.push(['TimeZone', options.timeZone]);
  if (options.readOnly === true) settings.push(['default_transaction_read_only', 'on']);
  if (options.statementTimeoutMs !== undefined) {
    settings.push(['statement_timeout', String(options.statementTimeoutMs)]);
  }
  if (settings.length === 0) return;
  try {
    await connection.run({ text: SET_SETTINGS[settings.length - 1] ?? '', values: settings.flat() });
  } catch (error) {
    if (error instanceof DatabaseError && error.scope === 'record') {
      throw new DatabaseError(error.message, { scope: 'caller', sqlstate: error.sqlstate, cause: error.cause });
    }
    throw error;
  }
}
