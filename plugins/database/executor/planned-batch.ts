import type { Cell, RowBatch } from '../../../src/data/row-batch.ts';
import { roundingUnit } from '../sql/cell-text.ts';
import type { Refuse, TypeFamily } from '../sql/column-type.ts';
import { encodeCopy } from '../sql/copy-binary.ts';
import type { WritePolicy } from './api.ts';
import { BatchFaults } from './batch-faults.ts';
import type { CatalogueTable } from './catalogue-query.ts';
import { groupedByDefaults } from './default-groups.ts';
import { encodeMerged, encodeRows, type Parameters } from './encode-batch.ts';
import { type EqualKeys, selectByGroup } from './group-selection.ts';
import { halvesOf, type KeyPart, numberKeys, remainingRows, type RowSelection, selectRows } from './row-selection.ts';
import { completedFromBatch } from './unchanged-columns.ts';
import { type PlannedColumn, planWrite, type WritePlan } from './write-plan.ts';

/** For fewer rows, a prepared INSERT is as fast, because COPY is parsed every time. */
const MIN_COPIED_ROWS = 64;

export interface PlannedRows extends RowSelection {
  readonly plan: WritePlan;
  /**
   * True if no earlier statement of the batch stores a row with one of these keys. Meaningless if all rows with equal
   * keys are stored.
   */
  readonly isFirst: boolean;
}

/** An encoded statement of a batch. */
export interface Round extends PlannedRows {
  readonly encoded: Encoded;
}

export interface Encoded {
  readonly parameters: Parameters;
  /** Number of rows that the statement stores; rows with the same key may be merged. */
  readonly rowCount: number;
}

const EQUAL_KEYS: Readonly<Record<WritePolicy['dedupRule'], EqualKeys>> = {
  override: 'last',
  merge: 'merge',
  discard: 'first',
};

/** A batch prepared for one state of its table: the encoded statements, and the rows refused before sending. */
export class PlannedBatch {
  readonly batch: RowBatch;
  readonly table: CatalogueTable;
  readonly faults: BatchFaults;
  /**
   * All rows, encoded for COPY; `undefined` if the rows must be inserted. With COPY, the rounds are encoded only if
   * COPY fails.
   */
  readonly copy: Buffer | undefined;
  readonly #policy: WritePolicy;
  readonly #minCopiedRows: number;
  /** One plan for each group of the batch; a single plan for a batch without groups. */
  readonly #plans: readonly WritePlan[];
  #rounds: readonly Round[] | undefined;

  constructor(batch: RowBatch, table: CatalogueTable, policy: WritePolicy, minCopiedRows = MIN_COPIED_ROWS) {
    const grouped = completedFromBatch(groupedByDefaults(batch, table, policy), table, policy);
    this.batch = grouped;
    this.table = table;
    this.#policy = policy;
    this.#minCopiedRows = minCopiedRows;
    this.faults = new BatchFaults(batch);
    const groups = grouped.groups?.list ?? [undefined];
    this.#plans = groups.map((group) => planWrite(table, { policy, batch: grouped, group }));
    this.#plans.forEach((plan, group) => {
      if (!acceptsAllColumns(plan)) this.faults.addMisfits(plan, this.#rowsOfGroup(group), policy);
    });
    this.copy = this.#encodeCopy();
    if (this.copy === undefined) this.#rounds = this.#encode();
  }

  /** Returns a new plan of the same batch, without the faults found while sending. */
  restart(): PlannedBatch {
    return new PlannedBatch(this.batch, this.table, this.#policy, this.#minCopiedRows);
  }

  /** True if rows were refused, because of the table's definition, their values, or an error of the server. */
  get hasFaults(): boolean {
    return this.faults.count > 0;
  }

  /** True if stored rows with the same keys are replaced or kept, which requires an INSERT with a conflict clause. */
  get upserts(): boolean {
    return this.#plans.some(({ upserts }) => upserts);
  }

  /** True if the batch has columns that are not written, because the table does not have them or computes them. */
  get skipsColumns(): boolean {
    return this.#plans.some(({ unknown, computed }) => unknown.length > 0 || computed.length > 0);
  }

  /** Columns whose values are ignored because the database computes them. */
  get computedColumns(): readonly string[] {
    const indexes = new Set(this.#plans.flatMap(({ computed }) => computed));
    return [...indexes].flatMap((index) => this.batch.columns[index]?.name ?? []);
  }

  get isEmpty(): boolean {
    return this.#rounds?.length === 0;
  }

  /** True if all rows are sent in one statement, unless it fails. */
  get isOneStatement(): boolean {
    return this.copy !== undefined || this.#rounds?.length === 1;
  }

  /** True if all rows are rejected because some were refused. */
  get storesNothing(): boolean {
    return this.#policy.allOrNothing === true && this.hasFaults;
  }

  /** True if the statements need no common transaction: there is a single statement, or no statement deletes rows. */
  get isOneChange(): boolean {
    const deletes = this.batch.groups?.list.some(({ operation }) => operation === 'delete') ?? false;
    return !deletes || this.#rounds?.length === 1;
  }

  /**
   * True if text is written to a column whose type may parse it as a time; the result then depends on the session's
   * time zone.
   */
  get readsTimeTexts(): boolean {
    return this.#plans.some(({ columns }) =>
      columns.some(({ index, target }) => isZoned(target.family) && hasText(this.batch.columns[index]?.cells ?? [])),
    );
  }

  /** Returns the statements for all rows, in order; they are created on demand if COPY failed. */
  rounds(): readonly Round[] {
    return (this.#rounds ??= this.#encode());
  }

  /**
   * Encodes the statements. Refused rows are removed before keys are compared: an invalid row must not replace a valid
   * row with the same key.
   */
  #encode(): Round[] {
    for (let isFirst = true; ; isFirst = false) {
      const before = this.faults.count;
      const rounds = this.#select().map((planned) => ({
        ...planned,
        encoded: this.encodeRows(planned.plan, planned.rows),
      }));
      if (this.faults.count === before) return rounds.filter((round) => round.rows.length > 0);
      if (isFirst) this.#refuseInvalidRows();
    }
  }

  /**
   * Checks all rows, including those that another row with the same key replaces. When a refused row is removed, one of
   * these is sent instead, and may be invalid as well.
   */
  #refuseInvalidRows(): void {
    const merges = this.#equalKeys() === 'merge';
    this.#plans.forEach((plan, group) => {
      const rows = this.#rowsOfGroup(group).filter((row) => !this.faults.has(row));
      encodeRows(this.batch, plan, rows, ({ index, column }) => (row, refusal) => {
        const isMissing = (this.batch.columns[index]?.cells[row] ?? null) === null;
        if (!merges || !isMissing) this.faults.refused(row, column, refusal);
      });
    });
  }

  #select(): PlannedRows[] {
    const { groups, rowCount } = this.batch;
    const candidates = remainingRows(rowCount, this.faults.rows);
    const key = this.#keyParts();
    const equalKeys = this.#equalKeys();
    if (groups === undefined) {
      const plan = this.planOf(0);
      return selectRowsOf(candidates, key, equalKeys).map((selection, index) => ({
        ...selection,
        plan,
        isFirst: index === 0,
      }));
    }
    return selectByGroup(candidates, key, groups, equalKeys).map((selection) => ({
      ...selection,
      plan: this.planOf(selection.group),
    }));
  }

  #equalKeys(): EqualKeys {
    const { insertMode, dedupRule } = this.#policy;
    if (insertMode === 'insert') return 'all';
    return insertMode === 'update' ? 'last' : EQUAL_KEYS[dedupRule];
  }

  #keyParts(): KeyPart[] {
    const { columns, key } = this.batch;
    const indexes =
      this.#policy.insertMode === undefined
        ? this.planOf(0).key
        : (key ?? []).map((name) => columns.findIndex((column) => column.name === name));
    return indexes.map((index) => ({
      cells: columns[index]?.cells ?? [],
      unit: roundingUnit(this.planOf(0).columns.find((planned) => planned.index === index)?.target ?? { precision: 6 }),
    }));
  }

  planOf(group: number): WritePlan {
    const plan = this.#plans[group];
    if (plan === undefined) throw new RangeError(`the batch has no group ${String(group)}`);
    return plan;
  }

  #rowsOfGroup(group: number): Int32Array {
    const { groups, rowCount } = this.batch;
    const rows = remainingRows(rowCount, new Set());
    return groups === undefined ? rows : rows.filter((row) => groups.of(row) === group);
  }

  /** Splits the rows into two parts without splitting a key; `undefined` if they all have the same key. */
  halvesByKey(rows: Int32Array): readonly Int32Array[] | undefined {
    const numbered = numberKeys(rows, this.#keyParts());
    if (numbered === undefined) return halvesOf(rows);
    const { ids, count } = numbered;
    const middle = count >>> 1;
    if (middle === 0) return undefined;
    const isFirst = (position: number): boolean => (ids[position] ?? 0) < middle;
    return [rows.filter((_, position) => isFirst(position)), rows.filter((_, position) => !isFirst(position))];
  }

  encodeRows(plan: WritePlan, rows: Int32Array): Encoded {
    const refuse =
      ({ column }: PlannedColumn): Refuse =>
      (row, refusal) => {
        this.faults.refused(row, column, refusal);
      };
    const merged = this.#equalKeys() === 'merge' ? numberKeys(rows, this.#keyParts()) : undefined;
    return merged === undefined
      ? { parameters: encodeRows(this.batch, plan, rows, refuse), rowCount: rows.length }
      : { parameters: encodeMerged(this.batch, plan, rows, merged, refuse), rowCount: merged.count };
  }

  /** Encodes all rows for COPY, if possible. Does not search for duplicate keys, because the server detects them. */
  #encodeCopy(): Buffer | undefined {
    const { groups, rowCount } = this.batch;
    if (this.#policy.plain === true) return undefined;
    if (rowCount < this.#minCopiedRows || this.#plans.length > 1 || this.faults.count > 0) return undefined;
    const { copy, columns } = this.planOf(0);
    if (groups?.list[0]?.operation === 'delete' || copy === undefined || copy.refused) return undefined;
    if (!copy.path.shouldTry()) return undefined;
    const copied = columns.map(({ index, column, target }) => {
      const { cells, kind } = this.batch.columns[index] ?? { cells: [], kind: 'text' as const };
      return { cells, kind, target, nullable: column.nullable };
    });
    return encodeCopy(copied, rowCount);
  }
}

function selectRowsOf(candidates: Int32Array, key: readonly KeyPart[], equalKeys: EqualKeys): RowSelection[] {
  switch (equalKeys) {
    case 'all':
    case 'merge':
      return [{ rows: candidates, fallbackRows: undefined }];
    case 'first':
    case 'last':
      return [selectRows(candidates, key, equalKeys)];
  }
}

/** Returns true if the table's definition accepts all rows, regardless of their values. */
function acceptsAllColumns({ required, missingKeyColumn, unknown, computed, columns }: WritePlan): boolean {
  const storesAll = unknown.length === 0 && computed.length === 0;
  return required === undefined && missingKeyColumn === undefined && storesAll && columns.length > 0;
}

function isZoned(family: TypeFamily): boolean {
  return family === 'timestamptz' || family === 'other';
}

function hasText(cells: readonly Cell[]): boolean {
  return cells.some((cell) => typeof cell === 'string');
}
