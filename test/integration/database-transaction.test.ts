import assert from 'node:assert/strict';
import { DatabaseError } from '../../src/errors.ts';
import { batch, DatabaseFixture, OVERRIDE } from './database-fixture.ts';

const numbers = (...n: number[]) => batch('t', { 'n:int': n });
const isNot = (sqlstate: string) => (error: unknown) => error instanceof DatabaseError && error.sqlstate === sqlstate;

describe('a transaction of writes', () => {
  let fixture: DatabaseFixture;
  before(async () => (fixture = await DatabaseFixture.create()));
  after(() => fixture.close());
  beforeEach(() => fixture.run('DROP TABLE IF EXISTS t', 'CREATE TABLE t (n int8 CHECK (n <> 13))'));

  const stored = async () => (await fixture.rows('SELECT n FROM t ORDER BY n')).flat();

  it('goes on without what an attempt wrote that failed, and without statements that failed', async () => {
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
    await executor.prepare(made, shape, OVERRIDE);
    await executor.atomically(async (transaction) => {
      await transaction.writeGrowing(made, shape, OVERRIDE);
      // Whoever made it in here would keep it to himself until the end.
      assert.ok((await fixture.rows(`SELECT to_regclass('made') IS NOT NULL`))[0]?.[0] === 't');
    });
    assert.deepEqual(await fixture.rows('SELECT v FROM made'), [['1']]);
  });
});
