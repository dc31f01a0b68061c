import type { Scanner } from '../lexer.ts';
import { quoteLiteral } from '../quote.ts';
import { StepMeter, type Steps } from '../steps.ts';
import { integerText, nameOf, quotedText, stringValue } from '../token-text.ts';
import { timestampLiteral, timestampPrecision } from './timestamps.ts';
import type { KnownColumn } from './translation.ts';

export interface InsertRow {
  readonly text: string;
  readonly isEdited: boolean;
  readonly cellCount: number;
  /** Text of the key cells: rows with the same text have the same key. `undefined` unless all of them are constants. */
  readonly key: string | undefined;
}

const ROWS_PER_STEP = 50_000;

export interface RowRules {
  /** The target columns of the cells, as far as they are known. */
  readonly columns: readonly KnownColumn[];
  /** Positions of the key columns in `columns`. */
  readonly keyIndexes?: readonly number[] | undefined;
}

/**
 * Yields the rows of `VALUES (…), (…)`, starting after VALUES and ending at the token after the last row. Returns false
 * if the text has a different form. Within a long row, yields `undefined` from time to time. In each row,
 * - integers for timestamp columns become timestamps;
 * - quoted names become text constants: VALUES cannot refer to columns, so PostgreSQL would reject all of these names.
 */
export function* insertRows(scanner: Scanner, rules: RowRules): Generator<InsertRow | undefined, boolean, undefined> {
  const reader = new RowReader(scanner, rules);
  if (!scanner.next()) return false;
  for (;;) {
    if (!isSign(scanner, '(')) return false;
    const row = yield* reader.read();
    if (row === undefined) return false;
    yield row;
    if (!scanner.next() || !isSign(scanner, ',')) return true;
    if (!scanner.next()) return false;
  }
}

export function* joinedRows(rows: readonly string[]): Steps<string> {
  let text = '';
  for (let at = 0; at < rows.length; at += ROWS_PER_STEP) {
    text += `${at === 0 ? '' : ', '}${rows.slice(at, at + ROWS_PER_STEP).join(', ')}`;
    yield undefined;
  }
  return text;
}

function isSign(scanner: Scanner, sign: string): boolean {
  return scanner.kind === 'punctuation' && scanner.text.charAt(scanner.start) === sign;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** If one of these tokens follows a quoted name, the name is that of a function, a qualifier, or an argument. */
const NAME_FOLLOWERS: ReadonlySet<string> = new Set(['(', '.', '=>', ':=']);
/** Tokens before a name that is not a column. */
const NAME_LEADERS: ReadonlySet<string> = new Set(['.', '::', 'AS', 'COLLATE', 'NAME']);
const QUERY_WORDS: ReadonlySet<string> = new Set(['SELECT', 'VALUES', 'TABLE', 'WITH']);
/**
 * Length limit of the constants that are compared as keys. The database rejects longer keys, or detects duplicates
 * itself (21000).
 */
const MAX_CONSTANT = 10_000;
/** Words that are constant within a statement; `now` is followed by parentheses. */
const CONSTANT_WORDS: ReadonlySet<string> = new Set(['NOW', 'TRUE', 'FALSE', 'CURRENT_TIMESTAMP']);

/** Reads one row at a time. Only the state that is needed at the end of the current cell is tracked. */
class RowReader {
  readonly #scanner: Scanner;
  readonly #columns: readonly KnownColumn[];
  readonly #isTimestamp: readonly boolean[];
  readonly #keyIndexes: readonly number[] | undefined;
  #edits: Edit[] = [];
  #keyCells: (string | undefined)[] = [];
  readonly #meter: StepMeter;
  #cell = 0;
  #cellTokens = 0;
  /** Number of edits before the current cell. If the cell contains a query, the edits of the cell are dropped. */
  #cellEdits = 0;
  #hasQuery = false;
  /** The value of the cell if it is a constant so far; tracked for keys only. */
  #constant: string | undefined;
  /** Set if the cell consists of an integer, or of a sign and an integer. */
  #integer: (Omit<Edit, 'text'> & { readonly digits: string }) | undefined;
  #sign = '';
  #signStart = 0;
  #quotedName: { readonly start: number; readonly end: number; readonly leader: string } | undefined;
  /** The previous token: punctuation, operators and words in upper case, empty for others. */
  #previous = '';

  constructor(scanner: Scanner, { columns, keyIndexes }: RowRules) {
    this.#scanner = scanner;
    this.#meter = new StepMeter(scanner.end);
    this.#columns = columns;
    this.#isTimestamp = columns.map((column) => timestampPrecision(column) !== undefined);
    this.#keyIndexes = keyIndexes;
  }

  /** Reads from the opening to the closing parenthesis; returns `undefined` if the closing one is missing. */
  *read(): Steps<InsertRow | undefined> {
    const scanner = this.#scanner;
    const rowStart = scanner.start;
    this.#edits = [];
    this.#keyCells = [];
    this.#cell = 0;
    this.#beginCell();
    let depth = 1;
    while (scanner.next()) {
      if (this.#meter.isOver(scanner.end)) yield undefined;
      if (scanner.unterminated) return undefined;
      const sign = scanner.kind === 'punctuation' ? scanner.text.slice(scanner.start, scanner.end) : '';
      if (sign === '(' || sign === '[') depth += 1;
      else if (sign === ')' || sign === ']') depth -= 1;
      if (depth === 0 || (depth === 1 && sign === ',')) {
        this.#endCell();
        if (depth === 0) return this.#row(rowStart);
      } else this.#readToken(sign);
    }
    return undefined;
  }

  #row(start: number): InsertRow {
    const { text, end } = this.#scanner;
    let row = '';
    let position = start;
    for (const edit of this.#edits) {
      row += text.slice(position, edit.start) + edit.text;
      position = edit.end;
    }
    row += text.slice(position, end);
    return { text: row, isEdited: this.#edits.length > 0, cellCount: this.#cell, key: this.#key() };
  }

  #key(): string | undefined {
    const cells = this.#keyIndexes?.map((index) => this.#keyCells[index]);
    return cells === undefined || cells.includes(undefined) ? undefined : JSON.stringify(cells);
  }

  #readToken(sign: string): void {
    const { kind, text, start, end } = this.#scanner;
    let source = sign;
    if (kind === 'word') source = text.slice(start, end).toUpperCase();
    else if (kind === 'operator') source = text.slice(start, end);
    if (this.#quotedName !== undefined) this.#endQuotedName(source, kind === 'string');
    if (kind === 'quoted') this.#quotedName = { start, end, leader: this.#previous };
    else if (kind === 'word' && QUERY_WORDS.has(source)) this.#hasQuery = true;
    if (this.#cellTokens === 0 && (source === '-' || source === '+')) {
      this.#sign = source;
      this.#signStart = start;
    } else {
      const isAlone = this.#cellTokens === (this.#sign === '' ? 0 : 1);
      this.#integer = isAlone && kind === 'number' ? this.#readInteger() : undefined;
      if (this.#keyIndexes !== undefined) this.#constant = this.#readConstant(source, isAlone);
    }
    this.#cellTokens += 1;
    this.#previous = source;
  }

  #readInteger(): (Omit<Edit, 'text'> & { readonly digits: string }) | undefined {
    const { text, start, end } = this.#scanner;
    const digits = integerText(text, this.#scanner);
    return digits === undefined ? undefined : { start: this.#sign === '' ? start : this.#signStart, end, digits };
  }

  /**
   * Returns the value of the cell if its tokens so far are a constant: a single token, a sign and a number, or `now()`.
   */
  #readConstant(source: string, isAlone: boolean): string | undefined {
    const { kind, text, start, end } = this.#scanner;
    if (end - start > MAX_CONSTANT) return undefined;
    if (!isAlone) {
      const continues = this.#constant === 'NOW' && this.#cellTokens <= 2 && (source === '(' || source === ')');
      return continues ? this.#constant : undefined;
    }
    if (kind === 'number')
      return (this.#sign === '-' ? '-' : '') + (integerText(text, this.#scanner) ?? text.slice(start, end));
    if (this.#sign !== '') return undefined;
    if (kind === 'word') return CONSTANT_WORDS.has(source) ? source : undefined;
    return stringValue(text, this.#scanner) ?? nameOf(text, this.#scanner);
  }

  #endQuotedName(follower: string, isBeforeString: boolean): void {
    const quoted = this.#quotedName;
    this.#quotedName = undefined;
    if (quoted === undefined || NAME_FOLLOWERS.has(follower) || isBeforeString || NAME_LEADERS.has(quoted.leader))
      return;
    const { start, end } = quoted;
    const value = quotedText(this.#scanner.text, { kind: 'quoted', unterminated: false, start, end });
    if (value !== undefined) this.#edits.push({ start, end, text: quoteLiteral(value) });
  }

  #endCell(): void {
    if (this.#quotedName !== undefined) this.#endQuotedName('', false);
    const column = this.#columns[this.#cell];
    if (this.#integer !== undefined && column !== undefined && this.#isTimestamp[this.#cell] === true) {
      const { start, end, digits } = this.#integer;
      this.#constant = timestampLiteral(column, digits, this.#sign === '-');
      this.#edits.push({ start, end, text: this.#constant });
    }
    if (this.#hasQuery) this.#edits.length = this.#cellEdits;
    if (this.#keyIndexes !== undefined) this.#keyCells.push(this.#constant);
    if (this.#cellTokens > 0) this.#cell += 1;
    this.#beginCell();
  }

  #beginCell(): void {
    this.#cellTokens = 0;
    this.#cellEdits = this.#edits.length;
    this.#hasQuery = false;
    this.#constant = undefined;
    this.#integer = undefined;
    this.#sign = '';
    this.#previous = '';
  }
}
