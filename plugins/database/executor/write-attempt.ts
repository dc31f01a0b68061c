import type { WriteReport } from '../../../src/data/row-batch.ts';
import { DatabaseError } from '../../../src/errors.ts';
import { copyScript, type CopyTarget, TYPES_CHANGED } from '../sql/copy-script.ts';
import type { WritePolicy } from './api.ts';
import { nothingStored } from './batch-faults.ts';
import type { StatementRunner } from './connection.ts';
import type { Parameters } from './encode-batch.ts';
import type { Encoded, PlannedBatch, PlannedRows, Round } from './planned-batch.ts';
import { ROLLBACK_RETRIES, retryRolledBack } from './retry-rolled-back.ts';
import { halvesOf } from './row-selection.ts';
import { isDenied, isUniqueViolation, isUnsupported } from './sqlstate.ts';
import type { InsertOnlyPlan, PreparedText, WritePlan } from './write-plan.ts';

export interface EncodingOptions {
  readonly namedStatements: boolean;
}

/** Thrown if all rows or none must be stored, but several statements are needed for that. */
export class NeedsTransaction extends Error {}

/** One attempt to write a batch, planned for one state of its table. */
export class WriteAttempt {
  readonly planned: PlannedBatch;
  readonly #policy: WritePolicy;
  readonly #options: EncodingOptions;
  #stored = 0;
  #discarded = 0;
  #rollbackRetries = 0;

  constructor(planned: PlannedBatch, policy: WritePolicy, options: EncodingOptions) {
    this.planned = planned;
    this.#policy = policy;
    this.#options = options;
  }

  /** Returns a new attempt for the same batch. */
  restart(): WriteAttempt {
    return new WriteAttempt(this.planned.restart(), this.#policy, this.#options);
  }

  /**
   * Sends the batch. If the server rolls back (class 40), the statement is repeated. If `isInTransaction` is true, the
   * call rejects instead, because the caller must repeat the whole transaction. Without a transaction, the call may
   * reject with NeedsTransaction before anything is stored.
   */
  async run(connection: StatementRunner, isInTransaction: boolean): Promise<WriteReport> {
    this.#rollbackRetries = isInTransaction ? 0 : ROLLBACK_RETRIES;
    const { planned } = this;
    const copied = planned.copy !== undefined && (await this.#sendCopy(connection, planned.copy));
    if (copied) return this.report();
    const mayInsertPlainly = planned.copy === undefined || planned.planOf(0).copy?.refused === true;
    const rounds = planned.rounds();
    if (!isInTransaction && this.#policy.allOrNothing === true && rounds.length > 1) throw new NeedsTransaction();
    for (const round of rounds) {
      if (planned.storesNothing) break;
      if (mayInsertPlainly && round.isFirst && (await this.#sendFirstTry(connection, round))) continue;
      await this.#send(connection, round.rows, round.encoded, round);
    }
    return this.report();
  }

  report(): WriteReport {
    const { planned } = this;
    const faults = planned.faults.list();
    if (planned.storesNothing) return nothingStored(faults);
    const stored = this.#stored;
    const discarded = this.#discarded;
    const rest = planned.batch.rowCount - stored - discarded - faults.length;
    // The remaining rows were merged with another row of the batch, or replaced: by a later row or, with `discard`, by
    // an earlier one.
    const replaced =
      this.#policy.dedupRule === 'discard'
        ? { discarded: discarded + rest, collapsed: 0 }
        : { discarded, collapsed: rest };
    const { computedColumns } = planned;
    return { stored, ...replaced, faults, ...(computedColumns.length > 0 ? { computedColumns } : {}) };
  }

  /** The data for COPY if the batch can be copied; `undefined` if its rows have to be inserted. */
  get copy(): { readonly target: CopyTarget; readonly messages: Buffer } | undefined {
    const messages = this.planned.copy;
    const { copy } = this.planned.planOf(0);
    return messages === undefined || copy === undefined ? undefined : { target: copy.target, messages };
  }

  /** Called after COPY has stored all rows. */
  copyCompleted(): WriteReport {
    this.#stored += this.planned.batch.rowCount;
    this.planned.planOf(0).copy?.path.succeeded();
    return this.report();
  }

  /** Returns false if the rows were not stored and have to be inserted. */
  async #sendCopy(connection: StatementRunner, messages: Buffer): Promise<boolean> {
    const { copy } = this.planned.planOf(0);
    if (copy === undefined) return false;
    const { signal, timeoutMs } = this.#policy;
    try {
      await this.#retryRolledBack(() => connection.copyIn(copyScript([copy.target]), messages, { signal, timeoutMs }));
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      if (error.message.includes(TYPES_CHANGED)) {
        throw new DatabaseError(TYPES_CHANGED, { scope: 'table', sqlstate: '42804', cause: error });
      }
      // INSERT may work where COPY does not: on a view, with row-level security, or with column privileges only.
      if (isUnsupported(error) || isDenied(error)) copy.refused = true;
      else if (error.scope === 'record') copy.path.failed();
      else throw error;
      return false;
    }
    this.copyCompleted();
    return true;
  }

  /** Tries a plain INSERT of all rows. Returns false if it was not tried, or if it failed without storing anything. */
  async #sendFirstTry(connection: StatementRunner, { plan, encoded }: Round): Promise<boolean> {
    const { plainInsert } = plan;
    if (this.#policy.plain === true || plainInsert?.path.shouldTry() !== true) return false;
    try {
      const affected = await this.#execute(connection, plainInsert.statement, encoded.parameters);
      this.#count(plan, encoded.rowCount, affected);
      plainInsert.path.succeeded();
      return true;
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.scope !== 'record') throw error;
      if (isUniqueViolation(error)) plainInsert.path.failed();
      return false;
    }
  }

  /**
   * Sends rows. If the server refuses them because of their data, bisects them in order to find the invalid ones. With
   * `allOrNothing`, only the first of the rows gets a fault instead, because nothing is stored anyway.
   */
  async #send(connection: StatementRunner, rows: Int32Array, encoded: Encoded, planned: PlannedRows): Promise<void> {
    const { plan } = planned;
    const { insertOnly } = plan;
    const usesInsertOnly = insertOnly?.isNeeded === true;
    try {
      const statement = usesInsertOnly ? insertOnly.statement : plan.statement;
      const affected = await this.#execute(connection, statement, encoded.parameters);
      this.#count(plan, encoded.rowCount, affected);
      return;
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      if (insertOnly !== undefined && !usesInsertOnly && isDenied(error)) {
        insertOnly.isNeeded = true;
        return this.#send(connection, rows, encoded, planned);
      }
      const isStored = usesInsertOnly && isUniqueViolation(error);
      const failure = isStored ? missingPrivileges(insertOnly, error) : error;
      if (failure.scope !== 'record') throw failure;
      if (this.#policy.allOrNothing === true) {
        this.planned.faults.refusedByServer(rows[0] ?? 0, failure);
        return;
      }
      const halves = isStored ? this.planned.halvesByKey(rows) : halvesOf(rows);
      if (halves === undefined) {
        for (const row of rows) await this.#refuseRow(connection, row, failure, planned);
        return;
      }
      for (const half of halves) await this.#send(connection, half, this.planned.encodeRows(plan, half), planned);
    }
  }

  /** Records the fault of a row, and writes the row that it had replaced, if any. */
  async #refuseRow(
    connection: StatementRunner,
    row: number,
    error: DatabaseError,
    planned: PlannedRows,
  ): Promise<void> {
    this.planned.faults.refusedByServer(row, error);
    const standIn = planned.fallbackRows?.[row] ?? -1;
    if (standIn < 0) return;
    const rows = Int32Array.of(standIn);
    await this.#send(connection, rows, this.planned.encodeRows(planned.plan, rows), planned);
  }

  #count(plan: WritePlan, sent: number, affected: number): void {
    if (plan.countsAffected) {
      this.#stored += affected;
      this.#discarded += sent - affected;
    } else {
      // The server's count is not used, as it is 0 with triggers that store the rows elsewhere.
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

/** Returns the error for a row with a duplicate key if the user has only the privilege INSERT. */
function missingPrivileges({ privileges }: InsertOnlyPlan, cause: DatabaseError): DatabaseError {
  const message = `a row with the same key is stored already, and to replace or change it the user needs the rights ${privileges}; with INSERT alone, dedup.rule=discard leaves such rows out (${cause.message})`;
  return new DatabaseError(message, { scope: 'record', sqlstate: '42501', cause });
}
