import { DatabaseError } from '../../../src/errors.ts';
import { type OwnStatement, qualifiedStatement } from '../sql/own-statement.ts';
import type { QueryResult, Session, SessionOptions, StatementOptions, StreamOptions } from './api.ts';
import type { Connection, StatementRunner } from './connection.ts';
import { readCursor } from './cursor.ts';
import type { PipelinedStatement } from './pipeline.ts';

/** Statements whose effects no reset removes, so that the connection is closed after use. */
const LASTING_COMMANDS: ReadonlySet<string> = new Set(['PREPARE', 'LOAD']);

/**
 * SQLSTATE of statements that cannot run inside a transaction, such as VACUUM. Local settings open a transaction, so
 * such a statement is repeated without them.
 */
const IN_TRANSACTION = '25001';

/**
 * A connection pinned for a series of statements, which run one after another even if the caller does not await them.
 * After `end`, every call rejects: a leaked session must not touch a connection that others use. Behind a pooler,
 * settings are local to each transaction, because the next transaction may run in another backend.
 */
export class PinnedSession implements Session {
  readonly #connection: Connection;
  readonly #readOnly: boolean;
  /** Sent before each `query`, and before a `stream` that begins a transaction; empty without shared backends. */
  readonly #localSettings: readonly PipelinedStatement[];
  #tail: Promise<unknown> = Promise.resolve();
  #state: 'open' | 'reading' | 'ended' = 'open';
  #inTransaction = false;

  constructor(connection: Connection, options: SessionOptions) {
    this.#connection = connection;
    this.#readOnly = options.readOnly ?? false;
    this.#localSettings = connection.hasSharedBackends ? settingsOf(options, true) : [];
  }

  get keepsSettings(): boolean {
    return !this.#connection.hasSharedBackends;
  }

  async query(
    sql: string,
    parameters: readonly (string | null)[] = [],
    options: StatementOptions = {},
  ): Promise<QueryResult> {
    this.#requireOpen();
    return this.#inTurn(async () => {
      const result = await this.#explained(() => this.#run(sql, parameters, options));
      if (LASTING_COMMANDS.has(result.command)) this.#connection.discardAfterUse();
      return result;
    });
  }

  async ask(
    statement: OwnStatement,
    parameters: readonly (string | null)[] = [],
    options: StatementOptions = {},
  ): Promise<QueryResult> {
    this.#requireOpen();
    return this.#inTurn(() => this.#explained(() => this.#connection.ask(statement, parameters, options)));
  }

  async *stream(
    sql: string,
    parameters: readonly (string | null)[],
    options: StreamOptions,
  ): AsyncGenerator<QueryResult> {
    this.#requireOpen();
    await this.#tail.catch(() => undefined);
    this.#requireOpen();
    this.#state = 'reading';
    try {
      const opensTransaction = this.#localSettings.length > 0 && this.#connection.client.getTransactionStatus() === 'I';
      if (opensTransaction) await this.#connection.runAfter([BEGIN, ...this.#localSettings], SELECT_NOTHING);
      yield* readCursor(this.#connection, { text: sql, values: parameters }, options);
      if (opensTransaction) await this.#connection.run({ text: 'COMMIT' });
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
        throw new DatabaseError('the transaction was rolled back because a statement in it failed', {
          scope: 'caller',
          sqlstate: '25P02',
        });
      }
      return result;
    } catch (error) {
      // If the connection is lost, the server has rolled back; the first error is the relevant one.
      if (this.#connection.client.getTransactionStatus() !== 'I') await this.query('ROLLBACK').catch(() => undefined);
      throw error;
    } finally {
      this.#inTransaction = false;
    }
  }

  async #run(sql: string, parameters: readonly (string | null)[], options: StatementOptions): Promise<QueryResult> {
    if (this.#localSettings.length === 0) return this.#connection.run({ text: sql, values: parameters }, options);
    const isOutside = this.#connection.client.getTransactionStatus() === 'I';
    try {
      return await this.#connection.runAfter(this.#localSettings, [sql, parameters], options);
    } catch (error) {
      if (!isOutside || !(error instanceof DatabaseError) || error.sqlstate !== IN_TRANSACTION) throw error;
      return this.#connection.run({ text: sql, values: parameters }, options);
    }
  }

  /** Waits for the running statement, if any, and closes the session permanently. */
  async end(): Promise<void> {
    // A result that was not read to its end blocks the connection, which then cannot be reset.
    if (this.#state === 'reading') this.#connection.discardAfterUse();
    else await this.#tail.catch(() => undefined);
    this.#state = 'ended';
  }

  #requireOpen(): void {
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

  /** In a read-only session, 25006 is an error of the caller. In others, it means that the server is a standby. */
  #explain(error: unknown): unknown {
    if (!this.#readOnly || !(error instanceof DatabaseError) || error.sqlstate !== '25006') return error;
    return new DatabaseError(error.message, { scope: 'caller', sqlstate: '25006', cause: error.cause });
  }
}

const BEGIN: PipelinedStatement = ['BEGIN', []];
const SELECT_NOTHING: PipelinedStatement = ['SELECT', []];

/**
 * The statement for `n` settings has the index `n - 1`. Its last parameter is true for settings that are local to the
 * transaction.
 */
const SET_SETTINGS = [1, 2, 3].map((count) => {
  const isLocal = `$${String(2 * count + 1)}::pg_catalog.bool`;
  const calls = Array.from(
    { length: count },
    (_, index) => `pg_catalog.set_config($${String(2 * index + 1)}, $${String(2 * index + 2)}, ${isLocal})`,
  );
  return qualifiedStatement(`session: ${String(count)} settings`, `SELECT ${calls.join(', ')}`);
});

function settingsOf(options: SessionOptions, isLocal: boolean): PipelinedStatement[] {
  const settings: [string, string][] = [];
  if (options.timeZone !== undefined) settings.push(['TimeZone', options.timeZone]);
  if (options.readOnly === true) {
    settings.push([isLocal ? 'transaction_read_only' : 'default_transaction_read_only', 'on']);
  }
  if (options.statementTimeoutMs !== undefined) {
    settings.push(['statement_timeout', String(options.statementTimeoutMs)]);
  }
  if (settings.length === 0) return [];
  return [[SET_SETTINGS[settings.length - 1] ?? '', [...settings.flat(), String(isLocal)]]];
}

/** Applies the session options; the pool's reset reverts them. Throws with scope `caller` for invalid values. */
export async function applySessionOptions(connection: Connection, options: SessionOptions): Promise<void> {
  // With shared backends, PinnedSession applies the options in each transaction instead.
  if (connection.hasSharedBackends) return;
  for (const statement of settingsOf(options, false)) await set(connection, statement);
}

/** Sets the time zone until the end of the transaction. Throws with scope `caller` for an invalid one. */
export async function setTimeZone(connection: StatementRunner, timeZone: string | undefined): Promise<void> {
  for (const statement of settingsOf({ timeZone }, true)) await set(connection, statement);
}

async function set(connection: StatementRunner, [text, values]: PipelinedStatement): Promise<void> {
  try {
    await connection.run({ text, values });
  } catch (error) {
    if (error instanceof DatabaseError && error.scope === 'record') {
      throw new DatabaseError(error.message, { scope: 'caller', sqlstate: error.sqlstate, cause: error.cause });
    }
    throw error;
  }
}
