import assert from 'node:assert/strict';
import type { Transformation } from '../../../src/connect/api.ts';
import { transformationPlugins } from '../../../src/transforms/registry.ts';
import type { SinkRecord } from '../../../src/data/record.ts';
import { Schema } from '../../../src/data/schema.ts';
import { SluiceError } from '../../../src/errors.ts';
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
  it('have the same schema as long as the input has the same one', () => {
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

  it('are copies: the original record and value stay unchanged', () => {
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

  it('T6: fail with Java’s exceptions if a Java transform does', () => {
    const failure = (name: string, config: Record<string, string>, given: SinkRecord): string => {
      try {
        transformation(name, config).apply(given);
      } catch (error) {
        return error instanceof SluiceError ? `${error.scope} ${error.javaName}: ${error.message}` : String(error);
      }
      return 'none';
    };
    const noTopic = { ...record('x'), topic: null } as unknown as SinkRecord;
    assert.equal(
      failure('RegexRouter', { regex: '(.*)', replacement: 'x' }, noTopic),
      'record java.lang.NullPointerException: Cannot invoke "java.lang.CharSequence.length()" because "this.text" is null',
    );
    assert.equal(
      failure('TimestampRouter', {}, noTopic),
      'record java.lang.NullPointerException: Cannot invoke "String.indexOf(int)" because "s" is null',
    );
    for (const [key, name] of [
      [1n, 'java.lang.Long'],
      [1.5, 'java.lang.Double'],
      [true, 'java.lang.Boolean'],
      [new TypedNumber('int32', 1), 'java.lang.Integer'],
    ] as const) {
      assert.equal(
        failure('Flatten$Value', {}, record(new Map([['a', new Map([[key, 'x']])]]))),
        `record java.lang.ClassCastException: class ${name} cannot be cast to class java.lang.String (${name} and java.lang.String are in module java.base of loader 'bootstrap')`,
      );
    }
    const unnamed = transformation('Flatten$Value', {}).apply(record(new Map([[null, 'x']])));
    assert.deepEqual(unnamed?.value, new Map([[null, 'x']]));
    const empty = { field: '', 'field.syntax.version': 'V2' };
    const struct = record(new Struct(AB, [1, null]), AB);
    for (const given of [record(new Map([['', 'x']])), struct]) {
      assert.equal(
        failure('ExtractField$Value', empty, given),
        'record java.lang.IllegalArgumentException: fromIndex(0) > toIndex(-1)',
      );
    }
    assert.equal(transformation('ExtractField$Value', { field: '' }).apply(record(new Map([['', 'x']])))?.value, 'x');
    assert.equal(
      failure('TimestampConverter$Value', { 'target.type': 'Timestamp' }, record(2n ** 63n - 1n)),
      'record org.apache.kafka.connect.errors.DataException: The time of 9223372036854775807 ms since 1970 is past the year 275760, or before 271821 BC',
    );
  });

  it('have topics of bounded length, however often routers double them', () => {
    for (const [name, config] of [
      ['TimestampRouter', { 'topic.format': '${topic}${topic}' }],
      ['RegexRouter', { regex: '(.*)', replacement: '$1$1' }],
    ] as const) {
      const router = transformation(name, config);
      let topic = 'topic';
      assert.throws(
        () => {
          for (let round = 0; round < 40; round++) topic = router.apply({ ...record(null), topic })?.topic ?? '';
        },
        (error: unknown) => error instanceof Error && error.message.includes('characters'),
        name,
      );
      assert.ok(topic.length < 200_000, String(topic.length));
    }
  });

  it('are not flattened to names of more than 16 million characters, with and without schemas', () => {
    const flatten = transformation('Flatten$Value', { delimiter: '-'.repeat(60_000) });
    let value: ConnectValue = new Map<ConnectValue, ConnectValue>([['a', 1n]]);
    let schema = AB;
    let struct = new Struct(AB, [1, 'b']);
    for (let depth = 0; depth < 30; depth++) {
      value = new Map<ConnectValue, ConnectValue>([['below', value]]);
      schema = Schema.struct([{ name: 'below', schema }]);
      struct = new Struct(schema, [struct]);
    }
    const message = 'The names of the flattened fields have more than 16777216 characters';
    assert.throws(() => flatten.apply(record(value)), { message });
    assert.throws(() => flatten.apply(record(struct, schema)), { message });
    const few = new Map<ConnectValue, ConnectValue>([['a', new Map<ConnectValue, ConnectValue>([['b', 1n]])]]);
    for (let again = 0; again < 1_000; again++) flatten.apply(record(few));
  });
});
