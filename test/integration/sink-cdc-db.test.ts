import assert from 'node:assert/strict';
import { keepingLetters, sinkConfig } from '../support/connectors.ts';
import { uniqueName } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { AT_MS, SinkChangesFixture } from './sink-cdc-db-fixture.ts';

describe('cdc_db messages in a sink', function () {
  let fixture: SinkChangesFixture;

  before(async () => (fixture = await SinkChangesFixture.create()));
  after(() => fixture.close());
  beforeEach(() => fixture.newTopic());

  it('delivered again do no harm', async () => {
    await fixture.sendChanges(
      fixture.change('create', 'CREATE TABLE again (ts timestamptz, id int8 PRIMARY KEY, v varchar(64))', {
        table: 'again',
      }),
      fixture.rows('again', [[AT_MS, 1, 'a']]),
      fixture.change('alter', 'ALTER TABLE again ADD COLUMN w int4'),
      fixture.change('alter', 'ALTER TABLE again RENAME COLUMN w TO x'),
      fixture.change('alter', 'ALTER TABLE again DROP COLUMN x'),
      fixture.change('create', 'CREATE INDEX again_v ON again (v)'),
      fixture.change('create', 'CREATE TABLE gone (ts timestamptz, id int8)'),
      fixture.change('drop', 'DROP TABLE gone'),
      fixture.change('drop', 'DROP INDEX again_v'),
      fixture.rows('again', [[AT_MS, 2, 'b']]),
    );
    await fixture.doneChanges(await fixture.startChanges());
    // A group of its own reads all of them from the beginning.
    await fixture.doneChanges(await fixture.startChanges());
    assert.deepEqual(await fixture.sql.rows('select * from again order by id'), [
      ['2023-11-14 22:13:20+00', '1', 'a'],
      ['2023-11-14 22:13:20+00', '2', 'b'],
    ]);
    assert.match(
      fixture.sluice.log,
      /Skipped a create statement for again that was applied before: relation \\"again\\" already exists/,
    );
  });

  it('after a change of tables are not delivered again, because their offset is committed at once', async () => {
    const name = await fixture.startChanges({ 'consumer.override.max.poll.records': '10' });
    await fixture.sluice.rest.untilState(name, 'RUNNING', 1);
    await fixture.sql.run('create table blocked (ts timestamptz, id int8, v varchar)');
    const blocker = new SqlClient(fixture.db);
    try {
      await blocker.run('begin', 'lock table blocked');
      await fixture.sendChanges(
        fixture.change('create', 'CREATE TABLE soon (ts timestamptz, id int8, v varchar)'),
        fixture.rows('soon', [[AT_MS, 1, 'a']]),
        fixture.change('drop', 'DROP TABLE soon'),
        fixture.rows('blocked', [[AT_MS, 1, 'a']]),
      );
      // The batch as a whole is not done before the lock is gone.
      await until(
        async () => (await fixture.kafka.committed(`connect-${name}`)) === 3,
        'the first three are committed',
      );
      await blocker.run('rollback');
    } finally {
      await blocker.close();
    }
    await fixture.doneChanges(name);
  });

  it('with names that need a schema find them in the one of the message', async () => {
    await fixture.sql.run('create schema plant', 'create table plant.pumps (ts timestamptz, id int8, v varchar)');
    await fixture.sendChanges(
      fixture.rows('pumps', [[AT_MS, 1, 'a']], { schema: 'plant' }),
      fixture.change('update', `UPDATE pumps SET v = 'b'`, { schema: 'plant' }),
    );
    await fixture.doneChanges(await fixture.startChanges());
    assert.deepEqual(await fixture.sql.rows('select id, v from plant.pumps'), [['1', 'b']]);
    assert.equal((await fixture.sql.rows('show search_path'))[0]?.[0], '"$user", public');
  });

  it('of another database are refused with an error that names both', async () => {
    await fixture.sendChanges(fixture.rows('orders', [], { database: 'elsewhere' }));
    const trace = await fixture.traceOf(await fixture.startChanges());
    assert.match(
      trace,
      new RegExp(`the message is for database "elsewhere", but the sink writes to "${fixture.db.database}"`),
    );
    assert.match(trace, new RegExp(`topic ${fixture.topic}, partition 0, offset 0`));
  });

  it('that are invalid or fail do not affect others', async () => {
    const deadLetters = uniqueName('cdc-dead');
    await fixture.sql.run('create table safe (ts timestamptz, id int8 primary key, v varchar(3))');
    await fixture.sendChanges(
      fixture.rows('safe', [[AT_MS, 1, 'a']]),
      fixture.change('drop', 'DELETE FROM safe'),
      fixture.change('update', `UPDATE safe SET v = 'x'; DROP TABLE safe`),
      fixture.change('update', 'UPDATE safe SET nonsense'),
      fixture.change('alter', 'ALTER TABLE never_made ADD COLUMN a int'),
      fixture.change('update', `UPDATE safe SET v = 'too long'`),
      fixture.rows('never_made', [[AT_MS, 1, 'a']]),
      '{"kind":"merge","database":"x"}',
      fixture.rows('safe', [[AT_MS, 2, 'b']]),
    );
    const name = await fixture.startChanges({
      ...keepingLetters(deadLetters),
    });
    await fixture.doneChanges(name);
    assert.deepEqual(await fixture.sql.rows('select id, v from safe order by id'), [
      ['1', 'a'],
      ['2', 'b'],
    ]);
    const dead = await fixture.kafka.read(deadLetters, ({ length }) => length === 7);
    const reasons = dead.map(({ headers }) =>
      headers.find(({ key }) => key === '__connect.errors.exception.message')?.value?.toString(),
    );
    const expected = [
      /kind drop but contains a statement that begins with delete/,
      /several statements/,
      /syntax error/,
      /relation "never_made" does not exist/,
      /value too long for type character varying\(3\)/,
      /table "public.never_made" does not exist/,
      /"kind" must be one of/,
    ];
    for (const reason of expected) {
      assert.equal(
        reasons.filter((each) => reason.test(each ?? '')).length,
        1,
        `${String(reason)} in ${String(reasons)}`,
      );
    }
    await fixture.sluice.rest.untilState(name, 'RUNNING', 1);
  });

  it('cannot be combined with options that create or change tables', async () => {
    const answer = await fixture.sluice.rest.post<{ message: string }>('/connectors', {
      name: uniqueName('cdc'),
      config: sinkConfig(fixture.db, {
        topics: fixture.topic,
        'protocol.type': 'cdc_db',
        'timestamp.precision': 's',
        'auto.create': 'true',
        'auto.evolve': 'add',
        'unknown.columns': 'add',
      }),
    });
    assert.equal(answer.status, 400);
    for (const option of ['timestamp.precision', 'auto.create', 'auto.evolve', 'unknown.columns']) {
      assert.match(answer.body.message, new RegExp(`Invalid value for configuration ${option}: `));
    }
  });
});
