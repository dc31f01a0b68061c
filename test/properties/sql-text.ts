import assert from 'node:assert/strict';
import fc from 'fast-check';
import { classify } from '../../plugins/database/sql/classify.ts';
import { Scanner, tokenize } from '../../plugins/database/sql/lexer.ts';
import { quoteIdentifier, quoteLiteral } from '../../plugins/database/sql/quote.ts';
import { splitStatements } from '../../plugins/database/sql/split.ts';
import { tablesNeeded, translate, translateRefused } from '../../plugins/database/sql/translate/translate.ts';
import { CONTEXT } from '../unit/plugins/database/sql/translate/translation-context.ts';
import { nearly, parserProperty, withLongOnes, type ParserProperty } from './parser-property.ts';

const QUOTES = ["'", "''", '"', '""', "E'", "U&'", 'U&"', "N'", "B'", '$$', '$x$', '$1', '\\', "\\'"];
const SIGNS = [';', ',', '.', '..', '(', ')', '[', ']', ':', '::', ':=', '=>', '=', '<=', '-', '+', '*', '/', '@', '!'];
const SPACES = [' ', '\n', '\r', '\t', '--', '-- x\n', '/*', '*/', '/* x */'];
const OTHERS = ['1', '10d', '1.', '.5', '1e', '1e-3', '0x1F', '1_0', 'a', 'a$b$', 'é', '😀', '\0', '\u00a0', '{', '~'];
const VERBS = [
  'SELECT',
  'INSERT INTO',
  'UPSERT INTO',
  'UPDATE',
  'DELETE FROM',
  'WITH',
  'CREATE',
  'ALTER',
  'DROP',
  'SHOW',
];
const WORDS = [
  'TABLE',
  'TS DATABASE',
  'FROM',
  'WHERE',
  'SET',
  'VALUES',
  'JOIN',
  'ON',
  'USING',
  'AS',
  'UNION ALL',
  'AND',
];
const MORE = [
  'IN',
  'EXISTS',
  'NOT',
  'BETWEEN',
  'TAGS',
  'PRIMARY TAGS',
  'BEGIN ATOMIC',
  'END',
  'CASE',
  'FUNCTION',
  'LATERAL',
];
const NAMES = [
  'meters',
  'log',
  'keyless',
  'ts',
  'at',
  '"Note"',
  'plant.',
  'm',
  'id',
  'location',
  'now()',
  'CLUSTER SETTING',
];
const PIECES = [...QUOTES, ...SIGNS, ...SPACES, ...OTHERS, ...VERBS, ...WORDS, ...MORE, ...NAMES];

const soup = fc
  .array(fc.constantFrom(...PIECES), { maxLength: 60 })
  .chain((pieces) => fc.constantFrom(pieces.join(''), pieces.join(' ')));
/** Statements of every kind that is translated, whole. */
const SAMPLES = [
  'UPSERT INTO plant."log" AS l ("id", at) VALUES (-1, 5), (now(), ARRAY["a"]) ON CONFLICT DO NOTHING RETURNING "id"',
  'INSERT INTO meters VALUES (1700000000000, 1, "here"), (1700000000000, 2, \'x;y\')',
  'SELECT * FROM log l JOIN meters AS m ON l.at = 5 WHERE (m.ts BETWEEN 1 AND -5 OR 5 <= m.ts) AND "Note" IN ("a", "b")',
  'WITH a AS (SELECT id FROM log WHERE at > 5) SELECT * FROM a WHERE EXISTS (SELECT 1 FROM meters WHERE ts > 5) UNION SELECT 1',
  'UPDATE log SET at = 5, "Note" = "a" FROM meters WHERE seen = 7 AND ts IN (SELECT ts FROM meters WHERE ts < 9)',
  'DELETE FROM meters USING log WHERE ts > 1700000000000 AND power = 5',
  "CREATE TABLE IF NOT EXISTS t (ts TIMESTAMP NOT NULL COMMENT 'a', v INT DEFAULT 1) TAGS (a VARCHAR(5) NOT NULL) PRIMARY TAGS (a) RETENTIONS 10d",
  "CREATE TS DATABASE x RETENTIONS 50d COMMENT = 'it''s'",
  'ALTER TABLE meters ADD TAG IF NOT EXISTS x varchar(5)',
  'SHOW COLUMNS FROM plant.meters WITH COMMENT',
  'SET CLUSTER SETTING server.rest.timeout = 5',
  'GRANT SELECT ON DATABASE plant TO u',
];
const sample = fc.constantFrom(...SAMPLES);
const shuffled = sample.chain((sql) => fc.shuffledSubarray(sql.split(/(?=[ (),"-])/)).map((some) => some.join('')));
const anySql = withLongOnes(
  fc.oneof(soup, shuffled, nearly(sample, PIECES), fc.string({ unit: 'binary', maxLength: 80 })),
  fc.constantFrom(
    '(',
    '/*',
    '--\n',
    '"',
    "'",
    '$a',
    'a.',
    '::',
    'AND ts > 5 ',
    'FROM a, ',
    '(SELECT ',
    'BEGIN ',
    '1',
    '-',
    ';',
  ),
);

const SQLSTATES = ['23505', '21000', '42703', '42883', '42804', '42704', '42P01', '3F000'];
const BETWEEN_TOKENS = /^(?:[ \t\n\r\f\v]|--[^\n\r]*|\/\*[^]*\*\/)*$/;

/** The sources of the tokens but for semicolons, which only `split` can tell the meaning of. */
function sources(text: string): string[] {
  return tokenize(text)
    .map(({ start, end }) => text.slice(start, end))
    .filter((source) => source !== ';');
}

/** The tokens of a cut-off text reach to its end: the text after the last one is part of it. */
function comparable(all: readonly string[]): string {
  return all.join('\0').trimEnd();
}

const plainText = fc.string({ unit: 'binary', minLength: 1, maxLength: 15 }).filter((text) => !text.includes('\0'));
const statement = fc
  .tuple(plainText, plainText, fc.constantFrom('', '/* ; */', '-- ;\n', '(', 'CASE', 'BEGIN', 'ATOMIC'))
  .map(([name, value, extra]) => `SELECT ${extra} ${quoteIdentifier(name)}, ${quoteLiteral(value)}`);

export const SQL_TEXT: readonly ParserProperty[] = [
  parserProperty('the lexer’s tokens cover everything but blanks and comments', anySql, () => (text) => {
    const scanner = new Scanner(text);
    let position = 0;
    while (scanner.next()) {
      const { start, end, unterminated } = scanner;
      assert.ok(start >= position && end > start && end <= text.length);
      // The expression is slow where the text is long: quadratic in the comments that begin.
      if (start - position < 1_000) assert.match(text.slice(position, start), BETWEEN_TOKENS);
      assert.ok(!unterminated || end === text.length);
      position = end;
    }
    if (text.length - position < 1_000) assert.match(text.slice(position), BETWEEN_TOKENS);
  }),
  parserProperty('statements are cut out of a text without a token lost, doubled or changed', anySql, () => (text) => {
    const statements = [...splitStatements(text)];
    assert.equal(comparable(statements.flatMap((found) => sources(found.text))), comparable(sources(text)));
    let end = 0;
    for (const found of statements) {
      assert.ok(found.offset >= end);
      assert.equal(text.slice(found.offset, found.offset + found.text.length), found.text);
      end = found.offset + found.text.length;
    }
  }),
  parserProperty(
    'statements are found as they were joined, whatever names and texts they hold',
    fc.tuple(fc.array(statement, { maxLength: 6 }), fc.constantFrom(';', ' ;\n', ';;')),
    () =>
      ([statements, separator]) => {
        const found = [...splitStatements(statements.join(separator))].map(({ text }) => text);
        assert.deepEqual(found, statements);
      },
  ),
  parserProperty('any text can be classified', anySql, () => (text) => {
    assert.equal(typeof classify(text).kind, 'string');
  }),
  parserProperty('any text can be translated, before and after a refusal', anySql, () => (text) => {
    const translation = translate(text, CONTEXT);
    if (translation.kind === 'run') assert.ok(translation.statements.length > 0);
    tablesNeeded(text, 'plant');
    for (const sqlstate of SQLSTATES) {
      tablesNeeded(text, 'plant', sqlstate);
      const again = translateRefused(text, sqlstate, CONTEXT);
      assert.ok(again?.kind !== 'run' || again.statements.every((sql) => sql !== text));
    }
  }),
];
