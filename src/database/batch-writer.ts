import { setTimeout as delay } from 'node:timers/promises';
import type { Cell, RowBatch, WriteReport } from '../data/row-batch.ts';
import { DatabaseError } from '../errors.ts';
import { roundingUnit } from '../sql/cell-text.ts';
import type { TypeFamily } from '../sql/column-type.ts';
import { type EqualKeys, selectByGroup } from './group-selection.ts';
import type { WritePolicy } from './api.ts';
import { BatchFaults } from './batch-faults.ts';
import { type Catalogue, missing } from './catalogue.ts';
import type { CatalogueTable } from './catalogue-query.ts';
import type { StatementRunner } from './connection.ts';
import { encodeRows, type Parameters } from './encode-batch.ts';
import type { Condition } from './pool.ts';
import { type KeyPart, remainingRows, rowsInRounds, type RowSelection, selectRows } from './row-selection.ts';
import { inTransaction } from './savepoint.ts';
import { applySessionOptions } from './session.ts';
import { isRollback } from './sqlstate.ts';
import { planWrite, type PreparedText, type WritePlan } from './write-plan.ts';

/** A statement that the server rolled back for others' sake (class 40) is sent again this often. */
const ROLLBACK_RETRIES = 5;
const ROLLBACK_BACKOFF_MS = 10;
const UNIQUE_VIOLATION = '23505';

/** A table read this short a time ago need not be read again before rows are refused because of it. */
const FRESH_MS = 1_000;

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

/** Where a writer gets its connections: the pool, or one connection within a transaction. */
export interface ConnectionSource {
  lend<T>(
    work: (connection: StatementRunner) => Promise<T>,
    condition: Condition,
    signal: AbortSignal | undefined,
  ): Promise<T>;
}

interface WriterOptions {
  readonly namedStatements: boolean;
  /** The connection is in a transaction: what was rolled back for others' sake must be done again as a whole, by its owner. */
  readonly isInTransaction?: boolean;
}

/** Writes row batches: plan, encode, send, and find the rows that the data makes impossible. */
export class BatchWriter {
  readonly #connections: ConnectionSource;
  readonly #catalogue: Catalogue;
  readonly #options: WriterOptions;

  constructor(connections: ConnectionSource, catalogue: Catalogue, options: WriterOptions) {
    this.#connections = connections;
    this.#catalogue = catalogue;
    this.#options = options;
  }

  /** The same writer on a connection that is in a transaction. */
  within(connections: ConnectionSource, catalogue: Catalogue): BatchWriter {
    return new BatchWriter(connections, catalogue, { ...this.#options, isInTransaction: true });
  }

  async write(batch: RowBatch, policy: WritePolicy): Promise<WriteReport> {
    if (batch.rowCount === 0) return { stored: 0, discarded: 0, collapsed: 0, faults: [] };
    const attempt = await this.#attempt(batch, policy);
    // From a table that is not there nothing needs to be deleted.
    if (attempt === undefined) return { stored: batch.rowCount, discarded: 0, collapsed: 0, faults: [] };
    try {
      return await this.#run(attempt, policy);
    } catch (error) {
      // The table does not fit: it is looked at once more, then it is the caller's matter.
      if (!(error instanceof DatabaseError) || error.scope !== 'table') throw error;
      const again = await this.#freshAttempt(batch, policy);
      if (again === undefined) throw error;
      return await this.#run(again, policy);
    }
  }

  /** Rows are never refused on the strength of what was remembered of the table: it may have changed since. */
  async #attempt(batch: RowBatch, policy: WritePolicy): Promise<WriteAttempt | undefined> {
    const table = this.#catalogue.remembered(batch.table);
    if (table === undefined) return this.#freshAttempt(batch, policy);
    const attempt = new WriteAttempt(batch, table, policy, this.#options);
    const isFresh = this.#catalogue.remembered(batch.table, FRESH_MS) !== undefined;
    return attempt.isDoubtful && !isFresh ? this.#freshAttempt(batch, policy) : attempt;
  }

  async #freshAttempt(batch: RowBatch, policy: WritePolicy): Promise<WriteAttempt | undefined> {
    const table = await this.#catalogue.refresh(batch.table);
    if (table === undefined && batch.groups?.list.every(({ operation }) => operation === 'delete') === true) {
      return undefined;
    }
    if (table === undefined) throw missing(batch.table);
    return new WriteAttempt(batch, table, policy, this.#options);
  }

  async #run(attempt: WriteAttempt, policy: WritePolicy): Promise<WriteReport> {
    if (attempt.isEmpty) return attempt.report();
    const timeZone = attempt.readsTimeTexts ? policy.timeZone : undefined;
    return this.#connections.lend(
      async (connection) => {
        await applySessionOptions(connection, { timeZone });
        return attempt.isOneChange || this.#options.isInTransaction === true
          ? attempt.run(connection)
          : runAtOnce(attempt, connection);
      },
      timeZone === undefined ? 'clean' : 'used',
      policy.signal,
    );
  }
}

/** All statements or none: between a deletion and the row that follows it nobody sees the row missing. */
async function runAtOnce(first: WriteAttempt, connection: StatementRunner): Promise<WriteReport> {
  let attempt = first;
  return retryRolledBack(ROLLBACK_RETRIES, async () => {
    attempt = attempt.inTransaction();
    return inTransaction(connection, (runner) => attempt.run(runner));
  });
}

/** Does again what the server rolled back for others' sake (class 40). */
async function retryRolledBack<T>(retries: number, work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const mayRetry = error instanceof DatabaseError && isRollback(error);
      if (!mayRetry || attempt >= retries) throw error;
    }
    await delay(ROLLBACK_BACKOFF_MS * 2 ** attempt * (0.5 + Math.random()));
  }
}

/** One batch against one state of its table. */
class WriteAttempt {
  readonly #batch: RowBatch;
  readonly #table: CatalogueTable;
  readonly #policy: WritePolicy;
  /** By group; one for a batch without groups. */
  readonly #plans: readonly WritePlan[];
  readonly #faults: BatchFaults;
  readonly #rounds: readonly Round[];
  #stored = 0;
  #discarded = 0;
  readonly #options: WriterOptions;

  constructor(batch: RowBatch, table: CatalogueTable, policy: WritePolicy, options: WriterOptions) {
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
    this.#rounds = this.#encode();
  }

  /** The same anew, its statements to be run within a transaction. */
  inTransaction(): WriteAttempt {
    return new WriteAttempt(this.#batch, this.#table, this.#policy, { ...this.#options, isInTransaction: true });
  }

  /** Rows were refused, or columns left out, because of what the table looks like. */
  get isDoubtful(): boolean {
    return this.#faults.count > 0 || this.#plans.some(({ unknown }) => unknown.length > 0);
  }

  /** No row is left to be sent. */
  get isEmpty(): boolean {
    return this.#rounds.length === 0;
  }

  /** Whether it does not matter if its statements are done one by one: there is one, or none deletes. */
  get isOneChange(): boolean {
    const deletes = this.#batch.groups?.list.some(({ operation }) => operation === 'delete') ?? false;
    return this.#rounds.length === 1 || !deletes;
  }

  /** Whether text goes into a column where it may be read as a time, which depends on the session's zone. */
  get readsTimeTexts(): boolean {
    return this.#plans.some(({ columns }) =>
      columns.some(({ index, target }) => isZoned(target.family) && hasText(this.#batch.columns[index]?.cells ?? [])),
    );
  }

  async run(connection: StatementRunner): Promise<WriteReport> {
    for (const round of this.#rounds) {
      if (round.isFirst && (await this.#sendFirstTry(connection, round))) continue;
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

  /** Sends all rows as a plain insert where that may work; false when it did not, and nothing was stored. */
  async #sendFirstTry(connection: StatementRunner, { plan, rows, parameters }: Round): Promise<boolean> {
    const { firstTry } = plan;
    if (firstTry?.hope.isThere !== true) return false;
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
    const { namedStatements, isInTransaction = false } = this.#options;
    const statement = { text, name: namedStatements ? name : undefined, values: parameters };
    const retries = isInTransaction ? 0 : ROLLBACK_RETRIES;
    return retryRolledBack(retries, async () => (await connection.run(statement, { signal, timeoutMs })).rowCount);
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
