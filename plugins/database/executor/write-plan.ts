import { createHash } from 'node:crypto';
import { BoundedMap } from '../../../src/data/bounded-map.ts';
import type { ColumnRole, ColumnCells, RowBatch, RowGroup } from '../../../src/data/row-batch.ts';
import type { ColumnTarget } from '../sql/column-type.ts';
import { type CopyTarget, copyTarget } from '../sql/copy-script.ts';
import {
  type Conflict,
  deleteStatement,
  type InsertColumn,
  insertStatement,
  leavesOut,
  updateStatement,
} from '../sql/insert.ts';
import { quoteTable } from '../sql/quote.ts';
import type { WritePolicy } from './api.ts';
import type { CatalogueColumn, CatalogueTable } from './catalogue-query.ts';
import { OptimisticPath } from './optimistic-path.ts';

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
  /** `COPY`, the fastest way to store rows for as long as none of their keys is met; absent where stored rows change. */
  readonly copy: CopyPlan | undefined;
  /** The same without regard to stored rows, for as long as there are none with the same keys; absent without a key. */
  readonly firstTry: { readonly statement: PreparedText; readonly path: OptimisticPath } | undefined;
  /** In place of `statement` for a user who may INSERT alone; absent where stored rows are not looked at. */
  readonly insertOnly: InsertOnlyPlan | undefined;
  readonly columns: readonly PlannedColumn[];
  /** Indexes in the batch of the key's columns, in key order; empty when rows cannot meet a stored row by key. */
  readonly key: readonly number[];
  /** Indexes in the batch of columns that the table does not have. */
  readonly unknown: readonly number[];
  /** Indexes in the batch of columns that the database computes itself. */
  readonly computed: readonly number[];
  /** A column that must have a value and gets none from any row. */
  readonly required: CatalogueColumn | undefined;
  /** A column of the rows' own key that the table does not have. */
  readonly keyLacks: string | undefined;
  /** Rows that the server does not count were left out by it: their key is there already, or (update) is not there. */
  readonly countsAffected: boolean;
}

/** What rows are written by one plan, and how. */
export interface PlanRequest {
  readonly policy: Pick<WritePolicy, 'dedupRule' | 'insertMode'>;
  readonly batch: { readonly columns: BatchColumns; readonly key?: RowBatch['key'] };
  /** `undefined`: all columns are stored. */
  readonly group: RowGroup | undefined;
}

export interface CopyPlan {
  readonly target: CopyTarget;
  readonly path: OptimisticPath;
  /** Set when the server refused to copy into this table at all (a view, row-level security). */
  refused: boolean;
}

export interface InsertOnlyPlan {
  readonly statement: PreparedText;
  /** The rights that replacing or changing a stored row needs beyond INSERT. */
  readonly lacking: string;
  /** Set when the server refused `statement` of the plan for missing rights. */
  isNeeded: boolean;
}

export interface PreparedText {
  readonly name: string;
  readonly text: string;
}

type BatchColumns = readonly Pick<ColumnCells, 'name' | 'role'>[];

/** Plans of one table are few; a source of ever new column sets must not fill the memory. */
const MAX_PLANS_PER_TABLE = 100;
const plansByTable = new WeakMap<CatalogueTable, BoundedMap<string, WritePlan>>();

export function planWrite(table: CatalogueTable, request: PlanRequest): WritePlan {
  let plans = plansByTable.get(table);
  if (plans === undefined) plansByTable.set(table, (plans = new BoundedMap<string, WritePlan>(MAX_PLANS_PER_TABLE)));
  return plans.getOrCreate(signatureOf(request), () => makePlan(table, request));
}

function signatureOf({ policy, batch, group }: PlanRequest): string {
  let signature = `${policy.dedupRule} ${policy.insertMode ?? ''} ${group?.operation ?? ''}`;
  if (policy.insertMode !== undefined) for (const name of batch.key ?? []) signature += `\0${name}`;
  for (const { role, name } of batch.columns) {
    signature += group === undefined || group.columns.has(name) ? `\0${role}\0${name}` : '\0';
  }
  return signature;
}

const pathsByTable = new WeakMap<CatalogueTable, OptimisticPath>();

function pathOf(table: CatalogueTable): OptimisticPath {
  let path = pathsByTable.get(table);
  if (path === undefined) pathsByTable.set(table, (path = new OptimisticPath()));
  return path;
}

function makePlan(table: CatalogueTable, request: PlanRequest): WritePlan {
  const { policy, batch, group } = request;
  const columns: PlannedColumn[] = [];
  const unknown: number[] = [];
  const computed: number[] = [];
  batch.columns.forEach((batchColumn, index) => {
    if (group?.columns.has(batchColumn.name) === false) return;
    const column = columnFor(table, batch.columns, batchColumn);
    if (column === undefined) unknown.push(index);
    else if (column.generated) computed.push(index);
    else columns.push({ index, column, target: targetOf(column, policy) });
  });
  const given = new Set(columns.map(({ column }) => column.name));
  const operation = group?.operation === 'delete' ? 'delete' : (policy.insertMode ?? 'upsert');
  const wanted = policy.insertMode === undefined ? table.key : (batch.key ?? []);
  const hasKey = operation !== 'insert' && wanted.length > 0 && wanted.every((name) => given.has(name));
  const conflict = hasKey && operation === 'upsert' ? conflictOf(table, given, wanted, policy) : undefined;
  const changesOnly = operation === 'update' || operation === 'delete';
  const prepared = (on: Conflict | 'any' | undefined): PreparedText => {
    const inputs = columns.map((column) => inputColumn(column, policy));
    return named(columns.length === 0 ? '' : statementText(operation, table, inputs, on, wanted));
  };
  const path = pathOf(table);
  // Only where the server is known to refuse equal keys may rows be tried without regard to them.
  const mayTry = !changesOnly && (conflict === undefined || isKeyOf(table, wanted));
  const inserted = columns.map(({ column }) => column);
  return {
    statement: prepared(conflict),
    copy: mayTry ? { target: copyTarget(table.name, inserted), path, refused: false } : undefined,
    firstTry: mayTry && conflict !== undefined ? { statement: prepared(undefined), path } : undefined,
    insertOnly: conflict && {
      statement: prepared(leavesOut(conflict) ? 'any' : undefined),
      lacking: `SELECT and UPDATE on table ${quoteTable(table.name)}`,
      isNeeded: false,
    },
    columns,
    key: hasKey ? wanted.map((name) => columns.find(({ column }) => column.name === name)?.index ?? 0) : [],
    unknown,
    computed,
    required: changesOnly ? undefined : table.columns.find((column) => mustBeGiven(column) && !given.has(column.name)),
    keyLacks:
      policy.insertMode === undefined || operation === 'insert' ? undefined : wanted.find((name) => !given.has(name)),
    countsAffected: operation === 'update' || conflict?.rule === 'discard',
  };
}

function isKeyOf({ key }: CatalogueTable, names: readonly string[]): boolean {
  return key.length === names.length && names.every((name) => key.includes(name));
}

function statementText(
  operation: 'insert' | 'upsert' | 'update' | 'delete',
  table: CatalogueTable,
  columns: readonly InsertColumn[],
  conflict: Conflict | 'any' | undefined,
  key: readonly string[],
): string {
  switch (operation) {
    case 'insert':
    case 'upsert':
      return insertStatement(table.name, columns, conflict);
    case 'update':
      return updateStatement(table.name, columns, key);
    case 'delete':
      return deleteStatement(table.name, columns, key);
  }
}

/** Named by its text: equal statements of any plan share what the server prepared. */
function named(text: string): PreparedText {
  return { name: `sluice_${createHash('sha1').update(text).digest('hex')}`, text };
}

/** Where a column of a batch is stored: by name; the time column also finds that of the table under another name. */
export function columnFor<Column extends { readonly name: string; readonly role: ColumnRole }>(
  table: { readonly columns: readonly Column[] },
  batch: BatchColumns,
  wanted: BatchColumns[number],
): Column | undefined {
  const named = table.columns.find((column) => column.name === wanted.name);
  if (named !== undefined || wanted.role !== 'time') return named;
  const time = table.columns.find((column) => column.role === 'time');
  return time === undefined || batch.some((column) => column.name === time.name) ? undefined : time;
}

type Rules = PlanRequest['policy'];

function targetOf(column: CatalogueColumn, rules: Rules): ColumnTarget {
  return {
    family: column.family,
    typeOid: column.typeOid,
    precision: column.precision,
    maxLength: column.maxLength,
    acceptsNull: column.nullable || nullDefault(column, rules) !== undefined,
    isArray: column.isArray,
    binary: !column.isDomain && !column.isArray,
  };
}

/**
 * Rows of one batch may have different columns: a cell missing in a NOT NULL column with a default gets the default, as
 * it would in a batch of its own. Not for `merge`, where the default would replace what is stored, nor where rows say
 * themselves which columns they have.
 */
function nullDefault(column: CatalogueColumn, { dedupRule, insertMode }: Rules): string | undefined {
  const isMissing = !column.nullable && dedupRule !== 'merge' && insertMode === undefined;
  return isMissing ? column.defaultExpression : undefined;
}

function inputColumn({ column }: PlannedColumn, rules: Rules): InsertColumn {
  return {
    name: column.name,
    baseType: column.baseType,
    operatorSchema: column.operatorSchema,
    isArray: column.isArray,
    nullDefault: nullDefault(column, rules),
  };
}

function conflictOf(
  table: CatalogueTable,
  given: ReadonlySet<string>,
  key: readonly string[],
  { dedupRule, insertMode }: Rules,
): Conflict {
  const writable = table.columns.filter((column) => !column.generated && !key.includes(column.name));
  const replacesRow = dedupRule !== 'merge' && insertMode === undefined;
  const others = replacesRow ? writable : writable.filter((column) => given.has(column.name));
  return { rule: dedupRule, key, others: others.map((column) => column.name) };
}

function mustBeGiven(column: CatalogueColumn): boolean {
  return !column.nullable && !column.hasDefault && !column.generated;
}
