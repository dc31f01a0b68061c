import type pg from 'pg';
import { DatabaseError } from '../errors.ts';
import type { QueryResult, Session, SessionOptions, StatementOptions } from './api.ts';
import { type Connection, refuseNul } from './connection.ts';

type Row = readonly (string | null)[];
type Parameters = readonly (string | null)[];

/** What the driver's own connection does and its types leave out. */
interface RawConnection {
  parse(message: { text: string; name: string }): void;
  bind(message: { values: Parameters }): void;
  describe(message: { type: 'P'; name: string }): void;
  execute(message: { portal: string; rows: number }): void;
  sync(): void;
  readonly stream: { cork?(): void; uncork?(): void };
}

/**
 * Statements in one read-only transaction, which whoever takes the connection back rolls back: that undoes settings and
 * closes the cursor, so that a small result costs one round trip for all of BEGIN, settings, statement and rows.
 *
 * idle -> (first statement) -> in transaction -> (a statement fails) -> failed -> (next statement) -> in transaction anew.
 */
export class ReadSession implements Session {
  readonly #connection: Connection;
  readonly #timeZone: string | undefined;
  #state: 'open' | 'reading' | 'ended' = 'open';

  /** `timeZone` of the options is put in force; a value that the server refuses shows at the first statement. */
  constructor(connection: Connection, options: SessionOptions) {
    this.#connection = connection;
    // Every session starts in UTC (connect.ts).
    this.#timeZone = options.timeZone === 'UTC' ? undefined : options.timeZone;
  }

  async query(sql: string, parameters: Parameters = [], options: StatementOptions = {}): Promise<QueryResult> {
    this.#mustBeOpen();
    return this.#run(this.#batch(sql, parameters, 0), options);
  }

  async *stream(
    sql: string,
    parameters: Parameters,
    options: StatementOptions & { readonly chunkRows: number },
  ): AsyncGenerator<QueryResult> {
    this.#mustBeOpen();
    this.#state = 'reading';
    try {
      const first = this.#batch(sql, parameters, options.chunkRows);
      let batch = first;
      for (;;) {
        const result = await this.#run(batch, options);
        if (batch === first || result.rows.length > 0) yield { ...result, fields: first.fields };
        if (!batch.isSuspended) return;
        batch = new Batch((connection) => connection.execute({ portal: '', rows: options.chunkRows }), 0);
        batch.described = true;
      }
    } finally {
      this.#state = 'open';
    }
  }

  async transaction<T>(): Promise<T> {
    throw new DatabaseError('a session that only reads is one transaction', { scope: 'caller', sqlstate: '25001' });
  }

  async end(): Promise<void> {
    this.#state = 'ended';
  }

  #batch(sql: string, parameters: Parameters, rows: number): Batch {
    refuseNul(sql);
    const preamble = this.#preamble();
    return new Batch((connection) => {
      for (const [text, values] of preamble) {
        connection.parse({ text, name: '' });
        connection.bind({ values });
        connection.execute({ portal: '', rows: 0 });
      }
      connection.parse({ text: sql, name: '' });
      connection.bind({ values: parameters });
      connection.describe({ type: 'P', name: '' });
      connection.execute({ portal: '', rows });
    }, preamble.length);
  }

  #preamble(): readonly (readonly [text: string, values: Parameters])[] {
    const status = this.#connection.client.getTransactionStatus();
    if (status === 'T') return [];
    return [
      ...(status === 'E' ? ([['ROLLBACK', []]] as const) : []),
      ['BEGIN READ ONLY', []],
      ...(this.#timeZone === undefined
        ? []
        : ([["SELECT set_config('TimeZone', $1, true)", [this.#timeZone]]] as const)),
    ];
  }

  async #run(batch: Batch, options: StatementOptions): Promise<QueryResult> {
    try {
      await this.#connection.interruptible(options, async () => {
        this.#connection.client.query(batch);
        return batch.done;
      });
      return batch.result();
    } catch (error) {
      throw explain(error, batch);
    }
  }

  #mustBeOpen(): void {
    if (this.#state === 'open') return;
    const message = this.#state === 'ended' ? 'the session has ended' : 'a result is still being read on this session';
    throw new DatabaseError(message, { scope: 'caller' });
  }
}

/**
 * A setting that was refused is the caller's, and so is a statement that writes: elsewhere 25006 means a standby, and
 * another server would be tried.
 */
function explain(error: unknown, batch: Batch): unknown {
  if (!(error instanceof DatabaseError)) return error;
  const isCallers = error.sqlstate === '25006' || !batch.isPastPreamble;
  if (!isCallers || error.sqlstate === undefined || error.scope === 'caller') return error;
  if (error.scope === 'infrastructure' && error.sqlstate !== '25006') return error;
  return new DatabaseError(error.message, { scope: 'caller', sqlstate: error.sqlstate, cause: error.cause });
}

/** Messages that are sent together with one Sync, and what comes back for the last statement among them. */
class Batch implements pg.Submittable {
  readonly done: Promise<void>;
  readonly #send: (connection: RawConnection) => void;
  readonly #preambleLength: number;
  #fields: QueryResult['fields'] = [];
  #rows: Row[] = [];
  #completed = 0;
  #command = '';
  /** Rows before the description are those of the preamble. */
  described = false;
  /** More rows are there than were asked for. */
  isSuspended = false;
  #resolve: () => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor(send: (connection: RawConnection) => void, preambleLength: number) {
    this.#send = send;
    this.#preambleLength = preambleLength;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get fields(): QueryResult['fields'] {
    return this.#fields;
  }

  get isPastPreamble(): boolean {
    return this.#completed >= this.#preambleLength;
  }

  result(): QueryResult {
    const rows = this.#rows;
    this.#rows = [];
    return { command: this.#command, fields: this.#fields, rows, rowCount: rows.length };
  }

  submit(connection: pg.Connection): void {
    const raw = connection as unknown as RawConnection;
    raw.stream.cork?.();
    try {
      this.#send(raw);
      raw.sync();
    } finally {
      raw.stream.uncork?.();
    }
  }

  handleRowDescription(message: { fields: readonly { name: string; dataTypeID: number; dataTypeModifier: number }[] }) {
    this.described = true;
    this.#fields = message.fields.map(({ name, dataTypeID, dataTypeModifier }) => ({
      name,
      typeOid: dataTypeID,
      typeModifier: dataTypeModifier,
    }));
  }

  handleDataRow(message: { fields: Row }): void {
    if (this.described) this.#rows.push(message.fields);
  }

  handleCommandComplete(message: { text: string }): void {
    this.#completed += 1;
    this.#command = /^[A-Z ]*[A-Z]/.exec(message.text)?.[0] ?? '';
  }

  handlePortalSuspended(): void {
    this.isSuspended = true;
  }

  handleEmptyQuery(): void {
    this.#completed += 1;
  }

  handleError(error: Error): void {
    this.#reject(error);
  }

  handleReadyForQuery(): void {
    this.#resolve();
  }
}
