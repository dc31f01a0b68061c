import { createHash } from 'node:crypto';
import type { ColumnCells } from '../data/row-batch.ts';
import type { ColumnTarget } from '../sql/column-type.ts';
import { type Conflict, insertStatement } from '../sql/insert.ts';
import type { DedupRule } from './api.ts';
import type { CatalogueColumn, CatalogueTable } from './catalogue-query.ts';
import { FirstTryHope } from './first-try-hope.ts';

/** One column of a batch that goes into one column of the table. */
export interface PlannedColumn {
  /** Index in the batch. */
  readonly index: number;
  readonly column: CatalogueColumn;
  readonly target: ColumnTarget;
}

/** How batches with these columns are written to this table; kept per table and set of columns. */
export interface WritePlan {
  readonly statement: PreparedText;
  /** The same without regard to stored rows, for as long as there are none with the same keys; absent without a key. */
  readonly firstTry: { readonly statement: PreparedText; readonly hope: FirstTryHope } | undefined;
  readonly columns: readonly PlannedColumn[];
  /** Indexes in the batch of the key's columns, in key order; empty when rows cannot meet a stored row by key. */
  readonly key: readonly number[];
  /** Indexes in the batch of columns that the table does not have, or computes itself. */
  readonly unknown: readonly number[];
  /** A column that must have a value and gets none from any row. */
  readonly required: CatalogueColumn | undefined;
}

export interface PreparedText {
  readonly name: string;
  readonly text: string;
}

type BatchColumns = readonly Pick<ColumnCells, 'name' | 'role'>[];

/** Plans of one table are few; a source of ever new column sets must not fill the memory. */
const MAX_PLANS_PER_TABLE = 100;
const plansByTable = new WeakMap<CatalogueTable, Map<string, WritePlan>>();

export function planWrite(table: CatalogueTable, batch: BatchColumns, rule: DedupRule): WritePlan {
  let plans = plansByTable.get(table);
  if (plans === undefined) plansByTable.set(table, (plans = new Map<string, WritePlan>()));
  let signature: string = rule;
  for (const column of batch) signature += `\0${column.role}\0${column.name}`;
  let plan = plans.get(signature);
  if (plan === undefined) {
    if (plans.size >= MAX_PLANS_PER_TABLE) plans.clear();
    plan = makePlan(table, batch, rule);
    plans.set(signature, plan);
  }
  return plan;
}

const hopesByTable = new WeakMap<CatalogueTable, FirstTryHope>();

function hopeOf(table: CatalogueTable): FirstTryHope {
  let hope = hopesByTable.get(table);
  if (hope === undefined) hopesByTable.set(table, (hope = new FirstTryHope()));
  return hope;
}

function makePlan(table: CatalogueTable, batch: BatchColumns, rule: DedupRule): WritePlan {
  const columns: PlannedColumn[] = [];
  const unknown: number[] = [];
  batch.forEach((batchColumn, index) => {
    const column = columnFor(table, batch, batchColumn);
    if (column === undefined || column.generated) unknown.push(index);
    else columns.push({ index, column, target: targetOf(column, rule) });
  });
  const given = new Set(columns.map(({ column }) => column.name));
  const hasKey = table.key.length > 0 && table.key.every((name) => given.has(name));
  const conflict = hasKey ? conflictOf(table, given, rule) : undefined;
  const statement = (on: Conflict | undefined): PreparedText => {
    const inserted = columns.map((column) => insertColumn(column, rule));
    const text = columns.length === 0 ? '' : insertStatement(table.name, inserted, on);
    // Named by its text: equal statements of any plan share what the server prepared.
    return { name: `sluice_${createHash('sha1').update(text).digest('hex')}`, text };
  };
  return {
    statement: statement(conflict),
    firstTry: conflict === undefined ? undefined : { statement: statement(undefined), hope: hopeOf(table) },
    columns,
    key: hasKey ? table.key.map((name) => columns.find(({ column }) => column.name === name)?.index ?? 0) : [],
    unknown,
    required: table.columns.find((column) => mustBeGiven(column) && !given.has(column.name)),
  };
}

/** By name; the batch's time column also finds the table's time column under another name. */
function columnFor(
  table: CatalogueTable,
  batch: BatchColumns,
  wanted: BatchColumns[number],
): CatalogueColumn | undefined {
  const named = table.columns.find((column) => column.name === wanted.name);
  if (named !== undefined || wanted.role !== 'time') return named;
  const time = table.columns.find((column) => column.role === 'time');
  return time === undefined || batch.some((column) => column.name === time.name) ? undefined : time;
}

function targetOf(column: CatalogueColumn, rule: DedupRule): ColumnTarget {
  return {
    family: column.family,
    typeOid: column.typeOid,
    precision: column.precision,
    maxLength: column.maxLength,
    acceptsNull: column.nullable || nullDefault(column, rule) !== undefined,
    binary: !column.isDomain && !column.isArray,
  };
}

/**
 * Rows of one batch may have different columns: a cell missing in a NOT NULL column with a default gets the default, as
 * it would in a batch of its own. Not for `merge`, where the default would replace what is stored.
 */
function nullDefault(column: CatalogueColumn, rule: DedupRule): string | undefined {
  return column.nullable || rule === 'merge' ? undefined : column.defaultExpression;
}

function insertColumn({ column }: PlannedColumn, rule: DedupRule) {
  return {
    name: column.name,
    baseType: column.baseType,
    isArray: column.isArray,
    nullDefault: nullDefault(column, rule),
  };
}

function conflictOf(table: CatalogueTable, given: ReadonlySet<string>, rule: DedupRule): Conflict {
  const writable = table.columns.filter((column) => !column.generated && !table.key.includes(column.name));
  const others = rule === 'merge' ? writable.filter((column) => given.has(column.name)) : writable;
  return { rule, key: table.key, others: others.map((column) => column.name) };
}

function mustBeGiven(column: CatalogueColumn): boolean {
  return !column.nullable && !column.hasDefault && !column.generated;
}
