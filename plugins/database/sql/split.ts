import { Scanner } from './lexer.ts';
import { StepMeter } from './steps.ts';

export interface Statement {
  /** Text from the first token or leading comment up to the semicolon, trimmed. */
  readonly text: string;
  /** Offset of `text` in the whole text, in UTF-16 units. */
  readonly offset: number;
  /**
   * True if the text ended inside a quote or comment. The server reports this error; the statement must not be
   * interpreted here.
   */
  readonly unterminated: boolean;
}

/**
 * Splits a text into statements lazily. Semicolons inside quotes, comments, `BEGIN ATOMIC … END` bodies and the
 * parentheses of CREATE RULE do not end a statement. Empty statements are skipped.
 */
export function* splitStatements(text: string): Generator<Statement, void, undefined> {
  for (const found of splitInSteps(text)) if (found !== undefined) yield found;
}

/** Like `splitStatements`, but yields `undefined` between steps so that a long text does not block the event loop. */
export function* splitInSteps(text: string): Generator<Statement | undefined, void, undefined> {
  const meter = new StepMeter(0);
  const scanner = new Scanner(text);
  const nesting = new Nesting(scanner);
  let pieceStart = 0;
  let isEmpty = true;
  let unterminated = false;
  while (scanner.next()) {
    if (meter.isOver(scanner.end)) yield undefined;
    if (nesting.isEnd()) {
      if (!isEmpty) yield statement(text, pieceStart, scanner.start, unterminated);
      pieceStart = scanner.end;
      isEmpty = true;
      nesting.reset();
      continue;
    }
    isEmpty = false;
    unterminated = scanner.unterminated;
    nesting.advance();
  }
  if (!isEmpty) yield statement(text, pieceStart, text.length, unterminated);
}

function statement(text: string, start: number, end: number, unterminated: boolean): Statement {
  let from = start;
  while (isBlank(text.charCodeAt(from))) from += 1;
  let to = end;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to -= 1;
  return { text: text.slice(from, to), offset: from, unterminated };
}

/**
 * Returns true for blanks according to SQL. `trim` is not used, because it also removes characters such as U+00A0,
 * which PostgreSQL treats as part of a name.
 */
function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

/** Words that may precede FUNCTION, PROCEDURE or RULE at the start of a statement. */
const LEADING_WORDS = /^(?:CREATE|OR|REPLACE)$/;

/**
 * Tracks constructs in which a semicolon does not end the statement:
 * start --CREATE [OR REPLACE] FUNCTION, PROCEDURE--> routine --BEGIN ATOMIC, outside parentheses--> body (depth 1)
 * start --CREATE [OR REPLACE] RULE--> rule; start --anything else--> plain
 * In a body, CASE increases the depth and its END decreases it. A semicolon resets the depth to 1, because a CASE that
 * is still open there was only a name. END at the start of a statement closes the body. CASE, END and BEGIN may also be
 * column and table names. A semicolon ends the statement except in a body and inside the parentheses of a rule. Inside
 * any other parentheses, a semicolon is a syntax error; ending the statement there leaves the following statements
 * intact.
 */
class Nesting {
  readonly #scanner: Scanner;
  #kind: 'start' | 'routine' | 'rule' | 'plain' = 'start';
  #bodyDepth = 0;
  #parentheses = 0;
  /**
   * The previous token: a word in upper case (empty if longer than 9 characters), or a punctuation character; empty for
   * any other token.
   */
  #previous = '';

  constructor(scanner: Scanner) {
    this.#scanner = scanner;
  }

  reset(): void {
    this.#kind = 'start';
    this.#bodyDepth = 0;
    this.#parentheses = 0;
    this.#previous = '';
  }

  isEnd(): boolean {
    const { kind, text, start } = this.#scanner;
    if (kind !== 'punctuation' || text.charAt(start) !== ';' || this.#bodyDepth > 0) return false;
    return this.#kind !== 'rule' || this.#parentheses === 0;
  }

  advance(): void {
    if (this.#kind === 'plain') return;
    const { kind, text, start, end } = this.#scanner;
    if (kind === 'word') {
      const word = end - start > 9 ? '' : text.slice(start, end).toUpperCase();
      if (this.#kind === 'start') this.#kind = startsWith(word, this.#previous);
      else if (this.#kind === 'routine') this.#trackBodyWord(word);
      this.#previous = word;
      return;
    }
    const char = kind === 'punctuation' ? text.charAt(start) : '';
    if (char === '(') this.#parentheses += 1;
    else if (char === ')') this.#parentheses -= 1;
    else if (char === ';' && this.#bodyDepth > 1) this.#bodyDepth = 1;
    if (this.#kind === 'start') this.#kind = 'plain';
    this.#previous = char;
  }

  /** Tracks CASE, END and ATOMIC. After a dot, and in a body also after AS, these three words are names. */
  #trackBodyWord(word: string): void {
    if (this.#previous === '.' || (this.#previous === 'AS' && this.#bodyDepth > 0)) return;
    if (this.#bodyDepth === 0) {
      if (word === 'ATOMIC' && this.#previous === 'BEGIN' && this.#parentheses === 0) this.#bodyDepth = 1;
    } else if (word === 'CASE') this.#bodyDepth += 1;
    else if (word === 'END' && (this.#bodyDepth > 1 || this.#previous === ';' || this.#previous === 'ATOMIC'))
      this.#bodyDepth -= 1;
  }
}

function startsWith(word: string, previous: string): 'start' | 'routine' | 'rule' | 'plain' {
  if (previous === '') return word === 'CREATE' ? 'start' : 'plain';
  if (word === 'FUNCTION' || word === 'PROCEDURE') return 'routine';
  if (word === 'RULE') return 'rule';
  return LEADING_WORDS.test(word) ? 'start' : 'plain';
}
