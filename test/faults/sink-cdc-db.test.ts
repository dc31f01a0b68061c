import assert from 'node:assert/strict';
import { AT_MS, SinkChangesFixture } from '../integration/sink-cdc-db-fixture.ts';

describe('cdc_db messages in a sink', function () {
  let fixture: SinkChangesFixture;

  before(async () => (fixture = await SinkChangesFixture.create()));
  after(() => fixture.close());
  beforeEach(() => fixture.newTopic());

  it('are rows and statements, executed in their order', async () => {
    await fixture.sendChanges(
      fixture.change('create', 'CREATE TABLE orders (ts timestamptz, id int8 PRIMARY KEY, v varchar(64))'),
      fixture
        .rows('orders', [
          [AT_MS, 1, 'a'],
          [AT_MS, 9_007_199_254_740_993, 'b'],
        ])
        .replace('9007199254740992', '9007199254740993'),
      fixture.rows('orders', [[AT_MS + 1, 3, null]], { kind: 'snapshot' }),
      fixture.change('update', `UPDATE orders SET v = v || ';' WHERE id = 1;`),
      fixture.change('delete', 'DELETE FROM orders WHERE id = 3'),
      fixture.rows('orders', [[AT_MS, 3, 'again']]),
      fixture.change('alter', 'ALTER TABLE orders ADD COLUMN note text'),
      fixture.rows('orders', [[AT_MS, 4, 'd', 'new column']], {
        columnnames: ['ts', 'id', 'v', 'note'],
        columntypes: ['timestamptz', 'int8', 'varchar', 'text'],
      }),
      fixture.change('update', `UPDATE orders SET note = 'late' WHERE note IS NULL AND id < 4`),
      fixture.rows('orders', [[AT_MS, 5, 'e']]),
    );
    await fixture.doneChanges(await fixture.startChanges());
    assert.deepEqual(
      await fixture.sql.rows('select id, v, note, extract(epoch from ts)::int8 * 1000 from orders order by id'),
      [
        ['1', 'a;', 'late', String(AT_MS)],
        ['3', 'again', 'late', String(AT_MS)],
        ['4', 'd', 'new column', String(AT_MS)],
        ['5', 'e', null, String(AT_MS)],
        ['9007199254740993', 'b', null, String(AT_MS)],
      ],
    );
  });

  it('create and change tables in the SQL of their source database', async () => {
    await fixture.sendChanges(
      fixture.change(
        'create',
        'CREATE TABLE series (ts timestamp not null, id int8, v varchar) TAGS (site varchar(16) not null) PRIMARY TAGS (site)',
      ),
      fixture.rows('series', [[AT_MS, 1, 'x', 'oslo']], {
        columnnames: ['ts', 'id', 'v', 'site'],
        columntypes: ['TIMESTAMPTZ', 'INT8', 'VARCHAR', 'VARCHAR'],
      }),
      fixture.change('alter', 'ALTER TABLE series ADD TAG zone varchar(8)'),
      fixture.change('drop', 'DROP TABLE IF EXISTS never_there'),
    );
    await fixture.doneChanges(await fixture.startChanges());
    assert.deepEqual(await fixture.sql.rows('select id, v, site, zone from series'), [['1', 'x', 'oslo', null]]);
    const tags = await fixture.sql.rows(`select string_agg(attname, ',' order by attnum) from pg_attribute
      where attrelid = 'series'::regclass and col_description(attrelid, attnum) like 'sluice:%tag'`);
    assert.deepEqual(tags, [['site,zone']]);
  });
});
