import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type pg from 'pg';
import { DatabaseError, toError } from '../../../src/errors.ts';
import type { OwnStatement } from '../sql/own-statement.ts';
import type { QueryResult, StatementOptions } from './api.ts';
import type { ServerAddress } from './connection-url.ts';
import { requestCancel } from './cancel.ts';
import { copyIn } from './copy-in.ts';
import {
  ENTER_OWN_PATH,
  LEAVE_OWN_PATH,
  type Parameters,
  Pipeline,
  type PipelinedStatement,
  sendQuery,
  sendStatement,
} from './pipeline.ts';
import { isRollback, toDatabaseError } from './sqlstate.ts';

/**
 * How long a cancelled statement may continue before its connection is closed. Also the time limit for closing a
 * connection gracefully.
 */
const CANCEL_GRACE_MS = 5_000;
/**
 * Limit for named statements, which use memory of the server until the connection ends. A connection with more of them
 * is replaced.
 */
const MAX_NAMED_STATEMENTS = 500;

/** The end of the driver's message for a statement on a lost connection. */
const NOT_QUERYABLE = 'is not queryable';

/** Members of the driver's client that its types omit. */
type RawClient = pg.Client & {
  readonly processID: number;
  readonly secretKey: number;
  readonly connection: { readonly stream: Pick<Socket, 'bytesRead' | 'isPaused' | 'writableLength'> };
};

export interface Statement {
  readonly text: string;
  /** Prepared once per connection under this name. */
  readonly name?: string | undefined;
  readonly values?: readonly (string | Buffer | null)[] | undefined;
}

/** Runs statements: a connection, or a wrapper that sets a savepoint around each statement. */
export type StatementRunner = Pick<Connection, 'run' | 'ask' | 'copyIn'>;

/** Leaves every value in text format, so that int8, numeric and timestamps lose no precision. */
export const TEXT_VALUES: pg.CustomTypesConfig = { getTypeParser: () => (value: unknown) => value };

/**
 * A connection to a server. It is usable until
 * - it is lost, because the socket broke or the server closed it: statements fail, and the pool drops it;
 * - it must not be reused, because a statement was interrupted or failed with scope `infrastructure`, because its state
 *   cannot be reset, or because it holds too many named statements: the pool drops it once it is released.
 */
export class Connection {
  readonly client: pg.Client;
  readonly #address: { host: string; port: number; tls: ConnectionOptions | undefined };
  readonly #names = new Set<string>();
  #lost: Error | undefined;
  #isDiscarded = false;
  #sharesBackends = false;
  #openedAt: number | undefined;
  #brokeInUse = false;
  /** Number of calls that are waiting for the server. */
  #running = 0;
  /** When the wait for the server began, or `silentSince` last noticed new data; and the bytes received until then. */
  #silence = { since: 0, bytesRead: 0 };

  constructor(client: pg.Client, address: { host: string; port: number; tls: ConnectionOptions | undefined }) {
    this.client = client;
    this.#address = address;
    // Without a listener, a broken idle connection would end the process.
    client.on('error', (error) => this.#lose(error));
    client.on('end', () => this.#lose(new Error('the server ended the connection')));
    client.once('connect', () => (this.#openedAt = performance.now()));
  }

  get server(): ServerAddress {
    return { host: this.#address.host, port: this.#address.port };
  }

  /** Process ID of the backend, as reported at the start. A pooler reports one of its own (server-greeting.ts). */
  get processId(): number {
    return (this.client as RawClient).processID;
  }

  /** Time of the completed login, on the clock of `performance.now()`. */
  get openedAt(): number | undefined {
    return this.#openedAt;
  }

  /** True if the connection was lost during a statement or transaction; the server may not have noticed yet. */
  get brokeInUse(): boolean {
    return this.#brokeInUse;
  }

  /** Set when the connection can no longer be used. */
  get lost(): Error | undefined {
    return this.#lost;
  }

  get reusable(): boolean {
    return this.#lost === undefined && !this.#isDiscarded && this.#names.size <= MAX_NAMED_STATEMENTS;
  }

  /** Marks a connection whose state cannot be reset, so that it is dropped once it is released. */
  discardAfterUse(): void {
    this.#isDiscarded = true;
  }

  /**
   * True if each transaction may run in another backend, as behind a pooler. Also true if the server does not report
   * its process ID. Such a connection prepares no statements, and settings last for one transaction only.
   */
  get hasSharedBackends(): boolean {
    return this.#sharesBackends;
  }

  sharesBackends(): void {
    this.#sharesBackends = true;
  }

  /** Runs one statement with the extended protocol. Rejects with DatabaseError (57014 if cancelled). */
  async run(statement: Statement, options: StatementOptions = {}): Promise<QueryResult> {
    refuseNul(statement.text);
    const name = this.#sharesBackends ? undefined : statement.name;
    if (name !== undefined) this.#names.add(name);
    const config = {
      text: statement.text,
      ...(name === undefined ? {} : { name }),
      values: (statement.values ?? []) as (string | Buffer | null)[],
      rowMode: 'array' as const,
      types: TEXT_VALUES,
      // The extended protocol is needed even without parameters, because the simple protocol would accept several
      // statements.
      queryMode: 'extended',
    };
    const result = await this.interruptible(options, () => this.client.query<(string | null)[]>(config));
    return toQueryResult(result, result.rows);
  }

  /** Runs an internal statement in one round trip, with search path `pg_catalog, pg_temp`. Rejects as `run` does. */
  async ask({ text }: OwnStatement, values: Parameters = [], options: StatementOptions = {}): Promise<QueryResult> {
    const isInTransaction = (): boolean => this.client.getTransactionStatus() === 'T';
    const pipeline = new Pipeline({
      preamble: () => [[ENTER_OWN_PATH, []]],
      send: (wire) => {
        sendQuery(wire, [text, values], 0);
        // Outside a transaction, the server restores the search path at the end of the pipeline.
        if (isInTransaction()) sendStatement(wire, [LEAVE_OWN_PATH, []]);
      },
    });
    await this.interruptible(options, async () => {
      this.client.query(pipeline);
      return pipeline.done;
    });
    return pipeline.result();
  }

  /**
   * Runs `statement` after the statements of `preamble`, in one round trip. Without an open transaction, all of them
   * run in one transaction. The results of the preamble are ignored; its errors get scope `caller`, unless their scope
   * is `infrastructure`.
   */
  async runAfter(
    preamble: readonly PipelinedStatement[],
    statement: PipelinedStatement,
    options: StatementOptions = {},
  ): Promise<QueryResult> {
    refuseNul(statement[0]);
    const pipeline = new Pipeline({
      preamble: () => (this.client.getTransactionStatus() === 'E' ? [] : preamble),
      send: (wire) => {
        sendQuery(wire, statement, 0);
      },
    });
    try {
      await this.interruptible(options, async () => {
        this.client.query(pipeline);
        return pipeline.done;
      });
      return pipeline.result();
    } catch (error) {
      if (pipeline.isPastPreamble || !(error instanceof DatabaseError) || error.scope === 'infrastructure') throw error;
      throw new DatabaseError(error.message, { scope: 'caller', sqlstate: error.sqlstate, cause: error.cause });
    }
  }

  /** Runs statements that end with COPYs from STDIN. `messages` has the CopyData and CopyDone messages of all COPYs. */
  async copyIn(text: string, messages: Buffer, options: StatementOptions = {}): Promise<void> {
    await this.interruptible(options, () => copyIn(this.client, text, messages));
  }

  /** Runs several internal statements, separated by semicolons, with the simple protocol. */
  async script(text: string, options: StatementOptions = {}): Promise<void> {
    await this.interruptible(options, () => this.client.query(text));
  }

  /** Runs `work`; an abort or the timeout cancels the current statement on the server. */
  async interruptible<T>(options: StatementOptions, work: () => Promise<T>): Promise<T> {
    const { signal, timeoutMs } = options;
    if (signal?.aborted === true) throw cancelled(signal);
    if (signal === undefined && timeoutMs === undefined) return this.#classified(work);

    let interruption: { readonly error: DatabaseError; readonly requested: Promise<void> } | undefined;
    let cut: NodeJS.Timeout | undefined;
    const interrupt = (error: DatabaseError): void => {
      if (interruption !== undefined) return;
      interruption = { error, requested: this.#cancel() };
      cut = setTimeout(() => this.cut(), CANCEL_GRACE_MS);
    };
    const onAbort = (): void => {
      if (signal !== undefined) interrupt(cancelled(signal));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => interrupt(timedOut(timeoutMs)), timeoutMs);
    try {
      return await this.#classified(work);
    } catch (error) {
      throw interruption?.error ?? error;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      clearTimeout(timer);
      clearTimeout(cut);
      // Waits for the cancel request, which must not hit the next statement.
      await interruption?.requested;
    }
  }

  /** Closes the connection gracefully, or forcibly after five seconds. */
  async close(): Promise<void> {
    if (this.#lost !== undefined) return;
    const destroy = setTimeout(() => this.cut(), CANCEL_GRACE_MS);
    try {
      await this.client.end();
    } finally {
      clearTimeout(destroy);
    }
  }

  /**
   * Returns the time, on the clock of `performance.now()`, since which a call has been waiting without data from the
   * server; `undefined` if no call is waiting. Time spent on sending, or with reading paused, does not count.
   */
  silentSince(): number | undefined {
    if (this.#running === 0) return undefined;
    const { bytesRead, writableLength } = this.#socket;
    if (bytesRead !== this.#silence.bytesRead || writableLength > 0 || this.#socket.isPaused()) {
      this.#silence = { since: performance.now(), bytesRead };
    }
    return this.#silence.since;
  }

  /** Fails the connection and its statements with this error. */
  fail(reason: Error): void {
    this.#lose(reason);
    this.client.connection.stream.destroy(reason);
  }

  get #socket(): RawClient['connection']['stream'] {
    return (this.client as RawClient).connection.stream;
  }

  #lose(error: Error): void {
    if (this.#lost !== undefined) return;
    this.#lost = error;
    this.#brokeInUse = this.#running > 0 || this.client.getTransactionStatus() !== 'I';
  }

  async #classified<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running++ === 0) this.#silence = { since: performance.now(), bytesRead: this.#socket.bytesRead };
    try {
      return await work();
    } catch (thrown) {
      // If the connection was lost before the statement, the driver's error does not contain the cause of the loss.
      const wasLost = this.#lost !== undefined && toError(thrown).message.endsWith(NOT_QUERYABLE);
      const error = toDatabaseError(wasLost ? this.#lost : thrown);
      // Discards the connection: a new one may reach another server or, behind a pooler, a backend that works.
      if (error.scope === 'infrastructure' && !isRollback(error)) this.#isDiscarded = true;
      throw error;
    } finally {
      this.#running -= 1;
    }
  }

  /**
   * Resolves once the cancel request was delivered. If the delivery fails, closes the socket: nothing else ends the
   * statement.
   */
  async #cancel(): Promise<void> {
    this.#isDiscarded = true;
    const { processID, secretKey } = this.client as RawClient;
    try {
      await requestCancel({ ...this.#address, processId: processID, secretKey }, CANCEL_GRACE_MS);
    } catch {
      this.cut();
    }
  }

  /** Closes the socket; running statements fail with scope `infrastructure`. */
  cut(): void {
    this.client.connection.stream.destroy();
  }
}

/**
 * A NUL terminates the text in the protocol, and the server reports the rest as a protocol violation (08P01), which
 * looks like a retriable error. SQL received as data (cdc_db, HTTP) may contain one.
 */
export function refuseNul(sql: string): void {
  if (!sql.includes('\0')) return;
  throw new DatabaseError('a statement must not contain a NUL character', { scope: 'record', sqlstate: '22021' });
}

/** Converts the driver's result; `rows` may be a chunk of it. */
export function toQueryResult(result: pg.QueryResultBase, rows: readonly (string | null)[][]): QueryResult {
  return {
    command: result.command ?? '',
    fields: result.fields.map((field) => ({
      name: field.name,
      typeOid: field.dataTypeID,
      typeModifier: field.dataTypeModifier,
    })),
    rows,
    rowCount: result.rowCount ?? rows.length,
  };
}

export function cancelled(signal: AbortSignal): DatabaseError {
  return new DatabaseError('the statement was cancelled', { scope: 'caller', sqlstate: '57014', cause: signal.reason });
}

function timedOut(timeoutMs: number): DatabaseError {
  return new DatabaseError(`the statement was cancelled after ${String(timeoutMs)} ms`, {
    scope: 'infrastructure',
    sqlstate: '57014',
  });
}
