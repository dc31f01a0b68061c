import assert from 'node:assert/strict';
import fc from 'fast-check';
import { tokenize } from '../../../../../../plugins/database/sql/lexer.ts';
import { quoteIdentifier } from '../../../../../../plugins/database/sql/quote.ts';
import { stringValue } from '../../../../../../plugins/database/sql/token-text.ts';
import {
  tablesNeeded,
  translate,
  translateRefused,
} from '../../../../../../plugins/database/sql/translate/translate.ts';
import { cpuMsOf } from '../../../../../support/cpu-time.ts';
import { afterRefusal, assertUnchanged, CONTEXT, refusal, statements } from './translation-context.ts';

function only(sql: string): string {
  const [statement = '', ...more] = statements(sql);
  assert.equal(more.length, 0);
  return statement;
}

describe('INSERT … VALUES', () => {
  it('treats text in double quotes as text', () => {
    assert.equal(
      only(`insert into log (id, "Note") values("1", "it's ""x"" \\n"), (2, "")`),
      `insert into log (id, "Note") VALUES ('1', E'it''s "x" \\\\n'), (2, '')`,
    );
  });

  it('converts integers to timestamps in the unit of the column', () => {
    const sql = `INSERT INTO log (id, at, seen, day) VALUES (1, 1700000000123456, -1, 1700000000), (2, +5 /* µs */, 0, now())`;
    assert.equal(
      only(sql),
      `INSERT INTO log (id, at, seen, day) VALUES ` +
        `(1, '2023-11-14 22:13:20.123456+00', '1969-12-31 23:59:59.999999', '2023-11-14 22:13:20+00'), ` +
        `(2, '1970-01-01 00:00:00.000005+00' /* µs */, '1970-01-01 00:00:00', now())`,
    );
    assert.equal(
      only('INSERT INTO meters (ts, location) VALUES (1700000000123, 1)'),
      `INSERT INTO meters (ts, location) VALUES ('2023-11-14 22:13:20.123000+00', 1)`,
    );
  });

  it('refuses integers out of range in that unit instead of guessing another', () => {
    assert.match(
      refusal('INSERT INTO meters (ts) VALUES (1700000000123456789)'),
      /^22008 the integer 1700000000123456789 is out of range in milliseconds, the unit of column "ts"/,
    );
    assert.match(refusal(`INSERT INTO meters (ts) VALUES (-${'9'.repeat(100_000)})`), /^22008 /);
  });

  it('assigns values without a column list in the order of the definition, tags last', () => {
    assert.equal(
      only(`INSERT INTO meters VALUES (5, 1, 2.5, 'berlin', 3)`),
      `INSERT INTO meters ("ts", "power", "added", "location", "floor") VALUES ` +
        `('1970-01-01 00:00:00.005000+00', 1, 2.5, 'berlin', 3)`,
    );
    assert.equal(
      only(`INSERT INTO meters AS m VALUES (now(), 1) RETURNING *`),
      `INSERT INTO meters AS m ("ts", "power") VALUES (now(), 1) RETURNING *`,
    );
  });

  it('names the columns of a time-series table, so that one that has changed since is not filled wrongly', () => {
    const inOrder = {
      columns: (CONTEXT.table({ name: 'meters' })?.columns ?? []).slice(0, 3),
      key: ['ts', 'location'],
    };
    const context = { ...CONTEXT, table: () => inOrder };
    assert.deepEqual(statements(`INSERT INTO meters VALUES (now(), 1, 2, 'berlin')`, context), [
      `INSERT INTO meters ("ts", "power", "location") VALUES (now(), 1, 2, 'berlin')`,
    ]);
  });

  it('names tables of the current database as the original does', () => {
    assert.equal(only('INSERT INTO plant.log (id) VALUES ("7")'), `INSERT INTO "log" (id) VALUES ('7')`);
    assertUnchanged('INSERT INTO public.log (id) VALUES (7)', 'INSERT INTO plant.public.log (id) VALUES (7)');
    assertUnchanged('INSERT INTO other.log (id) VALUES (7)');
  });

  it('keeps names in double quotes where a name is required', () => {
    assertUnchanged(
      `INSERT INTO log ("id") VALUES ("s"."f"(1), 'a'::"T", CAST(1 AS "T"), 'a' COLLATE "C", f("a" => 1), "T" 'x')`,
      'INSERT INTO log (id) VALUES ((SELECT "id" FROM "log" LIMIT 1))',
      `INSERT INTO log (id) VALUES (1) ON CONFLICT ("id") DO UPDATE SET "Note" = "log"."Note" RETURNING "id"`,
    );
  });

  it('reads texts inside calls and arrays', () => {
    assert.equal(
      only('INSERT INTO log (id, "Note") VALUES (1, upper("a" || "b")), (2, (ARRAY["x", "y"])[1])'),
      `INSERT INTO log (id, "Note") VALUES (1, upper('a' || 'b')), (2, (ARRAY['x', 'y'])[1])`,
    );
  });

  it('stays as written where PostgreSQL understands it', () => {
    assertUnchanged(
      `-- c\nINSERT INTO log VALUES (1, now(), '2024-01-01', DEFAULT, 'x') /* c */ RETURNING id -- d`,
      'INSERT INTO log (id) SELECT 1',
      'INSERT INTO log DEFAULT VALUES',
      'INSERT INTO log (id, day) VALUES (1700000000, 5 + 5)',
      'INSERT INTO unknown VALUES (1700000000123)',
      'INSERT INTO log (id',
      'INSERT INTO log VALUES (1), 2',
      'INSERT INTO log VALUES (1',
      `INSERT INTO log VALUES ("a", 'cut off`,
      'INSERT INTO (SELECT 1)',
    );
    assert.match(refusal('INSERT WITHOUT SCHEMA INTO t VALUES (1)'), /linedb/);
  });

  it('never lets a value out of its quotes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 5 }),
        (texts) => {
          const cells = texts.map((text) => `"${text.replaceAll('"', '""')}"`);
          const translation = translate(`INSERT INTO log (id) VALUES (${cells.join(', ')})`, CONTEXT);
          if (texts.some((text) => text.includes('\0'))) {
            assert.ok(translation.kind === 'refuse' && translation.sqlstate === '22021');
            return;
          }
          assert.ok(translation.kind === 'run');
          const [sql = ''] = translation.statements;
          const strings = tokenize(sql).filter((token) => token.kind === 'string');
          assert.deepEqual(
            strings.map((token) => stringValue(sql, token)),
            texts,
          );
          assert.equal(tokenize(sql).length, 8 + texts.length * 2);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('never throws, whatever is cut out of it', () => {
    const sql = `UPSERT INTO plant."log" AS l ("id", at) VALUES (-1, 5), (now(), ARRAY["a"]) ON CONFLICT DO NOTHING RETURNING "id"`;
    const pieces = sql.split(/(?=[ (),"-])/);
    fc.assert(
      fc.property(fc.shuffledSubarray(pieces), (some) => {
        const soup = some.join('');
        assert.ok(translate(soup, CONTEXT).kind);
        for (const sqlstate of ['23505', '42703', '42704', '42P01']) translateRefused(soup, sqlstate, CONTEXT);
        tablesNeeded(soup, 'plant');
      }),
      { numRuns: 200 },
    );
  });

  it('reads a megabyte of rows in a fraction of a second of CPU', () => {
    const row = `(1700000000123, 5, "berlin")`;
    const sql = `INSERT INTO meters (ts, power, location) VALUES ${Array(35_000).fill(row).join(',')}`;
    // 100 ms on the machine this was written on.
    assert.ok(cpuMsOf(() => assert.equal(statements(sql).length, 1)) < 2_000);
  });
});

describe('UPSERT', () => {
  it('becomes an INSERT that updates its columns if the key exists', () => {
    assert.equal(
      only('UPSERT INTO log (id, at, "Note") VALUES (1, 5, "x") RETURNING id'),
      `INSERT INTO log (id, at, "Note") VALUES (1, '1970-01-01 00:00:00.000005+00', 'x') ` +
        `ON CONFLICT ("id") DO UPDATE SET "at" = EXCLUDED."at", "Note" = EXCLUDED."Note" RETURNING id`,
    );
    assert.equal(
      only('UPSERT INTO log (id) VALUES (1)'),
      'INSERT INTO log (id) VALUES (1) ON CONFLICT ("id") DO NOTHING',
    );
    assert.equal(
      only('UPSERT INTO log SELECT * FROM a JOIN b ON true -- c'),
      'INSERT INTO log SELECT * FROM a JOIN b ON true ON CONFLICT ("id") DO UPDATE SET "at" = EXCLUDED."at", ' +
        '"seen" = EXCLUDED."seen", "day" = EXCLUDED."day", "Note" = EXCLUDED."Note"',
    );
  });

  it('is an INSERT where there is no key', () => {
    assert.equal(only(`UPSERT INTO keyless VALUES (1, 'b')`), `INSERT INTO keyless VALUES (1, 'b')`);
    assert.equal(only('UPSERT INTO nowhere VALUES (1)'), 'INSERT INTO nowhere VALUES (1)');
  });

  it('is refused with ON CONFLICT and after WITH', () => {
    assert.match(refusal('UPSERT INTO log (id) VALUES (1) ON CONFLICT DO NOTHING'), /^42601 .* write INSERT/);
    assert.match(refusal('WITH a AS (SELECT 1) UPSERT INTO log SELECT * FROM a'), /ON CONFLICT/);
    assertUnchanged('WITH a AS (SELECT 1) SELECT * FROM a');
  });
});

describe('an INSERT that failed on an existing key', () => {
  const set = `DO UPDATE SET "power" = EXCLUDED."power", "floor" = EXCLUDED."floor", "added" = EXCLUDED."added"`;

  it('replaces the row of a time-series table', () => {
    assert.equal(
      afterRefusal(`INSERT INTO meters (ts, location) VALUES (5, 'a') RETURNING ts`, '23505'),
      `INSERT INTO meters (ts, location) VALUES ('1970-01-01 00:00:00.005000+00', 'a') ` +
        `ON CONFLICT ("ts", "location") ${set} RETURNING ts`,
    );
    assert.equal(
      afterRefusal('INSERT INTO meters SELECT * FROM meters2 -- c', '23505'),
      `INSERT INTO meters SELECT * FROM meters2 ON CONFLICT ("ts", "location") ${set}`,
    );
  });

  it('keeps the last of the rows with one key', () => {
    const sql = `INSERT INTO meters (location, ts, power) VALUES ('a', 5, 1), ("a", +5, 2), ('b', now(), 3), ('b', NOW(), 4),
      ('b', random(), 5), ('b', random(), 6), (lower('B'), 5, 7), (lower('B'), 5, 8)`;
    assert.equal(
      afterRefusal(sql, '23505'),
      `INSERT INTO meters (location, ts, power) VALUES ('a', '1970-01-01 00:00:00.005000+00', 2), ('b', NOW(), 4), ` +
        `('b', random(), 5), ('b', random(), 6), (lower('B'), '1970-01-01 00:00:00.005000+00', 7), ` +
        `(lower('B'), '1970-01-01 00:00:00.005000+00', 8) ON CONFLICT ("ts", "location") ${set}`,
    );
  });

  it('lets the database find rows with the same key in different notation, and keeps the last', () => {
    const sql = `INSERT INTO meters (location, ts, power) VALUES ('a', 5, 1), ('a', '1970-01-01 00:00:00.0051Z', lower('2')::int)`;
    const once = afterRefusal(sql, '23505') ?? '';
    assert.equal(
      afterRefusal(once, '21000'),
      `INSERT INTO meters (location, ts, power) SELECT c1, c2, c3 FROM (SELECT DISTINCT ON (c2, c1) * FROM (VALUES ` +
        `(('a')::text, ('1970-01-01 00:00:00.005000+00')::timestamp(3) with time zone, (1)::integer, 1), ` +
        `(('a')::text, ('1970-01-01 00:00:00.0051Z')::timestamp(3) with time zone, (lower('2')::int)::integer, 2)) ` +
        `AS input(c1, c2, c3, n) ORDER BY c2, c1, n DESC) AS last ON CONFLICT ("ts", "location") ${set}`,
    );
    assert.equal(afterRefusal(sql, '21000'), undefined);
    assert.equal(afterRefusal(once.replace("'a'", 'DEFAULT'), '21000'), undefined);
    assert.equal(
      afterRefusal('INSERT INTO log (id) VALUES (1), (1) ON CONFLICT (id) DO UPDATE SET id = 1', '21000'),
      undefined,
    );
  });

  it('stays refused for other tables, with a conflict clause of its own, and the second time', () => {
    assert.equal(afterRefusal('INSERT INTO log (id) VALUES (1)', '23505'), undefined);
    assert.equal(
      afterRefusal('INSERT INTO meters (ts) VALUES (now()) ON CONFLICT (ts) DO NOTHING', '23505'),
      undefined,
    );
    const again = afterRefusal(`INSERT INTO meters SELECT 1`, '23505') ?? '';
    assert.equal(afterRefusal(again, '23505'), undefined);
  });
});

describe('conditions that PostgreSQL rejected', () => {
  it('take integers for the times of a timestamp column', () => {
    for (const [sql, expected] of [
      [
        'DELETE FROM meters WHERE ts > 1700000000000 AND power = 5',
        `DELETE FROM meters WHERE ts > '2023-11-14 22:13:20+00' AND power = 5`,
      ],
      [
        'SELECT * FROM meters m WHERE (m.ts BETWEEN 1 AND -5 OR 5 <= m.ts) AND m.ts NOT IN (1, now()) LIMIT 5',
        `SELECT * FROM meters m WHERE (m.ts BETWEEN '1970-01-01 00:00:00.001000+00' AND '1969-12-31 23:59:59.995000+00' ` +
          `OR '1970-01-01 00:00:00.005000+00' <= m.ts) AND m.ts NOT IN ('1970-01-01 00:00:00.001000+00', now()) LIMIT 5`,
      ],
      [
        'update log set at = 5, id = 6 where seen = 7',
        `update log set at = '1970-01-01 00:00:00.000005+00', id = 6 where seen = '1970-01-01 00:00:00.000007'`,
      ],
      [
        'SELECT * FROM log l JOIN public.meters AS m ON l.at = 5 AND m.ts = 5, keyless WHERE seen < 5',
        `SELECT * FROM log l JOIN public.meters AS m ON l.at = '1970-01-01 00:00:00.000005+00' AND ` +
          `m.ts = '1970-01-01 00:00:00.005000+00', keyless WHERE seen < '1970-01-01 00:00:00.000005'`,
      ],
    ] as const) {
      assert.equal(afterRefusal(sql, '42883'), expected);
    }
  });

  it('take names in double quotes that no table has for text', () => {
    for (const [sql, expected] of [
      [
        `DELETE FROM log WHERE "Note" = "x" OR "it's" <> log."Note" OR "Note" LIKE "a%"`,
        `DELETE FROM log WHERE "Note" = 'x' OR 'it''s' <> log."Note" OR "Note" LIKE 'a%'`,
      ],
      ['UPDATE log SET "Note" = "a", id = "5"', `UPDATE log SET "Note" = 'a', id = '5'`],
      [
        'SELECT id FROM log WHERE at >= "2024-01-01" ORDER BY "id"',
        `SELECT id FROM log WHERE at >= '2024-01-01' ORDER BY "id"`,
      ],
      ['DELETE FROM meters WHERE location IN ("a", "b")', `DELETE FROM meters WHERE location IN ('a', 'b')`],
    ] as const) {
      assert.equal(afterRefusal(sql, '42703'), expected);
    }
  });

  it('leave columns in double quotes columns', () => {
    assert.equal(afterRefusal('DELETE FROM log WHERE "id" = "Note" AND "id" = "log"', '42703'), undefined);
    assert.equal(
      afterRefusal('SELECT * FROM log JOIN meters ON true WHERE "Note" = "location" AND "Note" = "x"', '42703'),
      `SELECT * FROM log JOIN meters ON true WHERE "Note" = "location" AND "Note" = 'x'`,
    );
  });

  it('stay refused where it is not certain what a name means', () => {
    for (const sql of [
      'DELETE FROM nowhere WHERE a = "x"',
      'SELECT * FROM log, nowhere WHERE id = "x"',
      'SELECT * FROM f(1) WHERE id = "x"',
      'SELECT * FROM log, f(1) WHERE id = "x"',
      'SELECT * FROM log WHERE EXISTS (SELECT FROM nowhere WHERE id = "x")',
      'WITH log AS (SELECT 1 AS one) SELECT * FROM log WHERE id = "x"',
      'SELECT * FROM (SELECT at + interval "1s" AS at FROM log) l WHERE at > 5',
      'SELECT * FROM log WHERE id + 1 = "x" AND at = 5 + 5 AND x = "y"',
      'SELECT "x" FROM log GROUP BY "y" ORDER BY "z"',
      'SELECT * FROM log a JOIN log b ON true WHERE id = "x"',
      'UPDATE log SET id = 1 FROM f() WHERE id = "x"',
      'MERGE INTO log USING meters ON id = "x" WHEN MATCHED THEN DELETE',
    ]) {
      assert.equal(afterRefusal(sql, '42703'), undefined, sql);
    }
  });

  it('with integers out of range are refused with the unit', () => {
    const translation = translateRefused('DELETE FROM meters WHERE ts < 1700000000123456789', '42883', CONTEXT);
    assert.ok(translation?.kind === 'refuse' && translation.message.includes('milliseconds'));
  });
});

describe('the name of the current database before a table', () => {
  it('is removed after PostgreSQL reported an unknown schema', () => {
    assert.equal(
      afterRefusal(
        "SELECT plant.log.id, a.plant.x FROM plant.log, plant.public.log WHERE plant.log.id = 'plant.x'",
        '42P01',
      ),
      `SELECT log.id, a.plant.x FROM log, public.log WHERE log.id = 'plant.x'`,
    );
    assert.equal(afterRefusal('CREATE TABLE plant.x (a int)', '3F000'), 'CREATE TABLE x (a int)');
    assert.equal(afterRefusal('SELECT * FROM other.log', '42P01'), undefined);
  });

  it('stays where a schema has that name and the table', () => {
    const context = { ...CONTEXT, table: () => ({ columns: [], key: [] }) };
    assert.equal(afterRefusal('DELETE FROM plant.log USING plant.x', '42P01', context), undefined);
  });
});

describe('the tables that a translation looks up', () => {
  it('are absent for statements that are first sent unchanged', () => {
    for (const sql of [
      'SELECT * FROM log WHERE at > 5',
      'DELETE FROM log',
      'CREATE TABLE t (a int)',
      'SHOW TABLES',
      'SHOW x',
      '',
    ]) {
      assert.deepEqual(tablesNeeded(sql, 'plant'), [], sql);
    }
  });

  it('are the target, with the current database as the original names it', () => {
    assert.deepEqual(tablesNeeded('INSERT INTO "Log" VALUES (1)', 'plant'), [{ name: 'Log' }]);
    assert.deepEqual(tablesNeeded('UPSERT INTO plant.log (a) VALUES (1)', 'plant'), [
      { schema: 'plant', name: 'log' },
      { name: 'log' },
    ]);
    assert.deepEqual(tablesNeeded('ALTER TABLE IF EXISTS ONLY s.log ADD TAG x int', 'plant'), [
      { schema: 's', name: 'log' },
    ]);
    assert.deepEqual(tablesNeeded('SHOW TAG VALUES FROM log', 'plant'), [{ name: 'log' }]);
    assert.deepEqual(tablesNeeded('SHOW CREATE TABLE plant.public.log', 'plant'), [{ schema: 'public', name: 'log' }]);
    assert.deepEqual(tablesNeeded('SHOW CREATE log', 'plant'), [{ name: 'log' }]);
  });

  it('are all tables of the statement after an error about columns', () => {
    const sql = 'SELECT * FROM a, plant.b x JOIN ONLY c ON true WHERE d = "e"';
    assert.deepEqual(tablesNeeded(sql, 'plant', '42703'), [
      { name: 'a' },
      { schema: 'plant', name: 'b' },
      { name: 'b' },
      { name: 'c' },
    ]);
    assert.deepEqual(tablesNeeded(sql, 'plant', '42P01'), [{ schema: 'plant', name: 'b' }]);
    assert.deepEqual(tablesNeeded(`INSERT INTO a VALUES (1)`, 'plant', '23505'), [{ name: 'a' }]);
    assert.deepEqual(tablesNeeded(sql, 'plant', '22012'), []);
  });

  it('may have any name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 15 }), (name) => {
        if (name.includes('\0')) return;
        assert.deepEqual(tablesNeeded(`INSERT INTO ${quoteIdentifier(name)} VALUES (1)`, 'plant'), [{ name }]);
      }),
    );
  });
});
