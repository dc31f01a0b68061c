import assert from 'node:assert/strict';
import type { ColumnRole } from '../../../../../src/data/row-batch.ts';
import type { ColumnShape } from '../../../../../src/data/table-shape.ts';
import { DatabaseError } from '../../../../../src/errors.ts';
import type { Session } from '../../../../../plugins/database/executor/api.ts';
import { createTable } from '../../../../../plugins/database/executor/catalogue.ts';
import { createTableStatements } from '../../../../../plugins/database/sql/create-table.ts';
import { columnRole, engineOf, withEngineMark } from '../../../../../plugins/database/sql/mark.ts';
import { postgresType } from '../../../../../plugins/database/sql/type-names.ts';

function column(name: string, role: ColumnRole, type: string, length?: number, nullable = true): ColumnShape {
  return { name, role, type, length, nullable };
}

describe('create table', () => {
  it('puts time first and tags last, keys time and primary tags, and marks tags', () => {
    const shape = {
      exact: true,
      columns: [
        column('host', 'primary-tag', 'VARCHAR', 64),
        column('k_timestamp', 'time', 'TIMESTAMPTZ', 64),
        column('region', 'tag', 'VARCHAR', 254),
        column('usage', 'data', 'FLOAT8', 64),
        column('ok', 'data', 'BOOL', 1, false),
      ],
    };
    assert.deepEqual(createTableStatements({ name: 'cpu' }, shape), [
      'CREATE TABLE "cpu" ("k_timestamp" pg_catalog.timestamptz NOT NULL, "usage" pg_catalog.float8, "ok" pg_catalog.bool NOT NULL, ' +
        '"host" varchar(64) NOT NULL, "region" varchar(254), PRIMARY KEY ("k_timestamp", "host"))',
      `COMMENT ON COLUMN "cpu"."host" IS 'sluice:primary-tag'`,
      `COMMENT ON COLUMN "cpu"."region" IS 'sluice:tag'`,
    ]);
  });

  it('without primary tags is keyed by all tags, and refused before PostgreSQL 15, which lacks the constraint', async () => {
    const shape = {
      exact: false,
      columns: [column('ts', 'time', 'TIMESTAMPTZ'), column('host', 'tag', 'VARCHAR', 64)],
    };
    const ran: string[] = [];
    const session = {
      ask: () => Promise.resolve({ rows: [] }),
      query: (sql: string) => Promise.resolve(ran.push(sql)),
    } as unknown as Session;
    const create = (nullsNotDistinct: boolean) =>
      createTable(session, { name: 'cpu' }, shape, {}, { hypertables: undefined, nullsNotDistinct });
    await assert.rejects(create(false), {
      name: 'DatabaseError',
      scope: 'table',
      message: 'cannot create table "cpu": a table with tags but without a primary tag requires PostgreSQL 15 or later',
    });
    assert.deepEqual(ran, []);
    await create(true);
    assert.match(ran[0] ?? '', /, UNIQUE NULLS NOT DISTINCT \("ts", "host"\)\)$/);
  });

  it('makes only the first time a timestamptz, even if its type is TIMESTAMP', () => {
    const shape = {
      exact: true,
      columns: [column('ts', 'time', 'TIMESTAMP'), column('seen', 'data', 'TIMESTAMP(3)')],
    };
    assert.deepEqual(createTableStatements({ name: 't' }, shape), [
      'CREATE TABLE "t" ("ts" pg_catalog.timestamptz NOT NULL, "seen" timestamp(3), PRIMARY KEY ("ts"))',
    ]);
  });

  it('keeps a relational table as given, without a key', () => {
    const shape = {
      exact: true,
      columns: [column('id', 'data', 'INT8', 64, false), column('n', 'data', 'NVARCHAR', 9)],
    };
    assert.deepEqual(createTableStatements({ schema: 'app', name: 'T' }, shape), [
      'CREATE TABLE "app"."T" ("id" pg_catalog.int8 NOT NULL, "n" varchar(9))',
    ]);
  });

  it('gives a table without a time the key of its shape', () => {
    const columns = [column('id', 'data', 'INT8', undefined, false), column('n', 'data', 'TEXT')];
    assert.deepEqual(createTableStatements({ name: 't' }, { exact: false, columns, key: ['id'] }), [
      'CREATE TABLE "t" ("id" pg_catalog.int8 NOT NULL, "n" pg_catalog.text, PRIMARY KEY ("id"))',
    ]);
  });

  it('refuses repeated columns and unknown types with a table error', () => {
    const twice = { exact: true, columns: [column('a', 'data', 'INT8'), column('a', 'data', 'INT4')] };
    assert.throws(() => createTableStatements({ name: 't' }, twice), /column "a" occurs twice/);
    assert.throws(
      () => postgresType('GEOMETRY', undefined),
      (error: unknown) =>
        error instanceof DatabaseError && error.scope === 'table' && error.message.includes('unknown type "GEOMETRY"'),
    );
  });
});

describe('type names of the documents', () => {
  const cases: [string, number | undefined, string][] = [
    ['TIMESTAMPTZ', 64, 'timestamptz'],
    ['timestamptz(9)', undefined, 'timestamptz(6)'],
    ['TIMESTAMP(3)', 64, 'timestamp(3)'],
    ['INT2', 16, 'int2'],
    ['INT', 64, 'int8'],
    ['INT4', 32, 'int4'],
    ['FLOAT', 64, 'float8'],
    ['FLOAT4', 64, 'float4'],
    ['double precision', undefined, 'float8'],
    ['BOOL', 1, 'bool'],
    ['VARCHAR', 254, 'varchar(254)'],
    ['VARCHAR(20)', undefined, 'varchar(20)'],
    ['VARCHAR', undefined, 'varchar'],
    ['VARCHAR', 0, 'varchar'],
    ['VARCHAR', 99_999_999, 'varchar'],
    ['NCHAR', 10, 'varchar(10)'],
    ['CHAR(5)', undefined, 'varchar(5)'],
    ['CHAR', undefined, 'varchar(1)'],
    ['BPCHAR', 10, 'char(10)'],
    ['STRING', 9, 'text'],
    ['BYTES', 9, 'bytea'],
    ['VARBYTES', 254, 'bytea'],
    ['DECIMAL(12, 3)', 64, 'numeric(12,3)'],
    ['NUMERIC', 64, 'numeric'],
    ['JSONB', undefined, 'jsonb'],
    ['_INT8', 64, 'int8[]'],
    ['TEXT[]', undefined, 'text[]'],
    ['UUID', undefined, 'uuid'],
  ];
  for (const [name, length, expected] of cases) {
    it(`reads ${name} of length ${String(length)} as ${expected}`, () => {
      assert.equal(postgresType(name, length), expected);
    });
  }
});

describe('marks', () => {
  it("are the first word of a comment, whatever the user's text after it", () => {
    assert.equal(columnRole('sluice:tag'), 'tag');
    assert.equal(columnRole('sluice:primary-tag the host, as DNS has it'), 'primary-tag');
    assert.equal(columnRole('a column with sluice:tag inside'), undefined);
    assert.equal(columnRole('sluice:tagged'), undefined);
    assert.equal(columnRole(null), undefined);
    assert.equal(engineOf('sluice:relational\nthe shop'), 'relational');
    assert.equal(engineOf('sluice:tag'), undefined);
  });

  it('keep the user’s own text when the engine is marked again', () => {
    const once = withEngineMark('plant data', 'time-series');
    assert.equal(once, 'sluice:time-series plant data');
    assert.equal(withEngineMark(once, 'relational'), 'sluice:relational plant data');
    assert.equal(withEngineMark(null, 'time-series'), 'sluice:time-series');
  });
});
