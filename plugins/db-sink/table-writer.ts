import { setTimeout as delay } from 'node:timers/promises';
import {
  connectWithAttempts,
  describeOrigin,
  DatabaseError,
  tableText,
  toError,
  type DecodedPart,
  type DecodedRows,
  type DecodedStatement,
  type Executor,
  type Fault,
  type Logger,
  type Origin,
  type RowBatch,
  type TableShape,
  type WritePolicy,
} from '../../src/index.ts';

export interface TableWriterOptions {
  readonly maxRetries: number;
  readonly retryBackoffMs: number;
  readonly connectionAttempts: number;
  readonly connectionBackoffMs: number;
  readonly policy: Pick<WritePolicy, 'dedupRule' | 'unknownColumns'>;
  /** Whether the format may create missing tables (json_db may, line_lp may not). */
  readonly createTables: boolean;
}

/** The tag that identifies a row's tag set in tables of the line-protocol routes (spec/database-http-api.md). */
const PRIMARY_TAG = 'primary_tag';
const DERIVED_TAG = /^[0-9a-f]{64}$/;

/** Stores decoded rows: makes or checks their table, writes, and tries again while the database is away. */
export class TableWriter {
  readonly #executor: Executor;
  readonly #options: TableWriterOptions;
  readonly #signal: AbortSignal;
  readonly #logger: Logger;
  /** Shapes that the database is known to have; decoders give the same object again for the same text. */
  readonly #ensured = new WeakSet<TableShape>();
  readonly #withoutPrimaryTag = new Set<string>();

  constructor(executor: Executor, options: TableWriterOptions, signal: AbortSignal, logger: Logger) {
    this.#executor = executor;
    this.#options = options;
    this.#signal = signal;
    this.#logger = logger;
  }

  /**
   * What was refused, as faults; all else is stored or done. Rejects when the database stayed away for `max.retries`
   * retries, each with `connection.attempts` attempts to connect.
   */
  async write(part: DecodedPart): Promise<readonly Fault[]> {
    for (let retry = 0; ; retry++) {
      try {
        return part.kind === 'rows' ? await this.#writeOnce(part.rows) : await this.#run(part.statement);
      } catch (error) {
        if (!(error instanceof DatabaseError)) throw error;
        if (error.scope === 'table' || error.scope === 'record') {
          return part.kind === 'rows' ? refuseAll(part.rows, error) : [refused(part.statement, error)];
        }
        if (error.scope === 'caller') throw error;
        await this.#retryOrFail(error, retry, part);
      }
    }
  }

  async #run({ sql }: DecodedStatement): Promise<readonly Fault[]> {
    await this.#executor.query(sql, [], { signal: this.#signal });
    this.#executor.catalogue.forget();
    return [];
  }

  /** Whether rows of this line-protocol table get a primary tag derived from their tags; so until the table says no. */
  derivesPrimaryTag(table: string): boolean {
    return !this.#withoutPrimaryTag.has(table);
  }

  async #writeOnce({ batch: decoded, shape }: DecodedRows): Promise<readonly Fault[]> {
    const batch = shape === undefined ? await this.#withoutNeedlessTag(decoded) : decoded;
    if (shape !== undefined && !this.#ensured.has(shape)) {
      await this.#executor.catalogue.ensure(batch.table, shape, { create: this.#options.createTables });
      this.#ensured.add(shape);
    }
    try {
      const report = await this.#executor.write(batch, this.#options.policy);
      return report.faults;
    } catch (error) {
      if (shape !== undefined && error instanceof DatabaseError && error.scope === 'table') {
        this.#ensured.delete(shape);
        await this.#executor.catalogue.ensure(batch.table, shape, { create: this.#options.createTables });
        return (await this.#executor.write(batch, this.#options.policy)).faults;
      }
      throw error;
    }
  }

  /** Takes the derived primary tag out again for a table that has no column for it; one that a line gave stays in. */
  async #withoutNeedlessTag(batch: RowBatch): Promise<RowBatch> {
    const tag = batch.columns.find((column) => column.name === PRIMARY_TAG);
    if (tag === undefined) return batch;
    const table = await this.#executor.catalogue.find(batch.table);
    if (table === undefined || table.columns.some((column) => column.name === PRIMARY_TAG)) return batch;
    this.#withoutPrimaryTag.add(batch.table.name);
    const isDerived = tag.cells.every((cell) => cell === null || DERIVED_TAG.test(String(cell)));
    return isDerived ? { ...batch, columns: batch.columns.filter((column) => column !== tag) } : batch;
  }

  async #retryOrFail(error: DatabaseError, retry: number, part: DecodedPart): Promise<void> {
    const { maxRetries, retryBackoffMs, connectionAttempts, connectionBackoffMs } = this.#options;
    const { rows, origin } = described(part);
    if (retry >= maxRetries || this.#signal.aborted) {
      throw new DatabaseError(
        `${rows}, the first from ${origin === undefined ? 'nowhere' : describeOrigin(origin)}, could not be written after ${String(retry)} retries: ${error.message}`,
        { scope: error.scope, sqlstate: error.sqlstate, cause: error },
      );
    }
    this.#logger.warn(
      `${rows} could not be written (retry ${String(retry + 1)} of ${String(maxRetries)}): ${error.message}`,
    );
    await delay(jittered(retryBackoffMs), undefined, { signal: this.#signal });
    try {
      await connectWithAttempts(this.#executor, {
        attempts: connectionAttempts,
        backoffMs: connectionBackoffMs,
        signal: this.#signal,
      });
    } catch (away) {
      if (this.#signal.aborted) throw away;
      this.#logger.warn(`The database is still away: ${toError(away).message}`);
    }
  }
}

/** What of the part a message speaks of, and where it begins. */
function described(part: DecodedPart): { readonly rows: string; readonly origin: Origin | undefined } {
  if (part.kind === 'statement') return { rows: `The ${part.statement.kind} statement`, origin: part.statement.origin };
  const { batch } = part.rows;
  const rows = `${String(batch.rowCount)} rows for table ${tableText(batch.table)}`;
  return { rows, origin: batch.rowCount > 0 ? batch.origins.at(0) : undefined };
}

function refused({ origin, table }: DecodedStatement, error: DatabaseError): Fault {
  const { scope, message, column, sqlstate } = error;
  return { scope, message, origin, table, column, sqlstate, cause: error };
}

/** Between the documented wait and one and a half of it, so that tasks do not come back in step. */
function jittered(backoffMs: number): number {
  return backoffMs * (1 + Math.random() / 2);
}

function refuseAll({ batch }: DecodedRows, error: DatabaseError): Fault[] {
  return Array.from({ length: batch.rowCount }, (_, row) => ({
    scope: error.scope,
    message: error.message,
    origin: batch.origins.at(row),
    table: tableText(batch.table),
    column: error.column,
    sqlstate: error.sqlstate,
    cause: error,
  }));
}
