import assert from 'node:assert/strict';
import { diagnoseSource } from '../../plugins/db-source/diagnosis.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { sourceConfig } from '../support/connectors.ts';
import { database, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';

describe('the findings of the doctor for the tables of a source (M12)', function () {
  let db: TestDatabase;
  let sql: SqlClient;

  before(async () => {
    db = await database('diagnosis');
    sql = new SqlClient(db);
    await sql.run(
      'create table readings (ts timestamptz primary key, v float8)',
      ...[1, 2, 3, 4, 5, 6].map((n) => `create table days_${String(n)} (day date primary key, v float8)`),
      'create view latest as select * from readings',
      'create materialized view kept as select * from readings',
    );
  });
  after(() => sql.close());

  async function findings(more: Readonly<Record<string, string>>) {
    const topics: string[] = [];
    const config = sourceConfig(db, { 'tasks.max': '1', 'topic.prefix': 'p', ...more });
    const all = await diagnoseSource(config, {
      logger: silentLogger,
      signal: new AbortController().signal,
      writesTo: (names) => topics.push(...names),
    });
    const told = all.filter(({ about }) => /^(topic|table|views)/.test(about));
    return { topics, told: told.map(({ level, about, message }) => [level, about, message]) };
  }

  it('names views, and tables that have no timestamp, as skipped', async () => {
    const { topics, told } = await findings({ 'table.include': 'readings,latest,kept,days_1' });
    assert.deepEqual(told, [
      ['warn', 'views', 'are skipped: kept, latest'],
      ['warn', 'table days_1', 'is skipped: it has no timestamp column to read it by'],
      ['ok', 'tables', '1 to read: readings'],
    ]);
    assert.deepEqual(topics, [`p-${db.database}-readings-json_db`]);
  });

  it('names views of a schema with a name like those of TimescaleDB, but no views of TimescaleDB', async () => {
    const schemas = ['timescaledb_information', 'timescaledb_experimental', 'timescaledb_copy'];
    for (const schema of schemas) {
      await sql.run(`create schema ${schema}`, `create view ${schema}.seen as select * from readings`);
    }
    const { told } = await findings({ 'table.include': 'readings,timescaledb_.*' });
    assert.deepEqual(told[0], ['warn', 'views', 'are skipped: timescaledb_copy.seen']);
  });

  it('counts skipped tables if there are many', async () => {
    const { told } = await findings({ 'table.include': 'days_.*,readings' });
    assert.equal(told.filter(([, about]) => about?.startsWith('table days_')).length, 5);
    assert.deepEqual(told.slice(-2), [
      ['warn', 'tables', '6 are skipped in total'],
      ['ok', 'tables', '1 to read: readings'],
    ]);
  });

  it('reads tables without a timestamp if the mode needs none', async () => {
    const { told } = await findings({ 'table.include': 'days_1', mode: 'bulk' });
    assert.deepEqual(told, [['ok', 'tables', '1 to read: days_1']]);
  });

  it('warns of a prefix with characters that topic names must not have', async () => {
    const { topics, told } = await findings({ 'table.include': 'readings', 'topic.prefix': 'north/1' });
    assert.deepEqual(topics, [`north_1-${db.database}-readings-json_db`]);
    assert.equal(told[0]?.[0], 'warn');
    assert.equal(told[0]?.[1], 'topic.prefix');
    assert.match(String(told[0]?.[2]), /writes to the same topics$/);
  });
});
