import type pg from 'pg';
import { qualifiedStatement } from '../sql/own-statement.ts';
import type { QueryResult } from './api.ts';
import type { RowCollector } from './row-collector.ts';
import type { PausableStream, RowMeter } from './row-meter.ts';

type Row = readonly (string | null)[];
export type Parameters = readonly (string | null)[];

/** What the driver's own connection does and its types leave out. */
export interface RawConnection {
  parse(message: { text: string; name: string }): void;
  bind(message: { values: Parameters }): void;
  describe(message: { type: 'P'; name: string }): void;
  execute(message: { portal: string; rows: number }): void;
  sync(): void;
  collect(collector: RowCollector | undefined): void;
  readonly stream: { cork?(): void; uncork?(): void } & PausableStream;
}

/** A statement of a pipeline whose result nobody reads. */
export type PipelinedStatement = readonly [text: string, values: Parameters];

/** Sends one statement that is not the one whose rows are wanted. */
export function sendStatement(connection: RawConnection, [text, values]: PipelinedStatement): void {
  connection.parse({ text, name: '' });
  connection.bind({ values });
  connection.execute({ portal: '', rows: 0 });
}

/** Sends the statement whose rows are wanted, at most `rows` of them (0: all). */
export function sendQuery(connection: RawConnection, [text, values]: PipelinedStatement, rows: number): void {
  connection.parse({ text, name: '' });
  connection.bind({ values });
  connection.describe({ type: 'P', name: '' });
  connection.execute({ portal: '', rows });
}

/**
 * Keeps the search path and its schemas for the end of the statement, and sets `pg_catalog` alone: temporary tables come last,
 * where they hide nothing. Settings are local to the transaction, which without BEGIN is the pipeline itself.
 */
export const ENTER_OWN_PATH = qualifiedStatement(
  'own search path: enter',
  `SELECT pg_catalog.set_config('sluice.schemas', pg_catalog.current_schemas(false)::pg_catalog.text, true),
    pg_catalog.set_config('sluice.search_path', pg_catalog.current_setting('search_path'), true),
    pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)`,
);
/** In a transaction that goes on. When the statement failed, undoing it, or a savepoint before it, undoes the setting too. */
export const LEAVE_OWN_PATH = qualifiedStatement(
  'own search path: leave',
  `SELECT pg_catalog.set_config('search_path', pg_catalog.current_setting('sluice.search_path'), true)`,
);

export interface PipelineMessages {
  /**
   * The statements that precede the one whose result is wanted. It is called when the connection is ready to send, because the
   * transaction status is not known before: the server reports an error first and the status after it, perhaps in another packet.
   */
  readonly preamble?: () => readonly PipelinedStatement[];
  /** Sends the statement, and others after it whose results are ignored. */
  readonly send: (connection: RawConnection) => void;
}

/** Messages that are sent together with one Sync, and the rows of the one statement among them that is described. */
export class Pipeline implements pg.Submittable {
  readonly done: Promise<void>;
  readonly #messages: PipelineMessages;
  #preambleLength = 0;
  #fields: QueryResult['fields'] = [];
  #rows: Row[] = [];
  #completed = 0;
  #command = '';
  #affected: number | undefined;
  /** Rows before the description are those of the preamble. */
  described = false;
  meter: RowMeter | undefined;
  /** Rows go to it as they come, and are not in the result. */
  collector: RowCollector | undefined;
  #connection: RawConnection | undefined;
  /** More rows are there than were asked for. */
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

  /** The driver tells what failed of no end. */
  handleError(error: Error): void {
    this.#connection?.collect(undefined);
    this.#reject(error);
  }

  handleReadyForQuery(): void {
    this.#connection?.collect(undefined);
    this.#resolve();
  }
}
