import type { TokenReader } from '../token-reader.ts';
import { nameOf } from '../token-text.ts';
import { candidateTables, resolveTable } from './insert-head.ts';
import type { KnownColumn, KnownTable, TranslationContext } from './translation.ts';

/** A table that a statement reads or changes, and the name under which its columns are reached. */
export interface Relation {
  readonly parts: readonly string[];
  readonly alias: string;
}

/** A statement of one level: its relations and the tokens in which conditions and assignments stand. */
export interface FlatStatement {
  readonly relations: readonly Relation[];
  /** Index of the first token behind the first table's name. */
  readonly bodyStart: number;
}

/** Words that end a table's entry in a list of tables, so that they are no alias. */
const NO_ALIAS =
  /^(?:WHERE|GROUP|HAVING|ORDER|LIMIT|OFFSET|FETCH|FOR|WINDOW|JOIN|INNER|LEFT|RIGHT|FULL|CROSS|NATURAL|ON|USING|SET|RETURNING|TABLESAMPLE|UNION|INTERSECT|EXCEPT)$/;

/**
 * Reads `SELECT … FROM …`, `UPDATE …` and `DELETE FROM …` over named tables. `undefined` for statements with queries
 * inside, set operations, functions as tables: which column a name means is not decided for those.
 */
export function readFlatStatement(reader: TokenReader): FlatStatement | undefined {
  if (hasQueryInside(reader)) return undefined;
  switch (reader.takeOneOf('SELECT', 'UPDATE', 'DELETE')) {
    case 'SELECT':
      return readFrom(reader, []);
    case 'DELETE':
      return reader.isWords('FROM') ? readFrom(reader, ['USING']) : undefined;
    case 'UPDATE': {
      const target = readRelation(reader);
      if (target === undefined || !reader.isWords('SET')) return undefined;
      const bodyStart = reader.position;
      if (!skipToWord(reader, 'FROM')) return { relations: [target], bodyStart };
      const others = readFrom(reader, []);
      return others === undefined ? undefined : { relations: [target, ...others.relations], bodyStart };
    }
    default:
      return undefined;
  }
}

function hasQueryInside(reader: TokenReader): boolean {
  for (let index = 1; index < reader.tokens.length; index++) {
    const token = reader.tokens[index];
    if (token?.kind !== 'word' || token.end - token.start > 9) continue;
    if (/^(?:SELECT|VALUES|WITH|UNION|INTERSECT|EXCEPT|LATERAL)$/i.test(reader.source(token))) {
      if (!isBehindDot(reader, index)) return true;
    }
  }
  return false;
}

function isBehindDot(reader: TokenReader, index: number): boolean {
  return reader.source(reader.tokens[index - 1]) === '.';
}

/** The tables behind the next FROM outside parentheses, and behind `more` (DELETE's USING). */
function readFrom(reader: TokenReader, more: readonly string[]): FlatStatement | undefined {
  if (!skipToWord(reader, 'FROM')) return undefined;
  const relations: Relation[] = [];
  let bodyStart: number | undefined;
  for (;;) {
    reader.position += 1;
    reader.takeWords('ONLY');
    const relation = readRelation(reader);
    if (relation === undefined) return undefined;
    relations.push(relation);
    bodyStart ??= reader.position;
    if (reader.isSign(',') || more.some((word) => reader.isWords(word))) continue;
    if (!skipToJoin(reader)) return { relations, bodyStart };
  }
}

/** To a word outside parentheses. */
function skipToWord(reader: TokenReader, word: string): boolean {
  while (!reader.atEnd) {
    if (reader.isWords(word)) return true;
    if (!reader.skipParentheses()) reader.position += 1;
  }
  return false;
}

/** To the next JOIN, or comma of the list of tables, before the list ends. */
function skipToJoin(reader: TokenReader): boolean {
  while (
    !reader.atEnd &&
    !/^(?:WHERE|GROUP|HAVING|ORDER|LIMIT|OFFSET|FETCH|FOR|WINDOW|RETURNING)$/.test(reader.keyword() ?? '')
  ) {
    if (reader.isWords('JOIN') || reader.isSign(',')) return true;
    if (!reader.skipParentheses()) reader.position += 1;
  }
  return false;
}

/** `a.b [AS] alias`; `undefined` for functions and parentheses. */
function readRelation(reader: TokenReader): Relation | undefined {
  reader.takeWords('ONLY');
  const parts = reader.takeNameParts();
  if (parts === undefined || reader.isSign('(')) return undefined;
  reader.takeSign('*');
  const hasAs = reader.takeWords('AS');
  const mayBeAlias = hasAs || !NO_ALIAS.test(reader.keyword() ?? '');
  const alias = mayBeAlias ? reader.takeName() : undefined;
  return { parts, alias: alias ?? parts.at(-1) ?? '' };
}

/** The known tables of a flat statement, and what its names mean. */
export class Scope {
  readonly #tables: { readonly alias: string; readonly table: KnownTable }[] = [];
  readonly #names = new Set<string>();

  /** `undefined` when a table is not known: a name could then be a column of it. */
  static of(statement: FlatStatement, context: TranslationContext): Scope | undefined {
    const scope = new Scope();
    for (const { parts, alias } of statement.relations) {
      const { table } = resolveTable(parts, context);
      if (table === undefined) return undefined;
      scope.#tables.push({ alias, table });
      scope.#names.add(alias);
    }
    return scope;
  }

  /** The column that a name of one or more parts means; `undefined` when none or several have it. */
  column(parts: readonly string[]): KnownColumn | undefined {
    const name = parts.at(-1);
    const alias = parts.at(-2);
    const found = this.#tables
      .filter((entry) => alias === undefined || entry.alias === alias)
      .flatMap(({ table }) => table.columns.filter((column) => column.name === name));
    return found.length === 1 ? found[0] : undefined;
  }

  /** Whether a name alone means something here: a column, or a whole row. */
  knows(name: string): boolean {
    return (
      this.#names.has(name) || this.#tables.some(({ table }) => table.columns.some((column) => column.name === name))
    );
  }
}

/** Names under which the catalogue must be asked for the tables of a flat statement. */
export function relationNames(statement: FlatStatement, database: string): ReturnType<typeof candidateTables> {
  return statement.relations.flatMap(({ parts }) => candidateTables(parts, database));
}

/** The name parts that end at token `index`, and where they begin. */
export function namePartsEndingAt(reader: TokenReader, index: number): { parts: string[]; start: number } | undefined {
  const parts: string[] = [];
  let position = index;
  for (;;) {
    const part = nameOf(reader.text, reader.tokens[position]);
    if (part === undefined) return undefined;
    parts.unshift(part);
    if (reader.source(reader.tokens[position - 1]) !== '.') return { parts, start: position };
    position -= 2;
  }
}
