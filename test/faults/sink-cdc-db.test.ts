import assert from 'node:assert/strict';
import { SinkFixture } from '../integration/sink-fixture.ts';

const AT_MS = 1_700_000_000_000;

describe('cdc_db messages in a sink', function () {
  let fixture: SinkFixture;
  let topic = '';
  let sent = 0;

  before(async () => (fixture = await SinkFixture.create('changes')));
  after(() => fixture.close());

  beforeEach(async () => {
    sent = 0;
    topic = await fixture.topicOf([]);
  });

  const rows = (table: string, values: readonly unknown[][], more: object = {}) =>
    JSON.stringify({
      kind: 'insert',
      database: fixture.db.database,
      schema: 'public',
      table,
      columnnames: ['ts', 'id', 'v'],
      columntypes: ['timestamptz', 'int8', 'varchar'],
      columnvalues: values,
      ...more,
    });
  const change = (kind: string, statement: string, more: object = {}) =>
    JSON.stringify({ kind, database: fixture.db.database, schema: 'public', statement, ...more });

  async function send(...messages: string[]): Promise<void> {
    sent += messages.length;
    await fixture.send(topic, messages);
  }

  const start = (more: Record<string, string> = {}) => fixture.start(topic, { 'protocol.type': 'cdc_db', ...more });
  const done = (name: string) => fixture.done(name, sent);

  it('are rows and statements, done in their order', async () => {
    await send(
      change('create', 'CREATE TABLE orders (ts timestamptz, id int8 PRIMARY KEY, v varchar(64))'),
      rows('orders', [
        [AT_MS, 1, 'a'],
        [AT_MS, 9_007_199_254_740_993, 'b'],
      ]).replace('9007199254740992', '9007199254740993'),
      rows('orders', [[AT_MS + 1, 3, null]], { kind: 'snapshot' }),
      change('update', `UPDATE orders SET v = v || ';' WHERE id = 1;`),
      change('delete', 'DELETE FROM orders WHERE id = 3'),
      rows('orders', [[AT_MS, 3, 'again']]),
      change('alter', 'ALTER TABLE orders ADD COLUMN note text'),
      rows('orders', [[AT_MS, 4, 'd', 'new column']], {
        columnnames: ['ts', 'id', 'v', 'note'],
        columntypes: ['timestamptz', 'int8', 'varchar', 'text'],
      }),
      change('update', `UPDATE orders SET note = 'late' WHERE note IS NULL AND id < 4`),
      rows('orders', [[AT_MS, 5, 'e']]),
    );
    await done(await start());
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

  it('make and change tables in the SQL of the database that they come from', async () => {
    await send(
      change(
        'create',
        'CREATE TABLE series (ts timestamp not null, id int8, v varchar) TAGS (site varchar(16) not null) PRIMARY TAGS (site)',
      ),
      rows('series', [[AT_MS, 1, 'x', 'oslo']], {
        columnnames: ['ts', 'id', 'v', 'site'],
        columntypes: ['TIMESTAMPTZ', 'INT8', 'VARCHAR', 'VARCHAR'],
      }),
      change('alter', 'ALTER TABLE series ADD TAG zone varchar(8)'),
      change('drop', 'DROP TABLE IF EXISTS never_there'),
    );
    await done(await start());
    assert.deepEqual(await fixture.sql.rows('select id, v, site, zone from series'), [['1', 'x', 'oslo', null]]);
    const tags = await fixture.sql.rows(`select string_agg(attname, ',' order by attnum) from pg_attribute
      where attrelid = 'series'::regclass and col_description(attrelid, attnum) like 'sluice:%tag'`);
    assert.deepEqual(tags, [['site,zone']]);
  });
});
