import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type pg from 'pg';
import { DatabaseError } from '../../../src/errors.ts';
import type { OwnStatement } from '../sql/own-statement.ts';
import type { QueryResult, StatementOptions } from './api.ts';
import type { ServerAddress } from './connection-url.ts';
import { requestCancel } from './cancel.ts';
import { copyIn } from './copy-in.ts';
import { ENTER_OWN_PATH, LEAVE_OWN_PATH, type Parameters, Pipeline, sendQuery, sendStatement } from './pipeline.ts';
import { isRollback, toDatabaseError } from './sqlstate.ts';

/** How long a cancelled statement may go on before its connection is cut. */
const CANCEL_GRACE_MS = 5_000;
/** Named statements stay on the server until the connection ends; beyond this many it is worth a new connection. */
const MAX_NAMED_STATEMENTS = 500;

/** The driver's own names for what its types leave out. */
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

/** What runs statements: a connection, or one with savepoints around each. */
export type StatementRunner = Pick<Connection, 'run' | 'ask' | 'copyIn'>;

/** Every value stays the server's text: int8, numeric and timestamps lose nothing on the way. */
export const TEXT_VALUES: pg.CustomTypesConfig = { getTypeParser: () => (value: unknown) => value };

/**
 * One server connection.
 *
 * usable -> lost: the socket broke or the server ended it; statements fail, the pool drops it.
 * usable -> worn: it was interrupted, or holds too many named statements; it serves out its turn and is dropped then.
 */
export class Connection {
  readonly client: pg.Client;
  readonly #where: { host: string; port: number; tls: ConnectionOptions | undefined };
  readonly #names = new Set<string>();
  #lost: Error | undefined;
  #worn = false;
  #openedAt: number | undefined;
  #brokeInUse = false;
  /** Calls that wait for the server. */
  #running = 0;
  /** Since when nothing came from the server, and how much had come before. */
  #silence = { since: 0, bytesRead: 0 };

  constructor(client: pg.Client, where: { host: string; port: number; tls: ConnectionOptions | undefined }) {
    this.client = client;
    this.#where = where;
    // Without a listener an idle connection that breaks would end the process.
    client.on('error', (error) => this.#lose(error));
    client.on('end', () => this.#lose(new Error('the server ended the connection')));
    client.once('connect', () => (this.#openedAt = performance.now()));
  }

  get server(): ServerAddress {
    return { host: this.#where.host, port: this.#where.port };
  }

  /** The server's number for the other end; a pooler makes one up. */
  get processId(): number {
    return (this.client as RawClient).processID;
  }

  /** On the clock of `performance.now()`, when the server had let us in. */
  get openedAt(): number | undefined {
    return this.#openedAt;
  }

  /** It was lost while a statement ran, or a transaction was open: the server need not know yet. */
  get brokeInUse(): boolean {
    return this.#brokeInUse;
  }

  /** Set when the connection can no longer be used. */
  get lost(): Error | undefined {
    return this.#lost;
  }

  get reusable(): boolean {
    return this.#lost === undefined && !this.#worn && this.#names.size <= MAX_NAMED_STATEMENTS;
  }

  /** The connection may hold something that cannot be cleaned away: it is dropped after its turn. */
  wearOut(): void {
    this.#worn = true;
  }

  /** Runs one statement by the extended protocol. Rejects with a DatabaseError; a cancelled one with 57014. */
  async run(statement: Statement, options: StatementOptions = {}): Promise<QueryResult> {
    refuseNul(statement.text);
    if (statement.name !== undefined) this.#names.add(statement.name);
    const config = {
      text: statement.text,
      ...(statement.name === undefined ? {} : { name: statement.name }),
      values: (statement.values ?? []) as (string | Buffer | null)[],
      rowMode: 'array' as const,
      types: TEXT_VALUES,
      // Also without parameters: the simple protocol would run several statements in one text.
      queryMode: 'extended',
    };
    const result = await this.interruptible(options, () => this.client.query<(string | null)[]>(config));
    return toQueryResult(result, result.rows);
  }

  /** Runs one statement of our own with `pg_catalog` alone in its search path, in one round trip. Rejects as `run` does. */
  async ask({ text }: OwnStatement, values: Parameters = [], options: StatementOptions = {}): Promise<QueryResult> {
    const isInTransaction = (): boolean => this.client.getTransactionStatus() === 'T';
    const pipeline = new Pipeline({
      preamble: () => [[ENTER_OWN_PATH, []]],
      send: (wire) => {
        sendQuery(wire, [text, values], 0);
        // Outside of a transaction the setting ends with the pipeline.
        if (isInTransaction()) sendStatement(wire, [LEAVE_OWN_PATH, []]);
      },
    });
    await this.interruptible(options, async () => {
      this.client.query(pipeline);
      return pipeline.done;
    });
    return pipeline.result();
  }

  /** Runs a `COPY … FROM STDIN`; `messages`: CopyData and CopyDone as they go over the wire. */
  async copyIn(text: string, messages: Buffer, options: StatementOptions = {}): Promise<void> {
    await this.interruptible(options, () => copyIn(this.client, text, messages));
  }

  /** Runs a text of several statements of our own by the simple protocol. */
  async script(text: string, options: StatementOptions = {}): Promise<void> {
    await this.interruptible(options, () => this.client.query(text));
  }

  /** Does `work` on this connection; an abort or the timeout cancels on the server what is running then. */
  async interruptible<T>(options: StatementOptions, work: () => Promise<T>): Promise<T> {
    const { signal, timeoutMs } = options;
    if (signal?.aborted === true) throw cancelled(signal);
    if (signal === undefined && timeoutMs === undefined) return this.#classified(work);

    let interruption: { readonly error: DatabaseError; readonly told: Promise<void> } | undefined;
    let cut: NodeJS.Timeout | undefined;
    const interrupt = (error: DatabaseError): void => {
      if (interruption !== undefined) return;
      interruption = { error, told: this.#cancel() };
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
      // A cancel request under way must not meet the next statement.
      await interruption?.told;
    }
  }

  /** Closes politely; waits for nothing that the server might not send. */
  async close(): Promise<void> {
    if (this.#lost !== undefined) return;
    const cut = setTimeout(() => this.cut(), CANCEL_GRACE_MS);
    try {
      await this.client.end();
    } finally {
      clearTimeout(cut);
    }
  }

  /**
   * Since when, on the clock of `performance.now()`, a call waits without a byte from the server; `undefined` while none does.
   * What we have not sent yet, or do not read, is no silence of the server's.
   */
  silentSince(): number | undefined {
    if (this.#running === 0) return undefined;
    const { bytesRead, writableLength } = this.#socket;
    if (bytesRead !== this.#silence.bytesRead || writableLength > 0 || this.#socket.isPaused()) {
      this.#silence = { since: performance.now(), bytesRead };
    }
    return this.#silence.since;
  }

  /** Breaks the connection off for that reason, which is what its statements fail with. */
  giveUp(reason: Error): void {
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
      const error = toDatabaseError(thrown);
      // Another connection may reach another server, or a server connection that still has what this one lost.
      if (error.scope === 'infrastructure' && !isRollback(error)) this.#worn = true;
      throw error;
    } finally {
      this.#running -= 1;
    }
  }

  /** Resolves when the server was told; when it cannot be told, only cutting the connection ends the statement for us. */
  async #cancel(): Promise<void> {
    this.#worn = true;
    const { processID, secretKey } = this.client as RawClient;
    try {
      await requestCancel({ ...this.#where, processId: processID, secretKey }, CANCEL_GRACE_MS);
    } catch {
      this.cut();
    }
  }

  /** Breaks the connection off; what runs on it fails as infrastructure. */
  cut(): void {
    this.client.connection.stream.destroy();
  }
}

/**
 * A NUL ends the text on the wire, and the server calls what follows a broken protocol (08P01), which looks as if waiting
 * could mend it. SQL that came as data (cdc_db, HTTP) may hold one.
 */
export function refuseNul(sql: string): void {
  if (!sql.includes('\0')) return;
  throw new DatabaseError('a statement must not hold a NUL character', { scope: 'record', sqlstate: '22021' });
}

/** The driver's result in our words; `rows` may be one chunk of it. */
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
