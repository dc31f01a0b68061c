import type { TokenReader } from '../token-reader.ts';
import { type Columns, type Scope, UNKNOWN_COLUMNS } from './scope.ts';

type Output = Columns['list'][number];

/**
 * Determines the output columns of a SELECT list between two tokens: columns under their own or another name, `*`, and
 * min and max of a column, which keep its type. For other expressions, only an alias after AS is known.
 */
export function readOutputs(
  reader: TokenReader,
  start: number,
  end: number,
  scope: Scope,
  after: (index: number) => number,
): Columns {
  const list: Output[] = [];
  let isComplete = true;
  for (let position = itemsStart(reader, start, after); position < end;) {
    let itemEnd = position;
    while (itemEnd < end && !isSignAt(reader, itemEnd, ',')) itemEnd = after(itemEnd);
    const item = readItem(reader, position, Math.min(itemEnd, end), scope);
    list.push(...item.list);
    isComplete &&= item.isComplete;
    position = itemEnd + 1;
  }
  return { list, isComplete };
}

function itemsStart(reader: TokenReader, start: number, after: (index: number) => number): number {
  reader.position = start;
  if (reader.takeWords('ALL') || !reader.takeWords('DISTINCT')) return reader.position;
  return reader.takeWords('ON') ? after(reader.position) : reader.position;
}

function readItem(reader: TokenReader, start: number, end: number, scope: Scope): Columns {
  reader.position = start;
  if (reader.takeSign('*') && reader.position === end) return scope.all();
  if (isSignAt(reader, end - 1, '*') && isSignAt(reader, end - 2, '.')) {
    reader.position = end - 3;
    return scope.all(reader.takeName());
  }
  const { column, name } = readColumn(reader, start, end, scope);
  const next = reader.position;
  if (next === end && name !== undefined) return { list: [{ name, column }], isComplete: true };
  reader.position = next;
  const hasAs = reader.takeWords('AS');
  const alias = reader.takeName();
  if (name !== undefined && alias !== undefined && reader.position === end)
    return { list: [{ name: alias, column }], isComplete: true };
  reader.position = end - 2;
  const last = !hasAs && reader.takeWords('AS') ? reader.takeName() : undefined;
  return last === undefined ? UNKNOWN_COLUMNS : { list: [{ name: last, column: undefined }], isComplete: true };
}

/** Reads a column, or its min or max, at the start of an item and leaves the reader after it. */
function readColumn(reader: TokenReader, start: number, end: number, scope: Scope) {
  reader.position = start;
  const extreme = /^(?:MIN|MAX)$/.test(reader.keyword() ?? '') && reader.isSign('(', 1) ? reader.takeName() : undefined;
  if (extreme !== undefined) reader.takeSign('(');
  const parts = reader.takeNameParts();
  const isWhole = parts !== undefined && (extreme === undefined || reader.takeSign(')')) && reader.position <= end;
  if (!isWhole || reader.isSign('(')) return { name: undefined, column: undefined };
  return { name: extreme ?? parts.at(-1), column: scope.column(parts) };
}

function isSignAt(reader: TokenReader, index: number, sign: string): boolean {
  const token = reader.tokens[index];
  return (token?.kind === 'punctuation' || token?.kind === 'operator') && reader.source(token) === sign;
}
