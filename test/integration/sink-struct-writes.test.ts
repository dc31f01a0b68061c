import assert from 'node:assert/strict';
import type { Executor, InsertMode, WritePolicy } from '../../plugins/database/executor/api.ts';
import type { WriteReport } from '../../src/data/row-batch.ts';
import { LogicalName, Schema, type SchemaType } from '../../src/data/schema.ts';
import { Decimal, type ConnectValue } from '../../src/data/value.ts';
import type { StructPolicy } from '../../plugins/database/formats/struct/struct.ts';
import { addAll, struct, structDecoder, type Given } from '../unit/plugins/database/formats/struct-records.ts';
import { DatabaseFixture, offsets } from './database-fixture.ts';

const field = (name: string, type: SchemaType, logical?: string, optional = true) => ({
  name,
  schema: new Schema(type, { optional, name: logical }),
});
const KEY = Schema.struct([field('id', 'int64', undefined, false)]);
const AB = Schema.struct([field('id', 'int64', undefined, false), field('a', 'string'), field('b', 'int32')]);
const A = Schema.struct(AB.fields.slice(0, 2));
const B = Schema.struct([...AB.fields.slice(0, 1), ...AB.fields.slice(2)]);

/** A row by its key: all of its columns, some of them, or none, which deletes it. */
const put = (id: bigint, a: string | null, b: number | null): Given => ({
  key: struct(KEY, id),
  value: struct(AB, id, a, b),
});
const gone = (id: bigint): Given => ({ key: struct(KEY, id) });

describe('rows of struct records in the database', function () {
  let db: DatabaseFixture;
  let executor: Executor;

  before(async () => {
    db = await DatabaseFixture.create();
    executor = db.executor;
  });

  after(() => db.close());

  async function write(
    records: readonly Given[],
    insertMode: InsertMode,
    changes: Partial<StructPolicy> & Partial<WritePolicy> = {},
  ): Promise<WriteReport> {
    const decoder = structDecoder({ keyMode: 'record_key', deletes: true, ...changes });
    addAll(decoder, ...records);
    const { rows, faults } = decoder.take();
    assert.deepEqual(faults, []);
    assert.equal(rows.length, 1);
    const policy: WritePolicy = { dedupRule: 'override', unknownColumns: 'fault', insertMode, ...changes };
    const [first] = rows;
    assert.ok(first);
    const { batch, shape } = first;
    return executor.write(batch, { ...policy, shape });
  }

  const table = (): Promise<unknown> => db.rows('select id, a, b from t order by id');

  async function fill(...rows: string[]): Promise<void> {
    await db.run('drop table if exists t', 'create table t (id int8 primary key, a text, b int4, kept text)');
    executor.catalogue.forget();
    for (const row of rows) await db.run(`insert into t values ${row}`);
  }

  it('are upserted by their key, and keep the columns that a record does not have', async () => {
    await fill(`(1, 'old', 1, 'kept')`);
    const report = await write([put(1n, 'new', null), put(2n, 'b', 2)], 'upsert');
    assert.deepEqual(report, { stored: 2, discarded: 0, collapsed: 0, faults: [] });
    assert.deepEqual(await db.rows('select * from t order by id'), [
      ['1', 'new', null, 'kept'],
      ['2', 'b', '2', null],
    ]);
  });

  it('with the same key have the same result in one batch as one by one', async () => {
    await fill(`(1, 'old', 1, 'x')`, `(2, 'old', 1, 'x')`, `(3, 'old', 1, 'x')`, `(4, 'old', 1, 'x')`);
    const records = [
      put(1n, 'a', 1),
      gone(1n),
      put(1n, 'b', 2),
      put(2n, 'c', 3),
      gone(2n),
      put(3n, 'd', 4),
      put(3n, 'e', 5),
      gone(5n),
      put(6n, 'f', 6),
      gone(6n),
      gone(4n),
      put(4n, 'g', 7),
    ];
    const report = await write(records, 'upsert');
    assert.deepEqual({ ...report, faults: report.faults.length }, { stored: 8, discarded: 0, collapsed: 4, faults: 0 });
    assert.deepEqual(await db.rows('select * from t order by id'), [
      ['1', 'b', '2', null],
      ['3', 'e', '5', 'x'],
      ['4', 'g', '7', null],
    ]);
  });

  const UNAVAILABLE = '__debezium_unavailable_value';

  it('keep unchanged columns of all types, whichever rows of the batch have them', async () => {
    const types: [string, string, Schema, ConnectValue, string][] = [
      ['t', 'text', new Schema('string'), UNAVAILABLE, 'large'],
      ['j', 'jsonb', new Schema('string', { name: 'io.debezium.data.Json' }), UNAVAILABLE, '{"a": 1}'],
      ['r', 'bytea', new Schema('bytes'), Buffer.from(UNAVAILABLE), '\\x00ff'],
      ['l', 'text[]', Schema.array(new Schema('string')), [UNAVAILABLE], '{a,b}'],
    ];
    const columns = types.map(([name, type]) => `${name} ${type}`).join(', ');
    const large = types.map(([, type, , , value]) => `'${value}'::${type}`).join(', ');
    const schema = Schema.struct([
      ...KEY.fields,
      ...types.map(([name, , each]) => ({ name, schema: each })),
      field('n', 'int32'),
    ]);
    const changed = (id: bigint, n: number, ...values: ConnectValue[]): Given => ({
      key: struct(KEY, id),
      value: struct(schema, id, ...types.map(([, , , placeholder], index) => values[index] ?? placeholder), n),
    });
    for (const mode of ['upsert', 'update'] as const) {
      for (const constraint of ['', 'not null']) {
        await db.run(
          'drop table if exists t',
          `create table t (id int8 primary key, ${columns.replaceAll(',', ` ${constraint},`)} ${constraint}, n int4, check (t <> '' and r is not null))`,
          `insert into t select id, ${large}, 0 from generate_series(1, 3) id`,
        );
        executor.catalogue.forget();
        const report = await write([changed(1n, 1), changed(2n, 2, 'small'), changed(3n, 3), changed(2n, 4)], mode);
        assert.deepEqual(report, { stored: 3, discarded: 0, collapsed: 1, faults: [] }, `${mode} ${constraint}`);
        const values = types.map(([, , , , value]) => value);
        assert.deepEqual(await db.rows('select * from t order by id'), [
          ['1', ...values, '1'],
          ['2', 'small', ...values.slice(1), '4'],
          ['3', ...values, '3'],
        ]);
      }
    }
  });

  it('that do not exist get a default where they need a value, and are refused if there is none', async () => {
    await db.run(
      'drop table if exists t',
      `create table t (id int8 primary key, a text not null default 'd', b int4, kept text default 'k')`,
    );
    executor.catalogue.forget();
    const unknown = { key: struct(KEY, 1n), value: struct(AB, 1n, UNAVAILABLE, 1) };
    assert.equal((await write([unknown], 'upsert')).stored, 1);
    assert.deepEqual(await db.rows('select * from t'), [['1', 'd', '1', 'k']]);
    await db.run('drop table t', 'create table t (id int8 primary key, a text not null, b int4)');
    executor.catalogue.forget();
    const report = await write([put(2n, 'a', 1), unknown], 'upsert');
    assert.deepEqual(
      report.faults.map(({ sqlstate, origin }) => [sqlstate, origin?.kind === 'record' && origin.offset]),
      [['23502', 1]],
    );
    assert.deepEqual(await table(), [['2', 'a', '1']]);
  });

  it('with columns that are named like those of the statement are written in all modes', async () => {
    const C1 = Schema.struct([...KEY.fields, field('c1', 'int32'), field('c2', 'string')]);
    const numbered = (id: bigint, c1: number, c2: string): Given => ({
      key: struct(KEY, id),
      value: struct(C1, id, c1, c2),
    });
    await db.run('drop table if exists t', 'create table t (id int8 primary key, c1 int4, c2 text not null)');
    executor.catalogue.forget();
    await write([numbered(1n, 1, 'a'), numbered(2n, 2, 'b')], 'upsert');
    await write([numbered(1n, 3, UNAVAILABLE)], 'upsert');
    await write([numbered(2n, 4, 'c')], 'update');
    assert.deepEqual(await db.rows('select * from t order by id'), [
      ['1', '3', 'a'],
      ['2', '4', 'c'],
    ]);
    await write([gone(1n)], 'upsert');
    assert.deepEqual(await db.rows('select id from t'), [['2']]);
  });

  it('with the same key and different columns are all written, in order', async () => {
    await fill();
    const key = struct(KEY, 1n);
    const records = [put(1n, 'a', 1), { key, value: struct(A, 1n, 'b') }, { key, value: struct(B, 1n, 2) }];
    const report = await write(records, 'upsert');
    assert.equal(report.stored, 3);
    assert.deepEqual(await table(), [['1', 'b', '2']]);
  });

  it('and deletions between them take effect in order', async () => {
    await fill(...Array.from({ length: 50 }, (_, id) => `(${String(id)}, 'old', 1)`));
    const records = Array.from({ length: 50 }, (_, id) => [gone(BigInt(id)), put(BigInt(id), 'new', 2)]).flat();
    let seen = 50;
    let isWritten = false;
    const watching = (async () => {
      while (!isWritten) seen = Math.min(seen, Number((await db.rows('select count(*) from t'))[0]?.[0]));
    })();
    await write(records, 'upsert');
    isWritten = true;
    await watching;
    assert.equal(seen, 50);
    assert.deepEqual(await db.rows(`select count(*) from t where a = 'new'`), [['50']]);
  });

  it('that are invalid are found among deletions as well, and all others are written', async () => {
    await fill(`(1, 'old', 1)`, `(2, 'old', 1)`);
    await db.run(`alter table t add check (a <> 'bad')`);
    const records = [gone(1n), put(1n, 'bad', 1), put(2n, 'good', 1), put(2n, 'bad', 2), put(3n, 'c', 3), gone(9n)];
    const report = await write(records, 'upsert');
    assert.deepEqual(offsets(report.faults), [1, 3]);
    assert.match(report.faults[0]?.message ?? '', /check constraint/);
    assert.deepEqual(await table(), [
      ['2', 'good', '1'],
      ['3', 'c', '3'],
    ]);
  });

  it('are inserted, and those with an existing key are faults', async () => {
    await fill(`(2, 'old', 1)`);
    const report = await write([put(1n, 'a', 1), put(2n, 'b', 2), put(3n, 'c', 3), put(3n, 'd', 4)], 'insert');
    assert.deepEqual(offsets(report.faults), [1, 3]);
    assert.deepEqual(
      report.faults.map(({ sqlstate, scope }) => [sqlstate, scope]),
      [
        ['23505', 'record'],
        ['23505', 'record'],
      ],
    );
    assert.deepEqual(await table(), [
      ['1', 'a', '1'],
      ['2', 'old', '1'],
      ['3', 'c', '3'],
    ]);
  });

  it('are inserted again after their deletion', async () => {
    await fill(`(1, 'old', 1)`);
    const report = await write([gone(1n), put(1n, 'new', 2), put(2n, 'x', 1), gone(2n)], 'insert');
    assert.deepEqual(report.faults, []);
    assert.deepEqual(await table(), [['1', 'new', '2']]);
  });

  it('update only existing rows, with the last record of each key, and report missing ones', async () => {
    await fill(`(1, 'old', 1, 'kept')`, `(2, 'old', 1)`);
    const report = await write(
      [put(1n, 'a', 1), put(1n, 'b', null), put(7n, 'c', 1), gone(2n), put(2n, 'd', 1)],
      'update',
    );
    assert.deepEqual(report, { stored: 2, discarded: 2, collapsed: 1, faults: [] });
    assert.deepEqual(await db.rows('select * from t'), [['1', 'b', null, 'kept']]);
  });

  it('match stored rows by the configured key, which need not be the primary key', async () => {
    await fill(`(1, 'x', 1)`);
    await db.run('create unique index on t (a)');
    await write([{ value: struct(AB, 9n, 'x', 5) }], 'upsert', { keyMode: 'record_value', keyFields: ['a'] });
    assert.deepEqual(await table(), [['9', 'x', '5']]);
  });

  it('with a key without a unique index are neither stored nor duplicated', async () => {
    await fill();
    const many = Array.from({ length: 100 }, (_, id) => ({ value: struct(AB, BigInt(id), 'x', id) }));
    const written = write(many, 'upsert', { keyMode: 'record_value', keyFields: ['b'] });
    await assert.rejects(written, /no unique or exclusion constraint matching/);
    assert.deepEqual(await table(), []);
  });

  it('with a null for a NOT NULL column are faults, even if the column has a default', async () => {
    await db.run('drop table t', `create table t (id int8 primary key, a text not null default 'd', b int4)`);
    executor.catalogue.forget();
    const report = await write([put(1n, null, 1), put(2n, 'a', 1)], 'upsert');
    assert.deepEqual(
      report.faults.map(({ sqlstate, column }) => [sqlstate, column]),
      [['23502', 'a']],
    );
    await write([{ key: struct(KEY, 3n), value: struct(B, 3n, 1) }], 'upsert');
    assert.deepEqual(await table(), [
      ['2', 'a', '1'],
      ['3', 'd', '1'],
    ]);
  });

  it('create and extend their table with its key, which deletions do not', async () => {
    await db.run('drop table t');
    executor.catalogue.forget();
    assert.deepEqual(await write([gone(1n)], 'upsert'), { stored: 1, discarded: 0, collapsed: 0, faults: [] });
    await write([{ key: struct(KEY, 1n), value: struct(A, 1n, 'a') }, gone(2n)], 'upsert');
    await write([put(1n, 'b', 1), { key: struct(KEY, 2n), value: struct(B, 2n, 2) }], 'upsert');
    assert.deepEqual(await table(), [
      ['1', 'b', '1'],
      ['2', null, '2'],
    ]);
    const columns = await db.rows(
      `select attname, format_type(atttypid, atttypmod), attnotnull from pg_attribute
       where attrelid = 't'::regclass and attnum > 0 order by attnum`,
    );
    assert.deepEqual(columns, [
      ['id', 'bigint', 't'],
      ['a', 'text', 'f'],
      ['b', 'integer', 'f'],
    ]);
    assert.deepEqual(
      await db.rows(
        `select pg_get_constraintdef(oid) from pg_constraint where conrelid = 't'::regclass and contype = 'p'`,
      ),
      [['PRIMARY KEY (id)']],
    );
  });

  it('of all types are stored in the columns created for them, and in text columns', async () => {
    const list: [string, Schema, ConnectValue, string][] = [
      ['i8', new Schema('int8'), -5, '-5'],
      ['i64', new Schema('int64'), 9223372036854775807n, '9223372036854775807'],
      ['f32', new Schema('float32'), Number.NaN, 'NaN'],
      ['f64', new Schema('float64'), -Infinity, '-Infinity'],
      ['ok', new Schema('boolean'), true, 't'],
      ['raw', new Schema('bytes'), Uint8Array.of(0, 255), '\\x00ff'],
      ['dec', new Schema('bytes', { name: LogicalName.decimal }), new Decimal(-150n, 2), '-1.50'],
      ['day', new Schema('int32', { name: LogicalName.date }), new Date(86_400_000), '1970-01-02'],
      ['clock', new Schema('int32', { name: LogicalName.time }), new Date(3_723_004), '01:02:03.004'],
      ['at', new Schema('int64', { name: LogicalName.timestamp }), new Date(1), '1970-01-01 00:00:00.001+00'],
      ['local', new Schema('int64', { name: 'io.debezium.time.MicroTimestamp' }), 1n, '1970-01-01 00:00:00.000001'],
      [
        'zoned',
        new Schema('string', { name: 'io.debezium.time.ZonedTimestamp' }),
        '1970-01-01T01:00:00+01:00',
        '1970-01-01 00:00:00+00',
      ],
      ['doc', new Schema('string', { name: 'io.debezium.data.Json' }), '{"a": 1}', '{"a": 1}'],
      ['list', Schema.array(new Schema('int64')), [1n, 2n], '[1, 2]'],
      [
        'uuid',
        new Schema('string', { name: 'io.debezium.data.Uuid' }),
        '00000000-0000-0000-0000-000000000001',
        '00000000-0000-0000-0000-000000000001',
      ],
      [
        'bits',
        new Schema('bytes', { name: 'io.debezium.data.Bits', parameters: new Map([['length', '4']]) }),
        Uint8Array.of(5),
        '0101',
      ],
      ['took', new Schema('int64', { name: 'io.debezium.time.MicroDuration' }), 1_500_000n, '00:00:01.5'],
    ];
    const schema = Schema.struct(list.map(([name, each]) => ({ name, schema: each })));
    const record = { value: struct(schema, ...list.map(([, , value]) => value)) };
    await write([{ ...record, topic: 'made' }], 'insert', { keyMode: 'none', deletes: false });
    const session = await executor.session((each) => each.query('select * from made'), { timeZone: 'UTC' });
    assert.deepEqual(
      session.rows[0],
      list.map(([, , , text]) => text),
    );
    await db.run(`create table texts (${list.map(([name]) => `${name} text`).join(', ')})`);
    const exclude = ['raw'];
    const report = await write([{ ...record, topic: 'texts' }], 'insert', { keyMode: 'none', deletes: false, exclude });
    assert.deepEqual(report.faults, []);
    const [texts] = await db.rows('select i64, ok, dec, clock, doc from texts');
    assert.deepEqual(texts, ['9223372036854775807', 'true', '-1.50', '01:02:03.004', '{"a": 1}']);
  });

  it('with arrays are stored in array columns', async () => {
    await db.run('create table lists (id int8, names text[], numbers int8[], days timestamptz[], docs jsonb[])');
    const fields: [string, Schema, ConnectValue][] = [
      ['id', new Schema('int64'), 1n],
      ['names', Schema.array(new Schema('string', { optional: true })), ['a"\\,b', null, 'NULL', '', '[{']],
      ['numbers', Schema.array(Schema.array(new Schema('int64'))), [[9223372036854775807n], [-1n]]],
      ['days', Schema.array(new Schema('int64', { name: LogicalName.timestamp })), [new Date(0)]],
      ['docs', Schema.array(A), [struct(A, 1n, '{"x"}')]],
    ];
    const value = struct(
      Schema.struct(fields.map(([name, schema]) => ({ name, schema }))),
      ...fields.map(([, , v]) => v),
    );
    const report = await write([{ topic: 'lists', value }], 'insert', { keyMode: 'none', deletes: false });
    assert.deepEqual(report.faults, []);
    assert.deepEqual(
      await db.rows(`select to_json(names), numbers::text, (days[1] = 'epoch')::text, docs[1]->>'a' from lists`),
      [['["a\\"\\\\,b",null,"NULL","","[{"]', '{{9223372036854775807},{-1}}', 'true', '{"x"}']],
    );
  });
});
