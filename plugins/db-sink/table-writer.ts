import type { Logger } from '../../src/index.ts';
import {
  DatabaseError,
  describeOrigin,
  fitNameTag,
  fitToTable,
  MetricTargets,
  refuseAll,
  tableText,
  takesPrimaryTag,
  type DecodedPart,
  type DecodedRows,
  type Executor,
  type Fault,
  type GrowthPolicy,
  type Origin,
  type TableWriter as Tables,
  type Transaction,
  type WritePolicy,
  type WriteReport,
} from '../database/index.ts';
import { ChangeRunner } from './change-runner.ts';
import { withMessage, type Attempted, type Retries } from './retries.ts';

export interface TableWriterOptions {
  readonly policy: Pick<WritePolicy, 'dedupRule' | 'unknownColumns' | 'computedColumns' | 'insertMode'> & {
    readonly growth: GrowthPolicy;
  };
  readonly database: string;
  /** True if rows are lines or points, which `fitToTable` adapts to an existing table. */
  readonly fitsRows?: boolean;
  /** True if a table that is created for messages without tags gets a tag that holds the name of the table. */
  readonly createsNameTags?: boolean;
  /** Called with the number of rows of a batch that were merged with others. */
  readonly onCollapsed?: ((rows: number) => void) | undefined;
}

const NOTHING_WRITTEN: WriteReport = { stored: 0, discarded: 0, collapsed: 0, faults: [] };

/** `allOrNothing`: a refused row prevents the others from being stored. `deferChanges`: tables must not be changed. */
interface WriteMode {
  readonly allOrNothing: boolean;
  readonly deferChanges: boolean;
}

const EACH_ROW: WriteMode = { allOrNothing: false, deferChanges: false };
export const ALL_OR_NOTHING: WriteMode = { allOrNothing: true, deferChanges: false };
export const ALL_OR_NOTHING_DEFERRED: WriteMode = { allOrNothing: true, deferChanges: true };

/** Thrown to roll back a transaction because of faults. */
export class Refused extends Error {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super('the transaction was rolled back because of refused records');
    this.faults = faults;
  }
}

/** Stores decoded rows and runs statements, and retries while the database is unavailable. */
export class TableWriter {
  readonly #executor: Executor;
  readonly #options: TableWriterOptions;
  readonly #retries: Retries;
  readonly #targets: MetricTargets;
  readonly #changes: ChangeRunner;
  readonly #logger: Logger;
  readonly #withoutPrimaryTag = new Set<string>();
  /** Tables whose generated columns were logged. */
  readonly #loggedGenerated = new Set<string>();

  constructor(executor: Executor, options: TableWriterOptions, retries: Retries, logger: Logger) {
    this.#executor = executor;
    this.#options = options;
    this.#retries = retries;
    this.#targets = new MetricTargets(async (name) => executor.catalogue.find({ name }));
    this.#changes = new ChangeRunner(executor, options.database, logger);
    this.#logger = logger;
  }

  /**
   * Returns the faults; everything else was stored or executed. Rejects if the database stayed unavailable (see
   * Retries), if the user may not write, and after an abort.
   */
  async write(part: DecodedPart, signal: AbortSignal): Promise<readonly Fault[]> {
    return this.#retries.run(attempted(part), signal, () => this.#refusing(part, () => this.#write(part, signal)));
  }

  /**
   * Runs a statement, or stores all of these rows in one transaction. If a row is refused, nothing is stored, and the
   * faults are returned. Without `mayGrow`, rows that need a change of their table are refused as well. Retries and
   * rejects as `write` does.
   */
  async writeAtomically(
    parts: readonly DecodedPart[],
    mayGrow: boolean,
    signal: AbortSignal,
  ): Promise<readonly Fault[]> {
    const [part, ...others] = parts;
    if (part === undefined) return [];
    const mode = mayGrow ? ALL_OR_NOTHING : ALL_OR_NOTHING_DEFERRED;
    return this.#retries.run(attempted(part), signal, () =>
      others.length === 0
        ? this.#refusing(part, () => this.#write(part, signal, mode))
        : this.#writeTogether(parts, mode, signal),
    );
  }

  /** A single attempt in a transaction. Rejects with NeedsNoTransaction for a statement that cannot run inside one. */
  async writeWithin(
    transaction: Transaction,
    part: DecodedPart,
    signal: AbortSignal,
    mode: WriteMode = EACH_ROW,
  ): Promise<readonly Fault[]> {
    return this.#refusing(part, async () => {
      if (part.kind === 'statement') return this.#changes.runWithin(transaction, part.statement, signal);
      const find = async (name: string) => transaction.catalogue.find({ name });
      const store = this.#storing(transaction, part.rows, { signal, ...mode });
      return transaction.attempt(async () => (await this.#targets.write(part.rows, store, find)).faults);
    });
  }

  /** Makes the tables match the rows as far as possible; remaining problems are reported when the rows are written. */
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

  /**
   * Returns true if rows of this line-protocol table get a derived primary tag. This is assumed until a write finds
   * that the table has no column for the tag.
   */
  derivesPrimaryTag(table: string): boolean {
    return !this.#withoutPrimaryTag.has(table);
  }

  async #write(part: DecodedPart, signal: AbortSignal, mode: WriteMode = EACH_ROW): Promise<readonly Fault[]> {
    if (part.kind === 'statement') return this.#changes.run(part.statement, signal);
    const store = this.#storing(this.#executor, part.rows, { signal, ...mode });
    return (await this.#targets.write(part.rows, store)).faults;
  }

  async #writeTogether(parts: readonly DecodedPart[], mode: WriteMode, signal: AbortSignal): Promise<readonly Fault[]> {
    if (!mode.deferChanges) for (const part of parts) if (part.kind === 'rows') await this.prepare(part, signal);
    try {
      await this.#executor.atomically(async (transaction) => {
        for (const part of parts) {
          const faults = await this.writeWithin(transaction, part, signal, mode);
          if (faults.length === 0) continue;
          // If the transaction has failed and must be repeated, this query fails, and the faults are not reported.
          await transaction.query('SELECT 1', [], { signal });
          throw new Refused(faults);
        }
      }, signal);
      return [];
    } catch (error) {
      if (error instanceof Refused) return error.faults;
      const [first] = parts;
      // A violated deferred constraint does not identify a row, so the fault names the first one.
      if (!(error instanceof DatabaseError) || error.scope !== 'record' || first?.kind !== 'rows') throw error;
      return refuseAll(first.rows.batch, error).slice(0, 1);
    }
  }

  #storing(tables: Tables, decoded: DecodedRows, mode: WriteMode & { signal: AbortSignal }) {
    return (rows: DecodedRows): Promise<WriteReport> => {
      const isLess = rows.batch.rowCount < decoded.batch.rowCount;
      return mode.allOrNothing && isLess ? Promise.resolve(NOTHING_WRITTEN) : this.#store(tables, rows, mode);
    };
  }

  /**
   * Converts errors that concern rows to faults, and passes infrastructure errors on unchanged. Other errors are extended
   * by a description of what could not be written.
   */
  async #refusing(part: DecodedPart, work: () => Promise<readonly Fault[]>): Promise<readonly Fault[]> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.scope === 'infrastructure') throw error;
      if (part.kind === 'rows' && error.scope !== 'caller') return refuseAll(part.rows.batch, error);
      throw withContext(error, part);
    }
  }

  async #store(
    tables: Tables,
    rows: DecodedRows,
    { signal, allOrNothing, deferChanges }: WriteMode & { signal: AbortSignal },
  ): Promise<WriteReport> {
    const { shape, partial, batch } = await this.#fitting(tables, rows);
    const { policy } = this.#options;
    const growth = deferChanges ? { ...policy.growth, deferChanges } : policy.growth;
    const dedupRule = partial === true ? 'merge' : policy.dedupRule;
    const report = await tables.write(batch, { ...policy, shape, dedupRule, growth, allOrNothing, signal });
    this.#options.onCollapsed?.(report.collapsed);
    this.#logComputed(tableText(batch.table), report.computedColumns);
    return report;
  }

  #logComputed(table: string, columns: readonly string[] = []): void {
    if (columns.length === 0 || this.#loggedGenerated.has(table)) return;
    this.#loggedGenerated.add(table);
    this.#logger.warn(
      `The database computes ${columns.join(', ')} of table ${table} itself; values in messages are ignored`,
    );
  }

  async #prepare(rows: DecodedRows, signal: AbortSignal): Promise<void> {
    const { shape, batch } = await this.#fitting(this.#executor, rows);
    if (shape !== undefined) await this.#executor.prepare(batch, { ...this.#options.policy, shape, signal });
  }

  /** Adapts the rows to an existing table; derived primary tags are omitted if the table has no column for them. */
  async #fitting(tables: Tables, rows: DecodedRows): Promise<DecodedRows> {
    const { fitsRows, createsNameTags } = this.#options;
    if (fitsRows !== true && rows.nameTag === undefined) return rows;
    const table = await tables.catalogue.find(rows.batch.table);
    const fitting = fitNameTag(rows, table, createsNameTags === true);
    if (fitsRows !== true || table === undefined) return fitting;
    if (!takesPrimaryTag(table)) this.#withoutPrimaryTag.add(rows.batch.table.name);
    return { ...fitting, batch: fitToTable(fitting.batch, table) };
  }
}

/** Describes the part and its first origin for messages. */
function attempted(part: DecodedPart): Attempted {
  if (part.kind === 'statement') {
    const { kind, origin } = part.statement;
    return { what: `The ${kind} statement`, from: firstFrom(origin), done: 'written' };
  }
  const { batch } = part.rows;
  const what = `${String(batch.rowCount)} ${batch.rowCount === 1 ? 'row' : 'rows'} for table ${tableText(batch.table)}`;
  return { what, from: firstFrom(batch.rowCount > 0 ? batch.origins.at(0) : undefined), done: 'written' };
}

/** Returns the origin of the first record as part of a sentence. */
export function firstFrom(origin: Origin | undefined): string {
  return origin === undefined ? '' : `, the first from ${describeOrigin(origin)},`;
}

function withContext(error: DatabaseError, part: DecodedPart): DatabaseError {
  const { what, from } = attempted(part);
  return withMessage(error, `${what}${from} could not be written: ${error.message}`);
}
