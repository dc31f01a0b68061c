import assert from 'node:assert/strict';
import { Schema } from '../../../../../src/data/schema.ts';
import { columnsOf, groupsOf, rowsOf } from './rows-of.ts';
import { addAll, struct, structDecoder } from './struct-records.ts';

const INT64 = new Schema('int64');
const TEXT = new Schema('string', { optional: true });
const ORDER = Schema.struct([
  { name: 'id', schema: INT64 },
  { name: 'name', schema: TEXT },
]);
const ORDER_WITH_NOTE = Schema.struct([...ORDER.fields, { name: 'note', schema: TEXT }]);
const KEY = Schema.struct([{ name: 'id', schema: INT64 }]);

describe('struct records', () => {
  it('become rows of the table named like their topic, in one batch without groups if they have the same schema', () => {
    const decoder = structDecoder();
    addAll(decoder, { value: struct(ORDER, 1n, 'a') }, { value: struct(ORDER, 2n ** 60n, null) });
    assert.equal(decoder.rowCount, 2);
    const { rows, faults } = decoder.take();
    assert.deepEqual(faults, []);
    assert.equal(rows.length, 1);
    assert.deepEqual(rows[0]?.batch.table, { name: 't' });
    assert.deepEqual(columnsOf(rows[0]?.batch), ['id int data', 'name text data']);
    assert.deepEqual(rowsOf(rows[0]?.batch), [
      { id: 1, name: 'a' },
      { id: 2n ** 60n, name: null },
    ]);
    assert.equal(rows[0]?.batch.groups, undefined);
    assert.deepEqual(rows[0]?.batch.origins.at(1), { kind: 'record', topic: 't', partition: 0, offset: 1 });
    assert.deepEqual(rows[0]?.shape, {
      exact: false,
      key: [],
      columns: [
        { name: 'id', role: 'data', type: 'INT8', length: undefined, nullable: false },
        { name: 'name', role: 'data', type: 'TEXT', length: undefined, nullable: true },
      ],
    });
    assert.equal(decoder.rowCount, 0);
  });

  it('of several schemas share a batch, each row with the columns of its record', () => {
    const decoder = structDecoder();
    const values = [struct(ORDER, 1n, 'a'), struct(ORDER_WITH_NOTE, 2n, 'b', 'n'), struct(ORDER, 3n, 'c')];
    addAll(decoder, ...values.map((value) => ({ value })));
    const [rows, ...more] = decoder.take().rows;
    assert.deepEqual(more, []);
    assert.ok(rows);
    assert.deepEqual(groupsOf(rows.batch), ['store id,name', 'store id,name,note', 'store id,name']);
    assert.deepEqual(rowsOf(rows.batch).at(1), { id: 2, name: 'b', note: 'n' });
    assert.deepEqual(
      rows.shape?.columns.map(({ name, nullable }) => [name, nullable]),
      [
        ['id', false],
        ['name', true],
        ['note', true],
      ],
    );
    addAll(decoder, ...values.map((value) => ({ value })));
    assert.equal(decoder.take().rows[0]?.shape, rows.shape, 'the same schemas have the same shape object');
  });

  it('whose schemas are equal but not the same object are one group', () => {
    const decoder = structDecoder();
    const twin = Schema.struct(ORDER.fields);
    addAll(decoder, { value: struct(ORDER, 1n, 'a') }, { value: struct(twin, 2n, 'b') });
    const [rows] = decoder.take().rows;
    assert.equal(rows?.batch.rowCount, 2);
    assert.equal(rows.batch.groups, undefined);
  });

  it('with a column of a different kind start a new batch after the first', () => {
    const decoder = structDecoder();
    const flags = Schema.struct([{ name: 'id', schema: new Schema('boolean') }]);
    addAll(
      decoder,
      { value: struct(ORDER, 1n, 'a') },
      { value: struct(flags, true) },
      { value: struct(ORDER, 2n, 'b') },
    );
    assert.deepEqual(
      decoder.take().rows.map(({ batch }) => rowsOf(batch)),
      [[{ id: 1, name: 'a' }], [{ id: true }], [{ id: 2, name: 'b' }]],
    );
  });

  it('with numbers of different widths share a batch, and the wider type determines the column', () => {
    const decoder = structDecoder();
    const double = Schema.struct([{ name: 'id', schema: new Schema('float64') }]);
    addAll(decoder, { value: struct(ORDER, 1n, 'a') }, { value: struct(double, 1.5) });
    const [rows, ...more] = decoder.take().rows;
    assert.deepEqual(more, []);
    assert.deepEqual(columnsOf(rows?.batch), ['id float data', 'name text data']);
    assert.equal(rows?.shape?.columns[0]?.type, 'FLOAT8');
  });

  it('use the default if a field is null, as Connect does', () => {
    const decoder = structDecoder();
    const schema = Schema.struct([
      { name: 'a', schema: new Schema('int32', { defaultValue: 7 }) },
      { name: 'b', schema: new Schema('int64', { optional: true, defaultValue: 8n }) },
    ]);
    addAll(decoder, { value: struct(schema) });
    assert.deepEqual(rowsOf(decoder.take().rows[0]?.batch), [{ a: 7, b: 8 }]);
  });

  it('with a value that does not match its schema are faults without any rows', () => {
    const decoder = structDecoder();
    addAll(
      decoder,
      { value: struct(ORDER, 1n, 'a') },
      { value: struct(ORDER, 2n, 3n) },
      { value: struct(ORDER, 4n, 'b') },
    );
    const { rows, faults } = decoder.take();
    assert.deepEqual(rowsOf(rows[0]?.batch), [
      { id: 1, name: 'a' },
      { id: 4, name: 'b' },
    ]);
    assert.deepEqual(
      faults.map(({ message, origin }) => [message, origin?.kind === 'record' && origin.offset]),
      [['the field "name" has "3", which is not a valid string', 1]],
    );
  });

  it('that are neither structs nor maps are faults with that reason', () => {
    const decoder = structDecoder();
    addAll(decoder, { value: 'text', valueSchema: new Schema('string') }, { value: 'text' }, { value: null });
    const { rows, faults } = decoder.take();
    assert.deepEqual(rows, []);
    assert.deepEqual(
      faults.map(({ message }) => message),
      [
        "the record's value is a single value of type string: protocol.type=struct requires structs with a schema, or maps",
        "the record's value has no schema and is not a map: protocol.type=struct requires structs with a schema, or maps",
      ],
    );
  });

  it('use only the selected fields', () => {
    const included = structDecoder({ include: ['note', 'id'] });
    addAll(included, { value: struct(ORDER_WITH_NOTE, 1n, 'a', 'n') });
    assert.deepEqual(rowsOf(included.take().rows[0]?.batch), [{ id: 1, note: 'n' }]);
    const excluded = structDecoder({ exclude: ['note', 'id'], keyMode: 'record_value', keyFields: ['id'] });
    addAll(excluded, { value: struct(ORDER_WITH_NOTE, 1n, 'a', 'n') });
    assert.deepEqual(rowsOf(excluded.take().rows[0]?.batch), [{ id: 1, name: 'a' }], 'the key is always there');
  });
});

describe('maps without a schema', () => {
  it('become rows with columns derived from their values, each row with its own keys', () => {
    const decoder = structDecoder();
    const first = new Map<string, unknown>([
      ['id', 1n],
      ['v', 1.5],
      ['ok', true],
      ['tags', ['a', 2n]],
    ]);
    const second = new Map<string, unknown>([
      ['id', 2n],
      ['v', null],
    ]);
    addAll(decoder, { value: first as never }, { value: second as never });
    const [rows] = decoder.take().rows;
    assert.ok(rows);
    assert.deepEqual(rowsOf(rows.batch), [
      { id: 1, v: 1.5, ok: true, tags: '["a",2]' },
      { id: 2, v: null, ok: null, tags: null },
    ]);
    assert.deepEqual(groupsOf(rows.batch), ['store id,v,ok,tags', 'store id,v']);
    assert.deepEqual(
      rows.shape?.columns.map(({ name, type, nullable }) => `${name} ${type} ${String(nullable)}`),
      ['id INT8 true', 'v FLOAT8 true', 'ok BOOL true', 'tags JSONB true'],
    );
  });

  it('do not create a column for a null, whose type is unknown', () => {
    const decoder = structDecoder();
    const map = (v: unknown): never => new Map<string, unknown>([['v', v]]) as never;
    addAll(decoder, { value: map(null) }, { value: map(2n) }, { value: map(null) });
    const [rows, ...more] = decoder.take().rows;
    assert.deepEqual(more, []);
    assert.deepEqual(columnsOf(rows?.batch), ['v int data']);
    assert.deepEqual(rowsOf(rows?.batch), [{ v: null }, { v: 2 }, { v: null }]);
    assert.equal(rows?.batch.groups, undefined);
    addAll(decoder, { value: map(null) });
    assert.deepEqual(
      decoder.take().rows[0]?.shape?.columns.map(({ name }) => name),
      ['v'],
      'the form is remembered',
    );
  });
});

describe('keys of struct rows', () => {
  it('come from the fields of the record key, which precede those of the value', () => {
    const decoder = structDecoder({ keyMode: 'record_key' });
    addAll(decoder, { key: struct(KEY, 9n), value: struct(ORDER, 1n, 'a') });
    const [rows] = decoder.take().rows;
    assert.deepEqual(rowsOf(rows?.batch), [{ id: 9, name: 'a' }], "the key's field wins over the value's");
    assert.deepEqual(rows?.batch.key, ['id']);
    assert.deepEqual(rows.shape?.key, ['id']);
  });

  it('come from a key that is one value, under the name in pk.fields', () => {
    const decoder = structDecoder({ keyMode: 'record_key', keyFields: ['code'] });
    addAll(
      decoder,
      { key: 'x', keySchema: TEXT, value: struct(ORDER, 1n, 'a') },
      { key: 5n, value: struct(ORDER, 2n, 'b') },
    );
    const { rows } = decoder.take();
    assert.deepEqual(
      rows.map(({ batch }) => rowsOf(batch)),
      [[{ code: 'x', id: 1, name: 'a' }], [{ code: 5, id: 2, name: 'b' }]],
    );
    assert.equal(rows[0]?.shape?.columns[0]?.nullable, false);
  });

  it('come from fields of the value, in the order of pk.fields, all of them by default', () => {
    const some = structDecoder({ keyMode: 'record_value', keyFields: ['name', 'id'] });
    addAll(some, { value: struct(ORDER_WITH_NOTE, 1n, 'a', 'n') });
    assert.deepEqual(some.take().rows[0]?.batch.key, ['name', 'id']);
    const all = structDecoder({ keyMode: 'record_value' });
    addAll(all, { value: struct(ORDER, 1n, 'a') });
    assert.deepEqual(all.take().rows[0]?.batch.key, ['id', 'name']);
  });

  it('come from the original topic, partition and offset, before transforms', () => {
    const original = { topic: 'before', partition: 3, offset: 12 };
    const decoder = structDecoder({ keyMode: 'kafka' });
    addAll(decoder, { topic: 'after', original, value: struct(ORDER, 1n, 'a') });
    const [rows] = decoder.take().rows;
    assert.deepEqual(rowsOf(rows?.batch), [
      { __connect_topic: 'before', __connect_partition: 3, __connect_offset: 12, id: 1, name: 'a' },
    ]);
    assert.deepEqual(
      rows?.shape?.columns.slice(0, 3).map(({ type, nullable }) => [type, nullable]),
      [
        ['TEXT', false],
        ['INT4', false],
        ['INT8', false],
      ],
    );
    const named = structDecoder({ keyMode: 'kafka', keyFields: ['a', 'b', 'c'] });
    addAll(named, { value: struct(ORDER, 1n, 'a') });
    assert.deepEqual(named.take().rows[0]?.batch.key, ['a', 'b', 'c']);
  });

  const impossible: [string, Parameters<typeof structDecoder>[0], Parameters<typeof addAll>[1], string][] = [
    ['there is no key', { keyMode: 'record_key' }, {}, 'pk.mode=record_key: the record has no key'],
    [
      'a single value has no name',
      { keyMode: 'record_key', keyFields: ['a', 'b'] },
      { key: 'x', keySchema: TEXT },
      'pk.mode=record_key: the record\'s key is one value of type string, so pk.fields must be one name, not "a", "b"',
    ],
    [
      'the key lacks a field',
      { keyMode: 'record_key', keyFields: ['nr'] },
      { key: struct(KEY, 1n) },
      'pk.mode=record_key: the record\'s key has no field "nr", which is in pk.fields',
    ],
    [
      'the value lacks a field',
      { keyMode: 'record_value', keyFields: ['nr'] },
      {},
      'pk.mode=record_value: the record\'s value has no field "nr", which is in pk.fields',
    ],
  ];
  for (const [title, policy, given, message] of impossible) {
    it(`are a fault of the record where ${title}`, () => {
      const decoder = structDecoder(policy);
      addAll(decoder, { value: struct(ORDER, 1n, 'a'), ...given });
      const { rows, faults } = decoder.take();
      assert.deepEqual(rows, []);
      assert.deepEqual(
        faults.map((fault) => fault.message),
        [message],
      );
    });
  }
});

describe('deletions of struct rows', () => {
  it('are among the rows in order, with only the key', () => {
    const decoder = structDecoder({ keyMode: 'record_key', deletes: true });
    const key = struct(KEY, 1n);
    addAll(decoder, { key, value: struct(ORDER, 1n, 'a') }, { key }, { key, value: struct(ORDER, 1n, 'b') });
    const [rows] = decoder.take().rows;
    assert.ok(rows);
    assert.deepEqual(groupsOf(rows.batch), ['store id,name', 'delete id', 'store id,name']);
    assert.deepEqual(
      rowsOf(rows.batch).map(({ id }) => id),
      [1, 1, 1],
    );
  });

  it('without other rows are marked, and create no table', () => {
    const decoder = structDecoder({ keyMode: 'record_key', deletes: true });
    addAll(decoder, { key: struct(KEY, 1n) });
    const [rows] = decoder.take().rows;
    assert.ok(rows);
    assert.deepEqual(groupsOf(rows.batch), ['delete id']);
    assert.equal(rows.shape, undefined);
  });

  it('are skipped unless enabled', () => {
    const decoder = structDecoder({ keyMode: 'record_key' });
    addAll(decoder, { key: struct(KEY, 1n) });
    assert.deepEqual(decoder.take(), { rows: [], faults: [] });
  });
});

describe('table names of struct rows', () => {
  const cases: [string, string, unknown][] = [
    ['${topic}', 'orders', { name: 'orders' }],
    ['kafka_${topic}', 'orders', { name: 'kafka_orders' }],
    ['${topic}', 'sales.orders', { schema: 'sales', name: 'orders' }],
    ['audit.${topic}', 'orders', { schema: 'audit', name: 'orders' }],
  ];
  for (const [format, topic, expected] of cases) {
    it(`${format} of topic ${topic} is ${JSON.stringify(expected)}`, () => {
      const decoder = structDecoder({ tableNameFormat: format });
      addAll(decoder, { topic, value: struct(ORDER, 1n) });
      assert.deepEqual(decoder.take().rows[0]?.batch.table, expected);
    });
  }

  it('with three parts, or with a part that the record lacks, are faults that name the option', () => {
    const topics = structDecoder();
    addAll(topics, { topic: 'a.b.c', value: struct(ORDER, 1n) });
    assert.match(topics.take().faults[0]?.message ?? '', /"a\.b\.c" is not a table name.* table\.name\.format/);
    const sources = structDecoder({ tableNameFormat: '${source.table}' });
    addAll(sources, { value: struct(ORDER, 1n) });
    assert.match(sources.take().faults[0]?.message ?? '', /uses source\.table/);
  });

  it('keep tables of several topics apart', () => {
    const decoder = structDecoder();
    const value = struct(ORDER, 1n);
    addAll(decoder, { topic: 'a', value }, { topic: 'b', value }, { topic: 'a', value });
    assert.deepEqual(
      decoder.take().rows.map(({ batch }) => [batch.table.name, batch.rowCount]),
      [
        ['a', 2],
        ['b', 1],
      ],
    );
  });
});
