import type { TableName } from '../../../../src/data/row-batch.ts';
import type { Scanner } from '../lexer.ts';
import type { Token } from '../lexer.ts';
import { TokenReader } from '../token-reader.ts';
import type { KnownTable, TranslationContext } from './translation.ts';

/** The part of an INSERT before its rows: `INSERT INTO table [AS alias] [(columns)] [OVERRIDING …]`. */
export interface InsertHead {
  readonly verb: 'INSERT' | 'UPSERT';
  readonly verbEnd: number;
  /** Parts of the table name as written, outermost first. */
  readonly parts: readonly string[];
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly columns: readonly string[] | undefined;
  readonly columnsAt: number;
  /** `VALUES`, or the first keyword of the query that supplies the rows. */
  readonly source: string;
  readonly sourceStart: number;
}

/** A table has at most 1600 columns, so a longer head does not belong to an INSERT to translate. */
const MAX_HEAD_TOKENS = 5_000;

/**
 * Reads the head of an INSERT; returns `undefined` for other statements. Leaves the scanner after VALUES, or at the
 * start of any other source of rows.
 */
export function readInsertHead(scanner: Scanner): InsertHead | undefined {
  const reader = new TokenReader(scanner.text, headTokens(scanner));
  const verb = reader.takeOneOf('INSERT', 'UPSERT');
  if (verb !== 'INSERT' && verb !== 'UPSERT') return undefined;
  const verbEnd = endBefore(reader);
  if (!reader.takeWords('INTO')) return undefined;
  const nameStart = reader.current?.start;
  const parts = reader.takeNameParts();
  if (parts === undefined || nameStart === undefined) return undefined;
  const nameEnd = endBefore(reader);
  if (reader.takeWords('AS')) reader.takeName();
  const columnsAt = endBefore(reader);
  const columns = readColumnList(reader);
  if (columns === 'other') return undefined;
  if (reader.takeWords('OVERRIDING')) reader.position += 2;
  const source = reader.keyword() ?? reader.source();
  if (reader.position !== reader.tokens.length - 1) return undefined;
  const sourceStart = reader.current?.start ?? columnsAt;
  return { verb, verbEnd, parts, nameStart, nameEnd, columns, columnsAt, source, sourceStart };
}

/** Collects the tokens up to and including the first keyword at depth 0 that starts the rows. */
function headTokens(scanner: Scanner): Token[] {
  const tokens: Token[] = [];
  let depth = 0;
  while (tokens.length < MAX_HEAD_TOKENS && scanner.next()) {
    const { kind, start, end, unterminated, text } = scanner;
    tokens.push({ kind, start, end, unterminated });
    const sign = kind === 'punctuation' ? text.charAt(start) : '';
    if (sign === '(') depth += 1;
    else if (sign === ')') depth -= 1;
    const isWord = kind === 'word' && end - start <= 7 && tokens.length > 3;
    if (depth === 0 && isWord && /^(?:VALUES|SELECT|WITH|TABLE|DEFAULT)$/i.test(text.slice(start, end))) break;
  }
  return tokens;
}

function endBefore(reader: TokenReader): number {
  return reader.tokens[reader.position - 1]?.end ?? 0;
}

/** Returns `other` if the parentheses contain anything but plain names, such as a query or subscripts. */
function readColumnList(reader: TokenReader): readonly string[] | undefined | 'other' {
  if (!reader.takeSign('(')) return undefined;
  const columns: string[] = [];
  do {
    const name = reader.takeName();
    if (name === undefined) return 'other';
    columns.push(name);
  } while (reader.takeSign(','));
  return reader.takeSign(')') ? columns : 'other';
}

/**
 * Resolves the name of a table. `renamed` is set for `database.table` if it refers to a table of the current database,
 * and not to one in a schema of the same name as the database.
 */
export function resolveTable(
  parts: readonly string[],
  context: TranslationContext,
): { readonly table: KnownTable | undefined; readonly renamed: TableName | undefined } {
  const [first = '', second, third] = parts;
  if (second === undefined) return { table: context.table({ name: first }), renamed: undefined };
  if (third !== undefined) {
    const isHere = parts.length === 3 && first === context.database;
    return { table: isHere ? context.table({ schema: second, name: third }) : undefined, renamed: undefined };
  }
  const table = context.table({ schema: first, name: second });
  if (table !== undefined || first !== context.database) return { table, renamed: undefined };
  const plain = { name: second };
  const here = context.table(plain);
  return { table: here, renamed: here === undefined ? undefined : plain };
}

/** Returns the names that `resolveTable` looks up. */
export function candidateTables(parts: readonly string[], database: string): readonly TableName[] {
  const [first, second, third] = parts;
  if (first === undefined) return [];
  if (second === undefined) return [{ name: first }];
  if (third !== undefined) return parts.length === 3 && first === database ? [{ schema: second, name: third }] : [];
  const qualified = { schema: first, name: second };
  return first === database ? [qualified, { name: second }] : [qualified];
}
