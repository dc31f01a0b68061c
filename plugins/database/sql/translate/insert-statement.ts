import { Scanner } from '../lexer.ts';
import { quoteIdentifier, quoteTable } from '../quote.ts';
import { StepMeter, type Steps } from '../steps.ts';
import { type InsertHead, readInsertHead, resolveTable } from './insert-head.ts';
import { insertRows, joinedRows, type RowRules } from './insert-rows.ts';
import { definitionOrder, isTimeSeries, type KnownColumn, type KnownTable, Refused, run } from './translation.ts';
import type { RunTranslation, TranslationContext } from './translation.ts';

/**
 * Translates the original database's INSERT and UPSERT: integer timestamps and double-quoted text in VALUES, a missing
 * column list for a time-series table (the values are then in definition order), `database.table` for the current
 * database, and UPSERT, which becomes INSERT … ON CONFLICT (key). Anything else is left unchanged. Throws Refused for
 * integers out of a timestamp's range, and for UPSERT with ON CONFLICT.
 */
export function* translateInsert(text: string, context: TranslationContext): Steps<RunTranslation> {
  const scanner = new Scanner(text);
  const head = readInsertHead(scanner);
  yield undefined;
  if (head === undefined) return run([text]);
  const target = resolveTable(head.parts, context);
  const body = yield* readBody(scanner, head, target.table, false);
  if (body === undefined) return run([text]);
  const clause = head.verb === 'UPSERT' ? upsertClause(head, target.table) : '';
  if (clause !== '' && body.hasConflictClause)
    throw new Refused('UPSERT does not accept ON CONFLICT: write INSERT', '42601');
  const isChanged = head.verb === 'UPSERT' || body.isEdited || target.renamed !== undefined;
  return run([isChanged ? statementOf(text, head, target, body, clause) : text], { rights: rightsFor(head, body) });
}

/**
 * Returns the privileges that the statement needs; `undefined` if it may need others, because a query supplies its rows
 * or a clause follows them.
 */
function rightsFor({ verb, source }: InsertHead, { tail }: Body): string | undefined {
  if (source !== 'VALUES' || tail !== '') return undefined;
  return verb === 'UPSERT' ? 'UPSERT needs INSERT, SELECT and UPDATE' : 'INSERT needs the privilege INSERT';
}

/**
 * Translates an INSERT into a time-series table that failed on a duplicate key (23505), applying the original
 * database's rule for such rows; of several rows in the statement with the same key, the last one wins. Returns
 * `undefined` for other statements and tables.
 */
export function* translateDuplicate(text: string, context: TranslationContext): Steps<RunTranslation | undefined> {
  const scanner = new Scanner(text);
  const head = readInsertHead(scanner);
  yield undefined;
  if (head?.verb !== 'INSERT') return undefined;
  const target = resolveTable(head.parts, context);
  const { table } = target;
  if (table === undefined || !isTimeSeries(table) || table.key.length === 0) return undefined;
  const body = yield* readBody(scanner, head, table, true);
  if (body === undefined || body.hasConflictClause) return undefined;
  const statement = statementOf(text, head, target, body, seriesConflictClause(table));
  return run([statement], { rights: STORED_ROW_RIGHTS });
}

export const STORED_ROW_RIGHTS =
  'a row with the same key is stored already, and to replace it the user needs INSERT, SELECT and UPDATE';

/** Returns the ON CONFLICT clause for a time-series table. */
export function seriesConflictClause({ columns, key }: KnownTable): string {
  return conflictClause(
    key,
    columns.filter((column) => column.generated !== true && !key.includes(column.name)),
  );
}

interface Body {
  /** The translated rows, or the query that supplies them. */
  readonly rows: string;
  /** Clauses after the rows: ON CONFLICT, RETURNING. */
  readonly tail: string;
  readonly hasConflictClause: boolean;
  readonly isEdited: boolean;
  /** The columns in the order of the values, if the statement has no column list. */
  readonly columns: readonly string[] | undefined;
}

function* readBody(
  scanner: Scanner,
  head: InsertHead,
  table: KnownTable | undefined,
  lastWins: boolean,
): Steps<Body | undefined> {
  if (head.source !== 'VALUES') return yield* readOtherBody(scanner);
  const order = table === undefined ? [] : definitionOrder(table);
  const columns = head.columns?.map((name) => table?.columns.find((column) => column.name === name)) ?? order;
  const targets = columns.map((column) => column ?? UNKNOWN_COLUMN);
  const keyIndexes = lastWins
    ? table?.key.map((name) => targets.findIndex((column) => column.name === name))
    : undefined;
  // The columns are listed even if their order is that of the table. If the table has changed since, the statement
  // fails instead of mixing up columns.
  const isListed = head.columns === undefined && table !== undefined && isTimeSeries(table);
  const read = yield* readRows(scanner, { columns: targets, keyIndexes });
  if (read === undefined) return undefined;
  const names = isListed ? order.slice(0, read.cellCount).map((column) => column.name) : undefined;
  const isEdited = read.isEdited || isListed;
  return { rows: `VALUES ${read.rows}`, isEdited, columns: names, ...readTail(scanner) };
}

const UNKNOWN_COLUMN: KnownColumn = { name: '', type: '', role: 'data' };

interface Rows {
  readonly rows: string;
  readonly cellCount: number;
  readonly isEdited: boolean;
}

function* readRows(scanner: Scanner, rules: RowRules): Steps<Rows | undefined> {
  const rows: string[] = [];
  const byKey = new Map<string, number>();
  let cellCount = 0;
  let isEdited = false;
  const reading = insertRows(scanner, rules);
  for (;;) {
    const step = reading.next();
    if (step.done === true) return step.value ? { rows: yield* joinedRows(rows), cellCount, isEdited } : undefined;
    if (step.value === undefined) {
      yield undefined;
      continue;
    }
    const { key, text } = step.value;
    isEdited ||= step.value.isEdited;
    cellCount = Math.max(cellCount, step.value.cellCount);
    const earlier = key === undefined ? undefined : byKey.get(key);
    if (earlier !== undefined) {
      rows[earlier] = text;
      continue;
    }
    if (key !== undefined) byKey.set(key, rows.length);
    rows.push(text);
  }
}

/** Reads the clauses after the rows, starting at the current token. */
function readTail(scanner: Scanner): Pick<Body, 'tail' | 'hasConflictClause'> {
  const { text, start } = scanner;
  const tail = text.slice(start);
  return { tail: tail === '' ? '' : ` ${tail}`, hasConflictClause: /^on\b/i.test(tail) };
}

/** Reads a query or DEFAULT VALUES, up to ON CONFLICT or RETURNING outside parentheses. */
function* readOtherBody(scanner: Scanner): Steps<Body | undefined> {
  const { text, start } = scanner;
  const body = { isEdited: false, columns: undefined };
  let depth = 0;
  let rowsEnd = scanner.end;
  let onStart: number | undefined;
  const meter = new StepMeter(scanner.end);
  while (scanner.next()) {
    if (meter.isOver(scanner.end)) yield undefined;
    if (scanner.unterminated) return undefined;
    const { kind, start: at, end } = scanner;
    const sign = kind === 'punctuation' ? text.charAt(at) : '';
    if (sign === '(') depth += 1;
    else if (sign === ')') depth -= 1;
    const word = depth === 0 && kind === 'word' && end - at <= 9 ? text.slice(at, end).toUpperCase() : '';
    const hasConflictClause = word === 'CONFLICT' && onStart !== undefined;
    if (hasConflictClause || word === 'RETURNING') {
      const tailStart = hasConflictClause ? (onStart ?? at) : at;
      return { ...body, rows: text.slice(start, tailStart), tail: ` ${text.slice(tailStart)}`, hasConflictClause };
    }
    onStart = word === 'ON' ? at : undefined;
    rowsEnd = end;
  }
  return { ...body, rows: text.slice(start, rowsEnd), tail: '', hasConflictClause: false };
}

function statementOf(
  text: string,
  head: InsertHead,
  target: ReturnType<typeof resolveTable>,
  body: Body,
  clause: string,
): string {
  const name = target.renamed === undefined ? text.slice(head.nameStart, head.nameEnd) : quoteTable(target.renamed);
  const columns = body.columns === undefined ? '' : ` (${body.columns.map(quoteIdentifier).join(', ')})`;
  const verb = head.verb === 'UPSERT' ? 'INSERT' : text.slice(0, head.verbEnd);
  return (
    `${verb}${text.slice(head.verbEnd, head.nameStart)}${name}${text.slice(head.nameEnd, head.columnsAt)}${columns}` +
    `${text.slice(head.columnsAt, head.sourceStart)}${body.rows}${clause}${body.tail}`
  );
}

/**
 * Returns the conflict clause of an UPSERT, which updates the listed columns or, without a column list, all columns
 * that are not generated. For a table without a key, an UPSERT is a plain INSERT.
 */
function upsertClause(head: InsertHead, table: KnownTable | undefined): string {
  if (table === undefined || table.key.length === 0) return '';
  const named = (column: KnownColumn): boolean => head.columns?.includes(column.name) ?? column.generated !== true;
  const others = table.columns.filter((column) => named(column) && !table.key.includes(column.name));
  return conflictClause(table.key, others);
}

function conflictClause(key: readonly string[], others: readonly KnownColumn[]): string {
  const target = ` ON CONFLICT (${key.map(quoteIdentifier).join(', ')})`;
  if (others.length === 0) return `${target} DO NOTHING`;
  const assignments = others.map(({ name }) => `${quoteIdentifier(name)} = EXCLUDED.${quoteIdentifier(name)}`);
  return `${target} DO UPDATE SET ${assignments.join(', ')}`;
}
