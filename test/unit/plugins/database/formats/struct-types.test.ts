import assert from 'node:assert/strict';
import type { Cell } from '../../../../../src/data/row-batch.ts';
import { LogicalName, Schema, type SchemaType } from '../../../../../src/data/schema.ts';
import { Decimal, Struct, TypedNumber, type ConnectValue } from '../../../../../src/data/value.ts';
import { compileStruct, compileValue } from '../../../../../plugins/database/formats/struct/struct-columns.ts';

const named = (type: SchemaType, name: string, parameters: Record<string, string> = {}): Schema =>
  new Schema(type, { name, parameters: new Map(Object.entries(parameters)) });
const debezium = (type: SchemaType, name: string, parameters?: Record<string, string>): Schema =>
  named(type, `io.debezium.${name}`, parameters);

const bytes = Uint8Array.of(1, 255);
const variableScale = Schema.struct(
  [
    { name: 'scale', schema: new Schema('int32') },
    { name: 'value', schema: new Schema('bytes') },
  ],
  { name: 'io.debezium.data.VariableScaleDecimal' },
);

/** Schema, type of its column, kind of its cells, a value, its cell. */
const cases: readonly [Schema, string, string, ConnectValue, Cell][] = [
  [new Schema('int8'), 'INT2', 'int', -128, -128],
  [new Schema('int16'), 'INT2', 'int', new TypedNumber('int16', 7), 7],
  [new Schema('int32'), 'INT4', 'int', 2147483647, 2147483647],
  [new Schema('int64'), 'INT8', 'int', 9007199254740991n, 9007199254740991],
  [new Schema('int64'), 'INT8', 'int', 9223372036854775807n, 9223372036854775807n],
  [new Schema('float32'), 'FLOAT4', 'float', 0.5, 0.5],
  [new Schema('float64'), 'FLOAT8', 'float', Number.NaN, Number.NaN],
  [new Schema('float64'), 'FLOAT8', 'float', -Infinity, -Infinity],
  [new Schema('boolean'), 'BOOL', 'bool', false, false],
  [new Schema('string'), 'TEXT', 'text', '', ''],
  [new Schema('bytes'), 'BYTEA', 'bytes', bytes, bytes],
  [named('bytes', LogicalName.decimal, { scale: '2' }), 'NUMERIC', 'numeric', new Decimal(-1n, 2), '-0.01'],
  [
    named('bytes', LogicalName.decimal, { scale: '2', 'connect.decimal.precision': '10' }),
    'NUMERIC(10,2)',
    'numeric',
    new Decimal(2n ** 70n, 2),
    '11805916207174113034.24',
  ],
  [named('int32', LogicalName.date), 'DATE', 'time', new Date(86_400_000), 86_400_000_000],
  [named('int32', LogicalName.time), 'TIME', 'text', new Date(3_723_004), '01:02:03.004'],
  [named('int64', LogicalName.timestamp), 'TIMESTAMPTZ', 'time', new Date(1_700_000_000_123), 1_700_000_000_123_000],
  [named('int64', LogicalName.timestamp), 'TIMESTAMPTZ', 'time', new Date(8.64e15), 8_640_000_000_000_000_000n],
  [debezium('int32', 'time.Date'), 'DATE', 'time', -1, -86_400_000_000],
  [debezium('int32', 'time.Time'), 'TIME', 'text', 1, '00:00:00.001'],
  [debezium('int64', 'time.MicroTime'), 'TIME', 'text', 86_399_999_999n, '23:59:59.999999'],
  [debezium('int64', 'time.NanoTime'), 'TIME', 'text', 1_999n, '00:00:00.000001'],
  [debezium('string', 'time.ZonedTime'), 'TIMETZ', 'text', '10:00:00Z', '10:00:00Z'],
  [debezium('int64', 'time.Timestamp'), 'TIMESTAMP', 'time', 5n, 5_000],
  [debezium('int64', 'time.MicroTimestamp'), 'TIMESTAMP', 'time', 5n, 5],
  [debezium('int64', 'time.NanoTimestamp'), 'TIMESTAMP', 'time', -1n, -1],
  [debezium('string', 'time.ZonedTimestamp'), 'TIMESTAMPTZ', 'time', '1970-01-01T00:00:01.000002Z', 1_000_002],
  [debezium('int64', 'time.MicroDuration'), 'INTERVAL', 'text', 90n, '90 microseconds'],
  [debezium('string', 'data.Json'), 'JSONB', 'json', '{"a":1}', '{"a":1}'],
  [
    debezium('string', 'data.Uuid'),
    'UUID',
    'text',
    '00000000-0000-0000-0000-000000000000',
    '00000000-0000-0000-0000-000000000000',
  ],
  [debezium('string', 'data.Enum', { allowed: 'a,b' }), 'TEXT', 'text', 'a', 'a'],
  [debezium('bytes', 'data.Bits', { length: '10' }), 'BIT(10)', 'text', Uint8Array.of(0b101, 0b10), '1000000101'],
  [variableScale, 'NUMERIC', 'numeric', new Struct(variableScale, [3, Uint8Array.of(4, 210)]), '1.234'],
  [
    named('string', LogicalName.timestamp),
    'TEXT',
    'text',
    'a name over another type says nothing',
    'a name over another type says nothing',
  ],
];

describe('columns for Connect schemas', () => {
  for (const [schema, type, kind, value, cell] of cases) {
    it(`${schema.name ?? schema.type} is ${type}, and ${String(cell).slice(0, 40)} a cell of it`, () => {
      const column = compileValue(schema, 'c');
      assert.deepEqual([column.type, column.kind], [type, kind]);
      assert.ok(value !== null);
      assert.deepEqual(column.toCell(value), cell);
    });
  }

  it('are compiled once for a Schema object', () => {
    const schema = Schema.struct([{ name: 'a', schema: new Schema('int32', { optional: true }) }]);
    const [column] = compileStruct(schema);
    assert.equal(compileStruct(schema)[0], column);
    assert.deepEqual([column?.name, column?.index, column?.nullable, column?.nullCell], ['a', 0, true, null]);
  });

  it('have no cell for an invalid time or an excessively long decimal', () => {
    assert.equal(compileValue(named('int32', LogicalName.time), 'c').toCell(new Date(-1)), undefined);
    assert.equal(compileValue(named('int64', LogicalName.timestamp), 'c').toCell(new Date(Number.NaN)), undefined);
    assert.equal(
      compileValue(named('bytes', LogicalName.decimal), 'c').toCell(new Decimal(1n, -2_000_000_000)),
      undefined,
    );
  });
});

describe('nested values', () => {
  const inner = Schema.struct([
    { name: 'n', schema: new Schema('int64') },
    { name: 'at', schema: named('int64', LogicalName.timestamp) },
    { name: 'on', schema: named('int32', LogicalName.date) },
    { name: 'price', schema: named('bytes', LogicalName.decimal, { scale: '2' }) },
    { name: 'raw', schema: new Schema('bytes', { optional: true }) },
    { name: 'x', schema: new Schema('float64') },
    { name: 'd', schema: new Schema('int32', { defaultValue: 3 }) },
  ]);
  const values = [9223372036854775807n, new Date(1), new Date(0), new Decimal(150n, 2), null, Number.NaN, null];

  it('are JSON, exact to the last digit', () => {
    const cell = compileValue(inner, 'c').toCell(new Struct(inner, values));
    assert.equal(
      cell,
      '{"n":9223372036854775807,"at":"1970-01-01T00:00:00.001000Z","on":"1970-01-01","price":1.50,"raw":null,"x":"NaN","d":3}',
    );
  });

  it('in arrays and maps are JSON as well, including maps with keys other than text', () => {
    const array = Schema.array(new Schema('string', { optional: true }));
    assert.equal(compileValue(array, 'c').toCell(['a"', null]), '["a\\"",null]');
    const map = Schema.map(new Schema('int32'), Schema.array(new Schema('boolean')));
    assert.equal(compileValue(map, 'c').toCell(new Map([[1, [true]]])), '{"1":[true]}');
    const pairs = Schema.map(array, new Schema('int32'));
    assert.equal(compileValue(pairs, 'c').toCell(new Map([[['k'], 1]])), '[[["k"],1]]');
  });

  it('with a part that does not match its schema have no cell', () => {
    assert.equal(compileValue(Schema.array(new Schema('string')), 'c').toCell([1n]), undefined);
  });
});
