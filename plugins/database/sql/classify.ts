import { Scanner } from './lexer.ts';

export type StatementKind =
  | 'select'
  | 'values'
  | 'table'
  | 'explain'
  | 'show'
  | 'show-create'
  | 'show-cluster-setting'
  | 'insert'
  | 'upsert'
  | 'update'
  | 'delete'
  | 'merge'
  | 'create'
  | 'alter'
  | 'drop'
  | 'truncate'
  | 'comment'
  | 'grant'
  | 'revoke'
  | 'use'
  | 'set'
  | 'set-cluster-setting'
  | 'reset'
  | 'transaction'
  | 'copy'
  | 'call'
  | 'do'
  | 'prepare'
  | 'execute'
  | 'deallocate'
  | 'cursor'
  | 'notification'
  | 'lock'
  | 'discard'
  | 'maintenance'
  | 'empty'
  | 'no-statement'
  | 'unknown';

export interface Classification {
  /**
   * Kind of the statement; for `WITH …`, of the statement after the common table expressions. `no-statement` starts
   * with a token that no PostgreSQL statement starts with, so the server reports a syntax error. `unknown` means that
   * reading stopped early, or that the text ends before the statement.
   */
  readonly kind: StatementKind;
  /** First word in lower case, for errors; empty for `( …` and the like. */
  readonly keyword: string;
  readonly explained: StatementKind | undefined;
  /** Kind of the first data-modifying common table expression. */
  readonly changing: StatementKind | undefined;
  /**
   * False if the statement only reads, judging by its text. True for statements with data-modifying common table
   * expressions, for EXPLAIN ANALYZE of a statement for which it is true, and for statements such as SET and BEGIN.
   * Functions may change data in any statement; only a read-only transaction prevents that.
   */
  readonly writes: boolean;
}

const KINDS: ReadonlyMap<string, StatementKind> = new Map([
  ['SELECT', 'select'],
  ['VALUES', 'values'],
  ['TABLE', 'table'],
  ['EXPLAIN', 'explain'],
  ['SHOW', 'show'],
  ['INSERT', 'insert'],
  ['UPSERT', 'upsert'],
  ['UPDATE', 'update'],
  ['DELETE', 'delete'],
  ['MERGE', 'merge'],
  ['CREATE', 'create'],
  ['ALTER', 'alter'],
  ['DROP', 'drop'],
  ['TRUNCATE', 'truncate'],
  ['COMMENT', 'comment'],
  ['GRANT', 'grant'],
  ['REVOKE', 'revoke'],
  ['USE', 'use'],
  ['SET', 'set'],
  ['RESET', 'reset'],
  ['BEGIN', 'transaction'],
  ['START', 'transaction'],
  ['COMMIT', 'transaction'],
  ['END', 'transaction'],
  ['ROLLBACK', 'transaction'],
  ['ABORT', 'transaction'],
  ['SAVEPOINT', 'transaction'],
  ['RELEASE', 'transaction'],
  ['COPY', 'copy'],
  ['CALL', 'call'],
  ['DO', 'do'],
  ['PREPARE', 'prepare'],
  ['EXECUTE', 'execute'],
  ['DEALLOCATE', 'deallocate'],
  ['DECLARE', 'cursor'],
  ['FETCH', 'cursor'],
  ['MOVE', 'cursor'],
  ['CLOSE', 'cursor'],
  ['LISTEN', 'notification'],
  ['UNLISTEN', 'notification'],
  ['NOTIFY', 'notification'],
  ['LOCK', 'lock'],
  ['DISCARD', 'discard'],
  ['VACUUM', 'maintenance'],
  ['ANALYZE', 'maintenance'],
  ['ANALYSE', 'maintenance'],
  ['CLUSTER', 'maintenance'],
  ['REINDEX', 'maintenance'],
  ['REFRESH', 'maintenance'],
  ['CHECKPOINT', 'maintenance'],
  ['LOAD', 'maintenance'],
  ['REASSIGN', 'alter'],
  ['SECURITY', 'alter'],
  ['IMPORT', 'create'],
]);

const READS: ReadonlySet<StatementKind> = new Set([
  'select',
  'values',
  'table',
  'explain',
  'show',
  'show-create',
  'show-cluster-setting',
  'use',
  'empty',
]);

/** Limit for nested WITH and EXPLAIN, beyond anything seen in practice. */
const MAX_NESTING = 100;

/**
 * Limit for the tokens of common table expressions and parentheses that are read before the main keyword. A statement
 * with more is `unknown`, because reading it would block the event loop.
 */
const MAX_TOKENS = 300_000;

/** Classifies a statement by its first words after comments. Reads no further than necessary and never throws. */
export function classify(statement: string): Classification {
  const words = new WordReader(statement);
  words.next();
  const keyword = words.word.toLowerCase();
  return { keyword, ...classifyFrom(words, 0) };
}

type Found = Omit<Classification, 'keyword'>;

function found(kind: StatementKind, writes = !READS.has(kind)): Found {
  return { kind, explained: undefined, changing: undefined, writes };
}

function classifyFrom(words: WordReader, nesting: number): Found {
  if (words.atEnd) return found(words.isCut ? 'unknown' : 'empty');
  if (nesting > MAX_NESTING) return found('unknown');
  while (words.isChar('(')) words.next();
  switch (words.word) {
    case 'WITH':
      return classifyWith(words, nesting + 1);
    case 'EXPLAIN':
      return classifyExplain(words, nesting + 1);
    case 'SHOW':
      return found(showKind(words));
    case 'SET':
      return found(isClusterSetting(words) ? 'set-cluster-setting' : 'set');
    case 'RESET':
      return found(isClusterSetting(words) ? 'set-cluster-setting' : 'reset');
    case 'PREPARE':
      words.next();
      return found(words.isWord('TRANSACTION') ? 'transaction' : 'prepare');
    default:
      return found(KINDS.get(words.word) ?? (words.atEnd ? 'unknown' : 'no-statement'));
  }
}

/** `SHOW CREATE …`, `SHOW [ALL | PUBLIC] CLUSTER SETTING[S] …`, any other SHOW. */
function showKind(words: WordReader): StatementKind {
  words.next();
  if (words.isWord('CREATE')) return 'show-create';
  if (words.isWord('ALL', 'PUBLIC')) words.next();
  if (!words.isWord('CLUSTER')) return 'show';
  words.next();
  return words.isWord('SETTING', 'SETTINGS') ? 'show-cluster-setting' : 'show';
}

function isClusterSetting(words: WordReader): boolean {
  words.next();
  if (!words.isWord('CLUSTER')) return false;
  words.next();
  return words.isWord('SETTING');
}

/** `WITH [RECURSIVE] name [(…)] AS [[NOT] MATERIALIZED] (body) [SEARCH … | CYCLE …], … statement` */
function classifyWith(words: WordReader, nesting: number): Found {
  words.next();
  if (words.isWord('RECURSIVE')) words.next();
  const outside = words.depth;
  let changing: StatementKind | undefined;
  while (!words.atEnd) {
    words.next();
    if (words.isChar('(')) words.skipTo(outside);
    while (!words.atEnd && !words.isChar('(')) words.next();
    words.next();
    const body = classifyFrom(words, nesting);
    if (body.writes) changing ??= body.changing ?? body.kind;
    words.skipTo(outside);
    if (words.isWord('SEARCH', 'CYCLE')) while (!words.atEnd && !words.isChar(',', '(') && !isMain(words)) words.next();
    if (!words.isChar(',')) break;
    words.next();
  }
  const main = words.atEnd ? found('unknown') : classifyFrom(words, nesting);
  return { ...main, changing, writes: main.writes || changing !== undefined };
}

function isMain(words: WordReader): boolean {
  return words.isWord('SELECT', 'VALUES', 'INSERT', 'UPDATE', 'DELETE', 'MERGE', 'UPSERT');
}

/** `EXPLAIN [(option [value], …) | [ANALYZE] [VERBOSE]] statement` */
function classifyExplain(words: WordReader, nesting: number): Found {
  words.next();
  let analyze = false;
  if (words.isChar('(') && words.isOptionList()) {
    analyze = readAnalyzeOption(words);
  } else {
    while (words.isWord('ANALYZE', 'ANALYSE', 'VERBOSE')) {
      if (!words.isWord('VERBOSE')) analyze = true;
      words.next();
    }
  }
  const { kind, changing, writes } = classifyFrom(words, nesting);
  return { kind: 'explain', explained: kind, changing, writes: analyze && writes };
}

function readAnalyzeOption(words: WordReader): boolean {
  let analyze = false;
  words.next();
  while (!words.atEnd && !words.isChar(')')) {
    const isAnalyze = words.isWord('ANALYZE', 'ANALYSE');
    words.next();
    if (isAnalyze) analyze = !/^'?(?:FALSE|OFF|0)'?$/i.test(words.source);
    while (!words.atEnd && !words.isChar(',', ')')) words.next();
    if (words.isChar(',')) words.next();
  }
  words.next();
  return analyze;
}

/** Wraps the scanner for classification: words in upper case, punctuation, and the depth of parentheses. */
class WordReader {
  readonly #scanner: Scanner;
  /** Empty unless the token is an unquoted word. */
  word = '';
  atEnd = false;
  /** Set when the token limit was reached before the end of the text. */
  isCut = false;
  depth = 0;
  #tokensLeft = MAX_TOKENS;

  constructor(text: string) {
    this.#scanner = new Scanner(text);
  }

  get source(): string {
    return this.#scanner.text.slice(this.#scanner.start, this.#scanner.end);
  }

  next(): void {
    this.isCut = this.#tokensLeft === 0;
    if (!this.isCut) this.#tokensLeft--;
    this.atEnd = this.isCut || !this.#scanner.next();
    this.word = !this.atEnd && this.#scanner.kind === 'word' ? this.source.toUpperCase() : '';
    if (this.isChar('(')) this.depth += 1;
    else if (this.isChar(')')) this.depth -= 1;
  }

  isWord(...words: readonly string[]): boolean {
    return words.includes(this.word);
  }

  isChar(...chars: readonly string[]): boolean {
    return !this.atEnd && this.#scanner.kind === 'punctuation' && chars.includes(this.source);
  }

  /** Returns true if the opening parenthesis at the current position encloses EXPLAIN options, not a statement. */
  isOptionList(): boolean {
    const ahead = new Scanner(this.#scanner.text.slice(this.#scanner.end));
    if (!ahead.next() || ahead.kind !== 'word') return false;
    return !/^(?:SELECT|VALUES|TABLE|WITH)$/i.test(ahead.text.slice(ahead.start, ahead.end));
  }

  /** Moves past the parenthesis that returns the depth to `outside`. */
  skipTo(outside: number): void {
    while (!this.atEnd && this.depth > outside) this.next();
    this.next();
  }
}
