import type { Cell, ColumnCells, RowBatch, TableName } from '../../../src/data/row-batch.ts';
import type { ColumnShape, TableShape } from '../../../src/data/table-shape.ts';
import { columnMark } from '../sql/mark.ts';
import { quoteIdentifier, quoteLiteral, quoteTable } from '../sql/quote.ts';
import { qualifiedType } from '../sql/type-names.ts';
import type { GrowthPolicy } from './api.ts';
import type { CatalogueColumn, CatalogueTable } from './catalogue-query.ts';

/** The changes to a table that the rows of a batch need. */
export interface Growth {
  readonly add: readonly ColumnShape[];
  readonly widen: readonly { readonly column: CatalogueColumn; readonly length: number }[];
  /** Columns that are a tag in the table and a field in the rows, or vice versa; empty if the table has no tags. */
  readonly conflicts: readonly ColumnShape[];
}

export const NO_GROWTH: Growth = { add: [], widen: [], conflicts: [] };

const VARCHAR_OID = 1043;

/**
 * Plans the changes that these rows need (docs/formats.md#tables-of-lines-and-points): columns and tags are added, and
 * `varchar(n)` is widened if a value of the batch does not fit; base types never change. Time, nanoseconds and primary
 * tags are never added, as existing rows would have no values for them.
 */
export function planGrowth(table: CatalogueTable, batch: RowBatch, shape: TableShape): Growth {
  const add: ColumnShape[] = [];
  const widen: { column: CatalogueColumn; length: number }[] = [];
  const conflicts: ColumnShape[] = [];
  const knowsTags = table.columns.some((column) => isTag(column));
  for (const wanted of shape.columns) {
    if (wanted.role === 'time') continue;
    const column = columnNamed(table, wanted.name);
    if (column === undefined) {
      if (wanted.role !== 'primary-tag' && wanted.role !== 'nanos') add.push(wanted);
    } else if (knowsTags && column.role !== 'time' && isTag(column) !== isTag(wanted)) {
      conflicts.push(wanted);
    } else if (wanted.length !== undefined && isNarrower(column, wanted.length)) {
      const cells = batch.columns.find(({ name }) => name === wanted.name)?.cells ?? [];
      if (cells.some((cell) => isTooLong(cell, column))) widen.push({ column, length: wanted.length });
    }
  }
  return add.length + widen.length + conflicts.length === 0 ? NO_GROWTH : { add, widen, conflicts };
}

const fitting = new WeakMap<TableShape, CatalogueTable>();

/**
 * Returns true if the table needs no change for these rows. Decoders of points return the same shape object until the
 * shape changes.
 */
export function fits(table: CatalogueTable, batch: RowBatch, shape: TableShape): boolean {
  if (fitting.get(shape) === table) return true;
  if (planGrowth(table, batch, shape) !== NO_GROWTH) return false;
  const dependsOnCells = shape.columns.some(({ name, length }) => {
    const column = columnNamed(table, name);
    return column !== undefined && length !== undefined && isNarrower(column, length);
  });
  if (!dependsOnCells) fitting.set(shape, table);
  return true;
}

/** Returns the permitted part of a plan. Rows that need other changes are refused when they are written. */
export function permitted(plan: Growth, { add, widen }: GrowthPolicy): Growth {
  if (plan === NO_GROWTH || (add && widen)) return plan;
  return { add: add ? plan.add : [], widen: widen ? plan.widen : [], conflicts: plan.conflicts };
}

/** Returns true if a cell exceeds the length of its `varchar(n)`. */
export function isTooLong(cell: Cell, { maxLength }: Pick<CatalogueColumn, 'maxLength'>): boolean {
  // A UTF-16 unit is at most one character, so most strings need no counting.
  if (typeof cell !== 'string' || maxLength === undefined || cell.length <= maxLength) return false;
  let characters = 0;
  for (const character of cell) characters += character.length > 0 ? 1 : 0;
  return characters > maxLength;
}

/**
 * Merges plans for the same state of a table. If several add the same column, the first one determines its type, and
 * the longest one its length.
 */
export function mergeGrowth(plans: readonly Growth[]): Growth {
  const add = new Map<string, ColumnShape>();
  const widen = new Map<string, Growth['widen'][number]>();
  for (const plan of plans) {
    for (const column of plan.add) {
      const known = add.get(column.name);
      if (known === undefined) add.set(column.name, column);
      else if (isTag(known) === isTag(column) && (column.length ?? 0) > (known.length ?? 0)) {
        add.set(column.name, { ...known, length: known.length === undefined ? undefined : column.length });
      }
    }
    for (const step of plan.widen) {
      if (step.length > (widen.get(step.column.name)?.length ?? 0)) widen.set(step.column.name, step);
    }
  }
  return { add: [...add.values()], widen: [...widen.values()], conflicts: [] };
}

/** Returns one ALTER TABLE and the comments that mark new tags; empty if nothing changes. */
export function growthStatements(table: TableName, growth: Growth): string[] {
  const actions = [
    ...growth.add.map(
      (column) =>
        `ADD COLUMN IF NOT EXISTS ${quoteIdentifier(column.name)} ${qualifiedType(column.type, column.length)}`,
    ),
    ...growth.widen.map(
      ({ column, length }) => `ALTER COLUMN ${quoteIdentifier(column.name)} TYPE ${qualifiedType('VARCHAR', length)}`,
    ),
  ];
  if (actions.length === 0) return [];
  const marks = growth.add.flatMap((column) => {
    const mark = columnMark(column.role);
    if (mark === undefined) return [];
    return [`COMMENT ON COLUMN ${quoteTable(table)}.${quoteIdentifier(column.name)} IS ${quoteLiteral(mark)}`];
  });
  return [`ALTER TABLE ${quoteTable(table)} ${actions.join(', ')}`, ...marks];
}

export function isTag({ role }: Pick<ColumnCells, 'role'>): boolean {
  return role === 'tag' || role === 'primary-tag';
}

function isNarrower(column: CatalogueColumn, length: number): boolean {
  return column.typeOid === VARCHAR_OID && column.maxLength !== undefined && column.maxLength < length;
}

const columnsByTable = new WeakMap<CatalogueTable, ReadonlyMap<string, CatalogueColumn>>();

/**
 * Returns the column with this name. Columns are indexed by name, because each batch for a wide table looks up hundreds
 * of columns.
 */
function columnNamed(table: CatalogueTable, name: string): CatalogueColumn | undefined {
  let columns = columnsByTable.get(table);
  if (columns === undefined) {
    columns = new Map(table.columns.map((column) => [column.name, column]));
    columnsByTable.set(table, columns);
  }
  return columns.get(name);
}
