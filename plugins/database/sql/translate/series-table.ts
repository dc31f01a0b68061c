import type { ColumnRole, TableName } from '../../../../src/data/row-batch.ts';
import type { ColumnShape } from '../../../../src/data/table-shape.ts';
import { createTableStatements } from '../create-table.ts';
import { hypertableStatements } from '../hypertable.ts';
import { columnMark } from '../mark.ts';
import { quoteIdentifier, quoteLiteral, quoteTable } from '../quote.ts';
import { nameOf } from '../token-text.ts';
import { tableOfParts, type TokenReader } from '../token-reader.ts';
import { type IgnoredClause, readComment, readIgnoredClause } from './clauses.ts';
import { readSeriesType } from './column-types.ts';
import { Refused, run, type RunTranslation, type TranslationContext } from './translation.ts';

interface Definition {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly default: string | undefined;
  readonly comment: string | undefined;
}

/** Returns true if a `CREATE TABLE` is the original database's `(…) TAGS (…)`. Does not move the reader. */
export function isSeriesTable(reader: TokenReader): boolean {
  const start = reader.position;
  reader.takeWords('CREATE', 'TABLE');
  reader.takeWords('IF', 'NOT', 'EXISTS');
  const isTable = reader.takeNameParts() !== undefined && reader.skipParentheses();
  const hasTags = isTable && /^(?:TAGS|ATTRIBUTES)$/.test(reader.keyword() ?? '') && reader.isSign('(', 1);
  reader.position = start;
  return hasTags;
}

/**
 * Translates `CREATE TABLE [IF NOT EXISTS] t (time, data …) TAGS (…) PRIMARY TAGS (…) [clauses]`. The first column
 * becomes a timestamptz and, with the primary tags, the primary key; tags are marked (create-table.ts). Types keep the
 * original database's precision, up to microseconds, but VARCHAR(n) counts characters and is unlimited without n.
 * Retention, partition, encoding and similar clauses are ignored, each with a notice. Throws Refused for syntax errors
 * and other invalid definitions.
 */
export function translateSeriesTable(reader: TokenReader, context: TranslationContext): RunTranslation {
  reader.takeWords('CREATE', 'TABLE');
  const ifNotExists = reader.takeWords('IF', 'NOT', 'EXISTS');
  const table = readTable(reader, context);
  const notices: string[] = [];
  const columns = readDefinitions(reader, notices);
  reader.takeOneOf('TAGS', 'ATTRIBUTES');
  const tags = readDefinitions(reader, notices);
  const primary = readPrimaryTags(reader);
  const comment = readClauses(reader, notices);
  const shapes = [...shapesOf(columns, dataRole), ...shapesOf(tags, tagRole(primary))];
  refuseUnknownPrimary(primary, tags);
  const statements = [
    ...createTableStatements(table, { columns: shapes, exact: true }),
    ...[...columns, ...tags].flatMap((definition) => defaultStatement(table, definition)),
    ...hypertableStatements(table, columns[0]?.name, { hypertables: context.hypertables }),
    ...shapes.flatMap((shape, index) => commentStatement(table, shape, [...columns, ...tags][index]?.comment)),
  ];
  if (comment !== undefined) statements.push(`COMMENT ON TABLE ${quoteTable(table)} IS ${quoteLiteral(comment)}`);
  return run(statements, { transaction: true, notices, doneOn: ifNotExists ? '42P07' : undefined });
}

function readTable(reader: TokenReader, context: TranslationContext): TableName {
  const parts = reader.takeNameParts() ?? [];
  const table = tableOfParts(parts, context.database);
  if (table === undefined) throw otherDatabase(parts[0] ?? '');
  return table;
}

/**
 * Returns the error for a table in another database. The original database can access such tables, PostgreSQL cannot.
 */
export function otherDatabase(database: string): Refused {
  return new Refused(
    `a statement can only access the current database: write USE ${quoteIdentifier(database)} before it, or the db parameter`,
    '3D000',
  );
}

function readDefinitions(reader: TokenReader, notices: string[]): Definition[] {
  const definitions: Definition[] = [];
  if (!reader.takeSign('(')) throw unexpected(reader, '"("');
  do definitions.push(readDefinition(reader, notices));
  while (reader.takeSign(','));
  if (!reader.takeSign(')')) throw unexpected(reader, '"," or ")"');
  return definitions;
}

/** `name type [NOT NULL | NULL | DEFAULT value | COMMENT 'text' | encodings] …` */
function readDefinition(reader: TokenReader, notices: string[]): Definition {
  const name = reader.takeName();
  if (name === undefined) throw unexpected(reader, 'the name of a column');
  const type = readSeriesType(reader);
  if (type === undefined) throw unexpected(reader, `the type of column "${name}"`);
  if (type.notice !== undefined) notices.push(`column "${name}": ${type.notice}`);
  let nullable = true;
  let defaultValue: string | undefined;
  let comment: string | undefined;
  for (;;) {
    if (reader.takeWords('NOT', 'NULL')) nullable = false;
    else if (reader.takeWords('NULL')) nullable = true;
    else if (reader.takeWords('DEFAULT')) defaultValue = readDefault(reader);
    else {
      const found = readComment(reader);
      if (found !== undefined) comment = found;
      else if (!ignore(reader, `column "${name}"`, notices)) break;
    }
  }
  if (!reader.isSign(',') && !reader.isSign(')')) throw unexpected(reader, `"," or ")" after column "${name}"`);
  return { name, type: type.name, nullable, default: defaultValue, comment };
}

/**
 * Reads up to the next clause, comma or closing parenthesis outside parentheses. If the default is only a quoted name,
 * it is text.
 */
function readDefault(reader: TokenReader): string {
  const start = reader.position;
  const quoted = reader.current?.kind === 'quoted' ? nameOf(reader.text, reader.current) : undefined;
  do {
    if (reader.atEnd || reader.isSign(',') || reader.isSign(')')) throw unexpected(reader, 'a default value');
    if (!reader.skipParentheses()) reader.position += 1;
  } while (
    !reader.atEnd &&
    !reader.isSign(',') &&
    !reader.isSign(')') &&
    !reader.isWords('NOT', 'NULL') &&
    !/^(?:NULL|COMMENT|DICT|ENCODE|COMPRESS)$/.test(reader.keyword() ?? '')
  );
  const isText = quoted !== undefined && reader.position === start + 1;
  return isText ? quoteLiteral(quoted) : reader.sourceBetween(start, reader.position);
}

function readPrimaryTags(reader: TokenReader): readonly string[] {
  if (!reader.takeWords('PRIMARY', 'TAGS') && !reader.takeWords('PRIMARY', 'ATTRIBUTES')) {
    throw unexpected(reader, 'PRIMARY TAGS (…), which every time-series table has');
  }
  const names: string[] = [];
  if (!reader.takeSign('(')) throw unexpected(reader, '"("');
  do {
    const name = reader.takeName();
    if (name === undefined) throw unexpected(reader, 'the name of a primary tag');
    names.push(name);
  } while (reader.takeSign(','));
  if (!reader.takeSign(')')) throw unexpected(reader, '"," or ")"');
  return names;
}

/** Returns the table's comment; adds a notice for each other clause. */
function readClauses(reader: TokenReader, notices: string[]): string | undefined {
  let comment: string | undefined;
  while (!reader.atEnd) {
    const found = readComment(reader);
    if (found !== undefined) comment = found;
    else if (!ignore(reader, 'the table', notices)) throw unexpected(reader, 'the end of the statement');
  }
  return comment;
}

function ignore(reader: TokenReader, owner: string, notices: string[]): boolean {
  const clause: IgnoredClause | undefined = readIgnoredClause(reader);
  if (clause === undefined) return false;
  notices.push(`${clause.written} of ${owner} is ignored: ${clause.reason}`);
  return true;
}

const dataRole = (_: Definition, index: number): ColumnRole => (index === 0 ? 'time' : 'data');

function tagRole(primary: readonly string[]): (definition: Definition) => ColumnRole {
  return ({ name }) => (primary.includes(name) ? 'primary-tag' : 'tag');
}

function shapesOf(
  definitions: readonly Definition[],
  role: (definition: Definition, index: number) => ColumnRole,
): ColumnShape[] {
  return definitions.map((definition, index) => {
    const { name, type, nullable } = definition;
    const shape = { name, type, nullable, length: undefined, role: role(definition, index) };
    if (shape.role === 'time' && !type.startsWith('TIMESTAMP')) {
      throw new Refused(
        `the first column of a time-series table must be TIMESTAMP or TIMESTAMPTZ, not ${type}`,
        '42P16',
      );
    }
    return shape;
  });
}

function refuseUnknownPrimary(primary: readonly string[], tags: readonly Definition[]): void {
  for (const name of primary) {
    if (!tags.some((tag) => tag.name === name))
      throw new Refused(`primary tag "${name}" is not among the TAGS`, '42703');
  }
}

function defaultStatement(table: TableName, definition: Definition): string[] {
  if (definition.default === undefined) return [];
  return [
    `ALTER TABLE ${quoteTable(table)} ALTER COLUMN ${quoteIdentifier(definition.name)} SET DEFAULT ${definition.default}`,
  ];
}

/** Returns the statement that sets a column comment: the mark, followed by the user's comment. */
function commentStatement(table: TableName, shape: ColumnShape, comment: string | undefined): string[] {
  if (comment === undefined) return [];
  const mark = columnMark(shape.role);
  const text = mark === undefined ? comment : `${mark} ${comment}`;
  return [`COMMENT ON COLUMN ${quoteTable(table)}.${quoteIdentifier(shape.name)} IS ${quoteLiteral(text)}`];
}

/** Returns a syntax error in PostgreSQL's wording, with what was expected. */
export function unexpected(reader: TokenReader, expected: string): Refused {
  const at = reader.atEnd ? 'at end of input' : `at or near "${reader.source().slice(0, 100)}"`;
  return new Refused(`syntax error ${at}: expected ${expected}`, '42601');
}
