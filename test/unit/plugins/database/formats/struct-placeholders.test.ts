import assert from 'node:assert/strict';
import { LogicalName, Schema } from '../../../../../src/data/schema.ts';
import { Decimal, type ConnectValue } from '../../../../../src/data/value.ts';
import { groupsOf, rowsOf } from './rows-of.ts';
import { addAll, struct, structDecoder } from './struct-records.ts';

const PLACEHOLDER = '__debezium_unavailable_value';
const BYTES = Buffer.from(PLACEHOLDER);

const TEXT = new Schema('string', { optional: true });
const RAW = new Schema('bytes', { optional: true });
const INT64 = new Schema('int64');

/** Groups of a row with this value in the column `v`. */
function groupOf(schema: Schema, value: ConnectValue, placeholder = PLACEHOLDER): string | undefined {
  const row = Schema.struct([
    { name: 'id', schema: INT64 },
    { name: 'v', schema },
  ]);
  const decoder = structDecoder({ placeholder });
  addAll(decoder, { value: struct(row, 1n, value) });
  const { rows, faults } = decoder.take();
  assert.deepEqual(faults, []);
  return rows[0] && groupsOf(rows[0].batch)[0];
}

describe('the placeholder of a large value that did not change', () => {
  const named = (type: Schema['type'], name: string) => new Schema(type, { name, optional: true });
  const list = (schema: Schema) => Schema.array(schema, { optional: true });
  const texts = new Schema('string');

  const forms: [string, Schema, ConnectValue][] = [
    ['text', TEXT, PLACEHOLDER],
    ['JSON', named('string', 'io.debezium.data.Json'), PLACEHOLDER],
    ['bytes', RAW, BYTES],
    ['bytes in Base64', TEXT, BYTES.toString('base64')],
    ['bytes in hexadecimal digits', TEXT, BYTES.toString('hex')],
    ['lists of text', list(TEXT), [PLACEHOLDER]],
    ['lists of bytes', list(RAW), [BYTES]],
    ['lists of int32', list(new Schema('int32')), [...BYTES]],
    ['lists of int64', list(INT64), [...BYTES].map(BigInt)],
    ['lists of UUIDs', list(named('string', 'io.debezium.data.Uuid')), ['b68a35a7-17ad-35b3-af2a-ae46edb4545a']],
    ['hstore as a map', Schema.map(texts, TEXT, { optional: true }), new Map([[PLACEHOLDER, PLACEHOLDER]])],
    ['hstore as JSON', named('string', 'io.debezium.data.Json'), JSON.stringify({ [PLACEHOLDER]: PLACEHOLDER })],
  ];
  for (const [title, schema, value] of forms) {
    it(`is recognized in columns of ${title}`, () => {
      assert.equal(groupOf(schema, value), 'store id');
    });
  }

  const values: [string, Schema, ConnectValue][] = [
    ['a longer text', TEXT, `${PLACEHOLDER}.`],
    ['bytes of the same length', RAW, Buffer.from(PLACEHOLDER.toUpperCase())],
    ['a list with one more text', list(TEXT), [PLACEHOLDER, 'b']],
    ['an empty list', list(TEXT), []],
    ['a list of other numbers', list(new Schema('int32')), [...BYTES].reverse()],
    [
      'a map with more entries',
      Schema.map(texts, TEXT),
      new Map([
        [PLACEHOLDER, PLACEHOLDER],
        ['a', 'b'],
      ]),
    ],
    ['a decimal', new Schema('bytes', { name: LogicalName.decimal }), new Decimal(1n, 0)],
    ['null', TEXT, null],
  ];
  for (const [title, schema, value] of values) {
    it(`is not ${title}`, () => {
      assert.equal(groupOf(schema, value), 'all');
    });
  }

  it('is another text if the option says so, and none if it is empty', () => {
    assert.equal(groupOf(TEXT, 'absent', 'absent'), 'store id');
    assert.equal(groupOf(TEXT, PLACEHOLDER, 'absent'), 'all');
    assert.equal(groupOf(TEXT, '', ''), 'all');
  });

  it('is not looked for in key columns', () => {
    const schema = Schema.struct([
      { name: 'k', schema: new Schema('string') },
      { name: 'v', schema: TEXT },
    ]);
    const decoder = structDecoder({ keyMode: 'record_value', keyFields: ['k'] });
    addAll(decoder, { value: struct(schema, PLACEHOLDER, PLACEHOLDER) });
    const [rows] = decoder.take().rows;
    assert.ok(rows);
    assert.deepEqual(groupsOf(rows.batch), ['store k']);
  });

  it('leaves the rows of a batch with the columns that they have, and the table with all of them', () => {
    const schema = Schema.struct([
      { name: 'id', schema: INT64 },
      { name: 'a', schema: TEXT },
      { name: 'b', schema: RAW },
    ]);
    const decoder = structDecoder();
    const rowsGiven: ConnectValue[][] = [
      [1n, PLACEHOLDER, BYTES],
      [2n, 'a', BYTES],
      [3n, 'b', null],
      [4n, PLACEHOLDER, BYTES],
    ];
    addAll(decoder, ...rowsGiven.map((values) => ({ value: struct(schema, ...values) })));
    const [rows] = decoder.take().rows;
    assert.ok(rows);
    assert.deepEqual(groupsOf(rows.batch), ['store id', 'store id,a', 'store id,a,b', 'store id']);
    assert.deepEqual(
      rows.batch.groups?.list.map(({ unchanged }) => [...(unchanged ?? [])]),
      [[], ['a', 'b'], ['b']],
    );
    assert.deepEqual(rowsOf(rows.batch).at(1), { id: 2, a: 'a', b: null });
    assert.deepEqual(
      rows.shape?.columns.map(({ name }) => name),
      ['id', 'a', 'b'],
    );
  });
});
