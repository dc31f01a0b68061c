import type { Cell, CellKind } from '../../../src/data/row-batch.ts';
import { cellToText } from './cell-text.ts';
import { type ColumnTarget, NULL_REFUSED, Refusal, type Refuse, type TypeFamily } from './column-type.ts';

const NEEDS_QUOTES: ReadonlySet<TypeFamily> = new Set([
  'text',
  'bytes',
  'timestamptz',
  'timestamp',
  'date',
  'json',
  'other',
]);

/** Characters that need escaping in double quotes or cannot be stored: quotes, backslashes, NUL and surrogates. */
const SUSPECT = /["\\\0\ud800-\udfff]/;
const LONE_SURROGATE = /\p{Surrogate}/u;

const NUL_REFUSED = new Refusal('22021', 'the text contains a NUL character, which PostgreSQL cannot store');
const SURROGATE_REFUSED = new Refusal('22021', 'the text contains an unpaired surrogate, which UTF-8 cannot represent');

/**
 * Encodes the cells of the given rows as one PostgreSQL array literal, `{1,NULL,"a b"}`. `refuse` is called for each
 * cell that does not fit the column; the literal then contains NULL in its place and must not be sent.
 */
export function arrayLiteral(
  cells: readonly Cell[],
  kind: CellKind,
  rows: Int32Array,
  target: ColumnTarget,
  refuse: Refuse,
): string {
  const toText = cellToText(kind, target);
  const quoted = NEEDS_QUOTES.has(target.family);
  let literal = '';
  for (const row of rows) {
    const cell = cells[row] ?? null;
    if (cell === null) {
      if (!target.acceptsNull) refuse(row, NULL_REFUSED);
      literal += ',NULL';
      continue;
    }
    const converted = toText(cell);
    const text = quoted && typeof converted === 'string' ? quoteElement(converted, target) : converted;
    if (typeof text === 'string') {
      literal += `,${text}`;
    } else {
      refuse(row, text);
      literal += ',NULL';
    }
  }
  return literal.length === 0 ? '{}' : `{${literal.slice(1)}}`;
}

function quoteElement(text: string, { maxLength }: ColumnTarget): string | Refusal {
  // A UTF-16 unit is at most one character: only longer texts need counting.
  if (maxLength !== undefined && text.length > maxLength && isTooLong(text, maxLength)) {
    return new Refusal('22001', `the text has more than the ${String(maxLength)} characters that the column accepts`);
  }
  if (!SUSPECT.test(text)) return `"${text}"`;
  if (text.includes('\0')) return NUL_REFUSED;
  if (LONE_SURROGATE.test(text)) return SURROGATE_REFUSED;
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** As the SQL standard requires, the server truncates only blanks beyond the limit; anything else is an error. */
function isTooLong(text: string, maxLength: number): boolean {
  let position = 0;
  for (let count = 0; count < maxLength; count++) position += (text.codePointAt(position) ?? 0) > 0xffff ? 2 : 1;
  return /[^ ]/.test(text.slice(position));
}

/** Encodes texts as a `text[]` literal, without validation: the server rejects invalid ones. */
export function textArray(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}
