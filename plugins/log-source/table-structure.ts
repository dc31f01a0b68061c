import { quoteIdentifier, quoteLiteral, quoteTable, type ChangeKind } from '../database/index.ts';

/** A table as the event triggers describe it (`ddl-triggers.ts`). */
export interface TableStructure {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly StructureColumn[];
  /** The primary key: the name of its constraint and the numbers of its columns. */
  readonly key: { readonly name: string; readonly columns: readonly number[] } | null;
}

export interface StructureColumn {
  /** `pg_attribute.attnum`, which stays the same when the column is renamed. */
  readonly number: number;
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  /** `pg_attribute.attgenerated`: empty, `s` (stored) or `v` (virtual). */
  readonly generated: string;
  readonly identity: boolean;
  /** SQL of the default, or of the expression of a generated column. */
  readonly default: string | null;
  /** The value in rows that existed when the column was added, as text. */
  readonly missing: string | null;
}

export interface SchemaStatement {
  readonly kind: Extract<ChangeKind, 'create' | 'alter' | 'drop'>;
  readonly sql: string;
}

const INTEGERS: ReadonlySet<string> = new Set(['smallint', 'integer', 'bigint']);

/**
 * Returns the statements that change a table from one structure to the other. Each statement has only one action. If it is repeated, it
 * has no effect, or fails with an error which shows that it was already applied.
 */
export function schemaStatements(
  before: TableStructure | null,
  after: TableStructure | null,
): readonly SchemaStatement[] {
  if (after === null) {
    return before === null ? [] : [{ kind: 'drop', sql: `DROP TABLE IF EXISTS ${quoteTable(before)}` }];
  }
  return before === null ? createStatements(after) : alterStatements(before, after);
}

function createStatements(table: TableStructure): readonly SchemaStatement[] {
  const elements = table.columns.map((column) => `${quoteIdentifier(column.name)} ${definition(column)}`);
  if (table.key !== null) elements.push(keyClause(table));
  const sql = `CREATE TABLE IF NOT EXISTS ${quoteTable(table)} (${elements.join(', ')})`;
  return [...schemaOf(table), { kind: 'create', sql }];
}

function schemaOf({ schema }: TableStructure): readonly SchemaStatement[] {
  if (schema === 'public') return [];
  return [{ kind: 'create', sql: `CREATE SCHEMA IF NOT EXISTS ${quoteIdentifier(schema)}` }];
}

function alterStatements(before: TableStructure, after: TableStructure): readonly SchemaStatement[] {
  const table = quoteTable(after);
  const alter = (action: string): SchemaStatement => ({ kind: 'alter', sql: `ALTER TABLE ${table} ${action}` });
  const statements: SchemaStatement[] = [...moveStatements(before, after)];
  const isKeyChanged = keyText(before) !== keyText(after);
  if (isKeyChanged && before.key !== null) {
    statements.push(alter(`DROP CONSTRAINT IF EXISTS ${quoteIdentifier(before.key.name)}`));
  } else if (before.key !== null && after.key !== null && before.key.name !== after.key.name) {
    const names = [before.key.name, after.key.name].map(quoteIdentifier);
    statements.push(alter(`RENAME CONSTRAINT ${names.join(' TO ')}`));
  }
  const kept = new Map(after.columns.map((column) => [column.number, column]));
  for (const old of before.columns) {
    if (!kept.has(old.number)) statements.push(alter(`DROP COLUMN IF EXISTS ${quoteIdentifier(old.name)}`));
  }
  const known = new Map(before.columns.map((column) => [column.number, column]));
  for (const column of after.columns) {
    const old = known.get(column.number);
    const actions = old === undefined ? addActions(column) : changeActions(old, column);
    statements.push(...actions.map(alter));
  }
  if (isKeyChanged && after.key !== null) statements.push(alter(`ADD ${keyClause(after)}`));
  return statements;
}

/** Statements that move or rename the table. They have no effect if it already has its new name. */
function moveStatements(before: TableStructure, after: TableStructure): readonly SchemaStatement[] {
  const statements: SchemaStatement[] = [];
  if (before.schema !== after.schema) {
    const sql = `ALTER TABLE IF EXISTS ${quoteTable(before)} SET SCHEMA ${quoteIdentifier(after.schema)}`;
    statements.push(...schemaOf(after), { kind: 'alter', sql });
  }
  if (before.name !== after.name) {
    const old = quoteTable({ schema: after.schema, name: before.name });
    statements.push({ kind: 'alter', sql: `ALTER TABLE IF EXISTS ${old} RENAME TO ${quoteIdentifier(after.name)}` });
  }
  return statements;
}

/** Adds a column. Existing rows get the value that they have in the source, because the default may yield another value in the target. */
function addActions(column: StructureColumn): readonly string[] {
  const name = quoteIdentifier(column.name);
  const add = `ADD COLUMN IF NOT EXISTS ${name}`;
  if (column.missing === null || column.default === null) return [`${add} ${definition(column)}`];
  const first = { ...column, default: quoteLiteral(column.missing) };
  return [`${add} ${definition(first)}`, `ALTER COLUMN ${name} SET DEFAULT ${column.default}`];
}

function changeActions(old: StructureColumn, column: StructureColumn): readonly string[] {
  const name = quoteIdentifier(column.name);
  const change = `ALTER COLUMN ${name}`;
  const actions: string[] = [];
  if (old.name !== column.name) actions.push(`RENAME COLUMN ${quoteIdentifier(old.name)} TO ${name}`);
  const isPlain = old.generated === '' && column.generated === '';
  const hasNewDefault = isPlain && old.default !== column.default;
  // The old default is dropped first, because it may not fit the new type.
  if (hasNewDefault && old.default !== null) actions.push(`${change} DROP DEFAULT`);
  if (old.type !== column.type) {
    const using = isPlain ? ` USING ${name}::${column.type}` : '';
    actions.push(`${change} TYPE ${column.type}${using}`);
  }
  if (old.generated !== '' && column.generated === '') actions.push(`${change} DROP EXPRESSION IF EXISTS`);
  if (isIdentity(old) && !isIdentity(column)) actions.push(`${change} DROP IDENTITY IF EXISTS`);
  if (hasNewDefault && column.default !== null) actions.push(`${change} SET DEFAULT ${column.default}`);
  if (old.required !== column.required) actions.push(`${change} ${column.required ? 'SET' : 'DROP'} NOT NULL`);
  if (!isIdentity(old) && isIdentity(column)) actions.push(`${change} ADD GENERATED BY DEFAULT AS IDENTITY`);
  return actions;
}

/** The SQL of a column. Identity columns are BY DEFAULT, because records contain their values. */
function definition(column: StructureColumn): string {
  const parts = [column.type];
  if (column.generated !== '') {
    parts.push(`GENERATED ALWAYS AS (${column.default ?? ''}) ${column.generated === 's' ? 'STORED' : 'VIRTUAL'}`);
  } else if (isIdentity(column)) {
    parts.push('GENERATED BY DEFAULT AS IDENTITY');
  } else if (column.default !== null) {
    parts.push(`DEFAULT ${column.default}`);
  }
  if (column.required) parts.push('NOT NULL');
  return parts.join(' ');
}

function isIdentity({ identity, type, generated }: StructureColumn): boolean {
  return identity && generated === '' && INTEGERS.has(type);
}

function keyText({ key }: TableStructure): string {
  return JSON.stringify(key?.columns ?? null);
}

function keyClause({ key, columns }: TableStructure): string {
  const names = (key?.columns ?? []).map((number) => columns.find((column) => column.number === number)?.name ?? '');
  return `CONSTRAINT ${quoteIdentifier(key?.name ?? '')} PRIMARY KEY (${names.map(quoteIdentifier).join(', ')})`;
}
