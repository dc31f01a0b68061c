import { setTimeout as delay } from 'node:timers/promises';
import type { Cell, RowBatch, WriteReport } from '../data/row-batch.ts';
import { DatabaseError } from '../errors.ts';
import { roundingUnit } from '../sql/cell-text.ts';
import type { TypeFamily } from '../sql/column-type.ts';
import type { WritePolicy } from './api.ts';
import { BatchFaults } from './batch-faults.ts';
import { type Catalogue, missing } from './catalogue.ts';
import type { CatalogueTable } from './catalogue-query.ts';
import type { StatementRunner } from './connection.ts';
import { encodeRows, type Parameters } from './encode-batch.ts';
import type { Condition } from './pool.ts';
import { type KeyPart, remainingRows, rowsInRounds, type RowSelection, selectRows } from './row-selection.ts';
import { applySessionOptions } from './session.ts';
import { isRollback } from './sqlstate.ts';
import { planWrite, type PreparedText, type WritePlan } from './write-plan.ts';

/** A statement that the server rolled back for others' sake (class 40) is sent again this often. */
const ROLLBACK_RETRIES = 5;
const ROLLBACK_BACKOFF_MS = 10;
const UNIQUE_VIOLATION = '23505';

/** A table read this short a time ago need not be read again before rows are refused because of it. */
const FRESH_MS = 1_000;

/** One round of a batch, encoded and ready to be sent. */
interface Round extends RowSelection {
  readonly parameters: Parameters;
}

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
  /** How often a statement is sent again that was rolled back for others' sake; within a transaction 0. */
  readonly rollbackRetries?: number;
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
    return new BatchWriter(connections, catalogue, { ...this.#options, rollbackRetries: 0 });
  }

  async write(batch: RowBatch, policy: WritePolicy): Promise<WriteReport> {
    if (batch.rowCount === 0) return { stored: 0, discarded: 0, collapsed: 0, faults: [] };
    const attempt = await this.#attempt(batch, policy);
    try {
      return await this.#run(attempt, policy);
    } catch (error) {
      // The table does not fit: it is looked at once more, then it is the caller's matter.
      if (!(error instanceof DatabaseError) || error.scope !== 'table') throw error;
      return await this.#run(await this.#freshAttempt(batch, policy), policy);
    }
  }

  /** Rows are never refused on the strength of what was remembered of the table: it may have changed since. */
  async #attempt(batch: RowBatch, policy: WritePolicy): Promise<WriteAttempt> {
    const table = this.#catalogue.remembered(batch.table);
    if (table === undefined) return this.#freshAttempt(batch, policy);
    const attempt = new WriteAttempt(batch, table, policy, this.#options);
    const isFresh = this.#catalogue.remembered(batch.table, FRESH_MS) !== undefined;
    return attempt.isDoubtful && !isFresh ? this.#freshAttempt(batch, policy) : attempt;
  }

  async #freshAttempt(batch: RowBatch, policy: WritePolicy): Promise<WriteAttempt> {
    const table = await this.#catalogue.refresh(batch.table);
    if (table === undefined) throw missing(batch.table);
    return new WriteAttempt(batch, table, policy, this.#options);
  }

  async #run(attempt: WriteAttempt, policy: WritePolicy): Promise<WriteReport> {
    if (attempt.isEmpty) return attempt.report();
    const timeZone = attempt.readsTimeTexts ? policy.timeZone : undefined;
    await this.#connections.lend(
      async (connection) => {
        await applySessionOptions(connection, { timeZone });
        await attempt.run(connection);
      },
      timeZone === undefined ? 'clean' : 'used',
      policy.signal,
    );
    return attempt.report();
  }
}

/** One batch against one state of its table. */
class WriteAttempt {
  readonly #batch: RowBatch;
  readonly #policy: WritePolicy;
  readonly #plan: WritePlan;
  readonly #faults: BatchFaults;
  readonly #rounds: readonly Round[];
  #stored = 0;
  #discarded = 0;
  readonly #options: WriterOptions;

  constructor(batch: RowBatch, table: CatalogueTable, policy: WritePolicy, options: WriterOptions) {
    this.#batch = batch;
    this.#policy = policy;
    this.#plan = planWrite(table, batch.columns, policy.dedupRule);
    this.#options = options;
    this.#faults = new BatchFaults(batch);
    this.#faults.addMisfits(table, this.#plan, policy.unknownColumns);
    this.#rounds = this.#encode();
  }

  /** Rows were refused, or columns left out, because of what the table looks like. */
  get isDoubtful(): boolean {
    return this.#faults.count > 0 || this.#plan.unknown.length > 0;
  }

  /** No row is left to be sent. */
  get isEmpty(): boolean {
    return this.#rounds.length === 0;
  }

  /** Whether text goes into a column where it may be read as a time, which depends on the session's zone. */
  get readsTimeTexts(): boolean {
    return this.#plan.columns.some(
      ({ index, target }) => isZoned(target.family) && hasText(this.#batch.columns[index]?.cells ?? []),
    );
  }

  async run(connection: StatementRunner): Promise<void> {
    for (const [index, round] of this.#rounds.entries()) {
      // Rows of later rounds have keys of earlier ones.
      if (index === 0 && (await this.#sendFirstTry(connection, round))) continue;
      await this.#send(connection, round.rows, round.parameters, round);
    }
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
      const rounds = this.#select().map((selection) => ({
        ...selection,
        parameters: this.#parameters(selection.rows),
      }));
      if (this.#faults.count === before) return rounds.filter((round) => round.rows.length > 0);
    }
  }

  #select(): RowSelection[] {
    const candidates = remainingRows(this.#batch.rowCount, this.#faults.rows);
    const key = this.#keyParts();
    switch (this.#policy.dedupRule) {
      case 'merge':
        return rowsInRounds(candidates, key).map((rows) => ({ rows, standIns: undefined }));
      case 'override':
        return [selectRows(candidates, key, 'last')];
      case 'discard':
        return [selectRows(candidates, key, 'first')];
    }
  }

  #keyParts(): KeyPart[] {
    return this.#plan.key.map((index) => ({
      cells: this.#batch.columns[index]?.cells ?? [],
      unit: roundingUnit(this.#plan.columns.find((planned) => planned.index === index)?.target ?? { precision: 6 }),
    }));
  }

  #parameters(rows: Int32Array): Parameters {
    return encodeRows(this.#batch, this.#plan, rows, ({ column }) => (row, refusal) => {
      this.#faults.refused(row, column, refusal);
    });
  }

  /** Sends all rows as a plain insert where that may work; false when it did not, and nothing was stored. */
  async #sendFirstTry(connection: StatementRunner, { rows, parameters }: Round): Promise<boolean> {
    const { firstTry } = this.#plan;
    if (firstTry?.hope.isThere !== true) return false;
    try {
      this.#count(rows.length, await this.#insert(connection, firstTry.statement, parameters));
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
    selection: RowSelection,
  ): Promise<void> {
    try {
      const affected = await this.#insert(connection, this.#plan.statement, parameters);
      this.#count(rows.length, affected);
      return;
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.scope !== 'record') throw error;
      if (rows.length === 1) {
        await this.#giveUp(connection, rows[0] ?? 0, error, selection);
        return;
      }
    }
    const middle = rows.length >>> 1;
    for (const half of [rows.subarray(0, middle), rows.subarray(middle)]) {
      await this.#send(connection, half, this.#parameters(half), selection);
    }
  }

  /** The row is at fault; the one it stood for gets its chance. */
  async #giveUp(
    connection: StatementRunner,
    row: number,
    error: DatabaseError,
    selection: RowSelection,
  ): Promise<void> {
    this.#faults.refusedByServer(row, error);
    const standIn = selection.standIns?.[row] ?? -1;
    if (standIn < 0) return;
    const rows = Int32Array.of(standIn);
    await this.#send(connection, rows, this.#parameters(rows), selection);
  }

  #count(sent: number, affected: number): void {
    if (this.#policy.dedupRule === 'discard' && this.#plan.key.length > 0) {
      this.#stored += affected;
      this.#discarded += sent - affected;
    } else {
      // Not what the server counted: triggers that store rows elsewhere make it say 0.
      this.#stored += sent;
    }
  }

  async #insert(connection: StatementRunner, { name, text }: PreparedText, parameters: Parameters): Promise<number> {
    const { signal, timeoutMs } = this.#policy;
    const { namedStatements, rollbackRetries = ROLLBACK_RETRIES } = this.#options;
    const statement = { text, name: namedStatements ? name : undefined, values: parameters };
    for (let attempt = 0; ; attempt++) {
      try {
        return (await connection.run(statement, { signal, timeoutMs })).rowCount;
      } catch (error) {
        const mayRetry = error instanceof DatabaseError && isRollback(error);
        if (!mayRetry || attempt >= rollbackRetries) throw error;
      }
      await delay(ROLLBACK_BACKOFF_MS * 2 ** attempt * (0.5 + Math.random()));
    }
  }
}

function isZoned(family: TypeFamily): boolean {
  return family === 'timestamptz' || family === 'other';
}

function hasText(cells: readonly Cell[]): boolean {
  return cells.some((cell) => typeof cell === 'string');
}
