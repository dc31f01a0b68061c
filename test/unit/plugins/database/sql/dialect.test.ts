import assert from 'node:assert/strict';
import { dialectOf } from '../../../../../plugins/database/sql/dialects/dialect.ts';
import { hypertableStatements } from '../../../../../plugins/database/sql/hypertable.ts';
import { translateWith } from '../../../../../plugins/database/sql/translate/translate-with.ts';

describe('the dialect', () => {
  it('is determined by the version text and the extensions', () => {
    const postgresql = 'PostgreSQL 18.4 on x86_64-pc-linux-gnu';
    assert.deepEqual(dialectOf(postgresql, null), { hypertables: undefined, nullsNotDistinct: true });
    assert.deepEqual(dialectOf(postgresql, 'public').hypertables, { schema: 'public' });
    const others = ['PostgreSQL 15.0 on x86_64', 'PostgreSQL 14.18 on x86_64', 'CockroachDB CCL v25.4.0 (x86_64)'];
    const accepts = others.map((version) => dialectOf(version, null).nullsNotDistinct);
    assert.deepEqual(accepts, [true, false, true]);
  });
});

describe('a time-series table with TimescaleDB', () => {
  const sql = `CREATE TABLE "it's" (ts TIMESTAMP, v INT) TAGS (t VARCHAR) PRIMARY TAGS (t)`;
  const lookup = (hypertables: boolean) => ({
    find: async () => undefined,
    refresh: async () => undefined,
    dialect: async () => ({ hypertables: hypertables ? { schema: 'Extensions' } : undefined }),
  });

  it('becomes a hypertable partitioned by its time when it is created', async () => {
    assert.deepEqual(hypertableStatements({ schema: 'public', name: `it's "x"` }, 'ts', await lookup(true).dialect()), [
      `SELECT "Extensions"."create_hypertable"('"public"."it''s ""x"""', 'ts'::pg_catalog.name, if_not_exists => true)`,
    ]);
    const translation = await translateWith(lookup(true), 'plant', sql);
    assert.ok(translation.kind === 'run' && translation.transaction);
    assert.equal(
      translation.statements.find((statement) => statement.startsWith('SELECT')),
      `SELECT "Extensions"."create_hypertable"('"it''s"', 'ts'::pg_catalog.name, if_not_exists => true)`,
    );
  });

  it('stays an ordinary one elsewhere, and so does every other table', async () => {
    const plain = await translateWith(lookup(false), 'plant', sql);
    assert.ok(plain.kind === 'run' && plain.statements.every((statement) => !statement.includes('hypertable')));
    const other = 'CREATE TABLE x (ts TIMESTAMP)';
    assert.deepEqual(await translateWith(lookup(true), 'plant', other), {
      ...plain,
      statements: [other],
      transaction: false,
    });
  });
});
