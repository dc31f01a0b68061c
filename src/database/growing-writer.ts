import type { Fault } from '../data/fault.ts';
import { type Cell, type RowBatch, tableText, type WriteReport } from '../data/row-batch.ts';
import type { ColumnShape, TableShape } from '../data/table-shape.ts';
import { DatabaseError } from '../errors.ts';
import type { GrowthPolicy, WritePolicy } from './api.ts';
import type { BatchWriter } from './batch-writer.ts';
import { missing, type Catalogue } from './catalogue.ts';
import type { CatalogueColumn, CatalogueTable } from './catalogue-query.ts';
import { impossibility, type SchemaGrowth } from './schema-growth.ts';
import { isTag, isTooLong, NO_GROWTH, permitted, planGrowth } from './schema-growth-plan.ts';

/** Something the table could not be given, and which cells cannot be stored without it. */
interface Lack {
  readonly column: string;
  readonly needs: (cell: Cell) => boolean;
  readonly reason: DatabaseError;
}

const GROWS_FREELY: GrowthPolicy = { create: true, add: true, widen: true };

/** Writes batches into tables that are created and extended for them. */
export class GrowingWriter {
  readonly #catalogue: Catalogue;
  readonly #growth: SchemaGrowth;
  readonly #writer: BatchWriter;

  constructor(catalogue: Catalogue, growth: SchemaGrowth, writer: BatchWriter) {
    this.#catalogue = catalogue;
    this.#growth = growth;
    this.#writer = writer;
  }

  /** Makes the table fit as far as it can be, and writes nothing. */
  async prepare(batch: RowBatch, shape: TableShape, { growth = GROWS_FREELY }: WritePolicy): Promise<void> {
    await this.#fit(batch, shape, growth);
  }

  async write(batch: RowBatch, shape: TableShape, policy: WritePolicy): Promise<WriteReport> {
    const { growth = GROWS_FREELY } = policy;
    const first = await this.#fit(batch, shape, growth);
    try {
      return await this.#writeFitting(batch, first, policy);
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.scope !== 'table') throw error;
      // The table was dropped, or changed by others, since it was looked at.
      await this.#catalogue.refresh(batch.table);
      return this.#writeFitting(batch, await this.#fit(batch, shape, growth), policy);
    }
  }

  /** Makes the table fit; what it still lacks then, each with the reason. */
  async #fit(batch: RowBatch, shape: TableShape, growth: GrowthPolicy): Promise<Lack[]> {
    let table = await this.#catalogue.find(batch.table);
    let refusal: DatabaseError | undefined;
    if (table === undefined && !growth.create) throw missing(batch.table, ' and may not be created');
    if (table === undefined || needsChange(table, batch, shape, growth)) {
      try {
        table = await this.#growth.grow(batch.table, { batch, shape, growth });
      } catch (error) {
        // Without the table there is nothing to write to; with it, the rows that fit are written.
        if (table === undefined || !(error instanceof DatabaseError) || error.scope === 'infrastructure') throw error;
        refusal = error;
      }
    }
    return lacks(table, batch, shape, growth, refusal);
  }

  async #writeFitting(batch: RowBatch, lacking: readonly Lack[], policy: WritePolicy): Promise<WriteReport> {
    if (lacking.length === 0) return this.#writer.write(batch, policy);
    const faults = new Map<number, Fault>();
    for (const lack of lacking) addFaults(batch, lack, faults);
    const absent = new Set(lacking.map(({ column }) => column));
    const rest = without(batch, faults, absent);
    const report = await this.#writer.write(rest, policy);
    return { ...report, faults: [...faults.values(), ...report.faults] };
  }
}

function needsChange(table: CatalogueTable, batch: RowBatch, shape: TableShape, growth: GrowthPolicy): boolean {
  const { add, widen } = permitted(planGrowth(table, batch, shape), growth);
  return widen.length > 0 || add.some((column) => impossibility(column) === undefined);
}

function lacks(
  table: CatalogueTable,
  batch: RowBatch,
  shape: TableShape,
  growth: GrowthPolicy,
  refusal: DatabaseError | undefined,
): Lack[] {
  const plan = permitted(planGrowth(table, batch, shape), growth);
  if (plan === NO_GROWTH) return [];
  const isGiven = (cell: Cell): boolean => cell !== null;
  return [
    ...plan.conflicts.map((column) => ({ column: column.name, needs: isGiven, reason: conflict(column) })),
    ...plan.add.map((column) => {
      const reason = impossibility(column) ?? refusal ?? notAdded(table, column);
      return { column: column.name, needs: isGiven, reason };
    }),
    ...(refusal === undefined ? [] : plan.widen.map(({ column }) => tooNarrow(column, refusal))),
  ];
}

function tooNarrow(column: CatalogueColumn, reason: DatabaseError): Lack {
  return { column: column.name, needs: (cell) => isTooLong(cell, column), reason };
}

/** In the words of the original (reference/original-system.md 9.3). */
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

function addFaults(batch: RowBatch, { column, needs, reason }: Lack, faults: Map<number, Fault>): void {
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

/** The batch without the rows at fault; columns that no other row has a value in go as well. */
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
