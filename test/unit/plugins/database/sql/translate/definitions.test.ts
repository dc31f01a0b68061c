import assert from 'node:assert/strict';
import fc from 'fast-check';
import { tokenize } from '../../../../../../plugins/database/sql/lexer.ts';
import { quoteIdentifier, quoteLiteral } from '../../../../../../plugins/database/sql/quote.ts';
import { nameOf } from '../../../../../../plugins/database/sql/token-text.ts';
import { translate } from '../../../../../../plugins/database/sql/translate/translate.ts';
import { afterRefusal, assertUnchanged, CONTEXT, refusal, statements } from './translation-context.ts';

describe('CREATE TABLE … TAGS', () => {
  it('becomes a table keyed by time and primary tags, with marked tags after the data', () => {
    assert.deepEqual(
      statements(
        'CREATE TABLE meters2 (ts timestamp not null, power int) tags(location varchar not null, f int2) primary tags (location)',
      ),
      [
        'CREATE TABLE "meters2" ("ts" pg_catalog.timestamptz(3) NOT NULL, "power" pg_catalog.int4, "location" varchar NOT NULL, "f" pg_catalog.int2, ' +
          'PRIMARY KEY ("ts", "location"))',
        `COMMENT ON COLUMN "meters2"."location" IS 'sluice:primary-tag'`,
        `COMMENT ON COLUMN "meters2"."f" IS 'sluice:tag'`,
      ],
    );
  });

  it('runs in one transaction', () => {
    const translation = translate('CREATE TABLE t (a TIMESTAMPTZ) TAGS (b INT) PRIMARY TAGS (b)', CONTEXT);
    assert.ok(translation.kind === 'run' && translation.transaction && translation.doneOn === undefined);
  });

  it('with IF NOT EXISTS leaves a table that exists alone', () => {
    const translation = translate('CREATE TABLE IF NOT EXISTS t (a TIMESTAMP) TAGS (b INT) PRIMARY TAGS (b)', CONTEXT);
    assert.ok(translation.kind === 'run');
    assert.equal(translation.doneOn, '42P07');
    assert.match(translation.statements[0] ?? '', /^CREATE TABLE "t" /);
  });

  it('accepts the types of the original, with milliseconds by default', () => {
    const types = [
      ...['timestamp(6)', 'TIMESTAMPTZ', 'timestamp with time zone', 'int', 'INTEGER', 'int64', 'bigint', 'smallint'],
      ...['float', 'real', 'double precision', 'double', 'bool', 'char(4)', 'NCHAR(5)', 'varchar(6)', 'nvarchar(7)'],
      ...['character varying(8)', 'varbytes(9)', 'bytes', 'string', 'decimal(10,2)', 'int[]'],
    ];
    const columns = types.map((type, index) => `c${String(index)} ${type}`).join(', ');
    const [create = ''] = statements(`CREATE TABLE t (ts TIMESTAMPTZ, ${columns}) TAGS (b INT) PRIMARY TAGS (b)`);
    const written = [...create.matchAll(/"c\d+" ([^"]+), /g)].map((match) => match[1]?.replace('pg_catalog.', ''));
    assert.deepEqual(written, [
      ...['timestamp(6)', 'timestamptz(3)', 'timestamptz(3)', 'int4', 'int4', 'int8', 'int8', 'int2'],
      ...['float8', 'float4', 'float8', 'float8', 'bool', 'varchar(4)', 'varchar(5)', 'varchar(6)', 'varchar(7)'],
      ...['varchar(8)', 'bytea', 'bytea', 'text', 'numeric(10,2)', 'int4[]'],
    ]);
  });

  it('warns that nanoseconds are stored as microseconds', () => {
    const translation = translate('CREATE TABLE t (ts TIMESTAMPTZ(9)) TAGS (b INT) PRIMARY TAGS (b)', CONTEXT);
    assert.ok(translation.kind === 'run');
    assert.match(translation.statements[0] ?? '', /"ts" pg_catalog\.timestamptz\(6\) NOT NULL/);
    assert.match(translation.notices.join(), /^column "ts": TIMESTAMPTZ\(9\) stores microseconds here/);
  });

  it('keeps defaults and comments, the mark of a tag before the comment', () => {
    const sql = `CREATE TABLE t (ts TIMESTAMP COMMENT 'when', v INT DEFAULT f(1, 2) NOT NULL COMMENT = 'it''s', w VARCHAR(9)
      DEFAULT "a,b" NULL) ATTRIBUTES (b INT2 NOT NULL COMMENT 'plant code') PRIMARY ATTRIBUTES (b) COMMENT = 'all'`;
    assert.deepEqual(statements(sql).slice(2), [
      'ALTER TABLE "t" ALTER COLUMN "v" SET DEFAULT f(1, 2)',
      `ALTER TABLE "t" ALTER COLUMN "w" SET DEFAULT 'a,b'`,
      `COMMENT ON COLUMN "t"."ts" IS 'when'`,
      `COMMENT ON COLUMN "t"."v" IS 'it''s'`,
      `COMMENT ON COLUMN "t"."b" IS 'sluice:primary-tag plant code'`,
      `COMMENT ON TABLE "t" IS 'all'`,
    ]);
  });

  it('ignores retention, partitions, hash rings and encodings, each with a notice', () => {
    const translation = translate(
      `CREATE TABLE t (ts TIMESTAMP, v FLOAT ENCODE simple8b COMPRESS lz4) TAGS (b INT) PRIMARY TAGS (b)
        RETENTIONS 20D ACTIVETIME 1 day DICT ENCODING PARTITION INTERVAL = 10d WITH HASH(20)`,
      CONTEXT,
    );
    assert.ok(translation.kind === 'run');
    assert.deepEqual(
      translation.notices.map((notice) => notice.replace(/ is ignored: .*/, '')),
      [
        'ENCODE simple8b of column "v"',
        'COMPRESS lz4 of column "v"',
        'RETENTIONS 20D of the table',
        'ACTIVETIME 1 day of the table',
        'DICT ENCODING of the table',
        'PARTITION INTERVAL = 10d of the table',
        'WITH HASH(20) of the table',
      ],
    );
  });

  it('may name the current database or a schema, and no other database', () => {
    const body = '(ts TIMESTAMP) TAGS (b INT) PRIMARY TAGS (b)';
    assert.match(statements(`CREATE TABLE plant.t ${body}`)[0] ?? '', /^CREATE TABLE "t" /);
    assert.match(statements(`CREATE TABLE plant.s.t ${body}`)[0] ?? '', /^CREATE TABLE "s"\."t" /);
    assert.match(statements(`CREATE TABLE s.t ${body}`)[0] ?? '', /^CREATE TABLE "s"\."t" /);
    assert.match(refusal(`CREATE TABLE other.s.t ${body}`), /^3D000 .* USE "other"/);
  });

  it('is refused with the reason', () => {
    for (const [sql, message] of [
      ['CREATE TABLE t (a INT) TAGS (b INT) PRIMARY TAGS (b)', /^42P16 the first column .* TIMESTAMP/],
      ['CREATE TABLE t (a TIMESTAMP) TAGS (b INT) PRIMARY TAGS (c)', /^42703 primary tag "c" is not among the TAGS/],
      ['CREATE TABLE t (a TIMESTAMP) TAGS (b INT)', /^42601 syntax error at end of input: expected PRIMARY TAGS/],
      ['CREATE TABLE t (a TIMESTAMP) TAGS (b GEOMETRY) PRIMARY TAGS (b)', /^42704 unknown type "GEOMETRY"/],
      ['CREATE TABLE t (a TIMESTAMP, a INT) TAGS (b INT) PRIMARY TAGS (b)', /^42701 .* "a" occurs twice/],
      ['CREATE TABLE t (a TIMESTAMP, ) TAGS (b INT) PRIMARY TAGS (b)', /^42601 .* expected the name of a column/],
      ['CREATE TABLE t (a TIMESTAMP) TAGS (b INT CHECK) PRIMARY TAGS (b)', /^42601 .* near "CHECK"/],
      ['CREATE TABLE t (a TIMESTAMP) TAGS (b INT) PRIMARY TAGS (b) WITH x', /^42601 .* near "WITH"/],
      [`CREATE TABLE "${'n'.repeat(64)}" (a TIMESTAMP) TAGS (b INT) PRIMARY TAGS (b)`, /^42622 .* at most 63/],
    ] as const) {
      assert.match(refusal(sql), message);
    }
  });

  it('quotes every name and text, however hostile', () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter((value) => !value.includes('\0'));
    fc.assert(
      fc.property(text, text, text, text, (table, data, tag, comment) => {
        const sql =
          `CREATE TABLE ${quoteIdentifier(table)} ("the time" TIMESTAMP, ${quoteIdentifier(`d${data}`)} INT) ` +
          `TAGS (${quoteIdentifier(`t${tag}`)} INT COMMENT ${quoteLiteral(comment)}) PRIMARY TAGS (${quoteIdentifier(`t${tag}`)})`;
        const translation = translate(sql, CONTEXT);
        if (translation.kind === 'refuse') {
          assert.match(translation.message, /at most 63/);
          return;
        }
        assert.ok(translation.kind === 'run');
        const [create = '', mark = '', withComment = ''] = translation.statements;
        assert.deepEqual(namesIn(create), [table, 'the time', `d${data}`, `t${tag}`, 'the time', `t${tag}`]);
        assert.deepEqual(namesIn(mark), [table, `t${tag}`]);
        assert.equal(
          withComment,
          `COMMENT ON COLUMN ${quoteIdentifier(table)}.${quoteIdentifier(`t${tag}`)} IS ` +
            quoteLiteral(`sluice:primary-tag ${comment}`),
        );
      }),
      { numRuns: 200 },
    );
  });

  it('is left to PostgreSQL without TAGS', () => {
    assertUnchanged(
      'CREATE TABLE t (ts TIMESTAMP, v INT, s STRING)',
      'CREATE TABLE tags (tags int)',
      'CREATE TABLE t AS SELECT 1 AS tags',
      'CREATE TABLE t (LIKE u)',
      `CREATE TABLE t (a TIMESTAMP) TAGS (b INT) PRIMARY TAGS (b) COMMENT 'cut off`,
    );
  });
});

function namesIn(sql: string): (string | undefined)[] {
  return tokenize(sql)
    .filter((token) => token.kind === 'quoted')
    .map((token) => nameOf(sql, token));
}

describe('type names of the original', () => {
  it('are replaced in type positions after PostgreSQL rejected them', () => {
    for (const [sql, expected] of [
      [
        'create table x (a string(5), b bytes(9), c double, d nvarchar(3)[], "e" int64, f double precision)',
        'create table x (a varchar(5), b bytea, c float8, d varchar(3)[], "e" int8, f double precision)',
      ],
      ['select cast(a as string), b::varbytes from t', 'select cast(a as text), b::bytea from t'],
      [
        'alter table t add column if not exists a clob, add b blob',
        'alter table t add column if not exists a text, add b bytea',
      ],
      ['alter table t alter column a set data type string', 'alter table t alter column a set data type text'],
    ] as const) {
      assert.equal(afterRefusal(sql, '42704'), expected);
    }
  });

  it('are left alone as names and in quotes', () => {
    assert.equal(afterRefusal('select string, "string"::"bytes" from bytes where double = 1', '42704'), undefined);
    assert.equal(afterRefusal('create table x (string int, bytes "string")', '42704'), undefined);
  });
});

describe('databases', () => {
  it('CREATE TS DATABASE creates and marks, outside a transaction', () => {
    const translation = translate(`CREATE TS DATABASE "X ""y" RETENTIONS 50d COMMENT = 'it''s'`, CONTEXT);
    assert.ok(translation.kind === 'run' && !translation.transaction);
    assert.deepEqual(translation.statements, [
      'CREATE DATABASE "X ""y"',
      `COMMENT ON DATABASE "X ""y" IS 'sluice:time-series it''s'`,
    ]);
    assert.match(translation.notices.join(), /^RETENTIONS 50d of the database is ignored/);
    assert.match(refusal('CREATE TS DATABASE x FOO'), /^42601 .* near "FOO"/);
  });

  it('IF NOT EXISTS is a failure that counts as success', () => {
    for (const [sql, doneOn, first] of [
      ['CREATE TS DATABASE IF NOT EXISTS x', '42P04', 'CREATE DATABASE "x"'],
      ["CREATE DATABASE IF NOT EXISTS x WITH ENCODING 'UTF8'", '42P04', `CREATE DATABASE "x" WITH ENCODING 'UTF8'`],
      [`CREATE USER IF NOT EXISTS u PASSWORD 'p'`, '42710', `CREATE USER  u PASSWORD 'p'`],
    ] as const) {
      const translation = translate(sql, CONTEXT);
      assert.ok(translation.kind === 'run');
      assert.deepEqual([translation.doneOn, translation.statements[0]], [doneOn, first]);
    }
  });

  it('CREATE DATABASE marks it relational (M8) and keeps its comment, DROP DATABASE … CASCADE drops', () => {
    assert.deepEqual(statements(`create database x comment = 'c'`), [
      'CREATE DATABASE "x"',
      `COMMENT ON DATABASE "x" IS 'sluice:relational c'`,
    ]);
    assert.deepEqual(statements('CREATE DATABASE x TEMPLATE template0'), [
      'CREATE DATABASE x TEMPLATE template0',
      `COMMENT ON DATABASE "x" IS 'sluice:relational'`,
    ]);
    assert.deepEqual(statements('drop database if exists X cascade'), ['DROP DATABASE IF EXISTS "x"']);
    assert.match(refusal('drop database x restrict'), /omit RESTRICT/);
    assertUnchanged('DROP DATABASE x', 'DROP DATABASE x WITH (FORCE)', `CREATE USER u PASSWORD 'p'`);
  });

  it('USE and SET DATABASE name the database of what follows', () => {
    assert.deepEqual(translate('USE "My db"', CONTEXT), { kind: 'use', database: 'My db' });
    assert.deepEqual(translate('use Other', CONTEXT), { kind: 'use', database: 'other' });
    assert.deepEqual(translate("SET DATABASE = 'x'", CONTEXT), { kind: 'use', database: 'x' });
    assert.match(refusal('USE'), /^42601 /);
    assert.match(refusal('USE a b'), /^42601 /);
  });
});

describe('ALTER TABLE', () => {
  it('ADD TAG adds a marked column', () => {
    assert.deepEqual(statements('ALTER TABLE meters ADD TAG color VARCHAR(30)'), [
      'ALTER TABLE "meters" ADD COLUMN "color" varchar(30)',
      `COMMENT ON COLUMN "meters"."color" IS 'sluice:tag'`,
    ]);
    assert.deepEqual(statements('alter table if exists public.meters add attribute if not exists a int null'), [
      'ALTER TABLE IF EXISTS "public"."meters" ADD COLUMN "a" int4 null',
      `COMMENT ON COLUMN "public"."meters"."a" IS 'sluice:tag'`,
    ]);
    assert.match(refusal('ALTER TABLE keyless ADD TAG x int'), /^42809 .* write ADD COLUMN/);
  });

  it('DROP, RENAME and ALTER TAG act on the column', () => {
    assert.deepEqual(statements('ALTER TABLE meters DROP TAG floor'), ['ALTER TABLE "meters" DROP COLUMN "floor"']);
    assert.deepEqual(statements('ALTER TABLE meters RENAME TAG location TO "Site"'), [
      'ALTER TABLE "meters" RENAME COLUMN "location" TO "Site"',
    ]);
    assert.deepEqual(statements('ALTER TABLE meters ALTER TAG floor SET DATA TYPE INT'), [
      'ALTER TABLE "meters" ALTER COLUMN "floor" TYPE int4',
    ]);
  });

  it('keeps the time and the primary tags of a time-series table', () => {
    for (const action of [
      'DROP TAG location',
      'DROP COLUMN location',
      'DROP location',
      'DROP COLUMN IF EXISTS ts CASCADE',
    ]) {
      assert.match(refusal(`ALTER TABLE meters ${action}`), /^42P16 .* cannot be dropped/);
    }
    assertUnchanged('ALTER TABLE log DROP COLUMN at', 'ALTER TABLE meters DROP COLUMN power');
  });

  it('does not take data for tags', () => {
    for (const action of ['DROP TAG power', 'RENAME TAG power TO p', 'ALTER TAG ts TYPE int']) {
      assert.match(refusal(`ALTER TABLE meters ${action}`), /^42703 .* is not a tag/);
    }
  });

  it('takes the types of the original for columns of time-series tables', () => {
    assert.deepEqual(
      statements('ALTER TABLE meters ADD COLUMN c3 INT NULL, ADD x timestamp default now(), DROP floor'),
      [
        'ALTER TABLE "meters" ADD COLUMN "c3" int4 NULL',
        'ALTER TABLE "meters" ADD COLUMN "x" timestamp(3) default now()',
        'ALTER TABLE "meters" DROP floor',
      ],
    );
    assert.deepEqual(statements('ALTER TABLE meters ALTER power TYPE STRING'), [
      'ALTER TABLE "meters" ALTER COLUMN "power" TYPE text',
    ]);
  });

  it('leaves columns that are called tag to PostgreSQL', () => {
    assertUnchanged(
      'ALTER TABLE log ADD tag varchar(9)',
      'ALTER TABLE log ADD tag int NOT NULL',
      'ALTER TABLE log ADD tag double precision',
      'ALTER TABLE log ADD tag timestamp with time zone',
      'ALTER TABLE log DROP tag',
      'ALTER TABLE log DROP tag CASCADE',
      'ALTER TABLE log RENAME tag TO x',
      'ALTER TABLE log ALTER tag TYPE int',
      'ALTER TABLE log ADD CONSTRAINT c CHECK (id > 0), RENAME TO l',
    );
  });

  it('refuses what the original stores otherwise, with what to do instead', () => {
    assert.match(refusal('ALTER TABLE meters SET RETENTIONS = 20d'), /DELETE FROM/);
    assert.match(refusal('ALTER TABLE meters CONFIGURE ZONE USING num_replicas = 5'), /no zones/);
    assert.match(refusal('ALTER TS DATABASE x SET RETENTIONS = 10 day'), /DELETE FROM/);
  });
});
