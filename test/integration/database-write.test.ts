import assert from 'node:assert/strict';
import type { TableWriter, WritePolicy } from '../../plugins/database/executor/api.ts';
import type { WriteReport } from '../../src/data/row-batch.ts';
import { DatabaseError } from '../../src/errors.ts';
import { until } from '../support/until.ts';
import { batch, DatabaseFixture, offsets, MERGE, OVERRIDE, upTo } from './database-fixture.ts';

describe('a write to the database', () => {
  let db: DatabaseFixture;

  before(async () => {
    db = await DatabaseFixture.create();
  });
  after(() => db.close());

  describe('of values', () => {
    it('keeps int64 extremes, NaN, infinities, unicode, empty strings, bytes and NULL as they are', async () => {
      await db.run(
        'CREATE TABLE extremes (id int8 PRIMARY KEY, i int8, f float8, g float4, s text, b bytea, n numeric, o bool, j jsonb)',
      );
      const report = await db.executor.write(
        batch('extremes', {
          'id:int': [1, 2, 3],
          'i:int': [9223372036854775807n, -9223372036854775808n, null],
          'f:float': [Number.NaN, Number.NEGATIVE_INFINITY, 5e-324],
          'g:float': [0.1, -0, null],
          's:text': ['Zürich "😀" \\ {,}', '', null],
          'b:bytes': [Uint8Array.of(0, 255), new Uint8Array(0), null],
          'n:numeric': ['123456789012345678901234567890.5', '-0.0001', null],
          'o:bool': [true, false, null],
          'j:json': ['{"a": [1, null]}', '"x"', null],
        }),
        OVERRIDE,
      );
      assert.deepEqual(report, { stored: 3, discarded: 0, collapsed: 0, faults: [] });
      assert.deepEqual(await db.rows('SELECT * FROM extremes ORDER BY id'), [
        [
          '1',
          '9223372036854775807',
          'NaN',
          '0.1',
          'Zürich "😀" \\ {,}',
          '\\x00ff',
          '123456789012345678901234567890.5',
          't',
          '{"a": [1, null]}',
        ],
        ['2', '-9223372036854775808', '-Infinity', '-0', '', '\\x', '-0.0001', 'f', '"x"'],
        ['3', null, '5e-324', null, null, null, null, null, null],
      ]);
    });

    it('stores times in UTC to the microsecond, rounded to the column’s precision, far years included', async () => {
      await db.run(
        'CREATE TABLE times (id int8, a timestamptz, b timestamp, c timestamptz(3), d date, e text, f timestamptz)',
      );
      const micros = [1_700_000_000_123_456, -1, -62135596800000001n, 253402300800000000n];
      const { faults } = await db.executor.write(
        batch('times', {
          'id:int': [1, 2, 3, 4],
          'a:time': micros,
          'b:time': micros,
          'c:time': micros,
          'd:time': micros,
          'e:time': micros,
          'f:text': ['2024-05-06 07:08:09.5+02', 'infinity', null, '2024-05-06'],
        }),
        OVERRIDE,
      );
      assert.deepEqual(faults, []);
      assert.deepEqual(await db.rows('SELECT a, b, c, d, e, f FROM times ORDER BY id'), [
        [
          '2023-11-14 22:13:20.123456+00',
          '2023-11-14 22:13:20.123456',
          '2023-11-14 22:13:20.123+00',
          '2023-11-14',
          '2023-11-14 22:13:20.123456+00',
          '2024-05-06 05:08:09.5+00',
        ],
        [
          '1969-12-31 23:59:59.999999+00',
          '1969-12-31 23:59:59.999999',
          '1970-01-01 00:00:00+00',
          '1969-12-31',
          '1969-12-31 23:59:59.999999+00',
          'infinity',
        ],
        [
          '0001-12-31 23:59:59.999999+00 BC',
          '0001-12-31 23:59:59.999999 BC',
          '0001-01-01 00:00:00+00',
          '0001-12-31 BC',
          '0001-12-31 23:59:59.999999+00 BC',
          null,
        ],
        [
          '10000-01-01 00:00:00+00',
          '10000-01-01 00:00:00',
          '10000-01-01 00:00:00+00',
          '10000-01-01',
          '10000-01-01 00:00:00+00',
          '2024-05-06 00:00:00+00',
        ],
      ]);
    });

    it('converts to the column’s real type: domains, enums, arrays, char and bit columns too', async () => {
      await db.run(
        `CREATE DOMAIN percent AS int4 CHECK (VALUE BETWEEN 0 AND 100)`,
        `CREATE TYPE mood AS ENUM ('fine', 'bad')`,
        'CREATE TABLE kinds (id int4, p percent, m mood, a int4[], c char(5), b bit(3), u uuid, i interval, v varchar(3))',
      );
      const report = await db.executor.write(
        batch('kinds', {
          'id:int': [1, 2, 3, 4],
          'p:int': [50, 101, 1, 1],
          'm:text': ['fine', 'fine', 'odd', 'bad'],
          'a:text': ['{1,2}', '{}', '{}', '{3,NULL}'],
          'c:text': ['abc', 'abc', 'abc', 'abcde'],
          'b:text': ['101', '101', '101', '111'],
          'u:text': ['00000000-0000-0000-0000-000000000001', null, null, null],
          'i:text': ['1 day', null, null, '90 min'],
          'v:text': ['abc', null, null, 'äöü'],
        }),
        OVERRIDE,
      );
      assert.deepEqual(offsets(report.faults), [1, 2]);
      assert.match(report.faults[0]?.message ?? '', /percent_check/);
      assert.match(report.faults[1]?.message ?? '', /invalid input value for enum mood: "odd"/);
      assert.deepEqual(await db.rows('SELECT p, m, a, c, b, i, v FROM kinds ORDER BY id'), [
        ['50', 'fine', '{1,2}', 'abc  ', '101', '1 day', 'abc'],
        ['1', 'bad', '{3,NULL}', 'abcde', '111', '01:30:00', 'äöü'],
      ]);
    });

    it('refuses text that is too long instead of cutting it', async () => {
      await db.run('CREATE TABLE narrow (v varchar(3), c char(2), b bit(2))');
      const report = await db.executor.write(
        batch('narrow', {
          v: ['abcd', 'abc', 'abc', 'abc'],
          c: ['ab', 'abc', 'ab', 'ab'],
          b: ['10', '10', '101', '10'],
        }),
        OVERRIDE,
      );
      assert.equal(report.stored, 1);
      assert.deepEqual(
        report.faults.map(({ sqlstate }) => sqlstate),
        ['22001', '22001', '22026'],
      );
    });
  });

  describe('with bad rows', () => {
    it('stores 997 of 1,000 rows and names the three that the server refuses', async () => {
      await db.run('CREATE TABLE checked (id int4 PRIMARY KEY, v int4 CHECK (v >= 0))');
      const values = upTo(1000).map((id) => ([3, 500, 999].includes(id) ? -1 : id));
      const report = await db.executor.write(batch('checked', { 'id:int': upTo(1000), 'v:int': values }), OVERRIDE);
      assert.equal(report.stored, 997);
      assert.deepEqual(offsets(report.faults), [3, 500, 999]);
      const [fault] = report.faults;
      assert.equal(fault?.scope, 'record');
      assert.equal(fault?.sqlstate, '23514');
      assert.equal(fault?.table, 'checked');
      assert.match(fault?.message ?? '', /new row for relation "checked" violates check constraint "checked_v_check"/);
      assert.deepEqual(await db.rows('SELECT count(*), min(v) FROM checked'), [['997', '0']]);
    });

    it('finds cells that do not fit before anything is sent, and stores their neighbours', async () => {
      await db.run('CREATE TABLE typed (id int4 NOT NULL, small int2, s text)');
      const report = await db.executor.write(
        batch('typed', {
          'id:int': [1, 2, 3, null, 5],
          'small:int': [1, 40_000, 3, 4, 5],
          's:text': ['a', 'b', 'c\0', 'd', 'e'],
        }),
        OVERRIDE,
      );
      assert.equal(report.stored, 2);
      assert.deepEqual(
        report.faults.map(({ message, column, sqlstate }) => ({ message, column, sqlstate })),
        [
          {
            message: 'column "small" of table "typed" (smallint): 40000 is out of range',
            column: 'small',
            sqlstate: '22003',
          },
          {
            message:
              'column "s" of table "typed" (text): the text contains a NUL character, which PostgreSQL cannot store',
            column: 's',
            sqlstate: '22021',
          },
          {
            message:
              'column "id" of table "typed" (integer): the value is missing, and the column does not accept NULL',
            column: 'id',
            sqlstate: '23502',
          },
        ],
      );
    });

    it('reports a batch without any good row in full', async () => {
      await db.run('CREATE TABLE strict (id int4 PRIMARY KEY, v int4 CHECK (v < 0))');
      const report = await db.executor.write(batch('strict', { 'id:int': upTo(20), 'v:int': upTo(20) }), OVERRIDE);
      assert.equal(report.stored, 0);
      assert.deepEqual(offsets(report.faults), upTo(20));
    });

    it('passes on what a trigger says', async () => {
      await db.run(
        'CREATE TABLE guarded (id int4)',
        `CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN IF NEW.id = 2 THEN RAISE 'two is not welcome'; END IF; RETURN NEW; END $$`,
        'CREATE TRIGGER guard BEFORE INSERT ON guarded FOR EACH ROW EXECUTE FUNCTION guard()',
      );
      const report = await db.executor.write(batch('guarded', { 'id:int': [1, 2, 3] }), OVERRIDE);
      assert.equal(report.stored, 2);
      assert.equal(report.faults[0]?.message, 'table "guarded": two is not welcome');
    });
  });

  describe('of columns that do not match', () => {
    before(() =>
      db.run(
        `CREATE TABLE partial (id int4 NOT NULL, kind text NOT NULL DEFAULT 'x', note text, seen timestamptz DEFAULT now())`,
      ),
    );

    it('leaves missing columns to their defaults', async () => {
      const report = await db.executor.write(batch('partial', { 'id:int': [1] }), OVERRIDE);
      assert.equal(report.stored, 1);
      assert.deepEqual(await db.rows('SELECT kind, note, seen IS NOT NULL FROM partial WHERE id = 1'), [
        ['x', null, 't'],
      ]);
    });

    it('gives a NOT NULL column its default where only some rows have a value', async () => {
      await db.executor.write(batch('partial', { 'id:int': [2, 3], kind: ['given', null] }), OVERRIDE);
      assert.deepEqual(await db.rows('SELECT kind FROM partial WHERE id IN (2, 3) ORDER BY id'), [['given'], ['x']]);
    });

    it('refuses rows with a value in an unknown column, or drops the column, as the policy says', async () => {
      const rows = batch('partial', { 'id:int': [4, 5], extra: [null, 'y'] });
      const strict = await db.executor.write(rows, OVERRIDE);
      assert.equal(strict.stored, 1);
      assert.equal(strict.faults[0]?.message, 'table "partial" has no column "extra"');
      assert.deepEqual(offsets(strict.faults), [1]);
      const lenient = await db.executor.write(rows, { ...OVERRIDE, unknownColumns: 'ignore' });
      assert.deepEqual([lenient.stored, lenient.faults.length], [2, 0]);
    });

    it('refuses all rows without a value for a required column', async () => {
      const report = await db.executor.write(batch('partial', { note: ['a', 'b'] }), OVERRIDE);
      assert.equal(report.stored, 0);
      assert.equal(report.faults.length, 2);
      assert.match(report.faults[0]?.message ?? '', /column "id" of table "partial" \(integer\) is required/);
    });

    it('sees a column that was added since the table was read, and one whose type changed', async () => {
      await db.run('CREATE TABLE growing (id int4 PRIMARY KEY, v int4)');
      await db.executor.write(batch('growing', { 'id:int': [1], 'v:int': [1] }), OVERRIDE);
      await db.run('ALTER TABLE growing ADD COLUMN w text', 'ALTER TABLE growing ALTER COLUMN v TYPE text');
      const report = await until(async () => {
        const written = await db.executor.write(batch('growing', { 'id:int': [2], v: ['two'], w: ['new'] }), OVERRIDE);
        return written.faults.length === 0 && written;
      }, 'the new column is seen');
      assert.equal(report.stored, 1);
      assert.deepEqual(await db.rows('SELECT v, w FROM growing WHERE id = 2'), [['two', 'new']]);
    });

    it('continues when a column was dropped or the table was created again', async () => {
      await db.run('CREATE TABLE moving (id int4 PRIMARY KEY, v int4, w int4)');
      const rows = batch('moving', { 'id:int': [1], 'v:int': [1] });
      await db.executor.write(rows, OVERRIDE);
      await db.run('ALTER TABLE moving DROP COLUMN w');
      assert.equal((await db.executor.write(rows, OVERRIDE)).stored, 1);
      await db.run('DROP TABLE moving', 'CREATE TABLE moving (v int8, id int8 PRIMARY KEY)');
      assert.equal((await db.executor.write(rows, OVERRIDE)).stored, 1);
      assert.deepEqual(await db.rows('SELECT v, id FROM moving'), [['1', '1']]);
    });

    it('refuses values for columns that the database computes', async () => {
      await db.run('CREATE TABLE computed (a int4 PRIMARY KEY, b int4 GENERATED ALWAYS AS (a * 2) STORED)');
      const report = await db.executor.write(batch('computed', { 'a:int': [1, 2], 'b:int': [5, null] }), OVERRIDE);
      assert.equal(report.stored, 1);
      assert.equal(report.faults[0]?.message, 'table "computed" computes column "b" itself');
    });

    it('finds the time column of the table under another name', async () => {
      await db.run('CREATE TABLE timed (k_timestamp timestamptz PRIMARY KEY, v int4)');
      const report = await db.executor.write(batch('timed', { 'time:time:time': [1_000_000], 'v:int': [7] }), OVERRIDE);
      assert.equal(report.stored, 1);
      assert.deepEqual(await db.rows('SELECT * FROM timed'), [['1970-01-01 00:00:01+00', '7']]);
    });

    it('rejects with scope table when there is no table, and never takes a catalogue of the server for one', async () => {
      for (const name of ['nowhere', 'pg_class', 'nowhere.t']) {
        await assert.rejects(
          db.executor.write(batch(name, { 'id:int': [1] }), OVERRIDE),
          (error: unknown) => error instanceof DatabaseError && error.scope === 'table' && error.sqlstate === '42P01',
        );
      }
    });

    it('rejects with scope caller when the role may not write', async () => {
      await db.run('CREATE TABLE locked (id int4)', `CREATE ROLE ${db.access.database} LOGIN PASSWORD 'p'`);
      const executor = db.open({}, `?user=${db.access.database}&password=p`);
      await assert.rejects(
        executor.write(batch('locked', { 'id:int': [1] }), OVERRIDE),
        (error: unknown) => error instanceof DatabaseError && error.scope === 'caller' && error.sqlstate === '42501',
      );
      await executor.close();
      await db.run(`DROP ROLE ${db.access.database}`);
    });

    it('that may INSERT alone adds new rows, leaves stored ones out where that is the rule, else names the rights it lacks for each stored row (L11, M2)', async () => {
      const role = `${db.access.database}_inserts`;
      await db.run(
        'CREATE TABLE added (id int4 PRIMARY KEY, v int4)',
        'CREATE TABLE marks (id int4 PRIMARY KEY)',
        `CREATE ROLE ${role} LOGIN PASSWORD 'p'`,
        `GRANT INSERT ON added, marks TO ${role}`,
      );
      const executor = db.open({}, `?user=${role}&password=p`);
      const write = (ids: number[], rules: Partial<WritePolicy> = {}, to: TableWriter = executor) =>
        to.write(batch('added', { 'id:int': ids, 'v:int': ids.map(() => 1) }), { ...OVERRIDE, ...rules });
      const refused = ({ stored, faults }: WriteReport): unknown[] => [
        stored,
        ...faults.map(({ origin, scope, sqlstate, message }) => {
          assert.match(message, /the user needs the rights SELECT and UPDATE on table "public"\."added"/);
          return [origin?.kind === 'record' ? origin.offset : undefined, scope, sqlstate];
        }),
      ];
      const denied = (offset: number): unknown[] => [offset, 'record', '42501'];
      try {
        assert.equal((await write([1, 2])).stored, 2);
        assert.deepEqual(refused(await write([2])), [0, denied(0)]);
        assert.deepEqual(refused(await write([1, 30, 2, 31, 32])), [3, denied(0), denied(2)]);
        assert.deepEqual(refused(await write([2, 33], { allOrNothing: true })), [0, denied(0)]);
        const within = await executor.atomically((transaction) => write([2, 34, 1, 35], {}, transaction));
        assert.deepEqual(refused(within), [2, denied(0), denied(2)]);
        assert.deepEqual(await db.rows('SELECT id FROM added WHERE id > 2 ORDER BY id'), [
          ...['30', '31', '32', '34', '35'].map((id) => [id]),
        ]);
        await db.run('DELETE FROM added WHERE id > 2');
        assert.equal((await write([3])).stored, 1, 'new rows are stored after one that was not new');
        assert.equal(await executor.atomically(async (transaction) => (await write([4], {}, transaction)).stored), 1);
        const { stored, discarded } = await write([4, 5], { dedupRule: 'discard' });
        assert.deepEqual([stored, discarded], [1, 1]);
        // Rows that are nothing but their key are the same when that is.
        for (const ids of [[7], [7, 8]]) {
          assert.equal((await executor.write(batch('marks', { 'id:int': ids }), OVERRIDE)).stored, ids.length);
        }
        assert.deepEqual(await db.rows('SELECT id FROM added ORDER BY id'), [['1'], ['2'], ['3'], ['4'], ['5']]);
        assert.deepEqual(await db.rows('SELECT id FROM marks ORDER BY id'), [['7'], ['8']]);
        // Rows of one key that are merged into one are stored or refused together.
        const merged = await executor.write(
          batch('added', { 'id:int': [1, 40, 1, 40, 41], 'v:int': [5, null, null, 6, 7] }),
          { ...OVERRIDE, dedupRule: 'merge' },
        );
        assert.deepEqual(refused(merged), [2, denied(0), denied(2)]);
        assert.deepEqual(await db.rows('SELECT id, v FROM added WHERE id IN (1, 40, 41) ORDER BY id'), [
          ['1', '1'],
          ['40', '6'],
          ['41', '7'],
        ]);
        await db.run('DELETE FROM added WHERE id >= 40');
        await db.run(`GRANT SELECT, UPDATE ON added TO ${role}`);
        executor.catalogue.forget();
        assert.equal((await write([5])).stored, 1);
      } finally {
        await executor.close();
        await db.run(`DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
      }
    });
  });

  describe('of rows with the same key', () => {
    beforeEach(async () => {
      await db.run(
        'DROP TABLE IF EXISTS keyed',
        'CREATE TABLE keyed (ts timestamptz, host text, a int4, b int4, PRIMARY KEY (ts, host))',
        `INSERT INTO keyed VALUES ('epoch', 'x', 1, 1)`,
      );
    });
    const rows = () =>
      batch('keyed', {
        'ts:time': [0, 0, 0, 0],
        host: ['x', 'y', 'x', 'y'],
        'a:int': [2, 2, 3, null],
        'b:int': [null, 2, null, 4],
      });
    const stored = () => db.rows('SELECT host, a, b FROM keyed ORDER BY host');

    it('replaces the whole row under override, the last one of the batch winning', async () => {
      const report = await db.executor.write(rows(), OVERRIDE);
      assert.deepEqual(report, { stored: 2, discarded: 0, collapsed: 2, faults: [] });
      assert.deepEqual(await stored(), [
        ['x', '3', null],
        ['y', null, '4'],
      ]);
    });

    it('fills in cells under merge, later ones winning, also within the batch', async () => {
      const report = await db.executor.write(rows(), MERGE);
      assert.deepEqual(report, { stored: 2, discarded: 0, collapsed: 2, faults: [] });
      assert.deepEqual(await stored(), [
        ['x', '3', '1'],
        ['y', '2', '4'],
      ]);
    });

    it('merges all rows of a batch by one statement, however often a key occurs (L4)', async () => {
      await db.run(
        'CREATE TABLE counted (statement int4)',
        `CREATE OR REPLACE FUNCTION count_it() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN INSERT INTO counted VALUES (1); RETURN NULL; END $$`,
        'CREATE TRIGGER counts AFTER INSERT ON keyed FOR EACH STATEMENT EXECUTE FUNCTION count_it()',
      );
      const cells = Array.from({ length: 50 }, (_, row) => row);
      const report = await db.executor.write(
        batch('keyed', {
          'ts:time': cells.map(() => 7),
          host: cells.map(() => 'z'),
          'a:int': cells.map((row) => (row === 20 ? 20 : null)),
          'b:int': cells,
        }),
        MERGE,
      );
      assert.deepEqual(report, { stored: 1, discarded: 0, collapsed: 49, faults: [] });
      assert.deepEqual(await db.rows(`SELECT a, b FROM keyed WHERE host = 'z'`), [['20', '49']]);
      assert.deepEqual(await db.rows('SELECT count(*) FROM counted'), [['1']]);
    });

    it('leaves out of a merged row what is refused, by this process or by the server, and names its rows', async () => {
      await db.run('ALTER TABLE keyed ADD CHECK (a < 10)');
      const report = await db.executor.write(
        batch('keyed', {
          'ts:time': [1, 1, 1, 1, 1, 2],
          host: ['z', 'z', 'z', 'z', 'z', 'z'],
          'a:int': [5, 70, null, null, 2 ** 40, 2 ** 40],
          'b:int': [null, null, 1, 2, null, null],
        }),
        MERGE,
      );
      assert.deepEqual(offsets(report.faults), [1, 4, 5]);
      assert.equal(report.stored + report.collapsed, 3);
      assert.deepEqual(await db.rows(`SELECT a, b FROM keyed WHERE host = 'z'`), [['5', '2']]);
    });

    it('merges rows that lack a NOT NULL column with a default into what is stored, and gives new rows the default', async () => {
      await db.run('ALTER TABLE keyed ADD COLUMN c int4 NOT NULL DEFAULT 5', 'UPDATE keyed SET c = 6');
      const report = await db.executor.write(
        batch('keyed', {
          'ts:time': [0, 1, 1, 1, 2],
          host: ['x', 'x', 'x', 'x', 'x'],
          'a:int': [2, null, 3, 4, 8],
          'c:int': [null, 7, null, 8, null],
        }),
        MERGE,
      );
      assert.deepEqual(report.faults, []);
      assert.deepEqual(await db.rows('SELECT a, b, c FROM keyed ORDER BY ts'), [
        ['2', '1', '6'],
        ['4', null, '8'],
        ['8', null, '5'],
      ]);
    });

    it('tries an invalid row once, however many rows with its key are invalid', async () => {
      const bad = Array.from({ length: 20_000 }, () => 2 ** 40);
      for (const dedupRule of ['override', 'merge', 'discard'] as const) {
        const report = await db.executor.write(
          batch('keyed', { 'ts:time': bad.map(() => 3), host: bad.map(() => 'z'), 'a:int': bad }),
          { ...OVERRIDE, dedupRule },
        );
        assert.equal(report.faults.length, 20_000, dedupRule);
      }
    });

    it('keeps what is stored under discard, the first one of the batch winning, and counts the rest', async () => {
      const report = await db.executor.write(rows(), { ...OVERRIDE, dedupRule: 'discard' });
      assert.deepEqual(report, { stored: 1, discarded: 3, collapsed: 0, faults: [] });
      assert.deepEqual(await stored(), [
        ['x', '1', '1'],
        ['y', '2', '2'],
      ]);
    });

    it('stores the previous row of a key if the last one is refused', async () => {
      await db.run('ALTER TABLE keyed ADD CHECK (a < 10)');
      const report = await db.executor.write(
        batch('keyed', { 'ts:time': [1, 1, 1, 2], host: ['z', 'z', 'z', 'z'], 'a:int': [5, 6, 70, 1] }),
        OVERRIDE,
      );
      assert.equal(report.stored, 2);
      assert.equal(report.collapsed, 1);
      assert.deepEqual(offsets(report.faults), [2]);
      assert.deepEqual(await db.rows(`SELECT a FROM keyed WHERE host = 'z' ORDER BY ts`), [['6'], ['1']]);
    });

    it('does not let a row that cannot be encoded hide a good one with its key', async () => {
      const report = await db.executor.write(
        batch('keyed', { 'ts:time': [1, 1], host: ['z', 'z'], 'a:int': [5, 2 ** 40] }),
        OVERRIDE,
      );
      assert.deepEqual([report.stored, report.collapsed, offsets(report.faults)], [1, 0, [1]]);
    });

    it('handles keys that only the database considers equal', async () => {
      await db.run(
        `CREATE COLLATION IF NOT EXISTS ignoring_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
        'CREATE TABLE loose (k text COLLATE ignoring_case PRIMARY KEY, v int4)',
      );
      const report = await db.executor.write(
        batch('loose', { k: ['a', 'b', 'A', 'c'], 'v:int': [1, 2, 3, 4] }),
        OVERRIDE,
      );
      assert.equal(report.stored + report.collapsed, 4);
      assert.deepEqual(await db.rows('SELECT v FROM loose ORDER BY k'), [['3'], ['2'], ['4']]);
    });

    it('stores every row of a table without a key', async () => {
      await db.run('CREATE TABLE heap (id int4)');
      const report = await db.executor.write(batch('heap', { 'id:int': [1, 1, 1] }), OVERRIDE);
      assert.deepEqual(report, { stored: 3, discarded: 0, collapsed: 0, faults: [] });
    });

    it('uses a unique index over NOT NULL columns where there is no primary key, and no partial one', async () => {
      await db.run(
        'CREATE TABLE indexed (a int4 NOT NULL, b int4, v int4)',
        'CREATE UNIQUE INDEX ON indexed (b)',
        'CREATE UNIQUE INDEX ON indexed (a) WHERE a > 5',
        'CREATE UNIQUE INDEX ON indexed (a) INCLUDE (v)',
      );
      await db.executor.write(batch('indexed', { 'a:int': [1, 1], 'b:int': [1, 2], 'v:int': [1, 2] }), OVERRIDE);
      assert.deepEqual(await db.rows('SELECT a, b, v FROM indexed'), [['1', '2', '2']]);
      assert.deepEqual((await db.executor.catalogue.refresh({ name: 'indexed' }))?.key, ['a']);
    });

    it('counts times as one where the column’s precision makes them one', async () => {
      await db.run('CREATE TABLE millis (ts timestamptz(3) PRIMARY KEY, v int4)');
      const report = await db.executor.write(
        batch('millis', { 'ts:time': [1_000_100, 1_000_200, 1_000_600], 'v:int': [1, 2, 3] }),
        OVERRIDE,
      );
      assert.deepEqual(report, { stored: 2, discarded: 0, collapsed: 1, faults: [] });
      assert.deepEqual(await db.rows('SELECT ts, v FROM millis ORDER BY ts'), [
        ['1970-01-01 00:00:01+00', '2'],
        ['1970-01-01 00:00:01.001+00', '3'],
      ]);
    });
  });

  describe('at the same time as others', () => {
    it('retries automatically when the server breaks a deadlock', async () => {
      await db.run(
        'CREATE TABLE tangled (k int4 PRIMARY KEY, v int4)',
        'INSERT INTO tangled SELECT generate_series(0, 499), 0',
        `ALTER DATABASE ${db.access.database} SET deadlock_timeout = '20ms'`,
      );
      const executor = db.open({}, '?ApplicationName=tangled');
      const up = upTo(500);
      const down = [...up].reverse();
      const reports = await Promise.all(
        upTo(4).map((n) =>
          executor.write(batch('tangled', { 'k:int': n % 2 === 0 ? up : down, 'v:int': up.map(() => n) }), OVERRIDE),
        ),
      );
      assert.ok(reports.every((report) => report.stored === 500 && report.faults.length === 0));
      await executor.close();
    });

    it('stops when aborted, and rejects with 57014', async () => {
      await db.run('CREATE TABLE busy (k int4 PRIMARY KEY)');
      await db.executor.session((session) =>
        session.transaction(async () => {
          await session.query('LOCK TABLE busy IN ACCESS EXCLUSIVE MODE');
          await db.executor.catalogue.refresh({ name: 'busy' }).catch(() => undefined);
          const abort = new AbortController();
          const write = db.executor.write(batch('busy', { 'k:int': [1] }), { ...OVERRIDE, signal: abort.signal });
          setTimeout(() => abort.abort(), 50);
          await assert.rejects(write, (error: unknown) => error instanceof DatabaseError && error.sqlstate === '57014');
          const late = db.executor.write(batch('busy', { 'k:int': [1] }), { ...OVERRIDE, timeoutMs: 50 });
          await assert.rejects(
            late,
            (error: unknown) => error instanceof DatabaseError && error.scope === 'infrastructure',
          );
        }),
      );
      assert.equal((await db.executor.write(batch('busy', { 'k:int': [1] }), OVERRIDE)).stored, 1);
    });
  });
});
