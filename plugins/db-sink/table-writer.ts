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
  /** Name of the database. */
  readonly database: string;
  /** Rows are lines or points, which know nothing of their table but names. */
  readonly fitsRows?: boolean;
  /** Whether tables that are created for messages without tags get a tag that holds their name. */
  readonly createsNameTags?: boolean;
  /** Told how many rows of a batch became one with others. */
  readonly onCollapsed?: ((rows: number) => void) | undefined;
}

const NOTHING_WRITTEN: WriteReport = { stored: 0, discarded: 0, collapsed: 0, faults: [] };

/** Whether a refused row keeps the others from being stored, and whether tables stay as they are. */
interface Writing {
  readonly wholly: boolean;
  readonly held: boolean;
}

const EACH_ROW: Writing = { wholly: false, held: false };
export const WHOLLY: Writing = { wholly: true, held: false };
export const WHOLLY_AS_IT_IS: Writing = { wholly: true, held: true };

/** Undoes a transaction, because of faults. */
export class Refused extends Error {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super('the transaction is undone because of what was refused in it');
    this.faults = faults;
  }
}

/** Stores decoded rows and runs statements; tries again while the database is away. */
export class TableWriter {
  readonly #executor: Executor;
  readonly #options: TableWriterOptions;
  readonly #retries: Retries;
  readonly #targets: MetricTargets;
  readonly #changes: ChangeRunner;
  readonly #logger: Logger;
  readonly #withoutPrimaryTag = new Set<string>();
  /** Tables whose computed columns were logged. */
  readonly #computing = new Set<string>();

  constructor(executor: Executor, options: TableWriterOptions, retries: Retries, logger: Logger) {
    this.#executor = executor;
    this.#options = options;
    this.#retries = retries;
    this.#targets = new MetricTargets(async (name) => executor.catalogue.find({ name }));
    this.#changes = new ChangeRunner(executor, options.database, logger);
    this.#logger = logger;
  }

  /**
   * What was refused, as faults; all else is stored or done. Rejects when the database stayed away (see Retries), when it does
   * not let this user write, and after an abort.
   */
  async write(part: DecodedPart, signal: AbortSignal): Promise<readonly Fault[]> {
    return this.#retries.run(attempted(part), signal, () => this.#refusing(part, () => this.#write(part, signal)));
  }

  /**
   * Runs one statement, or stores all of these rows in one transaction, or none of them: then the faults say why. Without
   * `mayGrow` rows that need a change of their table are refused as well. Retries, and rejects, as `write` does.
   */
  async writeWholly(parts: readonly DecodedPart[], mayGrow: boolean, signal: AbortSignal): Promise<readonly Fault[]> {
    const [part, ...others] = parts;
    if (part === undefined) return [];
    const how = mayGrow ? WHOLLY : WHOLLY_AS_IT_IS;
    return this.#retries.run(attempted(part), signal, () =>
      others.length === 0
        ? this.#refusing(part, () => this.#write(part, signal, how))
        : this.#writeTogether(parts, how, signal),
    );
  }

  /** The same in a transaction, once. Rejects with NeedsNoTransaction for a statement that bears none. */
  async writeWithin(
    transaction: Transaction,
    part: DecodedPart,
    signal: AbortSignal,
    how: Writing = EACH_ROW,
  ): Promise<readonly Fault[]> {
    return this.#refusing(part, async () => {
      if (part.kind === 'statement') return this.#changes.runWithin(transaction, part.statement, signal);
      const find = async (name: string) => transaction.catalogue.find({ name });
      const store = this.#storing(transaction, part.rows, { signal, ...how });
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

  async #write(part: DecodedPart, signal: AbortSignal, how: Writing = EACH_ROW): Promise<readonly Fault[]> {
    if (part.kind === 'statement') return this.#changes.run(part.statement, signal);
    const store = this.#storing(this.#executor, part.rows, { signal, ...how });
    return (await this.#targets.write(part.rows, store)).faults;
  }

  async #writeTogether(parts: readonly DecodedPart[], how: Writing, signal: AbortSignal): Promise<readonly Fault[]> {
    if (!how.held) for (const part of parts) if (part.kind === 'rows') await this.prepare(part, signal);
    try {
      await this.#executor.atomically(async (transaction) => {
        for (const part of parts) {
          const faults = await this.writeWithin(transaction, part, signal, how);
          if (faults.length === 0) continue;
          // Whether they were refused is certain when this succeeds.
          await transaction.query('SELECT 1', [], { signal });
          throw new Refused(faults);
        }
      }, signal);
      return [];
    } catch (error) {
      if (error instanceof Refused) return error.faults;
      const [first] = parts;
      // A deferred constraint, which nobody can say whose fault it is.
      if (!(error instanceof DatabaseError) || error.scope !== 'record' || first?.kind !== 'rows') throw error;
      return refuseAll(first.rows.batch, error).slice(0, 1);
    }
  }

  /** Stores what was decoded for one table, or what a metric is of it. */
  #storing(tables: Tables, decoded: DecodedRows, how: Writing & { signal: AbortSignal }) {
    return (rows: DecodedRows): Promise<WriteReport> => {
      const isLess = rows.batch.rowCount < decoded.batch.rowCount;
      return how.wholly && isLess ? Promise.resolve(NOTHING_WRITTEN) : this.#store(tables, rows, how);
    };
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

  async #store(
    tables: Tables,
    rows: DecodedRows,
    { signal, wholly, held }: Writing & { signal: AbortSignal },
  ): Promise<WriteReport> {
    const { shape, partial, batch } = await this.#fitting(tables, rows);
    const { policy } = this.#options;
    const growth = held ? { ...policy.growth, held } : policy.growth;
    const dedupRule = partial === true ? 'merge' : policy.dedupRule;
    const report = await tables.write(batch, { ...policy, shape, dedupRule, growth, wholly, signal });
    this.#options.onCollapsed?.(report.collapsed);
    this.#logComputed(tableText(batch.table), report.computedColumns);
    return report;
  }

  /** Once per table. */
  #logComputed(table: string, columns: readonly string[] = []): void {
    if (columns.length === 0 || this.#computing.has(table)) return;
    this.#computing.add(table);
    this.#logger.warn(
      `The database computes ${columns.join(', ')} of table ${table} itself; values in messages are ignored`,
    );
  }

  async #prepare(rows: DecodedRows, signal: AbortSignal): Promise<void> {
    const { shape, batch } = await this.#fitting(this.#executor, rows);
    if (shape !== undefined) await this.#executor.prepare(batch, { ...this.#options.policy, shape, signal });
  }

  /** As the table takes them where it exists; it then gets no derived primary tags that it has no column for. */
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

/** What of the part a message speaks of, and where it begins. */
function attempted(part: DecodedPart): Attempted {
  if (part.kind === 'statement') {
    const { kind, origin } = part.statement;
    return { what: `The ${kind} statement`, from: firstFrom(origin), done: 'written' };
  }
  const { batch } = part.rows;
  const what = `${String(batch.rowCount)} ${batch.rowCount === 1 ? 'row' : 'rows'} for table ${tableText(batch.table)}`;
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
