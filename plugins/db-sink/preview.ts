import {
  ConfigError,
  parseOptions,
  toError,
  type ConnectorConfig,
  type PreviewContext,
  type PreviewedRow,
  type PreviewFault,
  type RecordPreview,
  type SinkRecord,
} from '../../src/index.ts';
import {
  columnFor,
  connectionSettings,
  openExecutor,
  partsOf,
  tableText,
  type Cell,
  type CellKind,
  type Executor,
  type Fault,
  type Rehearsal,
  type RowBatch,
  type Table,
  type Transaction,
} from '../database/index.ts';
import { NeedsNoTransaction } from './change-runner.ts';
import { createSinkDecoder } from './decoders.ts';
import { sinkOptions, type SinkOptions } from './options.ts';
import type { RecordDecoder } from './record-decoder.ts';
import { Retries } from './retries.ts';
import { databaseName, retryOptions, writerOptions } from './sink-settings.ts';
import { TableWriter } from './table-writer.ts';

const STATEMENTS = 'cdc_db';
const NOT_REHEARSED: RecordPreview = {
  faults: [{ message: 'not previewed: the time limit of the whole preview has expired' }],
};

/** Limit for the rows of a message that are shown. */
const MAX_ROWS_SHOWN = 100;

/**
 * Shows what the sink would do with these records: they are decoded and written in order, as by a task, in a
 * transaction that is rolled back. A table created for the first record therefore exists for the second one, and errors
 * of the database are included. SQL in messages is only executed for callers who supplied the password themselves, as a
 * rollback does not undo all effects.
 */
export async function previewRecords(
  config: ConnectorConfig,
  records: readonly SinkRecord[],
  { logger, signal, usesStoredSecrets }: PreviewContext,
): Promise<RecordPreview[]> {
  const options = parseOptions(sinkOptions, config);
  if (usesStoredSecrets && options['protocol.type'] === STATEMENTS) {
    throw new ConfigError(
      `${STATEMENTS} messages are SQL, which a preview does not execute with stored secrets or those of a config provider`,
    );
  }
  const executor = openExecutor(connectionSettings(options), { logger, poolSize: 1 });
  try {
    const preview = await SinkPreview.open(options, executor, { logger, signal });
    return await executor.rehearse(
      async (rehearsal) => {
        const previews: RecordPreview[] = [];
        for (const record of records) previews.push(await preview.record(record, rehearsal));
        return previews;
      },
      { signal },
    );
  } finally {
    await executor.close();
  }
}

class SinkPreview {
  readonly #decoder: RecordDecoder;
  readonly #writer: TableWriter;
  readonly #signal: AbortSignal;

  private constructor(decoder: RecordDecoder, writer: TableWriter, signal: AbortSignal) {
    this.#decoder = decoder;
    this.#writer = writer;
    this.#signal = signal;
  }

  static async open(
    options: SinkOptions,
    executor: Executor,
    { logger, signal }: Pick<PreviewContext, 'logger' | 'signal'>,
  ): Promise<SinkPreview> {
    const engine = await executor.engine();
    const database = await databaseName(executor);
    const retries = new Retries(executor, retryOptions(options), { signal, logger, mayWrite: () => true });
    const writer = new TableWriter(executor, writerOptions(options, { database, engine }), retries, logger);
    const derivesPrimaryTag = (table: string): boolean => writer.derivesPrimaryTag(table);
    return new SinkPreview(createSinkDecoder(options, { engine, database, derivesPrimaryTag }), writer, signal);
  }

  async record(record: SinkRecord, rehearsal: Rehearsal): Promise<RecordPreview> {
    try {
      return await this.#rehearsed(record, rehearsal);
    } catch (error) {
      this.#signal.throwIfAborted();
      if (rehearsal.signal.aborted) return NOT_REHEARSED;
      throw error;
    }
  }

  async #rehearsed(record: SinkRecord, rehearsal: Rehearsal): Promise<RecordPreview> {
    rehearsal.signal.throwIfAborted();
    const { topic, partition, offset } = record.consumed;
    this.#decoder.add(record, { kind: 'record', topic, partition, offset });
    const decoded = this.#decoder.take();
    const faults: PreviewFault[] = decoded.faults.map(faultOf);
    // A retry (after the definition of the table was read again) passes the same object, so the set contains a batch once.
    const batches = new Set<RowBatch>();
    const observed = observing(rehearsal, (batch) => batches.add(batch));
    const statements: string[] = [];
    for (const part of partsOf(decoded)) {
      try {
        faults.push(...(await this.#writer.writeWithin(observed, part, this.#signal)).map(faultOf));
      } catch (error) {
        rehearsal.signal.throwIfAborted();
        if (error instanceof NeedsNoTransaction) statements.push(error.statement.sql);
        else faults.push({ message: toError(error).message });
      }
      statements.push(...rehearsal.takeStatements());
    }
    return { rows: await rowsOf(batches, rehearsal), statements: [...new Set(statements)], faults };
  }
}

/**
 * Wraps the rehearsal's transaction so that `onBatch` is called with each batch before it is written, when the batch
 * already has the actual name of its table.
 */
function observing(rehearsal: Rehearsal, onBatch: (batch: RowBatch) => void): Transaction {
  return {
    catalogue: rehearsal.catalogue,
    engine: () => rehearsal.engine(),
    query: (...call) => rehearsal.query(...call),
    ask: (...call) => rehearsal.ask(...call),
    session: (work) => rehearsal.session(work),
    attempt: (work) => rehearsal.attempt(work),
    write: (batch, policy) => {
      onBatch(batch);
      return rehearsal.write(batch, policy);
    },
  };
}

async function rowsOf(batches: Iterable<RowBatch>, { catalogue }: Rehearsal): Promise<PreviewedRow[]> {
  const rows: PreviewedRow[] = [];
  for (const batch of batches) {
    const table = await catalogue.find(batch.table);
    for (let row = 0; row < batch.rowCount && rows.length < MAX_ROWS_SHOWN; row++) rows.push(rowOf(batch, row, table));
  }
  return rows;
}

/** `table` is the current table in the database; `undefined` if it does not exist. */
function rowOf(batch: RowBatch, row: number, table: Table | undefined): PreviewedRow {
  const group = batch.groups?.list[batch.groups.of(row)];
  const columns = batch.columns.filter(({ name }) => group?.columns.has(name) ?? true);
  return {
    table: tableText(batch.table),
    operation: group?.operation ?? 'store',
    columns: columns.map((column) => (table && columnFor(table, batch.columns, column)?.name) ?? column.name),
    values: columns.map(({ kind, cells }) => cellText(kind, cells[row] ?? null)),
  };
}

function faultOf({ message, table, column, sqlstate }: Fault): PreviewFault {
  return { message, table, column, sqlstate };
}

/** Maximum distance from 1970, in milliseconds, that a JavaScript date can represent. */
const MAX_DATE_MS = 8_640_000_000_000_000n;

/**
 * Formats a cell for display: times as ISO text with microseconds, bytes as PostgreSQL prints them, and 64-bit integers
 * and non-finite numbers as text.
 */
function cellText(kind: CellKind, cell: Cell): string | number | boolean | null {
  if (cell instanceof Uint8Array) return `\\x${Buffer.from(cell).toString('hex')}`;
  if (kind === 'time' && (typeof cell === 'number' || typeof cell === 'bigint')) return timeText(BigInt(cell));
  if (typeof cell === 'bigint') return String(cell);
  if (typeof cell === 'number' && !Number.isFinite(cell)) return String(cell);
  return cell;
}

function timeText(micros: bigint): string {
  const rest = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const ms = (micros - rest) / 1000n;
  if (ms > MAX_DATE_MS || ms < -MAX_DATE_MS) return `${String(micros)} µs`;
  return new Date(Number(ms)).toISOString().replace(/\.000Z$/, `.${String(rest).padStart(6, '0')}Z`);
}
