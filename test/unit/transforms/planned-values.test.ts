import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { transformationChain } from '../../../src/connect/pipeline/chain-builder.ts';
import { StructPlan } from '../../../src/connect/pipeline/struct-plan.ts';
import { PluginRegistry } from '../../../src/connect/plugins/plugin-registry.ts';
import { LogicalName, Schema, type SchemaType } from '../../../src/data/schema.ts';
import type { ConnectValue } from '../../../src/data/value.ts';
import { SimpleDateFormat } from '../../../src/java/date-format/simple-date-format.ts';
import { castFor, castValue } from '../../../src/transforms/cast-value.ts';
import { predicatePlugins } from '../../../src/transforms/predicates/registry.ts';
import { transformationPlugins } from '../../../src/transforms/registry.ts';
import { kindOfSchema, TIMESTAMP_KINDS, timestampMs, timestampValue } from '../../../src/transforms/timestamp-kinds.ts';

const registry = new PluginRegistry([...transformationPlugins, ...predicatePlugins]);

/** The result of a computation, where a number represents the equal int64 if `isWide`; or the error that it throws. */
function outcome(run: () => ConnectValue, isWide = false): unknown {
  try {
    const value = run();
    return isWide && typeof value === 'number' ? BigInt(value) : value;
  } catch {
    return 'refused';
  }
}

function textOf(value: ConnectValue): string {
  return value instanceof Date ? `the time ${String(value.getTime())}` : inspect(value);
}

/** The value, and as a block's reader gives it. */
function bothForms(value: Exclude<ConnectValue, null>): readonly Exclude<ConnectValue, null>[] {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? [value, Number(value)] : [value];
}

const INTEGERS = [0, 1, -1, 127, 128, -129, 255, 32_768, -65_536, 2 ** 31 - 1, -(2 ** 31)];
const LONGS = [
  ...INTEGERS.map(BigInt),
  2n ** 31n,
  2n ** 32n + 7n,
  10n ** 15n - 1n,
  2n ** 53n - 1n,
  2n ** 62n + 1n,
  -(2n ** 63n),
];
const TIMES = [0, -1, 1_700_000_000_123, -86_400_001, 8_640_000_000_000_000];

const VALUES: readonly (readonly [SchemaType, string | undefined, readonly Exclude<ConnectValue, null>[]])[] = [
  ['int8', undefined, [0, 127, -128]],
  ['int32', undefined, INTEGERS],
  ['int64', undefined, LONGS],
  ['float32', undefined, [0, -0, 1.5, -300.75, NaN, Infinity]],
  ['float64', undefined, [0, -0, 0.1, -1.5, 4e9, 1e300, NaN, -Infinity]],
  ['boolean', undefined, [true, false]],
  ['string', undefined, ['1', '-2.5', 'true', 'text', '300', '1700000000123', '2024-05-06']],
  ['bytes', undefined, [Buffer.of(1, 2)]],
  ['int64', LogicalName.timestamp, TIMES.map((ms) => new Date(ms))],
  ['int32', LogicalName.date, [new Date(0), new Date(86_400_000)]],
];

describe('values of planned transforms', () => {
  it('are cast like those of records', () => {
    for (const [type, name, values] of VALUES) {
      const schema = new Schema(type, { name });
      for (const to of ['int8', 'int16', 'int32', 'int64', 'float32', 'float64', 'boolean', 'string'] as const) {
        const cast = castFor(schema, to);
        for (const value of values) {
          const expected = outcome(() => castValue(value, schema, to));
          for (const form of bothForms(value)) {
            const what = `${typeof form} ${textOf(form)} of ${type} to ${to}`;
            assert.deepEqual(
              outcome(() => cast(form), to === 'int64'),
              expected,
              what,
            );
          }
        }
      }
    }
  });

  it('are converted between kinds of times alike, whether an int64 is a bigint or a number', () => {
    for (const [type, name, values] of VALUES) {
      const schema = new Schema(type, { name });
      if (outcome(() => kindOfSchema(schema)) === 'refused') continue;
      const kind = kindOfSchema(schema);
      for (const to of TIMESTAMP_KINDS) {
        for (const precision of ['nanoseconds', 'microseconds', 'milliseconds', 'seconds'] as const) {
          const settings = { format: new SimpleDateFormat('yyyy-MM-dd'), precision };
          for (const value of values) {
            const [expected, ...others] = bothForms(value).map((form) =>
              outcome(() => timestampValue(timestampMs(form, kind, settings), to, settings), to === 'unix'),
            );
            const what = `${textOf(value)} of ${name ?? type} to ${to} in ${precision}`;
            for (const other of others) assert.deepEqual(other, expected, what);
          }
        }
      }
    }
  });

  it('exist if the schema determines the result of a record', () => {
    const schema = Schema.struct([
      { name: 'a', schema: new Schema('string') },
      { name: 'b', schema: new Schema('int64') },
    ]);
    const isPlanned = (config: Readonly<Record<string, string>>, hasHeaders = false): boolean => {
      const named = Object.entries(config).map(([key, value]) => [`transforms.t.${key}`, value]);
      const all = {
        transforms: 't',
        ...(Object.fromEntries(named) as Readonly<Record<string, string>>),
        predicates: 'topic,tombstone,header',
        'predicates.topic.type': 'TopicNameMatches',
        'predicates.topic.pattern': 'orders',
        'predicates.tombstone.type': 'RecordIsTombstone',
        'predicates.header.type': 'HasHeaderKey',
        'predicates.header.name': 'h',
      };
      const chain = transformationChain(all, registry);
      return chain.isPlannable && chain.plan(new StructPlan('orders', schema, hasHeaders)) !== undefined;
    };
    const full = (name: string): string => `org.apache.kafka.connect.transforms.${name}`;
    const time = { type: full('TimestampConverter$Value'), field: 'a', 'target.type': 'unix' };
    assert.equal(isPlanned({ ...time, format: 'yyyy-MM-dd HH:mm' }), true);
    assert.equal(isPlanned({ ...time, format: 'HH:mm z' }), false, 'the zone of one text counts for the next one');
    assert.equal(isPlanned({ type: 'Filter', predicate: 'tombstone' }), true);
    assert.equal(isPlanned({ type: 'Filter', predicate: 'topic', negate: 'true' }), true);
    assert.equal(isPlanned({ type: 'Filter', predicate: 'topic' }), false);
    assert.equal(isPlanned({ type: 'Filter', predicate: 'header' }), true);
    assert.equal(isPlanned({ type: 'Filter', predicate: 'header' }, true), false);
    assert.equal(isPlanned({ type: full('Cast$Key'), spec: 'int8' }), false, 'the key of the message was not read');
    assert.equal(isPlanned({ type: full('ReplaceField$Value'), renames: 'a:b,b:a' }), true);
    const twice = { type: full('ReplaceField$Value'), renames: 'a:x,b:x' };
    assert.equal(isPlanned({ ...twice, exclude: 'a' }) && isPlanned({ ...twice, exclude: 'b' }), false);
    assert.equal(isPlanned({ type: full('ExtractField$Value'), field: 'a' }), false, 'what comes out is no struct');
  });
});
