import { quoteIdentifier, quoteTable } from '../quote.ts';
import { TokenReader } from '../token-reader.ts';
import { nameOf } from '../token-text.ts';
import { replaceTypeNames } from './column-types.ts';
import { argumentsOf, surroundings } from './select-clauses.ts';
import { run, type RunTranslation } from './translation.ts';

const DUPLICATE_TABLE = '42P07';

/** `INDEX [name] (…) [STORING (…)]` in a table definition. */
interface Index {
  readonly isUnique: boolean;
  readonly name: string | undefined;
  /** The column list, including its parentheses. */
  readonly columns: string;
  readonly stored: string | undefined;
}

/**
 * Translates a CREATE TABLE that PostgreSQL rejected: `INDEX (…)` becomes a separate statement, and `FAMILY f (…)`, a
 * storage hint, is removed. Returns `undefined` for other statements.
 */
export function translateTableElements(reader: TokenReader): RunTranslation | undefined {
  reader.position = 0;
  if (!reader.takeWords('CREATE', 'TABLE')) return undefined;
  const nameStart = reader.position;
  const ifNotExists = reader.takeWords('IF', 'NOT', 'EXISTS');
  const parts = reader.takeNameParts();
  if (parts === undefined || !reader.isSign('(')) return undefined;
  const open = reader.position;
  const around = surroundings(reader);
  const kept: string[] = [];
  const indexes: Index[] = [];
  const notices: string[] = [];
  const table = parts.map(quoteIdentifier).join('.');
  for (const [start, end] of argumentsOf(reader, around, open)) {
    const index = readIndex(reader, start, end);
    if (index !== undefined) indexes.push(index);
    else if (isFamily(reader, start, end))
      notices.push(`${reader.sourceBetween(start, end)} is ignored: PostgreSQL has no column families`);
    else kept.push(reader.sourceBetween(start, end));
  }
  if (indexes.length + notices.length === 0) return undefined;
  const tail = reader.sourceBetween(around.closing[open] ?? 0, reader.tokens.length);
  const create = `CREATE TABLE ${ifNotExists ? table : reader.sourceBetween(nameStart, open)} (${kept.join(', ')}${tail}`;
  const statements = [
    replaceTypeNames(new TokenReader(create)) ?? create,
    ...indexes.map((index) => indexStatement(table, index)),
  ];
  return run(statements, { notices, doneOn: ifNotExists ? DUPLICATE_TABLE : undefined });
}

function indexStatement(table: string, { isUnique, name, columns, stored }: Index): string {
  const named = name === undefined ? '' : ` ${quoteTable({ name })}`;
  const included = stored === undefined ? '' : ` INCLUDE ${stored}`;
  return `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX${named} ON ${table} ${columns}${included}`;
}

function readIndex(reader: TokenReader, start: number, end: number): Index | undefined {
  reader.position = start;
  const isUnique = reader.takeWords('UNIQUE');
  if (!reader.takeWords('INDEX')) return undefined;
  const name = reader.takeName();
  const columns = takeNames(reader, end);
  if (columns === undefined) return undefined;
  const stored = reader.takeOneOf('STORING', 'COVERING', 'INCLUDE') === undefined ? undefined : takeNames(reader, end);
  return reader.position === end ? { isUnique, name, columns, stored } : undefined;
}

function isFamily(reader: TokenReader, start: number, end: number): boolean {
  reader.position = start;
  if (!reader.takeWords('FAMILY')) return false;
  if (!reader.isSign('(')) reader.takeName();
  return takeNames(reader, end) !== undefined && reader.position === end;
}

/**
 * Takes the names in parentheses, each with an optional ASC or DESC. Returns `undefined` for other content: `index` in
 * `index varchar(10)` is the name of a column.
 */
function takeNames(reader: TokenReader, end: number): string | undefined {
  const start = reader.position;
  if (!reader.takeSign('(')) return undefined;
  do {
    if (nameOf(reader.text, reader.current) === undefined) return undefined;
    reader.position += 1;
    reader.takeOneOf('ASC', 'DESC');
  } while (reader.takeSign(','));
  return reader.takeSign(')') && reader.position <= end ? reader.sourceBetween(start, reader.position) : undefined;
}
