import assert from 'node:assert/strict';
import { Schema } from '../../../../../src/data/schema.ts';
import type { ConnectValue } from '../../../../../src/data/value.ts';
import { partsOf, type Decoded } from '../../../../../plugins/database/formats/format.ts';
import { groupsOf, rowsOf } from './rows-of.ts';
import { addAll, struct, structDecoder, type Given } from './struct-records.ts';
import type { StructPolicy } from '../../../../../plugins/database/formats/struct/struct.ts';

const TEXT = new Schema('string', { optional: true });
const ROW = Schema.struct(
  [
    { name: 'id', schema: new Schema('int64') },
    { name: 'name', schema: TEXT },
  ],
  { optional: true, name: 's.orders.Value' },
);
const KEY = Schema.struct([{ name: 'id', schema: new Schema('int64') }]);
const SOURCE = Schema.struct([
  { name: 'schema', schema: new Schema('string') },
  { name: 'table', schema: new Schema('string') },
]);
const source = struct(SOURCE, 'sales', 'orders');

function eventSchema(name: string | undefined, without: readonly string[] = []): Schema {
  const fields = [
    { name: 'before', schema: ROW },
    { name: 'after', schema: ROW },
    { name: 'source', schema: SOURCE },
    { name: 'op', schema: new Schema('string') },
  ];
  return Schema.struct(
    fields.filter((field) => !without.includes(field.name)),
    { name },
  );
}

const EVENT = eventSchema('s.orders.Envelope');
const key = struct(KEY, 1n);
const row = (id: bigint, name: string) => struct(ROW, id, name);
const created = (id: bigint, name: string): Given => ({
  key: struct(KEY, id),
  value: struct(EVENT, null, row(id, name), source, 'c'),
});
const deleted = (id: bigint): Given => ({
  key: struct(KEY, id),
  value: struct(EVENT, row(id, 'old'), null, source, 'd'),
});
const truncated: Given = { key: null, value: struct(EVENT, null, null, source, 't') };

const DELETES = { keyMode: 'record_key', deletes: true } as const;

function decode(changes: Partial<StructPolicy>, ...records: Given[]): Decoded {
  const decoder = structDecoder(changes);
  addAll(decoder, ...records);
  return decoder.take();
}

/** Rows and statements in order, as text. */
function steps(decoded: Decoded): string[] {
  return partsOf(decoded).map((part) =>
    part.kind === 'statement' ? part.statement.sql : JSON.stringify(rowsOf(part.rows.batch).map(({ id }) => id)),
  );
}

describe('change events of Debezium', () => {
  it('become the new state, a deletion, or nothing', () => {
    const { rows, faults } = decode({ ...DELETES, tableNameFormat: 'x' }, created(1n, 'a'), deleted(1n), truncated);
    assert.deepEqual(faults, []);
    assert.ok(rows[0]);
    assert.deepEqual(groupsOf(rows[0].batch), ['store id,name', 'delete id']);
  });

  it('use the table name of their source, and the tombstone after a deletion is skipped', () => {
    const tableNameFormat = '${source.schema}.${source.table}_copy';
    const { rows, faults } = decode({ ...DELETES, tableNameFormat }, deleted(1n), { key });
    assert.deepEqual(faults, []);
    assert.deepEqual(rows[0]?.batch.table, { schema: 'sales', name: 'orders_copy' });
    assert.equal(rows[0].batch.rowCount, 1);
  });

  it('have the columns of the new state, also after a change of its schema', () => {
    const wide = Schema.struct([...ROW.fields, { name: 'note', schema: TEXT }], { optional: true });
    const schema = Schema.struct(
      EVENT.fields.map(({ name, schema: own }) => ({ name, schema: own === ROW ? wide : own })),
      {
        name: EVENT.name,
      },
    );
    const value = struct(schema, null, struct(wide, 2n, 'b', 'n'), source, 'u');
    const [rows] = decode(DELETES, created(1n, 'a'), { key: struct(KEY, 2n), value }).rows;
    assert.ok(rows);
    assert.deepEqual(groupsOf(rows.batch), ['store id,name', 'store id,name,note']);
    assert.deepEqual(
      rows.shape?.columns.map(({ name, type }) => [name, type]),
      [
        ['id', 'INT8'],
        ['name', 'TEXT'],
        ['note', 'TEXT'],
      ],
    );
  });

  const forms: [string, Schema, boolean][] = [
    ['whose schema is named Envelope by a converter', eventSchema('Envelope'), true],
    ['named Envelope, without the old state', eventSchema('s.orders.Envelope', ['before']), true],
    ['whose schema was renamed, with all parts', eventSchema('orders'), true],
    ['whose schema has no name, with all parts', eventSchema(undefined), true],
    ['without the old state and the name are rows', eventSchema('orders', ['before']), false],
    ['without a source are rows', eventSchema('s.orders.Envelope', ['source']), false],
  ];
  for (const [title, schema, isEvent] of forms) {
    it(`${isEvent ? 'are recognized: those ' : 'that are not: those '}${title}`, () => {
      const parts: Readonly<Record<string, ConnectValue>> = { before: null, after: row(1n, 'a'), source, op: 'c' };
      const value = struct(schema, ...schema.fields.map(({ name }) => parts[name] ?? null));
      const names = decode({}, { value }).rows[0]?.batch.columns.map(({ name }) => name);
      assert.deepEqual(names, isEvent ? ['id', 'name'] : schema.fields.map(({ name }) => name));
    });
  }

  it('for logical messages are skipped', () => {
    const schema = Schema.struct(
      [
        { name: 'op', schema: new Schema('string') },
        { name: 'source', schema: SOURCE },
        { name: 'message', schema: ROW },
      ],
      { name: 'io.debezium.connector.postgresql.MessageValue' },
    );
    assert.deepEqual(decode({}, { value: struct(schema, 'm', source, row(1n, 'a')) }), { rows: [], faults: [] });
  });

  it('delete the row that their old state identifies with pk.mode=record_value; tombstones are skipped', () => {
    const policy = { keyMode: 'record_value', keyFields: ['id'], deletes: true } as const;
    const { rows, faults } = decode(policy, created(1n, 'a'), { ...deleted(2n), key: null }, { key: null });
    assert.deepEqual(faults, []);
    assert.equal(rows.length, 1);
    assert.ok(rows[0]);
    assert.deepEqual(groupsOf(rows[0].batch), ['store id,name', 'delete id']);
    assert.deepEqual(
      rowsOf(rows[0].batch).map(({ id }) => id),
      [1, 2],
    );
    assert.deepEqual(rows[0].batch.key, ['id']);
  });

  it('truncate the table after the rows before them, if enabled', () => {
    const policy = { ...DELETES, truncates: true, tableNameFormat: '${source.schema}.${source.table}' };
    const records = [created(1n, 'a'), truncated, created(2n, 'b'), created(3n, 'c'), truncated, truncated];
    const decoder = structDecoder(policy);
    addAll(decoder, ...records);
    assert.equal(decoder.rowCount, records.length);
    const decoded = decoder.take();
    const truncation = 'TRUNCATE TABLE "sales"."orders"';
    assert.deepEqual(steps(decoded), ['[1]', truncation, '[2,3]', truncation, truncation]);
    assert.equal(decoded.rows.length, 2);
    const [, statement] = partsOf(decoded);
    assert.ok(statement?.kind === 'statement');
    assert.deepEqual(statement.statement.origin, { kind: 'record', topic: 't', partition: 0, offset: 1 });
    assert.deepEqual(decoder.take(), { rows: [], faults: [] });
  });

  it('of truncations without a valid table name are faults', () => {
    const tableNameFormat = 'x'.repeat(64);
    const { faults, parts } = decode({ ...DELETES, truncates: true, tableNameFormat }, truncated);
    assert.equal(parts, undefined);
    assert.match(faults[0]?.message ?? '', /PostgreSQL allows at most 63/);
  });
});

describe('change events without a schema', () => {
  const from = new Map([
    ['schema', 'sales'],
    ['table', 'orders'],
  ]);
  const mapOf = (op: string, parts: Readonly<Record<string, ConnectValue>>): Map<string, ConnectValue> =>
    new Map(Object.entries({ before: null, after: null, ...parts, source: from, op }));
  const state = (id: number) => new Map<string, ConnectValue>([['id', id]]);

  it('are recognized by their parts', () => {
    const policy = { ...DELETES, truncates: true, tableNameFormat: '${source.table}' };
    const decoded = decode(
      policy,
      { key: state(1), value: mapOf('r', { after: state(1) }) },
      { key: state(2), value: mapOf('d', { before: state(2) }) },
      { key: state(2) },
      { key: null, value: mapOf('t', {}) },
      { key: null, value: mapOf('m', { message: new Map() }) },
    );
    assert.deepEqual(decoded.faults, []);
    assert.deepEqual(steps(decoded), ['[1,2]', 'TRUNCATE TABLE "orders"']);
    assert.ok(decoded.rows[0]);
    assert.deepEqual(groupsOf(decoded.rows[0].batch), ['store id', 'delete id']);
  });

  it('are rows if they lack a part', () => {
    const value = mapOf('c', { after: state(1) });
    value.delete('before');
    const columns = decode({}, { value }).rows[0]?.batch.columns.map(({ name }) => name);
    assert.deepEqual(columns, ['after', 'source', 'op']);
  });
});
