import type { TableName } from '../../../../src/data/row-batch.ts';
import { quoteLiteral } from '../quote.ts';
import type { TokenReader } from '../token-reader.ts';
import { integerText, nameOf } from '../token-text.ts';
import { candidateTables, resolveTable } from './insert-head.ts';
import { walkQueries } from './queries.ts';
import type { Scope } from './scope.ts';
import { timestampLiteral, timestampPrecision } from './timestamps.ts';
import type { KnownColumn, TranslationContext } from './translation.ts';

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A constant operand: an integer with its sign, or a quoted name. */
interface Operand {
  /** Index of the first token, and of the token after the last one. */
  readonly from: number;
  readonly to: number;
  readonly digits: string | undefined;
  readonly isNegative: boolean;
  readonly quoted: string | undefined;
}

const COMPARISONS: ReadonlySet<string> = new Set(['=', '<>', '!=', '<', '>', '<=', '>=']);

/**
 * Rewrites a SELECT, INSERT, UPDATE or DELETE that PostgreSQL rejected:
 * - integers that are compared with or assigned to timestamp columns become timestamps;
 * - quoted names that are not columns of a table become text constants if they are compared with or assigned to a
 *   column.
 *
 * Only constants next to known columns are rewritten (`column op constant`, `constant op column`, BETWEEN, IN and
 * LIKE), but at every level: in subqueries, common table expressions and the arms of UNION. An output column of a query
 * is known if it is a column of a table, or its min or max.
 *
 * Returns `undefined` if nothing changes. Throws Refused for integers out of range.
 */
export function translateConditions(reader: TokenReader, context: TranslationContext): string | undefined {
  const edits: Edit[] = [];
  walkQueries(reader, {
    table: (parts) => resolveTable(parts, context).table,
    token: (scope, index) => {
      const found = operandsAt(reader, scope, index);
      for (const operand of found?.operands ?? []) {
        const edit = found === undefined ? undefined : editOf(reader, scope, found.column, operand);
        if (edit !== undefined) edits.push(edit);
      }
    },
  });
  return edits.length === 0 ? undefined : applyEdits(reader.text, edits);
}

/** Returns the tables that `translateConditions` looks up. */
export function tablesOfConditions(reader: TokenReader, database: string): readonly TableName[] {
  const names = new Map<string, TableName>();
  walkQueries(reader, {
    table: (parts) => {
      for (const name of candidateTables(parts, database)) names.set(JSON.stringify([name.schema, name.name]), name);
      return undefined;
    },
    token: () => undefined,
  });
  return [...names.values()];
}

/** Returns the operands of a comparison, BETWEEN, IN or LIKE, if the other side is a known column. */
function operandsAt(
  reader: TokenReader,
  scope: Scope,
  index: number,
): { readonly column: KnownColumn; readonly operands: readonly Operand[] } | undefined {
  reader.position = index;
  const word = reader.keyword();
  const isComparison = reader.current?.kind === 'operator' && COMPARISONS.has(reader.source());
  if (!isComparison && !/^(?:BETWEEN|IN|LIKE|ILIKE)$/.test(word ?? '')) return undefined;
  const isNegated = word !== undefined && /^not$/i.test(reader.source(reader.tokens[index - 1]));
  const column = columnBefore(reader, scope, isNegated ? index - 2 : index - 1);
  if (column !== undefined) return { column, operands: operandsAfter(reader, index, word) };
  if (!isComparison) return undefined;
  const operand = operandBefore(reader, index);
  const after = columnAfter(reader, scope, index + 1);
  return operand === undefined || after === undefined ? undefined : { column: after, operands: [operand] };
}

function operandsAfter(reader: TokenReader, index: number, word: string | undefined): readonly Operand[] {
  reader.position = index + 1;
  if (word === 'BETWEEN') {
    reader.takeWords('SYMMETRIC');
    const low = takeOperand(reader);
    const high = low !== undefined && reader.takeWords('AND') ? takeOperand(reader) : undefined;
    return low === undefined ? [] : high === undefined ? [low] : [low, high];
  }
  if (word !== 'IN') {
    const operand = takeOperand(reader);
    return operand === undefined ? [] : [operand];
  }
  const operands: Operand[] = [];
  if (!reader.takeSign('(')) return operands;
  do {
    const operand = takeOperand(reader);
    if (operand !== undefined) operands.push(operand);
    else if (!reader.skipParentheses()) reader.position += 1;
  } while (reader.takeSign(','));
  return operands;
}

/** Takes a constant that is not part of an expression. */
function takeOperand(reader: TokenReader): Operand | undefined {
  const from = reader.position;
  const isNegative = reader.takeSign('-');
  if (!isNegative) reader.takeSign('+');
  const hasSign = reader.position > from;
  const token = reader.current;
  const digits = integerText(reader.text, token);
  const quoted = token?.kind === 'quoted' && !hasSign ? nameOf(reader.text, token) : undefined;
  reader.position += 1;
  if ((digits === undefined && quoted === undefined) || !endsOperand(reader)) {
    reader.position = from;
    return undefined;
  }
  return { from, to: reader.position, digits, isNegative, quoted };
}

function endsOperand(reader: TokenReader): boolean {
  const { current } = reader;
  if (current === undefined) return true;
  if (current.kind === 'word') return !reader.isWords('COLLATE') && !reader.isWords('AT');
  return current.kind === 'punctuation' && /^[),;]$/.test(reader.source());
}

function operandBefore(reader: TokenReader, index: number): Operand | undefined {
  const sign = reader.source(reader.tokens[index - 2]);
  const hasSign = (sign === '-' || sign === '+') && reader.tokens[index - 2]?.kind === 'operator';
  const from = hasSign ? index - 2 : index - 1;
  if (!beginsOperand(reader, from - 1)) return undefined;
  const token = reader.tokens[index - 1];
  const digits = integerText(reader.text, token);
  const quoted = token?.kind === 'quoted' && !hasSign ? nameOf(reader.text, token) : undefined;
  if (digits === undefined && quoted === undefined) return undefined;
  return { from, to: index, digits, isNegative: sign === '-' && hasSign, quoted };
}

/** Returns true if an operand may start after this token. */
function beginsOperand(reader: TokenReader, index: number): boolean {
  const token = reader.tokens[index];
  if (token?.kind === 'punctuation') return /^[(,]$/.test(reader.source(token));
  return (
    token?.kind === 'word' && /^(?:SELECT|WHERE|AND|OR|NOT|ON|SET|WHEN|THEN|ELSE|HAVING)$/i.test(reader.source(token))
  );
}

function columnBefore(reader: TokenReader, scope: Scope, index: number): KnownColumn | undefined {
  const isCall = isSignAt(reader, index, ')');
  const name = namePartsEndingAt(reader, isCall ? index - 1 : index);
  if (name === undefined) return undefined;
  const start = isCall ? name.start - 2 : name.start;
  if (isCall && !(isSignAt(reader, name.start - 1, '(') && isExtreme(reader, start))) return undefined;
  return beginsOperand(reader, start - 1) ? scope.column(name.parts) : undefined;
}

function columnAfter(reader: TokenReader, scope: Scope, index: number): KnownColumn | undefined {
  reader.position = index;
  const isCall = isExtreme(reader, index) && isSignAt(reader, index + 1, '(');
  if (isCall) reader.position = index + 2;
  const parts = reader.takeNameParts();
  const isWhole = parts !== undefined && (!isCall || reader.takeSign(')'));
  return isWhole && endsOperand(reader) ? scope.column(parts) : undefined;
}

/** Returns true for min and max; those of a timestamp are timestamps. */
function isExtreme(reader: TokenReader, index: number): boolean {
  const token = reader.tokens[index];
  return token?.kind === 'word' && /^(?:min|max)$/i.test(reader.source(token));
}

function isSignAt(reader: TokenReader, index: number, sign: string): boolean {
  const token = reader.tokens[index];
  return token?.kind === 'punctuation' && reader.source(token) === sign;
}

/** Returns the name that ends at token `index`, and the index of its first token. */
function namePartsEndingAt(reader: TokenReader, index: number): { parts: string[]; start: number } | undefined {
  const parts: string[] = [];
  let position = index;
  for (;;) {
    const part = nameOf(reader.text, reader.tokens[position]);
    if (part === undefined) return undefined;
    parts.push(part);
    if (reader.source(reader.tokens[position - 1]) !== '.') return { parts: parts.reverse(), start: position };
    position -= 2;
  }
}

function editOf(reader: TokenReader, scope: Scope, column: KnownColumn, operand: Operand): Edit | undefined {
  const start = reader.tokens[operand.from]?.start ?? 0;
  const end = reader.tokens[operand.to - 1]?.end ?? start;
  if (operand.digits !== undefined) {
    if (timestampPrecision(column) === undefined) return undefined;
    return { start, end, text: timestampLiteral(column, operand.digits, operand.isNegative) };
  }
  if (operand.quoted === undefined || scope.knows(operand.quoted)) return undefined;
  return { start, end, text: quoteLiteral(operand.quoted) };
}

function applyEdits(text: string, edits: readonly Edit[]): string {
  let result = '';
  let position = 0;
  for (const edit of [...edits].sort((left, right) => left.start - right.start)) {
    if (edit.start < position) continue;
    result += text.slice(position, edit.start) + edit.text;
    position = edit.end;
  }
  return result + text.slice(position);
}

/** Returns the names that follow `database.` in a statement, without checking whether they are tables. */
export function namesInDatabase(reader: TokenReader, database: string): readonly string[] {
  return prefixes(reader, database).map(({ name }) => name);
}

/**
 * Removes the qualifier `database.`, by which the original database's SQL may name the current database. Returns
 * `undefined` if no name has the qualifier, or if a schema of that name contains one of the tables.
 */
export function withoutDatabase(reader: TokenReader, context: TranslationContext): string | undefined {
  const found = prefixes(reader, context.database);
  const isSchema = found.some(({ name }) => context.table({ schema: context.database, name }) !== undefined);
  return isSchema || found.length === 0 ? undefined : applyEdits(reader.text, found);
}

function prefixes(reader: TokenReader, database: string): readonly (Edit & { readonly name: string })[] {
  const found: (Edit & { readonly name: string })[] = [];
  for (let index = 0; index + 2 < reader.tokens.length; index++) {
    const token = reader.tokens[index];
    const dot = reader.tokens[index + 1];
    if (token === undefined || dot === undefined || reader.source(dot) !== '.') continue;
    if (reader.source(reader.tokens[index - 1]) === '.' || nameOf(reader.text, token) !== database) continue;
    const name = nameOf(reader.text, reader.tokens[index + 2]);
    if (name !== undefined) found.push({ start: token.start, end: dot.end, text: '', name });
  }
  return found;
}
