import type { TableName } from '../../../../src/data/row-batch.ts';
import type { TokenReader } from '../token-reader.ts';
import { otherDatabase } from './series-table.ts';
import * as sql from './show-sql.ts';
import { isTag, Refused, run } from './translation.ts';
import type { RunTranslation, Translation, TranslationContext } from './translation.ts';

/**
 * Translates the original database's SHOW statements to catalogue queries. The results have the columns of the original
 * database's manual. Returns `undefined` for PostgreSQL's own SHOW. Throws Refused for the tag values of a table that
 * is in another database or has no tags, and for names of more than three parts.
 */
export function translateShow(reader: TokenReader, context: TranslationContext): Translation | undefined {
  reader.takeWords('SHOW');
  const setting = clusterSetting(reader);
  if (setting !== undefined) return setting;
  return showLists(reader, context) ?? showOfTable(reader, context) ?? showCreate(reader, context);
}

/** `SHOW CLUSTER SETTING name | ALL`, `SHOW [ALL | PUBLIC] CLUSTER SETTINGS` */
function clusterSetting(reader: TokenReader): Translation | undefined {
  const start = reader.position;
  const all = reader.takeOneOf('ALL', 'PUBLIC') !== undefined;
  if (reader.takeWords('CLUSTER', 'SETTINGS') && reader.atEnd) return { kind: 'show-cluster-setting', name: undefined };
  if (!all && reader.takeWords('CLUSTER', 'SETTING')) {
    const name = reader.takeNameParts()?.join('.').toLowerCase();
    if (name !== undefined && reader.atEnd) {
      return { kind: 'show-cluster-setting', name: name === 'all' ? undefined : name };
    }
  }
  reader.position = start;
  return undefined;
}

function showLists(reader: TokenReader, context: TranslationContext): Translation | undefined {
  const start = reader.position;
  const what = reader.takeOneOf('DATABASES', 'TABLES', 'SEQUENCES', 'SCHEMAS', 'USERS', 'ROLES', 'DATABASE');
  const parts = what !== undefined && reader.takeWords('FROM') ? reader.takeNameParts() : undefined;
  const withComment = reader.takeWords('WITH', 'COMMENT');
  if (what === undefined || !reader.atEnd) {
    reader.position = start;
    return undefined;
  }
  const { database, schema } = resolveSchema(parts, context);
  switch (what) {
    case 'DATABASES':
      return run([sql.showDatabases(withComment)]);
    case 'DATABASE':
      return run(['SELECT pg_catalog.current_database() AS database']);
    case 'TABLES':
      return run([sql.showTables(schema, withComment)], { database });
    case 'SEQUENCES':
      return run([sql.showSequences(schema)], { database });
    case 'SCHEMAS':
      return run([sql.showSchemas()], { database });
    default:
      return run([sql.showUsers()]);
  }
}

/**
 * Schemas that exist in every database. An unqualified name is that of one of these schemas, or else that of a
 * database.
 */
const COMMON_SCHEMAS: ReadonlySet<string> = new Set(['public', 'information_schema', 'pg_catalog']);

/** Resolves `database`, `database.schema` or a common schema; `database` is `undefined` for the current one. */
function resolveSchema(
  parts: readonly string[] | undefined,
  context: TranslationContext,
): { readonly database: string | undefined; readonly schema: string | undefined } {
  const [first, second] = parts ?? [];
  if (first === undefined) return { database: undefined, schema: undefined };
  if (second === undefined && COMMON_SCHEMAS.has(first)) return { database: undefined, schema: first };
  return { database: first === context.database ? undefined : first, schema: second };
}

interface TableReference {
  readonly table: TableName;
  /** The database, if it is not the current one. */
  readonly database: string | undefined;
}

/**
 * Resolves `table`, `schema.table`, `database.table` or `database.schema.table`. Of two parts, the first is a schema if
 * it contains such a table, and otherwise a database, as in the original database.
 */
function resolveTable(parts: readonly string[], context: TranslationContext): TableReference {
  const [first = '', second, third] = parts;
  const database = first === context.database ? undefined : first;
  if (second === undefined) return { table: { name: first }, database: undefined };
  if (third !== undefined) {
    if (parts.length > 3) throw otherDatabase(first);
    return { table: { schema: second, name: third }, database };
  }
  const inSchema = { schema: first, name: second };
  return context.table(inSchema) === undefined
    ? { table: { name: second }, database }
    : { table: inSchema, database: undefined };
}

function showOfTable(reader: TokenReader, context: TranslationContext): RunTranslation | undefined {
  const start = reader.position;
  const what = reader.takeWords('TAG', 'VALUES')
    ? 'TAG VALUES'
    : reader.takeOneOf('COLUMNS', 'TAGS', 'ATTRIBUTES', 'INDEX', 'INDEXES', 'KEYS', 'CONSTRAINT', 'CONSTRAINTS');
  const parts = what !== undefined && reader.takeWords('FROM') ? reader.takeNameParts() : undefined;
  const withComment = reader.takeWords('WITH', 'COMMENT');
  if (parts === undefined || !reader.atEnd) {
    reader.position = start;
    return undefined;
  }
  const reference = resolveTable(parts, context);
  return run([tableQuery(what ?? '', reference, withComment, context)], { database: reference.database });
}

function tableQuery(
  what: string,
  { table, database }: TableReference,
  withComment: boolean,
  context: TranslationContext,
): string {
  switch (what) {
    case 'COLUMNS':
      return sql.showColumns(table, withComment);
    case 'TAGS':
    case 'ATTRIBUTES':
      return sql.showTags(table);
    case 'TAG VALUES': {
      if (database !== undefined) throw otherDatabase(database);
      const known = context.table(table);
      const tags = known?.columns.filter(isTag).map((column) => column.name) ?? [];
      if (known !== undefined && tags.length === 0) throw new Refused(`table "${table.name}" has no tags`, '42809');
      return tags.length === 0 ? sql.showTags(table) : sql.showTagValues(table, tags);
    }
    case 'CONSTRAINT':
    case 'CONSTRAINTS':
      return sql.showConstraints(table);
    default:
      return sql.showIndexes(table);
  }
}

/** `SHOW CREATE [TABLE | VIEW] t`, `SHOW CREATE DATABASE x` */
function showCreate(reader: TokenReader, context: TranslationContext): RunTranslation | undefined {
  if (!reader.takeWords('CREATE')) return undefined;
  const isAlone = reader.position + 1 === reader.tokens.length || reader.isSign('.', 1);
  const what = isAlone ? undefined : reader.takeOneOf('TABLE', 'VIEW', 'DATABASE');
  const parts = reader.takeNameParts();
  if (parts === undefined || !reader.atEnd) return undefined;
  if (what === 'DATABASE') return run([sql.showCreateDatabase(parts.join('.'))]);
  const { table, database } = resolveTable(parts, context);
  return run([sql.showCreateTable(table)], { database });
}
