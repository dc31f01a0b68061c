import {
  describeOrigin,
  DatabaseError,
  MetricTargets,
  refuseAll,
  tableText,
  type DecodedPart,
  type DecodedRows,
  type Executor,
  type Fault,
  type GrowthPolicy,
  type Logger,
  type Origin,
  type RowBatch,
  type TableShape,
  type TableWriter as Tables,
  type Transaction,
  type WritePolicy,
  type WriteReport,
} from '../../src/index.ts';
import { ChangeRunner } from './change-runner.ts';
import { withMessage, type Attempted, type Retries } from './retries.ts';

export interface TableWriterOptions {
  readonly policy: Pick<WritePolicy, 'dedupRule' | 'unknownColumns' | 'insertMode'> & { readonly growth: GrowthPolicy };
  /** Name of the database. */
  readonly database: string;
}

/** The tag that identifies a row's tag set in tables of the line-protocol routes (spec/database-http-api.md). */
const PRIMARY_TAG = 'primary_tag';
const DERIVED_TAG = /^[0-9a-f]{64}$/;

const NOTHING_WRITTEN: WriteReport = { stored: 0, discarded: 0, collapsed: 0, faults: [] };

/** Stores decoded rows and runs statements; tries again while the database is away. */
export class TableWriter {
  readonly #executor: Executor;
  readonly #options: TableWriterOptions;
  readonly #retries: Retries;
  readonly #targets: MetricTargets;
  readonly #changes: ChangeRunner;
  /** Shapes that the database is known to have; decoders give the same object again for the same text. */
  readonly #ensured = new WeakSet<TableShape>();
  readonly #withoutPrimaryTag = new Set<string>();

  constructor(executor: Executor, options: TableWriterOptions, retries: Retries, logger: Logger) {
    this.#executor = executor;
    this.#options = options;
    this.#retries = retries;
    this.#targets = new MetricTargets(async (name) => executor.catalogue.find({ name }));
    this.#changes = new ChangeRunner(executor, options.database, logger);
  }

  /**
   * What was refused, as faults; all else is stored or done. Rejects when the database stayed away (see Retries), when it does
   * not let this user write, and after an abort.
   */
  async write(part: DecodedPart, signal: AbortSignal): Promise<readonly Fault[]> {
    return this.#retries.run(attempted(part), signal, () => this.#refusing(part, () => this.#write(part, signal)));
  }

  /** The same in a transaction, once. Rejects with NeedsNoTransaction for a statement that bears none. */
  async writeWithin(transaction: Transaction, part: DecodedPart, signal: AbortSignal): Promise<readonly Fault[]> {
    return this.#refusing(part, async () => {
      if (part.kind === 'statement') return this.#changes.runWithin(transaction, part.statement, signal);
      const find = async (name: string) => transaction.catalogue.find({ name });
      const store = (rows: DecodedRows): Promise<WriteReport> => this.#store(transaction, rows, signal);
      return transaction.attempt(async () => (await this.#targets.write(part.rows, store, find)).faults);
    });
  }

  /** Makes tables fit what is to be written, as far as they can be: what they lack still shows when it is written. */
  async prepare({ rows }: DecodedPart & { kind: 'rows' }, signal: AbortSignal): Promise<void> {
    try {
      await this.#targets.write(rows, async (targeted) => {
        await this.#prepare(targeted, signal);
        return NOTHING_WRITTEN;
      });
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.scope === 'infrastructure') throw error;
    }
  }

  /** Whether rows of this line-protocol table get a primary tag derived from their tags; so until the table says no. */
  derivesPrimaryTag(table: string): boolean {
    return !this.#withoutPrimaryTag.has(table);
  }

  async #write(part: DecodedPart, signal: AbortSignal): Promise<readonly Fault[]> {
    if (part.kind === 'statement') return this.#changes.run(part.statement, signal);
    return (await this.#targets.write(part.rows, (rows) => this.#store(this.#executor, rows, signal))).faults;
  }

  /** What concerns rows is said of them; of all else the message says what could not be written. */
  async #refusing(part: DecodedPart, work: () => Promise<readonly Fault[]>): Promise<readonly Fault[]> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.scope === 'infrastructure') throw error;
      if (part.kind === 'rows' && error.scope !== 'caller') return refuseAll(part.rows.batch, error);
      throw located(error, part);
    }
  }

  async #store(tables: Tables, rows: DecodedRows, signal: AbortSignal): Promise<WriteReport> {
    const { shape, partial } = rows;
    const { policy: configured } = this.#options;
    const policy: WritePolicy = { ...configured, signal, ...(partial === true ? { dedupRule: 'merge' as const } : {}) };
    const batch = await this.#withoutNeedlessTag(tables, rows.batch);
    if (shape === undefined) return tables.write(batch, policy);
    if (this.#isExact(shape)) return this.#storeExact(tables, batch, shape, policy);
    return tables.writeGrowing(batch, { ...shape, exact: false }, policy);
  }

  async #prepare({ shape, batch }: DecodedRows, signal: AbortSignal): Promise<void> {
    if (shape === undefined) return;
    const fitting = await this.#withoutNeedlessTag(this.#executor, batch);
    if (this.#isExact(shape)) await this.#ensure(this.#executor, batch, shape);
    else await this.#executor.prepare(fitting, { ...shape, exact: false }, { ...this.#options.policy, signal });
  }

  #isExact(shape: TableShape): boolean {
    return shape.exact && !this.#options.policy.growth.add;
  }

  /** Into a table with exactly the message's columns, in its order. */
  async #storeExact(tables: Tables, batch: RowBatch, shape: TableShape, policy: WritePolicy): Promise<WriteReport> {
    await this.#ensure(tables, batch, shape);
    try {
      return await tables.write(batch, policy);
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.scope !== 'table') throw error;
      this.#ensured.delete(shape);
      await this.#ensure(tables, batch, shape);
      return tables.write(batch, policy);
    }
  }

  async #ensure(tables: Tables, batch: RowBatch, shape: TableShape): Promise<void> {
    if (this.#ensured.has(shape)) return;
    await tables.catalogue.ensure(batch.table, shape, this.#options.policy.growth);
    this.#ensured.add(shape);
  }

  /** Takes the derived primary tag out again for a table that has no column for it; one that a line gave stays in. */
  async #withoutNeedlessTag(tables: Tables, batch: RowBatch): Promise<RowBatch> {
    const tag = batch.columns.find((column) => column.name === PRIMARY_TAG);
    if (tag === undefined) return batch;
    const table = await tables.catalogue.find(batch.table);
    if (table === undefined || table.columns.some((column) => column.name === PRIMARY_TAG)) return batch;
    this.#withoutPrimaryTag.add(batch.table.name);
    const isDerived = tag.cells.every((cell) => cell === null || DERIVED_TAG.test(String(cell)));
    return isDerived ? { ...batch, columns: batch.columns.filter((column) => column !== tag) } : batch;
  }
}

/** What of the part a message speaks of, and where it begins. */
function attempted(part: DecodedPart): Attempted {
  if (part.kind === 'statement') {
    const { kind, origin } = part.statement;
    return { what: `The ${kind} statement`, from: firstFrom(origin), done: 'written' };
  }
  const { batch } = part.rows;
  const what = `${String(batch.rowCount)} rows for table ${tableText(batch.table)}`;
  return { what, from: firstFrom(batch.rowCount > 0 ? batch.origins.at(0) : undefined), done: 'written' };
}

/** Where the first of something comes from, in a sentence. */
export function firstFrom(origin: Origin | undefined): string {
  return origin === undefined ? '' : `, the first from ${describeOrigin(origin)},`;
}

function located(error: DatabaseError, part: DecodedPart): DatabaseError {
  const { what, from } = attempted(part);
  return withMessage(error, `${what}${from} could not be written: ${error.message}`);
}
