import type { Cell, RowBatch, WriteReport } from '../data/row-batch.ts';
import { DatabaseError } from '../errors.ts';
import { roundingUnit } from '../sql/cell-text.ts';
import type { TypeFamily } from '../sql/column-type.ts';
import { encodeCopy, TYPES_CHANGED } from '../sql/copy-binary.ts';
import type { WritePolicy } from './api.ts';
import { BatchFaults } from './batch-faults.ts';
import type { CatalogueTable } from './catalogue-query.ts';
import type { StatementRunner } from './connection.ts';
import { encodeRows, type Parameters } from './encode-batch.ts';
import { type EqualKeys, selectByGroup } from './group-selection.ts';
import { ROLLBACK_RETRIES, retryRolledBack } from './retry-rolled-back.ts';
import { type KeyPart, remainingRows, rowsInRounds, type RowSelection, selectRows } from './row-selection.ts';
import { planWrite, type PreparedText, type WritePlan } from './write-plan.ts';

const UNIQUE_VIOLATION = '23505';

/**
 * Where INSERT may do what COPY cannot: feature_not_supported (row-level security, for instance), wrong_object_type (a view),
 * insufficient_privilege (on columns only).
 */
const COPY_REFUSED: ReadonlySet<string> = new Set(['0A000', '42809', '42501']);
/** For fewer rows a prepared INSERT is as good: COPY is parsed every time. */
const MIN_COPIED_ROWS = 64;

/** Rows for one statement. */
interface PlannedRows extends RowSelection {
  readonly plan: WritePlan;
  /** No earlier statement of the batch stores a row with one of these keys. */
  readonly isFirst: boolean;
}

/** One statement of a batch, encoded and ready to be sent. */
interface Round extends PlannedRows {
  readonly parameters: Parameters;
}

const EQUAL_KEYS: Readonly<Record<WritePolicy['dedupRule'], EqualKeys>> = {
  override: 'last',
  merge: 'one-by-one',
  discard: 'first',
};

export interface EncodingOptions {
  readonly namedStatements: boolean;
}

/** One batch against one state of its table. */
export class WriteAttempt {
  readonly #batch: RowBatch;
  readonly #table: CatalogueTable;
  readonly #policy: WritePolicy;
  /** By group; one for a batch without groups. */
  readonly #plans: readonly WritePlan[];
  readonly #faults: BatchFaults;
  /** All rows for COPY, where that may work; rounds are then made only when it did not. */
  readonly #copy: Buffer | undefined;
  #rounds: readonly Round[] | undefined;
  #stored = 0;
  #discarded = 0;
  #rollbackRetries = 0;
  readonly #options: EncodingOptions;

  constructor(batch: RowBatch, table: CatalogueTable, policy: WritePolicy, options: EncodingOptions) {
    this.#batch = batch;
    this.#table = table;
    this.#policy = policy;
    this.#options = options;
    this.#faults = new BatchFaults(batch);
    const groups = batch.groups?.list ?? [undefined];
    this.#plans = groups.map((group) => planWrite(table, { policy, batch, group }));
    this.#plans.forEach((plan, group) => {
      if (!isFlawless(plan)) this.#faults.addMisfits(table, plan, this.#rowsOfGroup(group), policy.unknownColumns);
    });
    this.#copy = this.#encodeCopy();
    if (this.#copy === undefined) this.#rounds = this.#encode();
  }

  /** The same anew, as if nothing had been sent. */
  again(): WriteAttempt {
    return new WriteAttempt(this.#batch, this.#table, this.#policy, this.#options);
  }

  /** Rows were refused because of what the table looks like. */
  get hasFaults(): boolean {
    return this.#faults.count > 0;
  }

  /** Columns were left out because of what the table looks like. */
  get leavesOut(): boolean {
    return this.#plans.some(({ unknown }) => unknown.length > 0);
  }

  /** No row is left to be sent. */
  get isEmpty(): boolean {
    return this.#rounds?.length === 0;
  }

  /** Whether it does not matter if its statements are done one by one: there is one, or none deletes. */
  get isOneChange(): boolean {
    const deletes = this.#batch.groups?.list.some(({ operation }) => operation === 'delete') ?? false;
    return !deletes || this.#rounds?.length === 1;
  }

  /** Whether text goes into a column where it may be read as a time, which depends on the session's zone. */
  get readsTimeTexts(): boolean {
    return this.#plans.some(({ columns }) =>
      columns.some(({ index, target }) => isZoned(target.family) && hasText(this.#batch.columns[index]?.cells ?? [])),
    );
  }

  /** `isInTransaction`: a failure of class 40 rejects, because the whole transaction must be done again. */
  async run(connection: StatementRunner, isInTransaction: boolean): Promise<WriteReport> {
    this.#rollbackRetries = isInTransaction ? 0 : ROLLBACK_RETRIES;
    const copied = this.#copy !== undefined && (await this.#sendCopy(connection, this.#copy));
    if (copied) return this.report();
    const mayTry = this.#copy === undefined || this.#planOf(0).copy?.refused === true;
    this.#rounds ??= this.#encode();
    for (const round of this.#rounds) {
      if (mayTry && round.isFirst && (await this.#sendFirstTry(connection, round))) continue;
      await this.#send(connection, round.rows, round.parameters, round);
    }
    return this.report();
  }

  report(): WriteReport {
    const stored = this.#stored;
    const discarded = this.#discarded;
    const faults = this.#faults.list();
    const rest = this.#batch.rowCount - stored - discarded - faults.length;
    // Rows that gave way to another row of the batch: to a later one, or (discard) to an earlier one.
    const gaveWay =
      this.#policy.dedupRule === 'discard'
        ? { discarded: discarded + rest, collapsed: 0 }
        : { discarded, collapsed: rest };
    return { stored, ...gaveWay, faults };
  }

  /** Rows whose cells do not fit leave before keys are compared: a good row must not give way to a bad one. */
  #encode(): Round[] {
    for (;;) {
      const before = this.#faults.count;
      const rounds = this.#select().map((planned) => ({
        ...planned,
        parameters: this.#parameters(planned.plan, planned.rows),
      }));
      if (this.#faults.count === before) return rounds.filter((round) => round.rows.length > 0);
    }
  }

  #select(): PlannedRows[] {
    const { groups, rowCount } = this.#batch;
    const candidates = remainingRows(rowCount, this.#faults.rows);
    const key = this.#keyParts();
    const equalKeys = this.#equalKeys();
    if (groups === undefined) {
      const plan = this.#planOf(0);
      return selectRowsOf(candidates, key, equalKeys).map((selection, index) => ({
        ...selection,
        plan,
        isFirst: index === 0,
      }));
    }
    return selectByGroup(candidates, key, groups, equalKeys).map((selection) => ({
      ...selection,
      plan: this.#planOf(selection.group),
    }));
  }

  #equalKeys(): EqualKeys {
    const { insertMode, dedupRule } = this.#policy;
    if (insertMode === 'insert') return 'all';
    return insertMode === 'update' ? 'last' : EQUAL_KEYS[dedupRule];
  }

  #keyParts(): KeyPart[] {
    const { columns, key } = this.#batch;
    const indexes =
      this.#policy.insertMode === undefined
        ? this.#planOf(0).key
        : (key ?? []).map((name) => columns.findIndex((column) => column.name === name));
    return indexes.map((index) => ({
      cells: columns[index]?.cells ?? [],
      unit: roundingUnit(
        this.#planOf(0).columns.find((planned) => planned.index === index)?.target ?? { precision: 6 },
      ),
    }));
  }

  #planOf(group: number): WritePlan {
    const plan = this.#plans[group];
    if (plan === undefined) throw new RangeError(`the batch has no group ${String(group)}`);
    return plan;
  }

  #rowsOfGroup(group: number): Int32Array {
    const { groups, rowCount } = this.#batch;
    const rows = remainingRows(rowCount, new Set());
    return groups === undefined ? rows : rows.filter((row) => groups.of(row) === group);
  }

  #parameters(plan: WritePlan, rows: Int32Array): Parameters {
    return encodeRows(this.#batch, plan, rows, ({ column }) => (row, refusal) => {
      this.#faults.refused(row, column, refusal);
    });
  }

  /** No key is looked for twice in the batch: the server would say so. */
  #encodeCopy(): Buffer | undefined {
    const { groups, rowCount } = this.#batch;
    if (this.#policy.plain === true) return undefined;
    if (rowCount < MIN_COPIED_ROWS || this.#plans.length > 1 || this.#faults.count > 0) return undefined;
    const { copy, columns } = this.#planOf(0);
    if (groups?.list[0]?.operation === 'delete' || copy === undefined || copy.refused) return undefined;
    if (!copy.hope.isThere) return undefined;
    const copied = columns.map(({ index, column, target }) => {
      const { cells, kind } = this.#batch.columns[index] ?? { cells: [], kind: 'text' as const };
      return { cells, kind, target, nullable: column.nullable };
    });
    return encodeCopy(copied, rowCount);
  }

  /** False when the rows were not stored and must go another way. */
  async #sendCopy(connection: StatementRunner, messages: Buffer): Promise<boolean> {
    const { copy } = this.#planOf(0);
    if (copy === undefined) return false;
    const { signal, timeoutMs } = this.#policy;
    try {
      await this.#retryRolledBack(() => connection.copyIn(copy.text, messages, { signal, timeoutMs }));
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      if (error.message.includes(TYPES_CHANGED)) {
        throw new DatabaseError(TYPES_CHANGED, { scope: 'table', sqlstate: '42804', cause: error });
      }
      if (COPY_REFUSED.has(error.sqlstate ?? '')) copy.refused = true;
      else if (error.scope === 'record') copy.hope.failed();
      else throw error;
      return false;
    }
    this.#stored += this.#batch.rowCount;
    copy.hope.succeeded();
    return true;
  }

  /** Sends all rows as a plain insert where that may work; false when it did not, and nothing was stored. */
  async #sendFirstTry(connection: StatementRunner, { plan, rows, parameters }: Round): Promise<boolean> {
    const { firstTry } = plan;
    if (this.#policy.plain === true || firstTry?.hope.isThere !== true) return false;
    try {
      this.#count(plan, rows.length, await this.#execute(connection, firstTry.statement, parameters));
      firstTry.hope.succeeded();
      return true;
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.scope !== 'record') throw error;
      if (error.sqlstate === UNIQUE_VIOLATION) firstTry.hope.failed();
      return false;
    }
  }

  /** Sends rows; when the server refuses them for their data, halves them in order until it is clear which ones. */
  async #send(
    connection: StatementRunner,
    rows: Int32Array,
    parameters: Parameters,
    planned: PlannedRows,
  ): Promise<void> {
    const { plan } = planned;
    try {
      const affected = await this.#execute(connection, plan.statement, parameters);
      this.#count(plan, rows.length, affected);
      return;
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.scope !== 'record') throw error;
      if (rows.length === 1) {
        await this.#giveUp(connection, rows[0] ?? 0, error, planned);
        return;
      }
    }
    const middle = rows.length >>> 1;
    for (const half of [rows.subarray(0, middle), rows.subarray(middle)]) {
      await this.#send(connection, half, this.#parameters(plan, half), planned);
    }
  }

  /** The row is at fault; the one it stood for gets its chance. */
  async #giveUp(connection: StatementRunner, row: number, error: DatabaseError, planned: PlannedRows): Promise<void> {
    this.#faults.refusedByServer(row, error);
    const standIn = planned.standIns?.[row] ?? -1;
    if (standIn < 0) return;
    const rows = Int32Array.of(standIn);
    await this.#send(connection, rows, this.#parameters(planned.plan, rows), planned);
  }

  #count(plan: WritePlan, sent: number, affected: number): void {
    if (plan.countsAffected) {
      this.#stored += affected;
      this.#discarded += sent - affected;
    } else {
      // Not what the server counted: triggers that store rows elsewhere make it say 0.
      this.#stored += sent;
    }
  }

  async #execute(connection: StatementRunner, { name, text }: PreparedText, parameters: Parameters): Promise<number> {
    const { signal, timeoutMs } = this.#policy;
    const statement = { text, name: this.#options.namedStatements ? name : undefined, values: parameters };
    return this.#retryRolledBack(async () => (await connection.run(statement, { signal, timeoutMs })).rowCount);
  }

  #retryRolledBack<T>(work: () => Promise<T>): Promise<T> {
    return retryRolledBack(this.#rollbackRetries, work);
  }
}

/** The rows of a batch without groups, by statement. */
function selectRowsOf(candidates: Int32Array, key: readonly KeyPart[], equalKeys: EqualKeys): RowSelection[] {
  switch (equalKeys) {
    case 'all':
      return [{ rows: candidates, standIns: undefined }];
    case 'one-by-one':
      return rowsInRounds(candidates, key).map((rows) => ({ rows, standIns: undefined }));
    case 'first':
    case 'last':
      return [selectRows(candidates, key, equalKeys)];
  }
}

/** Nothing about the table can keep its rows from being stored; what they hold may. */
function isFlawless({ required, keyLacks, unknown, columns }: WritePlan): boolean {
  return required === undefined && keyLacks === undefined && unknown.length === 0 && columns.length > 0;
}

function isZoned(family: TypeFamily): boolean {
  return family === 'timestamptz' || family === 'other';
}

function hasText(cells: readonly Cell[]): boolean {
  return cells.some((cell) => typeof cell === 'string');
}
