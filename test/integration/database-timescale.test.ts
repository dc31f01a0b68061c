import assert from 'node:assert/strict';
import { openExecutor, parseConnectionUrl } from '../../plugins/database/executor/open-executor.ts';
import type { Executor } from '../../plugins/database/executor/api.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { quoteIdentifier } from '../../plugins/database/sql/quote.ts';
import { translateWith } from '../../plugins/database/sql/translate/translate-with.ts';
import { database, uniqueName } from '../support/services.ts';
import { batch, OVERRIDE } from './database-fixture.ts';

/** A database with TimescaleDB to try it on; else the test server's own extension, where it has one. */
const URL_OF_ITS_OWN = process.env['SLUICE_TIMESCALE_URL'];

async function timescale(): Promise<Executor | undefined> {
  const url = URL_OF_ITS_OWN ?? (await database('timescale')).url;
  // The smallest of such servers take one connection only.
  const executor = openExecutor(parseConnectionUrl(url), { logger: silentLogger, poolSize: 1 });
  const found = await executor.query("SELECT 1 FROM pg_catalog.pg_available_extensions WHERE name = 'timescaledb'");
  if (found.rows.length > 0) {
    await executor.query('CREATE EXTENSION IF NOT EXISTS timescaledb');
    return executor;
  }
  await executor.close();
  return undefined;
}

describe('a time-series table in a database with TimescaleDB', () => {
  let executor: Executor;

  before(async function () {
    const opened = await timescale();
    if (opened === undefined) {
      console.log('skipped: the server has no TimescaleDB (SLUICE_TIMESCALE_URL may name a database that has)');
      this.skip();
    }
    executor = opened;
  });
  after(async () => executor?.close());

  async function hypertable(name: string): Promise<unknown> {
    const sql = `SELECT d.column_name, h.num_chunks FROM timescaledb_information.hypertables h
      JOIN timescaledb_information.dimensions d USING (hypertable_schema, hypertable_name) WHERE h.hypertable_name = $1`;
    return (await executor.query(sql, [name])).rows;
  }

  it('is a hypertable by its time when rows create it, and takes rows with known keys', async () => {
    const name = uniqueName('Made "by rows');
    const shape = {
      exact: false,
      columns: [
        { name: 'k', type: 'TIMESTAMPTZ', length: undefined, nullable: false, role: 'time' as const },
        { name: 'v', type: 'INT8', length: undefined, nullable: true, role: 'data' as const },
        { name: 't', type: 'VARCHAR', length: undefined, nullable: false, role: 'primary-tag' as const },
      ],
    };
    const rows = batch(name, {
      'k:time:time': [0, 1e12, 1e15],
      'v:int': [1, 2, 3],
      't:text:primary-tag': ['a', 'a', 'b'],
    });
    for (let round = 0; round < 2; round++) {
      const report = await executor.write(rows, { ...OVERRIDE, shape });
      assert.deepEqual([report.stored, report.faults], [3, []]);
    }
    assert.deepEqual(await hypertable(name), [['k', '3']]);
    const table = await executor.catalogue.refresh({ name });
    assert.deepEqual(table?.key, ['k', 't']);
    assert.equal((await executor.catalogue.list()).filter((found) => found.name.name.includes('hyper')).length, 0);
  });

  it('is one when it is created with TAGS', async () => {
    const name = uniqueName('tagged');
    const sql = `CREATE TABLE ${quoteIdentifier(name)} (ts TIMESTAMP NOT NULL, v INT) TAGS (t VARCHAR NOT NULL) PRIMARY TAGS (t)`;
    const translation = await translateWith(executor.catalogue, 'postgres', sql);
    assert.ok(translation.kind === 'run');
    await executor.session((session) =>
      session.transaction(async () => {
        for (const statement of translation.statements) await session.query(statement);
      }),
    );
    assert.deepEqual(await hypertable(name), [['ts', '0']]);
  });
});
