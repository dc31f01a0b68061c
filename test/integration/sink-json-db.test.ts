import assert from 'node:assert/strict';
import { sinkConfig } from '../support/connectors.ts';
import { database, uniqueName } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { SinkFixture } from './sink-fixture.ts';

const JSON_CONVERTER = 'org.apache.kafka.connect.json.JsonConverter';

function message(table: string, rows: readonly object[], more: object = {}): string {
  return JSON.stringify({
    table,
    columns: [
      { name: 'k_timestamp', type: 'TIMESTAMPTZ', length: 64 },
      { name: 'n', type: 'INT8', length: 64 },
      { name: 'v', type: 'FLOAT8', length: 64 },
      { name: 'note', type: 'VARCHAR', length: 32 },
    ],
    tags: [{ name: 'site', type: 'VARCHAR', length: 16, primary: true, nullable: false }],
    data: rows,
    ...more,
  });
}

describe('json_db messages in a sink', function () {
  let fixture: SinkFixture;

  before(async () => (fixture = await SinkFixture.create('json')));
  after(() => fixture.close());

  /** Sends messages through a sink of their own; resolves with its name once `rows` rows are in `table`. */
  async function sink(
    table: string,
    values: readonly string[],
    rows: number,
    more: Record<string, string> = {},
  ): Promise<string> {
    const name = await fixture.start(await fixture.topicOf(values), { 'protocol.type': 'json_db', ...more });
    await until(
      async () => (await fixture.sql.number(`select count(*) from ${table}`)) === rows,
      `${table} has ${String(rows)} rows`,
    );
    return name;
  }

  /** The same without waiting. */
  async function sinkOf(values: readonly string[]): Promise<{ readonly name: string; readonly topic: string }> {
    const topic = await fixture.topicOf(values);
    return { name: await fixture.start(topic, { 'protocol.type': 'json_db' }), topic };
  }

  it('create their table with its tags, and a redelivered row replaces itself', async () => {
    const row = { k_timestamp: 1_700_000_000_000, n: 1, v: 2.5, note: 'a', site: 'oslo' };
    const values = [message('meters', [row, { ...row, site: 'rome', n: null }]), message('meters', [{ ...row, v: 7 }])];
    const name = await sink('meters', values, 2);
    await until(
      async () => (await fixture.sql.number(`select v from meters where site = 'oslo'`)) === 7,
      'the later row won',
    );
    const columns = await fixture.sql.rows(
      `select a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, col_description(a.attrelid, a.attnum)
       from pg_attribute a where a.attrelid = 'meters'::regclass and a.attnum > 0 order by a.attnum`,
    );
    assert.deepEqual(columns, [
      ['k_timestamp', 'timestamp with time zone', 't', null],
      ['n', 'bigint', 'f', null],
      ['v', 'double precision', 'f', null],
      ['note', 'character varying(32)', 'f', null],
      ['site', 'character varying(16)', 't', 'sluice:primary-tag'],
    ]);
    const key = await fixture.sql.rows(
      `select string_agg(a.attname, ',' order by array_position(i.indkey::int2[], a.attnum)) from pg_index i
       join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey) where i.indrelid = 'meters'::regclass`,
    );
    assert.deepEqual(key, [['k_timestamp,site']]);
    await fixture.sluice.rest.untilState(name, 'RUNNING', 1);
  });

  it('keep int64 exact and times to the precision that is set', async () => {
    const text = message('exact', [{ k_timestamp: 0, n: 0, v: 0.1, note: 'ü漢😀', site: 's' }])
      .replace('"k_timestamp":0', '"k_timestamp":1700000000123456')
      .replace('"n":0', '"n":9223372036854775807');
    await sink('exact', [text], 1, { 'timestamp.precision': 'us' });
    assert.deepEqual(await fixture.sql.rows(`select extract(epoch from k_timestamp), n, v, note from exact`), [
      ['1700000000.123456', '9223372036854775807', '0.1', 'ü漢😀'],
    ]);
  });

  const untagged = (table: string, n: unknown) =>
    message(table, [{ k_timestamp: 1_700_000_000_000, n, v: 1, note: 'x' }], { tags: undefined });

  it('without tags get the table name as primary tag in a time-series database', async () => {
    const series = await database('series');
    const sql = new SqlClient(series);
    try {
      await sql.run(`comment on database ${series.database} is 'sluice:time-series'`);
      const topic = await fixture.topicOf([untagged('untagged', 1)]);
      await fixture.done(await fixture.start(topic, { 'protocol.type': 'json_db' }, { db: series }), 1);
      assert.deepEqual(await sql.rows('select n, untagged from untagged'), [['1', 'untagged']]);
    } finally {
      await sql.close();
    }
  });

  it('without tags are relational in an unmarked database, for existing and new tables (M8)', async () => {
    await fixture.sql.run(
      'create table plain (k_timestamp timestamptz, n int8, v float8, note varchar)',
      `create table tagged (k_timestamp timestamptz, n int8, v float8, note varchar, tagged varchar not null, primary key (k_timestamp, tagged))`,
      `comment on column tagged.tagged is 'sluice:primary-tag'`,
    );
    const { name } = await sinkOf(['plain', 'made', 'tagged'].map((table) => untagged(table, 1)));
    await fixture.done(name, 3);
    assert.deepEqual(await fixture.sql.rows('select n, note from plain'), [['1', 'x']]);
    assert.deepEqual(
      (await fixture.columnsOf('made')).map(([column]) => column),
      ['k_timestamp', 'n', 'v', 'note'],
    );
    assert.deepEqual(await fixture.sql.rows('select n, tagged from tagged'), [['1', 'tagged']]);
  });

  it('without primary tags have all tags in the key, including unset ones, or are refused before PostgreSQL 15 (M12)', async () => {
    const tags = ['site', 'room'].map((name) => ({ name, type: 'VARCHAR', length: 20 }));
    const row = (more: object) => ({ k_timestamp: 1_700_000_000_000, v: 1, note: 'x', ...more });
    const rows = [
      row({ n: 1, site: 'a', room: 'x' }),
      row({ n: 2, site: 'a', room: 'y' }),
      row({ n: 3, site: 'a' }),
      row({ n: 4, site: 'a' }),
    ];
    const { name, topic } = await sinkOf([message('all_tags', rows, { tags })]);
    if ((await fixture.sql.number('show server_version_num')) < 150_000) {
      const reason = 'a table with tags but without a primary tag requires PostgreSQL 15 or later';
      assert.ok((await fixture.traceOf(name)).includes(reason));
      return;
    }
    await fixture.send(topic, [
      message('all_tags', [row({ n: 5, site: 'a', room: 'x' }), row({ n: 6, site: 'a' })], { tags }),
    ]);
    await fixture.done(name, 2);
    assert.deepEqual(await fixture.sql.rows('select n, site, room from all_tags order by n'), [
      ['2', 'a', 'y'],
      ['5', 'a', 'x'],
      ['6', 'a', null],
    ]);
  });

  it('with texts for numbers and booleans are converted, or refused if the text is neither', async () => {
    await sink('texts', [untagged('texts', '12')], 1);
    const { name } = await sinkOf([untagged('texts', ' 12x')]);
    assert.match(await fixture.traceOf(name), /a string is not a value of type INT8/);
    assert.deepEqual(await fixture.sql.rows('select n from texts'), [['12']]);
  });

  it('can be read with StringConverter, ByteArrayConverter and JsonConverter, with and without schemas', async () => {
    const text = (n: number) =>
      message('converted', [{ k_timestamp: 1_700_000_000_000 + n, n, v: n, note: 'x', site: 's' }]);
    const envelope = JSON.stringify({ schema: { type: 'string', optional: false }, payload: text(4) });
    await sink('converted', [text(1)], 1);
    await sink('converted', [text(2)], 2, {
      'value.converter': 'org.apache.kafka.connect.converters.ByteArrayConverter',
    });
    await sink('converted', [text(3)], 3, {
      'value.converter': JSON_CONVERTER,
      'value.converter.schemas.enable': 'false',
    });
    await sink('converted', [envelope], 4, {
      'value.converter': JSON_CONVERTER,
      'value.converter.schemas.enable': 'true',
    });
    assert.deepEqual((await fixture.sql.rows('select n from converted order by n')).flat(), ['1', '2', '3', '4']);
  });

  it('for a table of a different shape are refused with the difference and the record', async () => {
    await fixture.sql.run('create table wrong_shape (k_timestamp timestamptz primary key, other int4)');
    const row = { k_timestamp: 1, n: 1, v: 1, note: '', site: 's' };
    const topic = await fixture.topicOf([message('wrong_shape', [row])]);
    const name = await fixture.start(topic, { 'protocol.type': 'json_db' });
    const trace = await fixture.traceOf(name);
    assert.match(trace, /wrong_shape/);
    assert.match(trace, /other|"n"/);
    assert.match(trace, new RegExp(`topic ${topic}, partition 0, offset 0`));
    await fixture.sluice.rest.delete(`/connectors/${name}`);
  });

  it('that are tombstones are skipped, and a value of the wrong type only affects its row', async () => {
    const row = (n: unknown, at: number) => ({ k_timestamp: at, n, v: 1, note: 'x', site: 's' });
    const messages = [
      { value: null, key: 'gone' },
      { value: message('mixed', [row(1, 1), row('not a number', 2), row(3, 3)]) },
    ];
    const topic = await fixture.topicOf(messages);
    const name = await fixture.start(topic, { 'protocol.type': 'json_db', 'errors.tolerance': 'all' });
    await until(async () => (await fixture.sql.number('select count(*) from mixed')) === 2, 'two rows are stored');
    assert.deepEqual((await fixture.sql.rows('select n from mixed order by n')).flat(), ['1', '3']);
    await fixture.sluice.rest.untilState(name, 'RUNNING', 1);
    await fixture.sluice.rest.delete(`/connectors/${name}`);
  });

  it('in a relational database have times as text and create plain tables; line protocol is refused there', async () => {
    const relational = await database('relational');
    const client = new SqlClient(relational);
    try {
      await client.run(`comment on database "${relational.database}" is 'sluice:relational'`);
      const rows = [{ k_timestamp: '2026-01-02 03:04:05.678', n: 5, v: 1, note: 'x' }];
      const topic = await fixture.topicOf([message('plain', rows, { tags: null })]);
      const name = await fixture.start(topic, { 'protocol.type': 'json_db' }, { db: relational });
      await until(async () => (await client.number('select count(*) from plain')) === 1, 'the row arrived');
      assert.deepEqual(await client.rows(`select k_timestamp at time zone 'UTC', n from plain`), [
        ['2026-01-02 03:04:05.678', '5'],
      ]);
      await fixture.sluice.rest.delete(`/connectors/${name}`);
      const lines = await fixture.sluice.rest.post<{ message: string }>('/connectors', {
        name: uniqueName('lines'),
        config: sinkConfig(relational, { topics: topic, 'protocol.type': 'line_lp' }),
      });
      assert.equal(lines.status, 400);
      assert.match(lines.body.message, /relational/);
    } finally {
      await client.close();
    }
  });
});
