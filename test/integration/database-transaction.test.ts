import assert from 'node:assert/strict';
import type { Transaction } from '../../plugins/database/executor/api.ts';
import { DatabaseError } from '../../src/errors.ts';
import { batch, DatabaseFixture, offsets, OVERRIDE } from './database-fixture.ts';

const numbers = (...n: number[]) => batch('t', { 'n:int': n });
const isNot = (sqlstate: string) => (error: unknown) => error instanceof DatabaseError && error.sqlstate === sqlstate;

describe('a transaction of writes', () => {
  let fixture: DatabaseFixture;
  before(async () => (fixture = await DatabaseFixture.create()));
  after(() => fixture.close());
  beforeEach(() => fixture.run('DROP TABLE IF EXISTS t', 'CREATE TABLE t (n int8 CHECK (n <> 13))'));

  const stored = async () => (await fixture.rows('SELECT n FROM t ORDER BY n')).flat();

  it('continues without the rows of a failed attempt, and without statements that failed', async () => {
    await fixture.executor.atomically(async (transaction) => {
      await transaction.write(numbers(1), OVERRIDE);
      const attempt = transaction.attempt(async () => {
        await transaction.write(numbers(2), OVERRIDE);
        throw new Error('no');
      });
      await assert.rejects(attempt, /no/);
      const session = transaction.session(async (statements) => {
        await statements.query('INSERT INTO t VALUES (3)');
        await statements.query('SELECT 1/0');
      });
      await assert.rejects(session, isNot('22012'));
      await transaction.session((statements) => statements.query('INSERT INTO t VALUES (4)'));
      const { faults } = await transaction.write(numbers(5, 13), OVERRIDE);
      assert.equal(faults.length, 1);
    });
    assert.deepEqual(await stored(), ['1', '4', '5']);
  });

  it('knows tables as they are in it; others know them so when it has ended', async () => {
    const { executor } = fixture;
    await executor.write(numbers(1), OVERRIDE);
    const wide = batch('t', { 'n:int': [2], 'm:int': [7] });
    await executor.atomically(async (transaction) => {
      await transaction.session((statements) => statements.query('ALTER TABLE t ADD COLUMN m int8'));
      transaction.catalogue.forget();
      assert.deepEqual((await transaction.write(wide, OVERRIDE)).faults, []);
    });
    const known = await executor.catalogue.find({ name: 't' });
    assert.deepEqual(
      known?.columns.map(({ name }) => name),
      ['n', 'm'],
    );
    await assert.rejects(
      executor.atomically(async (transaction) => {
        await transaction.session((statements) => statements.query('DROP TABLE t'));
        transaction.catalogue.forget();
        await transaction.write(wide, OVERRIDE);
      }),
      isNot('42P01'),
    );
    assert.deepEqual((await executor.write(wide, OVERRIDE)).faults, []);
    assert.deepEqual(await stored(), ['1', '2', '2']);
  });

  it('finds a table ready that was prepared for it', async () => {
    const { executor } = fixture;
    const made = batch('made', { 'ts:time:time': [1_700_000_000_000_000], 'v:int': [1] });
    const shape = {
      exact: false,
      columns: [
        { name: 'ts', role: 'time' as const, type: 'TIMESTAMPTZ', length: undefined, nullable: false },
        { name: 'v', role: 'data' as const, type: 'INT8', length: undefined, nullable: true },
      ],
    };
    await executor.prepare(made, { ...OVERRIDE, shape });
    await executor.atomically(async (transaction) => {
      await transaction.write(made, { ...OVERRIDE, shape });
      // A table created within the transaction would be invisible to others until its end.
      assert.ok((await fixture.rows(`SELECT to_regclass('made') IS NOT NULL`))[0]?.[0] === 't');
    });
    assert.deepEqual(await fixture.rows('SELECT v FROM made'), [['1']]);
  });

  describe('that conflicts with others', () => {
    /** Fails with `code` after the first insert of 66, at the point `at`, `times` times; `runs` counts the attempts. */
    const failing = (at: 'at once' | 'at the commit', times: number, code: string) =>
      fixture.run(
        'DROP SEQUENCE IF EXISTS runs',
        'CREATE SEQUENCE runs',
        `CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF nextval('runs') <= ${String(times)} THEN RAISE EXCEPTION 'not now' USING ERRCODE = '${code}'; END IF;
          RETURN NULL; END $$`,
        `CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON t ${at === 'at once' ? '' : 'INITIALLY DEFERRED'}
          FOR EACH ROW WHEN (NEW.n = 66) EXECUTE FUNCTION fail()`,
      );
    /** How often the work was done, and what came of it. */
    const tried = async (work: (transaction: Transaction) => Promise<unknown>) => {
      let times = 0;
      const end = await fixture.executor
        .atomically(async (transaction) => {
          times++;
          await work(transaction);
          return 'done';
        })
        .catch((error: unknown) => error);
      return { times, end };
    };

    it('is retried in place when the server rolls it back: at a write, at a query, at the commit', async () => {
      const works: readonly ((transaction: Transaction) => Promise<unknown>)[] = [
        (transaction) => transaction.write(numbers(66), OVERRIDE),
        (transaction) => transaction.query('INSERT INTO t VALUES (66)'),
        (transaction) => transaction.attempt(() => transaction.write(numbers(66), OVERRIDE)),
      ];
      for (const at of ['at once', 'at the commit'] as const) {
        for (const work of works) {
          await fixture.run('TRUNCATE t', 'DROP TRIGGER IF EXISTS fail ON t');
          await failing(at, 2, '40001');
          assert.deepEqual(await tried(work), { times: 3, end: 'done' });
          assert.deepEqual(await stored(), ['66']);
        }
      }
    });

    it('fails with the message of the server when it is rolled back repeatedly', async () => {
      await failing('at the commit', 1000, '40P01');
      const { times, end } = await tried((transaction) => transaction.write(numbers(66), OVERRIDE));
      assert.deepEqual([times, String(end)], [6, 'DatabaseError: not now']);
      assert.deepEqual(await stored(), []);
    });

    it('is not retried for failures that savepoints cannot undo, and reports them', async () => {
      await failing('at once', 1, '53100');
      const full = await tried((transaction) => transaction.write(numbers(66, 1), OVERRIDE));
      assert.deepEqual([full.times, String(full.end)], [1, 'DatabaseError: not now']);
      const lost = await tried(async (transaction) => {
        const session = transaction.session((statements) =>
          statements.query('SELECT pg_terminate_backend(pg_backend_pid())'),
        );
        await session.catch(() => undefined);
        await transaction.write(numbers(1), OVERRIDE).catch(() => undefined);
      });
      assert.equal(lost.times, 1);
      assert.ok(isNot('57P01')(lost.end), String(lost.end));
      assert.deepEqual(await stored(), []);
    });

    it('is not retried when a constraint fails at the commit, and names the constraint', async () => {
      await fixture.run('CREATE TABLE IF NOT EXISTS known (n int8 PRIMARY KEY)');
      await fixture.run('ALTER TABLE t ADD FOREIGN KEY (n) REFERENCES known DEFERRABLE INITIALLY DEFERRED');
      const { times, end } = await tried((transaction) => transaction.write(numbers(1), OVERRIDE));
      assert.equal(times, 1);
      assert.ok(end instanceof DatabaseError && end.scope === 'record' && end.message.includes('t_n_fkey'));
    });
  });

  it('leaves no state on its connection, whatever its result', async () => {
    const executor = fixture.open({ poolSize: 1 }, '?application_name=one');
    const settings = async () =>
      (await executor.query(`SELECT current_setting('search_path'), current_setting('TimeZone')`)).rows[0];
    const before = await settings();
    const zoned = batch('z', { 'at:text': ['2024-01-01 00:00:00', 'no time'], 'n:int': [1, 2] });
    await fixture.run('CREATE TABLE z (at timestamptz, n int8)');
    for (const isKept of [true, false]) {
      const work = executor.atomically(async (transaction) => {
        await transaction.session((statements) => statements.query('SET search_path = pg_catalog'));
        await transaction.session((statements) => statements.query('SET search_path = public'));
        const { faults } = await transaction.write(zoned, { ...OVERRIDE, timeZone: 'Asia/Tokyo' });
        assert.deepEqual(offsets(faults), [1]);
        if (!isKept) throw new Error('undone');
      });
      await (isKept ? work : assert.rejects(work, /undone/));
      assert.deepEqual(await settings(), before);
    }
    assert.deepEqual(await fixture.rows('SELECT at, n FROM z'), [['2023-12-31 15:00:00+00', '1']]);
  });
});
