import { Scanner } from '../lexer.ts';
import { StepMeter, type Steps } from '../steps.ts';
import { readInsertHead, resolveTable } from './insert-head.ts';
import { seriesConflictClause, STORED_ROW_RIGHTS } from './insert-statement.ts';
import { insertRows, joinedRows } from './insert-rows.ts';
import { isTimeSeries, type KnownColumn, run, type RunTranslation, type TranslationContext } from './translation.ts';

/**
 * Translates an INSERT from `translateDuplicate` (insert-statement.ts) that failed because two of its rows have the
 * same key (21000) in different notation: times as number and as text, or times that the column rounds to the same
 * value. The database compares the keys after casting the cells to the column types. The last row wins. Returns
 * `undefined` for other statements, and if a cell is DEFAULT.
 */
export function* translateRepeatedKeys(text: string, context: TranslationContext): Steps<RunTranslation | undefined> {
  const scanner = new Scanner(text);
  const head = readInsertHead(scanner);
  yield undefined;
  if (head?.verb !== 'INSERT' || head.source !== 'VALUES' || head.columns === undefined) return undefined;
  const { table } = resolveTable(head.parts, context);
  if (table === undefined || !isTimeSeries(table)) return undefined;
  const columns = head.columns.map((name) => table.columns.find((column) => column.name === name));
  const key = table.key.map((name) => columns.findIndex((column) => column?.name === name));
  const known = columns.filter((column) => column !== undefined);
  if (known.length < columns.length || key.length === 0 || key.includes(-1)) return undefined;
  const rows = yield* typedRows(scanner, known);
  const tail = text.slice(scanner.start);
  if (rows === undefined || !tail.startsWith(seriesConflictClause(table).trim())) return undefined;
  const cells = known.map((_, index) => `c${String(index + 1)}`);
  const keyCells = key.map((index) => cells[index] ?? '').join(', ');
  const input = `(VALUES ${rows}) AS input(${cells.join(', ')}, n)`;
  const chosen = `${cells.join(', ')} FROM (SELECT DISTINCT ON (${keyCells}) * FROM ${input} ORDER BY ${keyCells}, n DESC) AS last`;
  return run([`${text.slice(0, head.sourceStart)}SELECT ${chosen} ${tail}`], { rights: STORED_ROW_RIGHTS });
}

/**
 * Reads the rows with their cells cast to the column types and the row number appended; leaves the scanner after them.
 */
function* typedRows(scanner: Scanner, columns: readonly KnownColumn[]): Steps<string | undefined> {
  const casts = columns.map(castOf);
  const rows: string[] = [];
  const reading = insertRows(scanner, { columns: [] });
  for (;;) {
    const step = reading.next();
    if (step.done === true) return step.value ? yield* joinedRows(rows) : undefined;
    if (step.value === undefined) {
      yield undefined;
      continue;
    }
    yield undefined;
    const cells = yield* cellsOf(step.value.text, columns.length);
    if (cells?.length !== columns.length || cells.some((cell) => /^default$/i.test(cell))) return undefined;
    rows.push(
      `(${cells.map((cell, index) => `(${cell})${casts[index] ?? ''}`).join(', ')}, ${String(rows.length + 1)})`,
    );
  }
}

/**
 * Returns a cast that makes keys comparable. It does not truncate text, so the column still rejects text that is too
 * long.
 */
function castOf({ type }: KnownColumn): string {
  if (type.startsWith('bit')) return '';
  return `::${type.startsWith('character') ? 'text' : type}`;
}

/** Splits the cells of `(…, …)`; returns `undefined` if there are more than `max`. */
function* cellsOf(row: string, max: number): Steps<string[] | undefined> {
  const cells: string[] = [];
  const scanner = new Scanner(row);
  const meter = new StepMeter(0);
  let depth = 0;
  let start = 1;
  while (scanner.next()) {
    if (meter.isOver(scanner.end)) yield undefined;
    const sign = scanner.kind === 'punctuation' ? row.charAt(scanner.start) : '';
    if (sign === '(' || sign === '[') depth += 1;
    else if (sign === ')' || sign === ']') depth -= 1;
    if (depth > 1 || (depth === 1 && sign !== ',') || (depth === 0 && sign !== ')')) continue;
    if (cells.length === max) return undefined;
    cells.push(row.slice(start, scanner.start).trim());
    start = scanner.end;
  }
  return cells;
}
