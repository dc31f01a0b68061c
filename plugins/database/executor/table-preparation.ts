import type { Fault } from '../../../src/data/fault.ts';
import { type Cell, type RowBatch, tableText } from '../../../src/data/row-batch.ts';
import type { ColumnShape, TableShape } from '../../../src/data/table-shape.ts';
import { DatabaseError } from '../../../src/errors.ts';
import type { GrowthPolicy, TableWrite, WritePolicy } from './api.ts';
import { isTableName, missing, type Catalogue } from './catalogue.ts';
import type { CatalogueColumn, CatalogueTable } from './catalogue-query.ts';
import { type GrowthRequest, unsupportedReason, type SchemaGrowth } from './schema-growth.ts';
import { fits, isTag, isTooLong, NO_GROWTH, permitted, planGrowth } from './schema-growth-plan.ts';

/** A change that could not be made to the table, and the cells that need it. */
interface Shortfall {
  readonly column: string;
  readonly needs: (cell: Cell) => boolean;
  readonly reason: DatabaseError;
}

const GROWS_FREELY: GrowthPolicy = { create: true, add: true, widen: true };

/** A batch after its table was changed as far as possible. */
export interface Prepared {
  readonly table: CatalogueTable;
  /** The rows that can be stored. Columns that the table does not have are removed if none of these rows needs them. */
  readonly batch: RowBatch;
  /** Faults of the other rows, with the reason why the table was not changed for them. */
  readonly faults: readonly Fault[];
  /** True if the result is based on the current state of the database, not on the cache. */
  readonly isCurrent: boolean;
}

/** Creates tables, and extends them for the rows to write. */
export class TablePreparation {
  readonly #catalogue: Catalogue;
  readonly #growth: SchemaGrowth;

  constructor(catalogue: Catalogue, growth: SchemaGrowth) {
    this.#catalogue = catalogue;
    this.#growth = growth;
  }

  /**
   * Creates missing tables, as far as permitted, in one transaction, and rejects if that fails. `prepare` makes all
   * other changes, and creates the table if only one is missing.
   */
  async createAll(writes: readonly TableWrite[]): Promise<void> {
    const requests: GrowthRequest[] = [];
    for (const { batch, policy } of writes) {
      const { shape, growth = GROWS_FREELY } = policy;
      if (shape === undefined || shape.exact || !growth.create || growth.deferChanges === true) continue;
      if (batch.table.schema !== undefined || !isTableName(batch.table.name)) continue;
      if (shape.columns.every((column) => unsupportedReason(column) === undefined))
        requests.push({ batch, shape, growth });
    }
    if (requests.length > 1) await this.#growth.createAll(requests);
  }

  /**
   * Creates or extends the table as far as permitted. `known` is the table, possibly from the cache; `undefined` if it
   * does not exist. Rejects as `TableWriter.write` (api.ts) does.
   */
  async prepare(
    batch: RowBatch,
    shape: TableShape,
    { growth = GROWS_FREELY }: WritePolicy,
    known: CatalogueTable | undefined,
  ): Promise<Prepared> {
    if (shape.exact && !growth.add) {
      return { table: await this.#catalogue.ensure(batch.table, shape, growth), batch, faults: [], isCurrent: false };
    }
    if (known === undefined && !growth.create) throw missing(batch.table, ' and may not be created');
    if (known !== undefined && fits(known, batch, shape)) return { table: known, batch, faults: [], isCurrent: false };
    let table = known;
    let refusal: DatabaseError | undefined;
    if (table === undefined || needsChange(table, batch, shape, growth)) {
      if (growth.deferChanges === true)
        throw missing(batch.table, table === undefined ? ' yet' : ' with all columns yet');
      try {
        table = await this.#growth.grow(batch.table, { batch, shape, growth });
      } catch (error) {
        // If the table exists, the rows that need no change are still written.
        if (table === undefined || !(error instanceof DatabaseError) || error.scope === 'infrastructure') throw error;
        refusal = error;
      }
    }
    const isCurrent = table !== known || refusal !== undefined;
    return { ...storable(table, batch, shortfallsOf(table, batch, shape, growth, refusal)), isCurrent };
  }
}

function storable(
  table: CatalogueTable,
  batch: RowBatch,
  shortfalls: readonly Shortfall[],
): Omit<Prepared, 'isCurrent'> {
  if (shortfalls.length === 0) return { table, batch, faults: [] };
  const faults = new Map<number, Fault>();
  for (const shortfall of shortfalls) addFaults(batch, shortfall, faults);
  const existing = new Set(table.columns.map(({ name }) => name));
  const absent = new Set(shortfalls.map(({ column }) => column).filter((column) => !existing.has(column)));
  return { table, batch: without(batch, faults, absent), faults: [...faults.values()] };
}

function needsChange(table: CatalogueTable, batch: RowBatch, shape: TableShape, growth: GrowthPolicy): boolean {
  const { add, widen } = permitted(planGrowth(table, batch, shape), growth);
  return widen.length > 0 || add.some((column) => unsupportedReason(column) === undefined);
}

function shortfallsOf(
  table: CatalogueTable,
  batch: RowBatch,
  shape: TableShape,
  growth: GrowthPolicy,
  refusal: DatabaseError | undefined,
): Shortfall[] {
  const plan = permitted(planGrowth(table, batch, shape), growth);
  if (plan === NO_GROWTH) return [];
  const isGiven = (cell: Cell): boolean => cell !== null;
  return [
    ...plan.conflicts.map((column) => ({ column: column.name, needs: isGiven, reason: conflict(column) })),
    ...plan.add.map((column) => {
      const reason = unsupportedReason(column) ?? refusal ?? notAdded(table, column);
      return { column: column.name, needs: isGiven, reason };
    }),
    ...(refusal === undefined ? [] : plan.widen.map(({ column }) => tooNarrow(column, refusal))),
  ];
}

function tooNarrow(column: CatalogueColumn, reason: DatabaseError): Shortfall {
  return { column: column.name, needs: (cell) => isTooLong(cell, column), reason };
}

/** Clients rely on this message (docs/formats.md#tables-of-lines-and-points). */
function conflict(column: ColumnShape): DatabaseError {
  const role = isTag(column) ? 'TAG' : 'COLUMN';
  const existing = isTag(column) ? 'a data column' : 'a tag';
  return new DatabaseError(`duplicate ${role} name: "${column.name}" (the table has it as ${existing})`, {
    scope: 'record',
    sqlstate: '42701',
    column: column.name,
  });
}

function notAdded(table: CatalogueTable, column: ColumnShape): DatabaseError {
  return new DatabaseError(`table "${tableText(table.name)}" has no column "${column.name}"`, {
    scope: 'record',
    sqlstate: '42703',
    column: column.name,
  });
}

function addFaults(batch: RowBatch, { column, needs, reason }: Shortfall, faults: Map<number, Fault>): void {
  const cells = batch.columns.find(({ name }) => name === column)?.cells ?? [];
  for (const [row, cell] of cells.entries()) {
    if (faults.has(row) || !needs(cell)) continue;
    faults.set(row, {
      scope: 'record',
      message: `table "${tableText(batch.table)}": ${reason.message}`,
      origin: batch.origins.at(row),
      table: tableText(batch.table),
      column,
      sqlstate: reason.sqlstate,
      cause: reason,
    });
  }
}

/**
 * Removes the refused rows. Then removes each column of `absent` (columns that the table does not have) in which no
 * remaining row has a value.
 */
function without(batch: RowBatch, faults: ReadonlyMap<number, Fault>, absent: ReadonlySet<string>): RowBatch {
  const kept: number[] = [];
  for (let row = 0; row < batch.rowCount; row++) if (!faults.has(row)) kept.push(row);
  const columns = batch.columns
    .map((column) => ({ ...column, cells: kept.map((row) => column.cells[row] ?? null) }))
    .filter(({ name, cells }) => !absent.has(name) || cells.some((cell) => cell !== null));
  const { table, key, origins, groups } = batch;
  return {
    table,
    key,
    columns,
    rowCount: kept.length,
    origins: { at: (row) => origins.at(kept[row] ?? -1) },
    groups: groups && { list: groups.list, of: (row) => groups.of(kept[row] ?? -1) },
  };
}
