import { setTimeout as delay } from 'node:timers/promises';
import {
  connectWithAttempts,
  describeOrigin,
  DatabaseError,
  MetricTargets,
  tableText,
  toError,
  type DecodedPart,
  type DecodedRows,
  type Executor,
  type Fault,
  type GrowthPolicy,
  type Logger,
  type Origin,
  type RowBatch,
  type TableShape,
  type WritePolicy,
  type WriteReport,
} from '../../src/index.ts';
import { ChangeRunner } from './change-runner.ts';

export interface TableWriterOptions {
  readonly maxRetries: number;
  readonly retryBackoffMs: number;
  readonly connectionAttempts: number;
  readonly connectionBackoffMs: number;
  readonly policy: Pick<WritePolicy, 'dedupRule' | 'unknownColumns' | 'insertMode'> & { readonly growth: GrowthPolicy };
  /** Name of the database. */
  readonly database: string;
}

/** The tag that identifies a row's tag set in tables of the line-protocol routes (spec/database-http-api.md). */
const PRIMARY_TAG = 'primary_tag';
const DERIVED_TAG = /^[0-9a-f]{64}$/;

/** Stores decoded rows and runs statements; tries again while the database is away. */
export class TableWriter {
  readonly #executor: Executor;
  readonly #options: TableWriterOptions;
  readonly #signal: AbortSignal;
  readonly #logger: Logger;
  readonly #targets: MetricTargets;
  readonly #changes: ChangeRunner;
  /** Shapes that the database is known to have; decoders give the same object again for the same text. */
  readonly #ensured = new WeakSet<TableShape>();
  readonly #withoutPrimaryTag = new Set<string>();
  #isAway = false;

  /** `signal` ends waiting for a database that is away; what the database does at that moment may come to its end. */
  constructor(executor: Executor, options: TableWriterOptions, signal: AbortSignal, logger: Logger) {
    this.#executor = executor;
    this.#options = options;
    this.#signal = signal;
    this.#logger = logger;
    this.#targets = new MetricTargets(async (name) => executor.catalogue.find({ name }));
    this.#changes = new ChangeRunner(executor, options.database, logger);
  }

  /**
   * What was refused, as faults; all else is stored or done. Rejects when the database stayed away for `max.retries`
   * retries, each with `connection.attempts` attempts to connect, when it does not let this user write, and after an abort.
   */
  async write(part: DecodedPart, signal: AbortSignal): Promise<readonly Fault[]> {
    for (let retry = 0; ; retry++) {
      try {
        const faults = await this.#writeOnce(part, signal);
        this.#isAway = false;
        return faults;
      } catch (error) {
        if (!(error instanceof DatabaseError)) throw error;
        const concernsRows = error.scope === 'table' || error.scope === 'record';
        if (concernsRows && part.kind === 'rows') return refuseAll(part.rows, error);
        if (error.scope !== 'infrastructure' || signal.aborted) throw located(error, part);
        await this.#wait(error, retry, part, signal);
      }
    }
  }

  /** Whether the last that is known of the database is that it could not be written. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Whether rows of this line-protocol table get a primary tag derived from their tags; so until the table says no. */
  derivesPrimaryTag(table: string): boolean {
    return !this.#withoutPrimaryTag.has(table);
  }

  async #writeOnce(part: DecodedPart, signal: AbortSignal): Promise<readonly Fault[]> {
    if (part.kind === 'statement') return this.#changes.run(part.statement, signal);
    return (await this.#targets.write(part.rows, (rows) => this.#store(rows, signal))).faults;
  }

  async #store(rows: DecodedRows, signal: AbortSignal): Promise<WriteReport> {
    const { shape, partial } = rows;
    const { policy: configured } = this.#options;
    const policy: WritePolicy = { ...configured, signal, ...(partial === true ? { dedupRule: 'merge' as const } : {}) };
    const batch = await this.#withoutNeedlessTag(rows.batch);
    if (shape === undefined) return this.#executor.write(batch, policy);
    if (shape.exact && !configured.growth.add) return this.#storeExact(batch, shape, policy);
    return this.#executor.writeGrowing(batch, { ...shape, exact: false }, policy);
  }

  /** Into a table with exactly the message's columns, in its order. */
  async #storeExact(batch: RowBatch, shape: TableShape, policy: WritePolicy): Promise<WriteReport> {
    const ensure = async (): Promise<void> => {
      await this.#executor.catalogue.ensure(batch.table, shape, this.#options.policy.growth);
      this.#ensured.add(shape);
    };
    if (!this.#ensured.has(shape)) await ensure();
    try {
      return await this.#executor.write(batch, policy);
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.scope !== 'table') throw error;
      this.#ensured.delete(shape);
      await ensure();
      return this.#executor.write(batch, policy);
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

  async #wait(error: DatabaseError, retry: number, part: DecodedPart, given: AbortSignal): Promise<void> {
    const { maxRetries, retryBackoffMs, connectionAttempts, connectionBackoffMs } = this.#options;
    const { what, origin } = described(part);
    this.#isAway = true;
    if (retry >= maxRetries || this.#signal.aborted) {
      throw withMessage(
        error,
        `${what}${from(origin)} could not be written after ${String(retry)} retries: ${error.message}`,
      );
    }
    this.#logger.warn(
      `${what} could not be written (retry ${String(retry + 1)} of ${String(maxRetries)}): ${error.message}`,
    );
    const signal = AbortSignal.any([this.#signal, given]);
    await delay(jittered(retryBackoffMs), undefined, { signal });
    try {
      await connectWithAttempts(this.#executor, {
        attempts: connectionAttempts,
        backoffMs: connectionBackoffMs,
        signal,
      });
    } catch (away) {
      if (signal.aborted) throw away;
      this.#logger.warn(`The database is still away: ${toError(away).message}`);
    }
  }
}

/** What of the part a message speaks of, and where it begins. */
function described(part: DecodedPart): { readonly what: string; readonly origin: Origin | undefined } {
  if (part.kind === 'statement') return { what: `The ${part.statement.kind} statement`, origin: part.statement.origin };
  const { batch } = part.rows;
  const what = `${String(batch.rowCount)} rows for table ${tableText(batch.table)}`;
  return { what, origin: batch.rowCount > 0 ? batch.origins.at(0) : undefined };
}

function from(origin: Origin | undefined): string {
  return origin === undefined ? '' : `, the first from ${describeOrigin(origin)},`;
}

function located(error: DatabaseError, part: DecodedPart): DatabaseError {
  const { what, origin } = described(part);
  return withMessage(error, `${what}${from(origin)} could not be written: ${error.message}`);
}

function withMessage(error: DatabaseError, message: string): DatabaseError {
  return new DatabaseError(message, { scope: error.scope, sqlstate: error.sqlstate, cause: error });
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
