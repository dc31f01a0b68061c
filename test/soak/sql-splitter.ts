import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Scanner, tokenize } from '../../plugins/database/sql/lexer.ts';
import { splitStatements } from '../../plugins/database/sql/split.ts';
import { randomFrom } from '../support/random.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';
import { runTool } from './run-tool.ts';

const DEFAULT_TEXTS = 100_000;
/**
 * Names a folder whose `node_modules` contains the package `libpg-query`. Without it, npm installs the package into a
 * temporary folder.
 */
const FOLDER_VARIABLE = 'SLUICE_LIBPG_QUERY';
const MAX_SHOWN = 10;

/** PostgreSQL's own lexer and parser, compiled to WebAssembly. Positions count bytes. */
interface PostgresParser {
  loadModule(): Promise<void>;
  parseSync(text: string): {
    readonly stmts?: readonly { readonly stmt_location?: number; readonly stmt_len?: number }[];
  };
  scanSync(text: string): {
    readonly tokens: readonly { readonly start: number; readonly end: number; readonly text: string }[];
  };
}

/**
 * Compares, for random SQL, our statements with those of PostgreSQL's parser, and our tokens with those of its lexer.
 */
export const sqlSplitter: Repeat = {
  unit: 'texts',
  defaultCount: DEFAULT_TEXTS,
  async run({ count = DEFAULT_TEXTS, seed = Date.now() | 0, print }: RepeatOptions): Promise<boolean> {
    const temporary = await mkdtemp(path.join(tmpdir(), 'sluice-libpg-query-'));
    try {
      const parser = await loadParser(temporary, print);
      return parser === undefined ? false : compareAll(parser, { count, seed, print });
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
  },
};

async function loadParser(temporary: string, print: RepeatOptions['print']): Promise<PostgresParser | undefined> {
  const named = process.env[FOLDER_VARIABLE];
  const folder = named === undefined || named === '' ? temporary : named;
  if (folder === temporary) {
    const install = ['install', '--no-audit', '--no-fund', '--prefix', folder, 'libpg-query'];
    const { status, output } = await runTool('npm', install);
    if (status !== 0) {
      print(`PostgreSQL's parser could not be installed; ${FOLDER_VARIABLE} names a folder that has it: ${output}`);
      return undefined;
    }
  }
  const parser = createRequire(path.join(folder, 'index.js'))('libpg-query') as PostgresParser;
  await parser.loadModule();
  return parser;
}

function compareAll(
  parser: PostgresParser,
  { count, seed, print }: RepeatOptions & { count: number; seed: number },
): boolean {
  print(`${String(count)} texts, seed ${String(seed)}`);
  const texts = new Texts(randomFrom(seed));
  const counts = { parsed: 0, scanned: 0, refused: 0, different: 0 };
  for (let index = 0; index < count; index++) {
    const text = index % 2 === 0 ? texts.statements() : texts.tokens();
    const difference = compare(parser, text, counts);
    if (difference === undefined) continue;
    counts.different += 1;
    if (counts.different <= MAX_SHOWN) print(`${JSON.stringify(text)}: ${difference}`);
  }
  const { parsed, scanned, refused, different } = counts;
  print(
    `${String(parsed)} texts split as by PostgreSQL's parser, ${String(scanned)} more read as by its lexer, ` +
      `${String(refused)} that its lexer refuses, ${String(different)} differences`,
  );
  return different === 0;
}

/**
 * Texts that the package reads differently from the server. Its lexer returns comments, so a comment ends a string that
 * the server would continue. It accepts `$1a`, which the server rejects.
 */
const READ_OTHERWISE = /'\s*--[^\n\r]*[\n\r](?:\s|--[^\n\r]*[\n\r])*'|\$\d+[a-z_\u0080-\uffff]/i;

interface Counts {
  parsed: number;
  scanned: number;
  refused: number;
}

function compare(parser: PostgresParser, text: string, counts: Counts): string | undefined {
  if (READ_OTHERWISE.test(text)) {
    counts.refused += 1;
    return undefined;
  }
  const places = byteOffsets(text);
  const lexed = attempt(() => parser.scanSync(text).tokens);
  if (lexed === undefined) {
    counts.refused += 1;
    return undefined;
  }
  const theirs = lexed.filter((token) => !/^(?:--|\/\*)/.test(token.text)).flatMap(({ start, end }) => [start, end]);
  // PostgreSQL's lexer returns the N of N'…' as a separate token.
  const ours = tokenize(text)
    .flatMap(({ start, end }) =>
      /^n'/i.test(text.slice(start, start + 2)) ? [start, start + 1, start + 1, end] : [start, end],
    )
    .map((place) => places[place] ?? 0);
  const tokens = difference('tokens', ours, theirs);
  if (tokens !== undefined) return tokens;
  const parsed = attempt(() => parser.parseSync(text).stmts ?? []);
  if (parsed === undefined) {
    counts.scanned += 1;
    return undefined;
  }
  counts.parsed += 1;
  const bytes = Buffer.from(text);
  const expected = parsed.map(({ stmt_location: from = 0, stmt_len: length = bytes.length - from }) =>
    withoutComments(bytes.subarray(from, from + length).toString()),
  );
  return difference(
    'statements',
    [...splitStatements(text)].map((statement) => withoutComments(statement.text)),
    expected,
  );
}

/** Returns the text from the first token to the end, trimmed. */
function withoutComments(text: string): string {
  const scanner = new Scanner(text);
  return scanner.next() ? text.slice(scanner.start).replace(/[ \t\n\r\f\v]+$/, '') : '';
}

function difference(what: string, ours: unknown, theirs: unknown): string | undefined {
  const [here, there] = [JSON.stringify(ours), JSON.stringify(theirs)];
  return here === there ? undefined : `${what} ${here} instead of ${there}`;
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Returns, for each UTF-16 unit, the number of UTF-8 bytes that precede it. */
function byteOffsets(text: string): number[] {
  const places: number[] = [];
  let bytes = 0;
  for (const character of text) {
    places.push(...new Array<number>(character.length).fill(bytes));
    bytes += Buffer.byteLength(character);
  }
  places.push(bytes);
  return places;
}

const BLANKS = [
  ' ',
  ' ',
  ' ',
  '\n',
  '\t',
  '\r\n',
  '\f',
  ' /* ; */ ',
  " /* a /* ; ' */ $$ */ ",
  " -- ; '\n",
  ' --\r',
  '\v',
];
const STRINGS = [
  "'a'",
  "';'",
  "'it''s; '",
  "''",
  String.raw`'\'`,
  String.raw`E'\';'`,
  String.raw`e'a\\'`,
  "E'''; '",
  "N'é;'",
  "B'01'",
  "x'0F'",
  String.raw`U&'\0041;'`,
  String.raw`U&'d!0061' UESCAPE '!'`,
  "'a'\n'b;'",
  '$$;$$',
  "$a$ ' $$ ; $a$",
  '$é$;$é$',
  '$$ $a$ ; $$',
  '$_1$$$;$_1$',
];
const NAMES = [
  'a',
  't',
  '"a;b"',
  '"x""; "',
  String.raw`U&"d\0061;"`,
  'é',
  'a$b',
  '_1',
  'begin_',
  '"end"',
  'atomic',
  'rule',
  'Ä1',
];
const OPERATORS = [
  '+',
  '-',
  '*',
  '=',
  '<>',
  '!=',
  '||',
  '~~',
  '@>',
  '->>',
  '<=',
  '%',
  '!~*',
  '#-',
  '&&',
  '|/',
  '<->',
  '@-',
];
const SIGNS = [
  ';',
  ';',
  '(',
  ')',
  '[',
  ']',
  ',',
  '.',
  ':',
  '::',
  ':=',
  '..',
  '$1',
  '$22',
  '1',
  '1.5',
  '.5',
  '1e9',
  '1.',
  '1_000',
  '0xFF',
  '0b1',
  '0o7',
  '\\',
  '{',
  "'",
  '"',
  '$$',
  '$a$',
  '/*',
  '*/',
  '--',
  'E',
  'U&',
  "e'",
  '1..2',
  '=>',
  '<-',
  '-+',
  '+-',
  '*-',
  '@-',
  '?',
  'begin',
  'atomic',
  'end',
  'case',
  'create',
  'function',
  'rule',
  'do',
  'as',
  '\u00a0',
  '😀',
  '\u2028',
];

/** Generates statements that PostgreSQL accepts in most cases, and tokens in any order. */
class Texts {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  statements(): string {
    const count = 1 + this.#below(4);
    let text = this.#blank();
    for (let index = 0; index < count; index++) {
      const isEmpty = this.#below(8) === 0;
      text += `${isEmpty ? '' : this.#statement()}${this.#maybe()}${index === count - 1 && this.#below(2) === 0 ? '' : ';'}${this.#maybe()}`;
    }
    return text;
  }

  tokens(): string {
    let text = '';
    for (let index = this.#below(14); index >= 0; index--) {
      const lists = [STRINGS, NAMES, OPERATORS, SIGNS, SIGNS];
      text += this.#pick(this.#pick(lists)) + (this.#below(3) === 0 ? '' : this.#pick(BLANKS));
    }
    return text;
  }

  #statement(): string {
    const name = this.#name();
    switch (this.#below(9)) {
      case 0:
        return this.#joined('insert', 'into', name, 'values', '(', this.#expression(), ',', this.#expression(), ')');
      case 1:
        return this.#joined('update', name, 'set', 'a', '=', this.#expression(), 'where', this.#expression());
      case 2:
        return this.#joined('create', 'table', name, '(', 'a', 'int', 'default', '(', this.#expression(), ')', ')');
      case 3:
        return this.#joined(
          'create',
          ...this.#replace(),
          'function',
          `${name}()`,
          'returns',
          'int',
          ...this.#routineBody(),
        );
      case 4:
        return this.#joined(
          'create',
          ...this.#replace(),
          'procedure',
          `${name}(begin int, atomic int)`,
          ...this.#routineBody(),
        );
      case 5:
        return this.#joined(
          'create',
          ...this.#replace(),
          'rule',
          name,
          'as',
          'on',
          'insert',
          'to',
          't',
          'do',
          'also',
          '(',
          this.#select(),
          ';',
          this.#select(),
          this.#pick([';', '']),
          ')',
        );
      case 6:
        return this.#joined('do', this.#pick(['$$ begin; end; $$', '$a$ ; $a$', "'begin; end;'"]));
      default:
        return this.#select();
    }
  }

  #replace(): string[] {
    return this.#below(2) === 0 ? ['or', 'replace'] : [];
  }

  #routineBody(): string[] {
    switch (this.#below(4)) {
      case 0:
        return ['language', 'sql', 'as', this.#pick(["'select 1;'", '$$ select 1; $$', '$b$;$b$'])];
      case 1:
        return ['return', this.#expression()];
      default: {
        const inner: string[] = [];
        for (let index = this.#below(4); index > 0; index--)
          inner.push(
            this.#pick([
              this.#select(),
              'delete from t',
              'select 1 end',
              'select 1 case',
              'select begin from t begin',
              'select case when true then 1 end end',
            ]),
            ';',
          );
        return ['begin', 'atomic', ...inner, 'end'];
      }
    }
  }

  #select(): string {
    const list = [
      this.#expression(),
      ...(this.#below(3) === 0 ? ['as', this.#pick(['end', 'begin', 'atomic', '"case"', 'b'])] : []),
    ];
    const more = this.#below(3) === 0 ? ['from', this.#name(), this.#pick(['begin', 'atomic', 'x', ''])] : [];
    return this.#joined('select', ...list, ...more);
  }

  #expression(depth = 0): string {
    switch (this.#below(depth > 2 ? 4 : 9)) {
      case 0:
      case 1:
        return this.#pick(STRINGS);
      case 2:
        return this.#name();
      case 3:
        return this.#pick([
          '1',
          '1.5',
          '.5',
          '1e9',
          '$1',
          '0x1F',
          '1_000',
          't.end',
          't.begin',
          'a[1:2]',
          "date '2024-01-01'",
          "interval '1' day",
        ]);
      case 4:
        return this.#joined('case', 'when', this.#expression(depth + 1), 'then', this.#expression(depth + 1), 'end');
      case 5:
        return this.#joined('(', this.#expression(depth + 1), ')', this.#pick(OPERATORS), this.#expression(depth + 1));
      case 6:
        return this.#joined(`${this.#name()}(`, this.#expression(depth + 1), ',', this.#expression(depth + 1), ')');
      case 7:
        return this.#joined('(', 'select', this.#expression(depth + 1), ')');
      default:
        return this.#joined(this.#expression(depth + 1), '::', 'text');
    }
  }

  #name(): string {
    return this.#pick(NAMES);
  }

  #joined(...parts: readonly string[]): string {
    return parts.filter((part) => part !== '').join(this.#pick(BLANKS));
  }

  #blank(): string {
    return this.#pick(BLANKS);
  }

  #maybe(): string {
    return this.#below(2) === 0 ? '' : this.#blank();
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#below(list.length)] as T;
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }
}
