import assert from 'node:assert/strict';
import type { Transformation } from '../../../src/connect/api.ts';
import { transformationPlugins } from '../../../src/transforms/registry.ts';
import type { SinkRecord } from '../../../src/data/record.ts';
import { Schema } from '../../../src/data/schema.ts';
import { Struct, TypedNumber, type ConnectValue } from '../../../src/data/value.ts';

function transformation(name: string, config: Record<string, string>): Transformation {
  const plugin = transformationPlugins.find(({ className }) => className.endsWith(`.${name}`));
  assert.ok(plugin, name);
  return plugin.create(config);
}

function record(value: ConnectValue, valueSchema: Schema | null = null): SinkRecord {
  return {
    topic: 't',
    partition: 3,
    keySchema: null,
    key: null,
    valueSchema,
    value,
    timestamp: 1_700_000_000_000,
    headers: [],
    offset: 9,
    timestampType: 'CreateTime',
    original: { topic: 't', partition: 3, offset: 9 },
    consumed: { topic: 't', partition: 3, offset: 9 },
  };
}

const AB = Schema.struct([
  { name: 'a', schema: new Schema('int32') },
  { name: 'b', schema: new Schema('string', { optional: true }) },
]);

describe('transformed records', () => {
  it('have one and the same schema while they come with the same one', () => {
    for (const [name, config] of [
      ['InsertField$Value', { 'topic.field': 'topic' }],
      ['ReplaceField$Value', { renames: 'a:c' }],
      ['Cast$Value', { spec: 'a:int64' }],
      ['Flatten$Value', {}],
      ['HoistField$Value', { field: 'x' }],
      ['SetSchemaMetadata$Value', { 'schema.version': '2' }],
      ['TimestampConverter$Value', { field: 'b', 'target.type': 'string', format: 'yyyy' }],
    ] as const) {
      const apply = transformation(name, config);
      const [first, second] = [1, 2].map((a) => apply.apply(record(new Struct(AB, [a, null]), AB)));
      assert.ok(first?.valueSchema, name);
      assert.equal(first.valueSchema, second?.valueSchema, name);
      assert.equal(first.valueSchema, (first.value as Struct).schema, name);
    }
  });

  it('are copies: the record and the value that came stay as they were', () => {
    const value = new Map<ConnectValue, ConnectValue>([['a', 1n]]);
    const came = record(value);
    const inserted = transformation('InsertField$Value', { 'offset.field': 'o', 'partition.field': 'p' }).apply(came);
    assert.deepEqual(
      inserted?.value,
      new Map<string, ConnectValue>([
        ['a', 1n],
        ['o', 9n],
        ['p', new TypedNumber('int32', 3)],
      ]),
    );
    assert.deepEqual([...value], [['a', 1n]]);
    assert.equal(came.value, value);
    assert.equal(inserted.original, came.original);
  });

  it('without a change are the same record', () => {
    const came = record('x');
    assert.equal(transformation('RegexRouter', { regex: 'other', replacement: 'y' }).apply(came), came);
    const empty = record(null);
    assert.equal(transformation('Cast$Value', { spec: 'int8' }).apply(empty), empty);
  });

  it('with a key out of a map have its fields in the order of Java’s map, which partitions depend on', () => {
    const value = new Map<ConnectValue, ConnectValue>(['mid', 'alpha', 'zeta'].map((name) => [name, name]));
    const keyed = transformation('ValueToKey', { fields: 'alpha,mid,zeta' }).apply(record(value));
    assert.deepEqual([...(keyed?.key as Map<string, string>).keys()], ['zeta', 'mid', 'alpha']);
  });

  it('keep their 64-bit integers exact', () => {
    const schema = new Schema('int64');
    const cast = (spec: string, value: bigint) =>
      transformation('Cast$Value', { spec }).apply(record(value, schema))?.value;
    assert.equal(cast('string', 2n ** 63n - 1n), '9223372036854775807');
    assert.equal(cast('int32', 2n ** 32n + 7n), 7);
    assert.equal(cast('float32', 2n ** 60n + 2n ** 36n + 1n), 2 ** 60 + 2 ** 37);
  });
});
