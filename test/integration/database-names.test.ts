import assert from 'node:assert/strict';
import { openExecutor, parseConnectionUrl } from '../../plugins/database/executor/open-executor.ts';
import { DatabaseError } from '../../src/errors.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { uniqueName } from '../support/services.ts';
import { batch, DatabaseFixture, OVERRIDE } from './database-fixture.ts';

/** PostgreSQL cuts the second of these to the first. */
const KEPT = `${'é'.repeat(31)}x`;
const LONG = `${KEPT}y`;

describe('a name of more than 63 bytes, whose beginning is the name of something else', () => {
  let db: DatabaseFixture;

  before(async () => {
    db = await DatabaseFixture.create();
    await db.run(`CREATE TABLE "${KEPT}" (v int)`, `CREATE SCHEMA "${KEPT}"`, `CREATE TABLE "${KEPT}".t (v int)`);
  });
  after(() => db.close());

  function hasState(sqlstate: string, message = /at most 63/): (error: unknown) => boolean {
    return (error) => error instanceof DatabaseError && error.sqlstate === sqlstate && message.test(error.message);
  }

  it('finds no table and no schema', async () => {
    const { catalogue } = db.executor;
    assert.equal((await catalogue.find({ name: KEPT }))?.name.name, KEPT);
    assert.equal(await catalogue.find({ name: LONG }), undefined);
    assert.equal((await catalogue.find({ schema: KEPT, name: 't' }))?.name.schema, KEPT);
    assert.equal(await catalogue.find({ schema: LONG, name: 't' }), undefined);
  });

  it('takes no rows, with or without creation', async () => {
    const rows = batch(LONG, { 'v:int': [1] });
    const columns = [{ name: 'v', type: 'INT8', length: undefined, nullable: true, role: 'data' as const }];
    await assert.rejects(db.executor.write(rows, OVERRIDE), hasState('42P01', /does not exist/));
    await assert.rejects(db.executor.write(rows, { ...OVERRIDE, shape: { exact: false, columns } }), hasState('42622'));
    await assert.rejects(
      db.executor.catalogue.ensure({ name: LONG }, { exact: true, columns }, { create: true }),
      hasState('42622'),
    );
    assert.deepEqual(await db.rows(`SELECT count(*) FROM "${KEPT}"`), [['0']]);
  });

  it('is refused as a role and as a database', async () => {
    const long = uniqueName('r').padEnd(64, 'x');
    const kept = long.slice(0, 63);
    await db.run(`CREATE ROLE "${kept}" LOGIN PASSWORD 'secret'`, `CREATE DATABASE "${kept}"`);
    try {
      for (const [user, database, sqlstate] of [
        [kept, db.access.database, undefined],
        [long, db.access.database, '28000'],
        [kept, long, '42622'],
      ] as const) {
        const url = new URL(db.access.url);
        url.pathname = `/${database}`;
        url.username = user;
        url.password = 'secret';
        const executor = openExecutor(parseConnectionUrl(url.href), { logger: silentLogger });
        if (sqlstate === undefined) await executor.query('SELECT 1');
        else await assert.rejects(executor.query('SELECT 1'), hasState(sqlstate));
        await executor.close();
      }
    } finally {
      await db.run(`DROP DATABASE "${kept}"`, `DROP ROLE "${kept}"`);
    }
  });
});
