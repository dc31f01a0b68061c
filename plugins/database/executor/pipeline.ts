import type pg from 'pg';
import { qualifiedStatement } from '../sql/own-statement.ts';
import type { QueryResult } from './api.ts';
import type { RowCollector } from './row-collector.ts';
import type { PausableStream, RowMeter } from './row-meter.ts';

type Row = readonly (string | null)[];
export type Parameters = readonly (string | null)[];

/** Members of the driver's connection that its types omit. */
export interface RawConnection {
  parse(message: { text: string; name: string }): void;
  bind(message: { values: Parameters }): void;
  describe(message: { type: 'P'; name: string }): void;
  execute(message: { portal: string; rows: number }): void;
  sync(): void;
  collect(collector: RowCollector | undefined): void;
  readonly stream: { cork?(): void; uncork?(): void } & PausableStream;
}

/** A statement of a pipeline, with its parameters. */
export type PipelinedStatement = readonly [text: string, values: Parameters];

/** Sends a statement whose result is ignored. */
export function sendStatement(connection: RawConnection, [text, values]: PipelinedStatement): void {
  connection.parse({ text, name: '' });
  connection.bind({ values });
  connection.execute({ portal: '', rows: 0 });
}

/** Sends the statement whose result is needed, with at most `rows` rows (0: all). */
export function sendQuery(connection: RawConnection, [text, values]: PipelinedStatement, rows: number): void {
  connection.parse({ text, name: '' });
  connection.bind({ values });
  connection.describe({ type: 'P', name: '' });
  connection.execute({ portal: '', rows });
}

/**
 * Saves the search path and its schemas, and sets the path to `pg_catalog, pg_temp`. Temporary tables come last, where
 * they cannot shadow anything. The settings are local to the transaction; without BEGIN, the whole pipeline is one
 * transaction.
 */
export const ENTER_OWN_PATH = qualifiedStatement(
  'own search path: enter',
  `SELECT pg_catalog.set_config('sluice.schemas', pg_catalog.current_schemas(false)::pg_catalog.text, true),
    pg_catalog.set_config('sluice.search_path', pg_catalog.current_setting('search_path'), true),
    pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)`,
);
/** Restores the search path in an open transaction. After a failed statement, the rollback restores it. */
export const LEAVE_OWN_PATH = qualifiedStatement(
  'own search path: leave',
  `SELECT pg_catalog.set_config('search_path', pg_catalog.current_setting('sluice.search_path'), true)`,
);

export interface PipelineMessages {
  /**
   * Returns the statements that precede the main statement. Called only when the connection is ready to send, because
   * the statements depend on the transaction status: after an error, the server reports the new status later, possibly
   * in another packet.
   */
  readonly preamble?: () => readonly PipelinedStatement[];
  /** Sends the main statement, and others after it whose results are ignored. */
  readonly send: (connection: RawConnection) => void;
}

/** Messages that are sent with a single Sync. The result is that of the statement sent by `sendQuery`. */
export class Pipeline implements pg.Submittable {
  readonly done: Promise<void>;
  readonly #messages: PipelineMessages;
  #preambleLength = 0;
  #fields: QueryResult['fields'] = [];
  #rows: Row[] = [];
  #completed = 0;
  #command = '';
  #affected: number | undefined;
  /** True once the row description was received; earlier rows belong to the preamble. */
  described = false;
  meter: RowMeter | undefined;
  /** Receives the rows, which are then not part of `result`. */
  collector: RowCollector | undefined;
  #connection: RawConnection | undefined;
  /** Set when the row limit was reached before the end of the result. */
  isSuspended = false;
  #resolve: () => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor(messages: PipelineMessages) {
    this.#messages = messages;
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
    return { command: this.#command, fields: this.#fields, rows, rowCount: this.#affected ?? rows.length };
  }

  submit(connection: pg.Connection): void {
    const raw = connection as unknown as RawConnection;
    this.#connection = raw;
    if (this.described) raw.collect(this.collector);
    raw.stream.cork?.();
    try {
      const preamble = this.#messages.preamble?.() ?? [];
      this.#preambleLength = preamble.length;
      for (const statement of preamble) sendStatement(raw, statement);
      this.#messages.send(raw);
      raw.sync();
    } finally {
      raw.stream.uncork?.();
    }
  }

  handleRowDescription(message: { fields: readonly { name: string; dataTypeID: number; dataTypeModifier: number }[] }) {
    this.described = true;
    this.#connection?.collect(this.collector);
    this.#fields = message.fields.map(({ name, dataTypeID, dataTypeModifier }) => ({
      name,
      typeOid: dataTypeID,
      typeModifier: dataTypeModifier,
    }));
  }

  handleDataRow(message: { readonly length: number; readonly fields: Row }): void {
    if (!this.described || this.#completed > this.#preambleLength) return;
    if (this.meter === undefined || this.meter.takes(message, this.#connection?.stream))
      this.#rows.push(message.fields);
  }

  handleCommandComplete(message: { text: string }): void {
    if (this.#completed <= this.#preambleLength) {
      this.#command = /^[A-Z ]*[A-Z]/.exec(message.text)?.[0] ?? '';
      const count = Number(message.text.slice(message.text.lastIndexOf(' ') + 1));
      this.#affected = Number.isInteger(count) && this.#command !== 'SELECT' ? count : undefined;
    }
    this.#completed += 1;
  }

  handlePortalSuspended(): void {
    this.isSuspended = true;
  }

  handleEmptyQuery(): void {
    this.#completed += 1;
  }

  /** Called instead of `handleReadyForQuery` after an error. */
  handleError(error: Error): void {
    this.#connection?.collect(undefined);
    this.#reject(error);
  }

  handleReadyForQuery(): void {
    this.#connection?.collect(undefined);
    this.#resolve();
  }
}
