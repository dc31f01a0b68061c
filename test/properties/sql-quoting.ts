import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { TableShape } from '../../src/data/table-shape.ts';
import { DatabaseError } from '../../src/errors.ts';
import { createTableStatements } from '../../plugins/database/sql/create-table.ts';
import { insertStatement } from '../../plugins/database/sql/insert.ts';
import { tokenize } from '../../plugins/database/sql/lexer.ts';
import { quoteIdentifier, quoteLiteral } from '../../plugins/database/sql/quote.ts';
import { nameOf, stringValue } from '../../plugins/database/sql/token-text.ts';
import { translate, translateRefused } from '../../plugins/database/sql/translate/translate.ts';
import type { KnownTable, Translation, TranslationContext } from '../../plugins/database/sql/translate/translation.ts';
import { hostileText, parserProperty, type ParserProperty } from './parser-property.ts';

/** A statement for tokens alone: every name is Q, every text S, all else is as written. */
function skeleton(sql: string): string {
  return tokenize(sql)
    .map((token) => {
      assert.ok(!token.unterminated, sql);
      if (token.kind === 'string') return 'S';
      return token.kind === 'quoted' ? 'Q' : sql.slice(token.start, token.end);
    })
    .join(' ');
}

/** The names and texts that a statement holds, without their quotes. */
function quotedValues(sql: string): (string | undefined)[] {
  return tokenize(sql).flatMap((token) => {
    if (token.kind === 'string') return [stringValue(sql, token)];
    return token.kind === 'quoted' ? [nameOf(sql, token)] : [];
  });
}

function isPossibleName(name: string): boolean {
  return name !== '' && !name.includes('\0') && Buffer.byteLength(name) <= 63;
}

const doubled = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** A table of any name with a time, a text column and a tag. */
const TABLE: KnownTable = {
  columns: [
    { name: 'ts', type: 'timestamp(3) with time zone', role: 'time' },
    { name: 'note', type: 'text', role: 'data' },
    { name: 'site', type: 'character varying', role: 'primary-tag' },
  ],
  key: ['ts', 'site'],
};
const CONTEXT: TranslationContext = { database: 'plant', table: () => TABLE };

/** Statements that hold a value, with what refuses them; the value may be any text. */
const VALUE_STATEMENTS: readonly ((value: string) => Translation | undefined)[] = [
  (value) => translate(`INSERT INTO t VALUES (1, ${value}, "x")`, CONTEXT),
  (value) => translateRefused(`INSERT INTO t (ts, note) VALUES (1, ${value})`, '23505', CONTEXT),
  (value) => translateRefused(`SELECT * FROM t WHERE note = ${value} AND ts > 5`, '42703', CONTEXT),
  (value) => translateRefused(`UPDATE t SET note = ${value} WHERE site IN ("x", ${value})`, '42703', CONTEXT),
  (value) =>
    translateRefused(`WITH a AS (SELECT * FROM t WHERE note = ${value}) SELECT * FROM a WHERE 1 = 1`, '42703', CONTEXT),
];

/** Statements that hold a name, which may be any name that a database can hold. */
const NAME_STATEMENTS: readonly ((name: string) => Translation)[] = [
  (name) => translate(`CREATE TABLE ${name} (ts TIMESTAMP, v INT) TAGS (site VARCHAR) PRIMARY TAGS (site)`, CONTEXT),
  (name) => translate(`CREATE TABLE t (ts TIMESTAMP, ${name} INT) TAGS (site VARCHAR) PRIMARY TAGS (site)`, CONTEXT),
  (name) => translate(`CREATE TABLE t (ts TIMESTAMP) TAGS (${name} VARCHAR) PRIMARY TAGS (${name})`, CONTEXT),
  (name) => translate(`CREATE TS DATABASE ${name}`, CONTEXT),
  (name) => translate(`ALTER TABLE ${name} ADD TAG x VARCHAR`, CONTEXT),
  (name) => translate(`ALTER TABLE t ADD TAG ${name} VARCHAR`, CONTEXT),
  (name) => translate(`ALTER TABLE t RENAME TAG site TO ${name}`, CONTEXT),
  (name) => translate(`SHOW CREATE TABLE ${name}`, CONTEXT),
  (name) => translate(`SHOW TAGS FROM ${name}`, CONTEXT),
  (name) => translate(`UPSERT INTO ${name} VALUES (1, "x", "y")`, CONTEXT),
];

function runs(translation: Translation | undefined): readonly string[] {
  assert.equal(translation?.kind, 'run', JSON.stringify(translation));
  return translation.statements;
}

function shapeOf(column: string, tag: string): TableShape {
  const base = { nullable: true, length: undefined };
  return {
    exact: false,
    columns: [
      { ...base, name: 'ts', type: 'TIMESTAMPTZ', role: 'time' },
      { ...base, name: column, type: 'INT8', role: 'data' },
      { ...base, name: tag, type: 'VARCHAR', role: 'primary-tag' },
    ],
  };
}

function insertOf(table: string, column: string): string {
  const base = { baseType: 'text', isArray: false, nullDefault: undefined, operatorSchema: 'pg_catalog' };
  const columns = [
    { ...base, name: 'ts' },
    { ...base, name: column },
  ];
  return insertStatement({ schema: 'public', name: table }, columns, { rule: 'merge', key: ['ts'], others: [column] });
}

/** Refused for the name, and never cut: 42602 for what no name can hold, 42622 for what is too long. */
function refusesName(work: () => unknown): boolean {
  try {
    work();
    return false;
  } catch (error) {
    assert.ok(error instanceof DatabaseError && /^(?:42602|42622)$/.test(error.sqlstate ?? ''), String(error));
    return true;
  }
}

export const SQL_QUOTING: readonly ParserProperty[] = [
  parserProperty(
    'a quoted text or name is one token with the same value, or refused',
    fc.tuple(hostileText, fc.constantFrom('', ' ', '--', ';', '$$')),
    () =>
      ([text, after]) => {
        if (isPossibleName(text)) {
          const [first] = tokenize(quoteIdentifier(text) + after);
          assert.equal(nameOf(quoteIdentifier(text) + after, first), text);
        } else assert.ok(refusesName(() => quoteIdentifier(text)));
        if (text.includes('\0')) return;
        const [first] = tokenize(quoteLiteral(text) + after);
        assert.equal(stringValue(quoteLiteral(text) + after, first), text);
      },
  ),
  parserProperty(
    'no value gets out of its quotes in a translated statement',
    fc.tuple(hostileText, fc.nat({ max: VALUE_STATEMENTS.length - 1 })),
    () =>
      ([text, which]) => {
        // A column's name is no text, and no column has an empty name.
        if (text === '' || text === 'x' || ['ts', 'note', 'site', 't', 'a'].includes(text)) return;
        const make = VALUE_STATEMENTS[which] ?? assert.fail();
        const translation = make(doubled(text));
        if (text.includes('\0')) {
          assert.ok(translation?.kind === 'refuse' && translation.sqlstate === '22021', JSON.stringify(translation));
          return;
        }
        const [sql = ''] = runs(translation);
        const [harmless = ''] = runs(make('"harmless"'));
        assert.equal(skeleton(sql), skeleton(harmless));
        assert.deepEqual(
          quotedValues(sql),
          quotedValues(harmless).map((value) => (value === 'harmless' ? text : value)),
        );
      },
  ),
  parserProperty(
    'no name gets out of its quotes in a translated statement, and one too long is refused',
    fc.tuple(hostileText, fc.nat({ max: NAME_STATEMENTS.length - 1 })),
    () =>
      ([text, which]) => {
        if (text === '' || ['ts', 'v', 'site', 'note'].includes(text)) return;
        const make = NAME_STATEMENTS[which] ?? assert.fail();
        const translation = make(doubled(text));
        if (!isPossibleName(text)) {
          assert.equal(translation.kind, 'refuse', JSON.stringify(translation));
          assert.match(translation.sqlstate, /^(?:42602|42622|22021)$/);
          return;
        }
        const statements = runs(translation);
        const harmless = runs(make('"harmless"'));
        assert.deepEqual(statements.map(skeleton), harmless.map(skeleton));
        const names = statements.flatMap(quotedValues);
        assert.ok(
          names.some((name) => name === text || name === quoteIdentifier(text)),
          JSON.stringify(statements),
        );
      },
  ),
  parserProperty(
    'no name of data gets out of its quotes in what is made for a batch, and one too long is refused',
    fc.tuple(hostileText, hostileText),
    () =>
      ([table, column]) => {
        if (column === 'ts' || column === 'tag') return;
        const create = (): string[] => createTableStatements({ name: table }, shapeOf(column, 'tag'));
        const insert = (): string => insertOf(table, column);
        if (!isPossibleName(table) || !isPossibleName(column)) {
          assert.ok(refusesName(create) && refusesName(insert));
          return;
        }
        assert.deepEqual(
          create().map(skeleton),
          createTableStatements({ name: 'h' }, shapeOf('i', 'tag')).map(skeleton),
        );
        assert.equal(skeleton(insert()), skeleton(insertOf('h', 'i')));
        assert.deepEqual(
          quotedValues(insert()),
          quotedValues(insertOf('h', 'i')).map((name) => (name === 'h' ? table : name === 'i' ? column : name)),
        );
      },
  ),
];
