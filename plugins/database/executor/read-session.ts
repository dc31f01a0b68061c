import { DatabaseError } from '../../../src/errors.ts';
import { type OwnStatement, qualifiedStatement } from '../sql/own-statement.ts';
import type { RowBlock } from '../../../src/data/row-block.ts';
import type { QueryResult, ReadingSession, SessionOptions, StatementOptions, StreamOptions } from './api.ts';
import { type Connection, refuseNul } from './connection.ts';
import {
  ENTER_OWN_PATH,
  LEAVE_OWN_PATH,
  type Parameters,
  Pipeline,
  type PipelinedStatement,
  sendQuery,
  sendStatement,
} from './pipeline.ts';
import { RowCollector } from './row-collector.ts';
import { RowMeter } from './row-meter.ts';

const SET_ZONE = qualifiedStatement('read session: time zone', "SELECT pg_catalog.set_config('TimeZone', $1, true)");

/** Size limit, in bytes, of the buffer that is allocated in advance. */
const MAX_EXPECTED_BYTES = 4_194_304;

/**
 * Runs statements in a read-only transaction. The pool rolls the transaction back after release, which reverts its
 * settings and closes its portal. BEGIN, the settings and the first statement are sent together, so a small result takes
 * one round trip.
 * idle -> (first statement) -> in transaction -> (a statement fails) -> failed -> (next statement) -> in a new
 * transaction
 */
export class ReadSession implements ReadingSession {
  readonly #connection: Connection;
  readonly #timeZone: string | undefined;
  #state: 'open' | 'reading' | 'ended' = 'open';

  /** Applies `timeZone` of the options; an invalid value fails the first statement. */
  constructor(connection: Connection, options: SessionOptions) {
    this.#connection = connection;
    // Every session starts in UTC (server-greeting.ts).
    this.#timeZone = options.timeZone === 'UTC' ? undefined : options.timeZone;
  }

  get keepsSettings(): boolean {
    return !this.#connection.hasSharedBackends;
  }

  async query(sql: string, parameters: Parameters = [], options: StatementOptions = {}): Promise<QueryResult> {
    this.#requireOpen();
    return this.#run(this.#pipeline(sql, parameters, 0), options);
  }

  async ask({ text }: OwnStatement, parameters: Parameters = [], options: StatementOptions = {}): Promise<QueryResult> {
    this.#requireOpen();
    const pipeline = new Pipeline({
      preamble: () => [...this.#preamble(), [ENTER_OWN_PATH, []]],
      send: (connection) => {
        sendQuery(connection, [text, parameters], 0);
        sendStatement(connection, [LEAVE_OWN_PATH, []]);
      },
    });
    return this.#run(pipeline, options);
  }

  async *stream(sql: string, parameters: Parameters, options: StreamOptions): AsyncGenerator<QueryResult> {
    this.#requireOpen();
    this.#state = 'reading';
    try {
      const first = this.#pipeline(sql, parameters, options.chunkRows);
      first.meter = options.gauge === undefined ? undefined : new RowMeter(options.gauge);
      let batch = first;
      for (;;) {
        const result = await this.#run(batch, options);
        if (batch === first || result.rows.length > 0) yield { ...result, fields: first.fields };
        if (!batch.isSuspended) return;
        batch = new Pipeline({ send: (connection) => connection.execute({ portal: '', rows: options.chunkRows }) });
        batch.described = true;
        batch.meter = first.meter;
      }
    } finally {
      this.#state = 'open';
    }
  }

  async *blocks(sql: string, nextRows: () => number, options: StatementOptions = {}): AsyncGenerator<RowBlock> {
    this.#requireOpen();
    this.#state = 'reading';
    try {
      let rows = nextRows();
      const first = this.#pipeline(sql, [], rows);
      first.collector = new RowCollector(rows);
      for (let batch = first; ;) {
        await this.#run(batch, options);
        const block = batch.collector?.block(first.fields);
        const isLast = !batch.isSuspended;
        if (block !== undefined) yield block;
        if (isLast) return;
        rows = nextRows();
        const bytesPerRow = block === undefined || block.count === 0 ? 0 : block.bytes.length / block.count;
        batch = new Pipeline({ send: (connection) => connection.execute({ portal: '', rows }) });
        batch.described = true;
        batch.collector = new RowCollector(rows, Math.ceil(Math.min(MAX_EXPECTED_BYTES, 1.1 * bytesPerRow * rows)));
      }
    } finally {
      this.#state = 'open';
    }
  }

  async transaction<T>(): Promise<T> {
    throw new DatabaseError('a read-only session is a single transaction', { scope: 'caller', sqlstate: '25001' });
  }

  async end(): Promise<void> {
    this.#state = 'ended';
  }

  #pipeline(sql: string, parameters: Parameters, rows: number): Pipeline {
    refuseNul(sql);
    return new Pipeline({
      preamble: () => this.#preamble(),
      send: (connection) => sendQuery(connection, [sql, parameters], rows),
    });
  }

  #preamble(): readonly PipelinedStatement[] {
    const status = this.#connection.client.getTransactionStatus();
    if (status === 'T') return [];
    return [
      ...(status === 'E' ? ([['ROLLBACK', []]] as const) : []),
      ['BEGIN READ ONLY', []],
      ...(this.#timeZone === undefined ? [] : ([[SET_ZONE, [this.#timeZone]]] as const)),
    ];
  }

  async #run(batch: Pipeline, options: StatementOptions): Promise<QueryResult> {
    try {
      await this.#connection.interruptible(options, async () => {
        this.#connection.client.query(batch);
        await batch.done;
        // Waits until reading from the socket has resumed: the next statement needs the socket.
        await batch.meter?.settled;
      });
      return batch.result();
    } catch (error) {
      throw explain(error, batch);
    }
  }

  #requireOpen(): void {
    if (this.#state === 'open') return;
    const message = this.#state === 'ended' ? 'the session has ended' : 'a result is still being read on this session';
    throw new DatabaseError(message, { scope: 'caller' });
  }
}

/**
 * Corrects the scope of an error. In a read-only transaction, 25006 is an error of the caller; elsewhere, it means that
 * the server is a standby. Errors of the preamble, such as an invalid time zone, are errors of the caller as well, except
 * failures of the infrastructure.
 */
function explain(error: unknown, batch: Pipeline): unknown {
  if (!(error instanceof DatabaseError)) return error;
  const isCallerError = error.sqlstate === '25006' || !batch.isPastPreamble;
  if (!isCallerError || error.sqlstate === undefined || error.scope === 'caller') return error;
  if (error.scope === 'infrastructure' && error.sqlstate !== '25006') return error;
  return new DatabaseError(error.message, { scope: 'caller', sqlstate: error.sqlstate, cause: error.cause });
}
