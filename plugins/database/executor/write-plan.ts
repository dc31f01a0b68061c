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
  type KeptColumn,
  skipsExisting,
  updateStatement,
} from '../sql/insert.ts';
import { quoteTable } from '../sql/quote.ts';
import type { WritePolicy } from './api.ts';
import type { CatalogueColumn, CatalogueTable } from './catalogue-query.ts';
import { OptimisticPath } from './optimistic-path.ts';

/** A column of a batch and the column of the table that stores it. */
export interface PlannedColumn {
  /** Index in the batch. */
  readonly index: number;
  readonly column: CatalogueColumn;
  readonly target: ColumnTarget;
}

/** How batches with the same columns are written to a table; cached by table, columns, policy and operation. */
export interface WritePlan {
  readonly statement: PreparedText;
  /**
   * COPY, which is fastest as long as none of the keys is stored yet; `undefined` if a plain insert would not have the
   * right effect.
   */
  readonly copy: CopyPlan | undefined;
  /**
   * A plain INSERT, tried first as long as none of the keys is stored yet; `undefined` if it would not have the right
   * effect, or if `statement` itself is the plain INSERT.
   */
  readonly plainInsert: { readonly statement: PreparedText; readonly path: OptimisticPath } | undefined;
  /** Replaces `statement` if the user has only the privilege INSERT; `undefined` if there is no such statement. */
  readonly insertOnly: InsertOnlyPlan | undefined;
  /** True if `statement` has a conflict clause. */
  readonly upserts: boolean;
  readonly columns: readonly PlannedColumn[];
  /** Batch indexes of the key columns, in key order; empty if rows are not matched by key. */
  readonly key: readonly number[];
  /** Batch indexes of columns that the table does not have. */
  readonly unknown: readonly number[];
  /** Batch indexes of generated columns. */
  readonly computed: readonly number[];
  /** A column that requires a value but is not in the rows. */
  readonly required: CatalogueColumn | undefined;
  /** A column of the rows' own key that cannot be written: the table does not have it or computes it. */
  readonly missingKeyColumn: string | undefined;
  /**
   * True if the server's row count excludes the skipped rows: rows whose key is already stored or, with `update`, rows
   * whose key is not stored.
   */
  readonly countsAffected: boolean;
}

/** The rows to write with one plan. */
export interface PlanRequest {
  readonly policy: Pick<WritePolicy, 'dedupRule' | 'insertMode'>;
  readonly batch: { readonly columns: BatchColumns; readonly key?: RowBatch['key'] };
  /** `undefined` stores all columns. */
  readonly group: RowGroup | undefined;
}

export interface CopyPlan {
  readonly target: CopyTarget;
  readonly path: OptimisticPath;
  /** Set after the server refused COPY into this table (a view, row-level security, missing privileges). */
  refused: boolean;
}

export interface InsertOnlyPlan {
  readonly statement: PreparedText;
  /** The privileges beyond INSERT that replacing a stored row requires. */
  readonly privileges: string;
  /** Set after the server refused `statement` of the plan for missing privileges. */
  isNeeded: boolean;
}

export interface PreparedText {
  readonly name: string;
  readonly text: string;
}

type BatchColumns = readonly Pick<ColumnCells, 'name' | 'role'>[];

/** A table usually has few plans. The limit bounds the memory if the sets of columns keep changing. */
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
    if (group?.unchanged?.has(name) === true) signature += `unchanged\0${name}`;
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
  const missing = changesOnly ? [] : table.columns.filter((column) => isRequired(column) && !given.has(column.name));
  const kept = conflict === undefined ? [] : keptColumns(table, given, group);
  const prepared = (on: Conflict | 'any' | undefined): PreparedText => {
    const parts = { table, columns: columns.map((column) => inputColumn(column, policy)), conflict: on };
    return named(columns.length === 0 ? '' : statementText(operation, { ...parts, key: wanted, kept }));
  };
  const path = pathOf(table);
  // A plain INSERT does not look for stored rows. If rows are matched by a key, it may be tried only if the server
  // rejects duplicates of that key, that is, if it is the table's own key.
  const mayTry = !changesOnly && kept.length === 0 && (conflict === undefined || isKeyOf(table, wanted));
  const inserted = columns.map(({ column }) => column);
  return {
    statement: prepared(conflict),
    copy: mayTry ? { target: copyTarget(table.name, inserted), path, refused: false } : undefined,
    plainInsert: mayTry && conflict !== undefined ? { statement: prepared(undefined), path } : undefined,
    insertOnly:
      conflict === undefined || kept.length > 0
        ? undefined
        : {
            statement: prepared(skipsExisting(conflict) ? 'any' : undefined),
            privileges: `SELECT and UPDATE on table ${quoteTable(table.name)}`,
            isNeeded: false,
          },
    upserts: conflict !== undefined,
    columns,
    key: hasKey ? wanted.map((name) => columns.find(({ column }) => column.name === name)?.index ?? 0) : [],
    unknown,
    computed,
    required: missing.find(({ name }) => !kept.some((column) => column.name === name)),
    missingKeyColumn:
      policy.insertMode === undefined || operation === 'insert' ? undefined : wanted.find((name) => !given.has(name)),
    countsAffected: operation === 'update' || conflict?.rule === 'discard',
  };
}

/**
 * Returns the columns that the rows leave unchanged. For rows that are not stored yet, a NOT NULL column has its
 * default.
 */
function keptColumns(table: CatalogueTable, given: ReadonlySet<string>, group: RowGroup | undefined): KeptColumn[] {
  const { unchanged } = group ?? {};
  if (unchanged === undefined) return [];
  return table.columns
    .filter(({ name, generated }) => unchanged.has(name) && !given.has(name) && !generated)
    .map(({ name, nullable, defaultExpression }) => ({ name, nullDefault: nullable ? undefined : defaultExpression }));
}

function isKeyOf({ key }: CatalogueTable, names: readonly string[]): boolean {
  return key.length === names.length && names.every((name) => key.includes(name));
}

interface StatementParts {
  readonly table: CatalogueTable;
  readonly columns: readonly InsertColumn[];
  readonly conflict: Conflict | 'any' | undefined;
  readonly key: readonly string[];
  readonly kept: readonly KeptColumn[];
}

function statementText(
  operation: 'insert' | 'upsert' | 'update' | 'delete',
  { table, columns, conflict, key, kept }: StatementParts,
): string {
  switch (operation) {
    case 'insert':
    case 'upsert':
      return insertStatement(table.name, columns, conflict, kept);
    case 'update':
      return updateStatement(table.name, columns, key);
    case 'delete':
      return deleteStatement(table.name, columns, key);
  }
}

/** Names the statement after a hash of its text, so that equal statements share a prepared statement. */
function named(text: string): PreparedText {
  return { name: `sluice_${createHash('sha1').update(text).digest('hex')}`, text };
}

/**
 * Finds the table column for a batch column by name. A time column also matches the time column of the table if the
 * names differ.
 */
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
 * Rows of a batch may have different columns. A missing cell in a NOT NULL column with a default gets the default, as
 * if the row were written alone. Exceptions are `merge`, where the default would replace the stored value, and rows
 * with their own schema.
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

function isRequired(column: CatalogueColumn): boolean {
  return !column.nullable && !column.hasDefault && !column.generated;
}
