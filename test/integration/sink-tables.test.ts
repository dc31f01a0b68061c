import assert from 'node:assert/strict';
import { sinkConfig } from '../support/connectors.ts';
import { database, uniqueName } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { message, N, SinkTablesFixture, type Column } from './sink-tables-fixture.ts';

const NOTE: Column = { name: 'note', type: 'VARCHAR', length: 4 };

describe('tables of a sink', function () {
  let fixture: SinkTablesFixture;

  before(async () => (fixture = await SinkTablesFixture.create()));
  after(() => fixture.close());

  it('must have the columns of a json_db message in the same order, unless auto.evolve allows changes', async () => {
    const topic = await fixture.topicOf([
      message('strict', [N], { n: 1 }),
      message('strict', [N, NOTE], { n: 2, note: 'abcd' }),
    ]);
    assert.match(
      await fixture.traceOf(await fixture.startJson(topic)),
      /table "strict" does not match the message: .*"note"/,
    );
    await fixture.done(await fixture.startJson(topic, { 'auto.evolve': 'add' }), 2);
    assert.deepEqual(await fixture.typesOf('strict'), [
      'ts timestamp with time zone',
      'n bigint',
      'site character varying(16)',
      'note character varying(4)',
    ]);
    assert.deepEqual(await fixture.sql.rows('select n, note from strict'), [['2', 'abcd']]);
  });

  it('are widened for longer texts only with auto.evolve=widen', async () => {
    const wide = { ...NOTE, length: 8 };
    const topic = await fixture.topicOf([
      message('widened', [NOTE], { note: 'abcd' }),
      message('widened', [wide], { note: 'abcdefgh' }),
    ]);
    const trace = await fixture.traceOf(await fixture.startJson(topic, { 'auto.evolve': 'true' }));
    assert.match(trace, /more than the 4 characters that the column accepts/);
    await fixture.done(await fixture.startJson(topic, { 'auto.evolve': 'widen' }), 2);
    assert.equal((await fixture.typesOf('widened'))[1], 'note character varying(8)');
  });

  it('get columns for undescribed keys with unknown.columns=add, and ignore their values with ignore', async () => {
    const topic = await fixture.topicOf([message('unknown', [N], { n: 1, extra: 'x', load: 0.5 })]);
    assert.match(
      await fixture.traceOf(await fixture.startJson(topic)),
      /the key "extra" is neither a column nor a tag/,
    );
    await fixture.done(await fixture.startJson(topic, { 'unknown.columns': 'ignore' }), 1);
    assert.deepEqual(await fixture.sql.rows('select * from unknown'), [['2023-11-14 22:13:20+00', '1', 'oslo']]);
    await fixture.done(await fixture.startJson(topic, { 'unknown.columns': 'add' }), 1);
    assert.deepEqual((await fixture.typesOf('unknown')).slice(3), ['extra character varying', 'load double precision']);
    assert.deepEqual(await fixture.sql.rows('select n, extra, load from unknown'), [['1', 'x', '0.5']]);
  });

  it('are not created with auto.create=false, and are created with table.options', async () => {
    const topic = await fixture.topicOf([message('optional', [N], { n: 1 })]);
    assert.match(
      await fixture.traceOf(await fixture.startJson(topic, { 'auto.create': 'false' })),
      /may not be created/,
    );
    await fixture.done(await fixture.startJson(topic, { 'table.options': 'with (autovacuum_enabled = false)' }), 1);
    assert.deepEqual(await fixture.sql.rows(`select reloptions from pg_class where relname = 'optional'`), [
      ['{autovacuum_enabled=false}'],
    ]);
    const answer = await fixture.sluice.rest.post<{ message: string }>('/connectors', {
      name: uniqueName('tables'),
      config: sinkConfig(fixture.db, {
        topics: topic,
        'protocol.type': 'json_db',
        'table.options': '; drop table optional',
      }),
    });
    assert.equal(answer.status, 400);
    assert.match(answer.body.message, /Invalid value for configuration table\.options: /);
  });

  it('in a database marked relational accept times in milliseconds only, and no time-series formats', async () => {
    const relational = await database('relational_tables');
    const client = new SqlClient(relational);
    try {
      await client.run(`comment on database "${relational.database}" is 'sluice:relational'`);
      const problemsOf = async (options: Record<string, string>) => {
        const answer = await fixture.sluice.rest.post<{ message: string }>('/connectors', {
          name: uniqueName('relational'),
          config: sinkConfig(relational, { topics: 'any', ...options }),
        });
        assert.equal(answer.status, 400);
        return answer.body.message;
      };
      for (const format of ['json_tsd', 'line_tsd', 'line_lp', 'cdc_db']) {
        assert.match(
          await problemsOf({ 'protocol.type': format }),
          new RegExp(`Invalid value for configuration protocol.type: ${format} requires a time-series database`),
        );
      }
      assert.match(
        await problemsOf({ 'protocol.type': 'json_db', 'timestamp.precision': 'us' }),
        /Invalid value for configuration timestamp\.precision: in a relational database, json_db supports ms only, not us/,
      );
      const precisions = { json_db: 's', line_lp: 's', json_tsd: 'us', line_tsd: 'ns', cdc_db: 's' };
      for (const [format, precision] of Object.entries(precisions)) {
        const message = await problemsOf({ 'protocol.type': format, 'timestamp.precision': precision });
        assert.match(message, new RegExp(`timestamp.precision: ${format} supports [a-z, ]+, not ${precision}`));
      }
    } finally {
      await client.close();
    }
  });
});
