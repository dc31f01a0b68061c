import assert from 'node:assert/strict';
import { DatabaseError } from '../../src/errors.ts';
import type { Rehearsal } from '../../plugins/database/executor/api.ts';
import { until } from '../support/until.ts';
import { DatabaseFixture } from './database-fixture.ts';

const TIMEOUT_MS = 500;
/** Far less than the statements of a rehearsal would take, far more than its end does on a slow machine. */
const SOON_MS = 15_000;
const ENDED = { sqlstate: '57014', message: 'the rehearsal timed out after 0.5 seconds' };

describe('a rehearsal in the database', () => {
  let db: DatabaseFixture;

  before(async () => {
    db = await DatabaseFixture.create();
    await db.run('create table held (id int8 primary key)', 'insert into held values (1)');
  });

  after(async () => db.close());

  const sleeps = async (rehearsal: Rehearsal, seconds: number) =>
    rehearsal.query('select pg_sleep($1::float8)', [String(seconds)]);

  /** Backends of the rehearsal's own pool that still run something. */
  const backends = async (application: string) =>
    Number((await db.rows('select count(*) from pg_stat_activity where application_name = $1', [application]))[0]?.[0]);

  it('S2: has one time limit, whatever the number of its statements, and leaves no lock', async () => {
    const started = Date.now();
    let done = 0;
    const rehearsed = db.executor.rehearse(
      async (rehearsal) => {
        await rehearsal.query('drop table held');
        for (; done < 100; done++) await sleeps(rehearsal, 0.2);
      },
      { timeoutMs: TIMEOUT_MS },
    );
    await assert.rejects(rehearsed, ENDED);
    assert.ok(done < 4, String(done));
    assert.deepEqual(await db.rows('select id from held'), [['1']]);
    assert.ok(Date.now() - started < SOON_MS);
  });

  it('S2: returns what it found in time, and no statement runs after that', async () => {
    const found = await db.executor.rehearse(
      async (rehearsal) => {
        await assert.rejects(sleeps(rehearsal, 60), { sqlstate: '57014' });
        assert.equal(rehearsal.signal.aborted, true);
        await assert.rejects(rehearsal.query('drop table held'), { sqlstate: '57014' });
        return 'found';
      },
      { timeoutMs: TIMEOUT_MS },
    );
    assert.equal(found, 'found');
    assert.deepEqual(await db.rows('select id from held'), [['1']]);
  });

  it('S2: ends the server process of a statement that withstands its cancellation', async () => {
    const application = 'stubborn-rehearsal';
    const executor = db.open({ poolSize: 1 }, `?application_name=${application}`);
    const stubborn = `do $$ begin loop begin perform pg_sleep(60); exception when query_canceled then null; end; end loop; end $$`;
    const rehearsed = executor.rehearse(
      async (rehearsal) => {
        await rehearsal.query('lock table held in access exclusive mode');
        assert.equal(await backends(application), 1);
        await rehearsal.query(stubborn);
      },
      { timeoutMs: TIMEOUT_MS },
    );
    await assert.rejects(rehearsed, DatabaseError);
    assert.deepEqual(await db.rows('select id from held'), [['1']]);
    await executor.close();
    await until(async () => (await backends(application)) === 0, 'no server process of the rehearsal is left');
  });

  it('S2: waits for a lock of another transaction for no longer than a second, and SQL does not change that', async () => {
    const waited = await db.executor.rehearse(async (rehearsal) => {
      await rehearsal.query(`select set_config('lock_timeout', '0', true), set_config('statement_timeout', '0', true)`);
      return db.executor.session(async (session) =>
        session
          .transaction(async () => {
            await session.query('select id from held for update');
            await assert.rejects(
              rehearsal.attempt(() => rehearsal.query('delete from held')),
              { sqlstate: '55P03' },
            );
            const { rows } = await rehearsal.query(`select current_setting('statement_timeout')`);
            throw new Waited(rows[0]?.[0] ?? '');
          })
          .catch((error: unknown) => error),
      );
    });
    assert.ok(waited instanceof Waited);
    assert.match(waited.message, /^\d+ms$|^\d+s$/, 'statements have a limit of the server again');
    assert.notEqual(waited.message, '0');
  });
});

class Waited extends Error {}
