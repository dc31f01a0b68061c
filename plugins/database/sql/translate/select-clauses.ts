import type { TokenReader } from '../token-reader.ts';

const CLAUSES = /^(?:SELECT|FROM|WHERE|GROUP|HAVING|WINDOW|ORDER|LIMIT|OFFSET|FETCH|FOR|UNION|INTERSECT|EXCEPT|WITH)$/;

/** For each token of a statement, the enclosing parenthesis and clause. */
export interface Surroundings {
  /** By token: the enclosing opening parenthesis, or -1. */
  readonly around: Int32Array;
  /** By opening parenthesis: the closing one, or the number of tokens. */
  readonly closing: Int32Array;
  /** By token: 1 if it is in a SELECT list, outside nested parentheses. */
  readonly isInList: Uint8Array;
}

export function surroundings(reader: TokenReader): Surroundings {
  const { length } = reader.tokens;
  const around = new Int32Array(length).fill(-1);
  const closing = new Int32Array(length).fill(length);
  const isInList = new Uint8Array(length);
  const open: number[] = [];
  const clauses: string[] = [''];
  for (let index = 0; index < length; index++) {
    const token = reader.tokens[index];
    const sign = token?.kind === 'punctuation' ? reader.source(token) : '';
    if (sign === ')' && open.length > 0) {
      closing[open.pop() ?? 0] = index;
      clauses.pop();
    }
    around[index] = open.at(-1) ?? -1;
    isInList[index] = clauses.at(-1) === 'SELECT' ? 1 : 0;
    if (sign === '(') {
      open.push(index);
      clauses.push('');
      continue;
    }
    const word = token?.kind === 'word' && token.end - token.start <= 9 ? reader.source(token).toUpperCase() : '';
    const isName = index > 0 && reader.source(reader.tokens[index - 1]) === '.';
    if (!isName && CLAUSES.test(word)) clauses[clauses.length - 1] = word;
  }
  return { around, closing, isInList };
}

/** Returns true if the tokens from `start` to `end` (exclusive) are an output column without an alias. */
export function isUnnamedItem(reader: TokenReader, { isInList }: Surroundings, start: number, end: number): boolean {
  if (isInList[start] !== 1) return false;
  const before = reader.tokens[start - 1];
  const after = reader.tokens[end];
  const begins = /^(?:select|all|distinct|,)$/i.test(reader.source(before));
  return (
    begins && (after === undefined || /^(?:,|\)|;|from|where|group|order|limit|union)$/i.test(reader.source(after)))
  );
}

/**
 * Returns the arguments in a pair of parentheses, each as the index of its first token and of the token after its last
 * one.
 */
export function argumentsOf(reader: TokenReader, { closing }: Surroundings, open: number): [number, number][] {
  const close = closing[open] ?? reader.tokens.length;
  if (open + 1 >= close) return [];
  const found: [number, number][] = [];
  let start = open + 1;
  for (let index = start; index < close; index++) {
    const token = reader.tokens[index];
    const sign = token?.kind === 'punctuation' ? reader.source(token) : '';
    if (sign === '(') index = closing[index] ?? close;
    else if (sign === ',') {
      found.push([start, index]);
      start = index + 1;
    }
  }
  found.push([start, close]);
  return found;
}
