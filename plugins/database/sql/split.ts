import { Scanner } from './lexer.ts';
import { StepMeter } from './steps.ts';

/** One statement of a text that may hold several. */
export interface Statement {
  /** From its first token or leading comment to before its semicolon, without the blanks around it. */
  readonly text: string;
  /** Where `text` begins in the whole text, in UTF-16 units. */
  readonly offset: number;
  /** The text ended inside a quote or a comment: the server will say so, nothing here may look into it. */
  readonly unterminated: boolean;
}

/**
 * The statements of a text, one after another as they are asked for. Semicolons inside quotes, comments, the body of
 * `BEGIN ATOMIC … END` and the parentheses of CREATE RULE end nothing; pieces without a token are left out.
 */
export function* splitStatements(text: string): Generator<Statement, void, undefined> {
  for (const found of splitInSteps(text)) if (found !== undefined) yield found;
}

/** The same; `undefined` after every few tokens and characters, so that a long text need not be split at one go. */
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
    nesting.see();
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

/** What SQL takes for a blank. `trim` takes more, such as U+00A0, which PostgreSQL reads as a letter of a name. */
function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

/** The words that may stand before FUNCTION, PROCEDURE or RULE at a statement's start. */
const LEADING_WORDS = /^(?:CREATE|OR|REPLACE)$/;

/**
 * What the tokens of the current statement have opened:
 *
 * start --CREATE [OR REPLACE] FUNCTION, PROCEDURE--> routine --BEGIN ATOMIC, outside parentheses--> body (depth 1)
 * start --CREATE [OR REPLACE] RULE--> rule; start --anything else--> plain
 * body: CASE deepens it, and its END or a semicolon lifts it again; an END at the start of a statement closes the body.
 * CASE, END and BEGIN may also be names of columns and tables.
 *
 * A semicolon ends the statement except in a body and within the parentheses of a rule. Elsewhere one in parentheses is
 * an error in any case, and ending there leaves the statements behind it alone.
 */
class Nesting {
  readonly #scanner: Scanner;
  #kind: 'start' | 'routine' | 'rule' | 'plain' = 'start';
  #bodyDepth = 0;
  #parentheses = 0;
  /** The last word in upper case, `.` after a dot, nothing after any other token. */
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

  see(): void {
    if (this.#kind === 'plain') return;
    const { kind, text, start, end } = this.#scanner;
    if (kind === 'word') {
      const word = end - start > 9 ? '' : text.slice(start, end).toUpperCase();
      if (this.#kind === 'start') this.#kind = startsWith(word, this.#previous);
      else if (this.#kind === 'routine') this.#seeBodyWord(word);
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

  /** After a dot and after AS these words are names. */
  #seeBodyWord(word: string): void {
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
