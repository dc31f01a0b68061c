import assert from 'node:assert/strict';
import { deleteStatement, insertStatement, updateStatement } from '../../../../../plugins/database/sql/insert.ts';

const table = { schema: 'public', name: 'cpu' };

function column(name: string, baseType: string, changes: { isArray?: boolean; nullDefault?: string } = {}) {
  return {
    name,
    baseType,
    isArray: changes.isArray ?? false,
    nullDefault: changes.nullDefault,
    operatorSchema: 'pg_catalog',
  };
}

const columns = [column('ts', 'timestamp with time zone'), column('host', 'character varying'), column('v', 'integer')];
const input =
  'FROM ROWS FROM (pg_catalog.unnest($1::timestamp with time zone[]), pg_catalog.unnest($2::character varying[]), pg_catalog.unnest($3::integer[])) AS input(c1, c2, c3)';
const insert = `INSERT INTO "public"."cpu" AS stored ("ts", "host", "v") SELECT input.c1, input.c2, input.c3 ${input}`;

describe('insert statement', () => {
  it('is one text for any number of rows, without a conflict clause if there is no key', () => {
    assert.equal(insertStatement(table, columns, undefined), insert);
  });

  it('replaces the whole row with override, including columns without a value', () => {
    assert.equal(
      insertStatement(table, columns, { rule: 'override', key: ['ts', 'host'], others: ['v', 'note'] }),
      `${insert} ON CONFLICT ("ts", "host") DO UPDATE SET "v" = EXCLUDED."v", "note" = EXCLUDED."note"`,
    );
  });

  it('keeps stored cells without new values with merge', () => {
    assert.equal(
      insertStatement(table, columns, { rule: 'merge', key: ['ts', 'host'], others: ['v'] }),
      `${insert} ON CONFLICT ("ts", "host") DO UPDATE SET "v" = COALESCE(EXCLUDED."v", stored."v")`,
    );
  });

  it('keeps the stored row with discard, and if there are only key columns', () => {
    const nothing = `${insert} ON CONFLICT ("ts") DO NOTHING`;
    assert.equal(insertStatement(table, columns, { rule: 'discard', key: ['ts'], others: ['v'] }), nothing);
    assert.equal(insertStatement(table, columns, { rule: 'override', key: ['ts'], others: [] }), nothing);
  });

  it('reads values that it keeps from the stored row, because constraints are checked before the conflict', () => {
    const conflict = { rule: 'override', key: ['ts', 'host'], others: ['v'] } as const;
    const kept = [{ name: 'note', nullDefault: undefined }, column('kind', 'text', { nullDefault: "'x'::text" })];
    assert.equal(
      insertStatement(table, columns, conflict, kept),
      `INSERT INTO "public"."cpu" AS stored ("ts", "host", "v", "note", "kind") ` +
        `SELECT input.c1, input.c2, input.c3, existing."note", COALESCE(existing."kind", 'x'::text) ${input} ` +
        'LEFT JOIN "public"."cpu" AS existing ON existing."ts" OPERATOR("pg_catalog".=) input.c1 AND existing."host" OPERATOR("pg_catalog".=) input.c2 ' +
        'ON CONFLICT ("ts", "host") DO UPDATE SET "v" = EXCLUDED."v"',
    );
  });

  it('passes array columns as text and uses defaults for missing cells', () => {
    const special = [
      column('tags', 'text[]', { isArray: true }),
      column('kind', 'character varying', { nullDefault: "'x'::character varying" }),
    ];
    assert.equal(
      insertStatement({ schema: 's', name: 't' }, special, undefined),
      `INSERT INTO "s"."t" AS stored ("tags", "kind") SELECT input.c1::text[], COALESCE(input.c2, 'x'::character varying) ` +
        'FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::character varying[])) AS input(c1, c2)',
    );
  });
});

describe('update and delete statements', () => {
  const input2 =
    'ROWS FROM (pg_catalog.unnest($1::timestamp with time zone[]), pg_catalog.unnest($2::character varying[]), pg_catalog.unnest($3::integer[])) AS input(c1, c2, c3)';

  it('find stored rows by the key and set the rest', () => {
    assert.equal(
      updateStatement(table, columns, ['host', 'ts']),
      `UPDATE "public"."cpu" AS stored SET "v" = input.c3 FROM ${input2} WHERE stored."ts" OPERATOR("pg_catalog".=) input.c1 AND stored."host" OPERATOR("pg_catalog".=) input.c2`,
    );
  });

  it('set the key to itself if there are no other columns', () => {
    assert.equal(
      updateStatement(table, columns.slice(1, 2), ['host']),
      'UPDATE "public"."cpu" AS stored SET "host" = input.c1 FROM ROWS FROM (pg_catalog.unnest($1::character varying[])) AS input(c1) WHERE stored."host" OPERATOR("pg_catalog".=) input.c1',
    );
  });

  it('remove stored rows by the key', () => {
    assert.equal(
      deleteStatement(table, columns.slice(0, 2), ['ts', 'host']),
      'DELETE FROM "public"."cpu" AS stored USING ROWS FROM (pg_catalog.unnest($1::timestamp with time zone[]), pg_catalog.unnest($2::character varying[])) AS input(c1, c2) ' +
        'WHERE stored."ts" OPERATOR("pg_catalog".=) input.c1 AND stored."host" OPERATOR("pg_catalog".=) input.c2',
    );
  });
});
