import assert from 'node:assert/strict';
import { sourceConfig } from '../support/connectors.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { at, cells, ComputedColumnsFixture, MANY, newTable } from './computed-columns-fixture.ts';

const STRUCT = {
  'protocol.type': 'struct',
  'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
  'value.converter.schemas.enable': 'false',
};

describe('values of columns that the database computes (M3)', function () {
  let fixture: ComputedColumnsFixture;

  before(async () => (fixture = await ComputedColumnsFixture.create()));
  after(() => fixture.close());

  const seconds = (i: number): string => new Date(at(i)).toISOString();

  for (const mode of ['insert', 'upsert', 'update']) {
    it(`are ignored in structs with insert.mode=${mode}`, async () => {
      const table = newTable();
      await fixture.createTable(table);
      const rows = Array.from({ length: MANY }, (_, i) => ({ ...cells(i), k_timestamp: seconds(i) }));
      if (mode === 'update') {
        await fixture.sql.run(
          `insert into ${table} (k_timestamp, n, site) values ${rows.map(({ k_timestamp }) => `('${k_timestamp}', 0, 'oslo')`).join(', ')}`,
        );
      }
      const topic = await fixture.topicOf(rows.map((row) => JSON.stringify(row)));
      const key = mode === 'insert' ? {} : { 'pk.mode': 'record_value', 'pk.fields': 'k_timestamp,site' };
      const options = { ...STRUCT, ...key, 'insert.mode': mode, 'table.name.format': table };
      await fixture.done(await fixture.start(topic, options), MANY);
      await fixture.assertStored(table, MANY);
    });
  }

  it('that identify the rows are refused', async () => {
    const table = newTable();
    await fixture.createTable(table, 'primary key (id)');
    const topic = await fixture.topicOf([JSON.stringify({ ...cells(1), k_timestamp: seconds(1) })]);
    const name = await fixture.start(topic, {
      ...STRUCT,
      'insert.mode': 'upsert',
      'pk.mode': 'record_value',
      'pk.fields': 'id',
      'table.name.format': table,
    });
    assert.match(
      await fixture.traceOf(name),
      new RegExp(`table "${table}" computes column "id" itself, which identifies the rows`),
    );
  });

  it('can be copied with a whole table from a source to a sink', async () => {
    const table = newTable();
    await fixture.createTagged(table);
    await fixture.sql.run(
      `insert into ${table} (k_timestamp, n, site) select timestamptz '2026-01-01 00:00:00Z' + i * interval '1 s', i, 'oslo' from generate_series(1, ${String(MANY)}) i`,
    );
    const name = uniqueName('computed-source');
    const config = { 'topic.prefix': name, 'table.include': table, 'out.format': 'json_db' };
    await fixture.sluice.rest.create(name, sourceConfig(fixture.db, config));
    const topic = `${name}-${fixture.db.database}-${table}-json_db`;
    await fixture.kafka.read(topic, (records) => records.length === MANY);
    await fixture.sluice.rest.delete(`/connectors/${name}`);
    await fixture.sql.run(`alter table ${table} rename to ${table}_original`);
    await fixture.createTagged(table);
    await fixture.done(await fixture.start(topic, { 'protocol.type': 'json_db' }), MANY);
    const differing = `select k_timestamp, n, twice, site from ${table} except select k_timestamp, n, twice, site from ${table}_original`;
    await until(
      async () => (await fixture.sql.number(`select count(*) from ${table}`)) === MANY,
      'all rows have returned',
    );
    assert.deepEqual(await fixture.sql.rows(differing), []);
  });
});
