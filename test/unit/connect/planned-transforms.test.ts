import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Converter, HeaderConverter } from '../../../src/connect/api.ts';
import { ChainPlans } from '../../../src/connect/pipeline/chain-plans.ts';
import { transformationChain } from '../../../src/connect/pipeline/chain-builder.ts';
import type { ErrorPolicy } from '../../../src/connect/pipeline/error-policy.ts';
import { SinkRecordConverter } from '../../../src/connect/pipeline/record-converter.ts';
import type { TransformationChain } from '../../../src/connect/pipeline/transformation-chain.ts';
import { PluginRegistry } from '../../../src/connect/plugins/plugin-registry.ts';
import { BlockConversion } from '../../../src/connect/sink/block-conversion.ts';
import { jsonConverterPlugins } from '../../../src/converters/json-converter.ts';
import { simpleHeaderConverterPlugin } from '../../../src/converters/simple-header-converter.ts';
import { stringConverterPlugins } from '../../../src/converters/string-converter.ts';
import type { SinkRecord } from '../../../src/data/record.ts';
import { LogicalName, Schema, type SchemaType } from '../../../src/data/schema.ts';
import { Decimal, Struct, type ConnectValue } from '../../../src/data/value.ts';
import { StructDecoder, type StructPolicy } from '../../../plugins/database/formats/struct/struct.ts';
import type { RecordBlock, ConsumedRecord } from '../../../src/kafka/api.ts';
import { predicatePlugins } from '../../../src/transforms/predicates/registry.ts';
import { transformationPlugins } from '../../../src/transforms/registry.ts';
import { rowsOf } from '../plugins/database/formats/rows-of.ts';

const registry = new PluginRegistry([...transformationPlugins, ...predicatePlugins]);

/** Gives nulls of fields with a default to the transforms. */
const jsonConverter = (): Converter =>
  jsonConverterPlugins(false)[0].create({ 'schemas.enable': 'true', 'replace.null.with.default': 'false' }, false);

interface Message {
  readonly key: string | null;
  readonly value: Buffer | null;
  readonly timestamp: number;
  readonly header: string | undefined;
}

function blockOf(messages: readonly Message[]): RecordBlock {
  const values = messages.map(({ value }) => value ?? Buffer.alloc(0));
  const bytes = Buffer.concat([...values, Buffer.alloc(1)]);
  const valueStarts: number[] = [];
  const valueEnds: number[] = [];
  let at = 0;
  for (const [index, value] of values.entries()) {
    valueStarts.push(at);
    at += value.length;
    valueEnds.push(messages[index]?.value === null ? at - 1 : at);
  }
  const keyOf = (index: number): Buffer | null => {
    const key = messages[index]?.key ?? null;
    return key === null ? null : Buffer.from(key);
  };
  const headersOf = (index: number) => {
    const header = messages[index]?.header;
    return header === undefined ? [] : [{ key: 'h', value: Buffer.from(header) }];
  };
  const block = {
    topic: 'orders',
    partition: 3,
    bytes,
    count: messages.length,
    offsets: messages.map((_, index) => 100 + index),
    timestamps: messages.map(({ timestamp }) => timestamp),
    valueStarts,
    valueEnds,
    hasHeaders: messages.some(({ header }) => header !== undefined),
    key: keyOf,
    headers: headersOf,
    record: (index: number): ConsumedRecord => ({
      topic: 'orders',
      partition: 3,
      offset: 100 + index,
      timestamp: messages[index]?.timestamp ?? -1,
      timestampType: 'CreateTime',
      key: keyOf(index),
      value: messages[index]?.value ?? null,
      headers: headersOf(index),
    }),
  };
  const shown = messages.map(({ value, ...more }) => JSON.stringify({ value: value?.toString(), ...more })).join('\n');
  return Object.assign(block, { [fc.toStringMethod]: () => shown }) as unknown as RecordBlock;
}

/** One task's parts, with the failures that its error policy received. */
function task(config: Readonly<Record<string, string>>) {
  const failures: string[] = [];
  const errors = {
    recover: (stage: string, className: string, error: Error, _run: unknown, consumed: ConsumedRecord) => {
      failures.push(`${String(consumed.offset)} ${stage} ${className} ${error.name} ${error.message}`);
      return undefined;
    },
  } as unknown as ErrorPolicy;
  const chain = transformationChain(config, registry);
  let applied = 0;
  const apply = chain.apply.bind(chain);
  chain.apply = ((record: SinkRecord) => {
    applied++;
    return apply(record);
  }) as TransformationChain['apply'];
  const key = stringConverterPlugins[0].create({}, true);
  const header: HeaderConverter = simpleHeaderConverterPlugin.create({});
  const converters = { key, keyClass: 'K', value: jsonConverter(), valueClass: 'V', header, headerClass: 'H' };
  return {
    chain,
    converters,
    converter: new SinkRecordConverter(converters, chain, errors),
    failures,
    applied: () => applied,
  };
}

async function recordByRecord(block: RecordBlock, config: Readonly<Record<string, string>>) {
  const { converter, failures } = task(config);
  const { records } = await converter.convert(Array.from({ length: block.count }, (_, index) => block.record(index)));
  return { records, failures };
}

async function byPlan(block: RecordBlock, config: Readonly<Record<string, string>>) {
  const { chain, converter, converters, failures, applied } = task(config);
  const plans = chain.isPlannable ? new ChainPlans(chain) : undefined;
  const { records } = await new BlockConversion(block, converter, converters, plans).records();
  return { records, failures, applied: applied() };
}

/** Rows and faults of a database sink that reads the block, or that gets records. */
async function decoded(
  block: RecordBlock,
  config: Readonly<Record<string, string>>,
  policy: StructPolicy,
  inBlocks: boolean,
) {
  const { chain, converter, converters } = task(config);
  const plans = chain.isPlannable && inBlocks ? new ChainPlans(chain) : undefined;
  const sinkBlock = new BlockConversion(block, converter, converters, plans);
  const decoder = new StructDecoder(policy);
  for (let index = 0; index < block.count; index++) {
    if (plans !== undefined) index = decoder.addBlock(sinkBlock, index, block.count);
    const record = index < block.count ? await sinkBlock.sinkRecord(index) : undefined;
    if (record === undefined) continue;
    const { topic, partition, offset } = record.consumed;
    decoder.add(record, { kind: 'record', topic, partition, offset });
  }
  const { rows, faults } = decoder.take();
  return {
    rows: rows.map(({ batch, shape }) => ({
      table: batch.table,
      key: batch.key,
      rows: rowsOf(batch),
      kinds: batch.columns.map(({ name, kind }) => [name, kind]),
      origins: Array.from({ length: batch.rowCount }, (_, row) => batch.origins.at(row)),
      shape,
    })),
    faults: faults.map(({ message, origin }) => ({ message, origin })),
  };
}

type TypedValue = readonly [type: SchemaType, name: string | undefined, value: fc.Arbitrary<ConnectValue>];

const NESTED = Schema.struct([
  { name: 'a', schema: new Schema('int64', { optional: true }) },
  { name: 'x', schema: new Schema('string', { defaultValue: 'none' }) },
]);
const nested = fc
  .tuple(fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })), fc.constantFrom('n', 'm'))
  .map((values) => new Struct(NESTED, values));

const VALUES: readonly TypedValue[] = [
  ['int8', undefined, fc.integer({ min: -128, max: 127 })],
  ['int16', undefined, fc.integer({ min: -32768, max: 32767 })],
  ['int64', undefined, fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n })],
  ['int32', undefined, fc.oneof(fc.integer(), fc.constantFrom(0, 2 ** 31 - 1))],
  [
    'int64',
    undefined,
    fc.oneof(
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.bigInt({ min: -300n, max: 300n }),
      fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n }),
    ),
  ],
  ['float32', undefined, fc.constantFrom(0, 1.5, -3, 300)],
  ['float64', undefined, fc.oneof(fc.constantFrom(0, 1, -1.5, 1e300, 4e9, 0.1), fc.integer())],
  ['boolean', undefined, fc.boolean()],
  ['string', undefined, fc.constantFrom('', 'text', '12', '-1.5', '0', '2024-05-06', '77', 'q"uote', '300')],
  ['bytes', undefined, fc.constantFrom(Buffer.of(1, 2), Buffer.alloc(0))],
  ['int64', LogicalName.timestamp, fc.constantFrom(0, 1_700_000_000_123, -5).map((ms) => new Date(ms))],
  ['int32', LogicalName.date, fc.constantFrom(0, 19_000).map((days) => new Date(days * 86_400_000))],
  ['bytes', LogicalName.decimal, fc.constantFrom(new Decimal(125n, 2), new Decimal(-3n, 2))],
];

interface FieldCase {
  readonly name: string;
  readonly schema: Schema;
  readonly value: fc.Arbitrary<ConnectValue>;
}

const NAMES = ['a', 'b', 'c', 'd', 'e'];

function fieldCase(name: string): fc.Arbitrary<FieldCase> {
  const plain = fc
    .record({ which: fc.constantFrom(...VALUES), optional: fc.boolean(), hasDefault: fc.boolean() })
    .chain(({ which: [type, logical, value], optional, hasDefault }) =>
      value.map((byDefault): FieldCase => {
        const schema = new Schema(type, {
          optional,
          name: logical,
          ...(logical === undefined ? {} : { version: 1 }),
          ...(logical === LogicalName.decimal ? { parameters: new Map([['scale', '2']]) } : {}),
          ...(hasDefault ? { defaultValue: byDefault } : {}),
        });
        return { name, schema, value: optional ? fc.option(value, { freq: 4 }) : value };
      }),
    );
  const others: FieldCase[] = [
    { name, schema: NESTED, value: nested },
    {
      name,
      schema: Schema.struct(NESTED.fields, { optional: true }),
      value: fc.constant(null),
    },
    { name, schema: Schema.array(new Schema('string')), value: fc.constantFrom(['x'], []) },
  ];
  return fc.oneof({ weight: 8, arbitrary: plain }, { weight: 1, arbitrary: fc.constantFrom(...others) });
}

/** Structs of one schema. */
const structs = fc
  .subarray(NAMES, { minLength: 4 })
  .chain((names) => fc.tuple(...names.map(fieldCase)))
  .chain((cases) => {
    const schema = Schema.struct(cases.map(({ name, schema: field }) => ({ name, schema: field })));
    const values = fc.tuple(...cases.map(({ value }) => value)).map((all) => new Struct(schema, all));
    return fc.array(values, { minLength: 2, maxLength: 16 }).map((list) => ({ schema, list }));
  });

const field = fc.constantFrom(...NAMES, ...NAMES, 'inserted', 'renamed');
const type = fc.constantFrom('int8', 'int16', 'int32', 'int64', 'float32', 'float64', 'boolean', 'string');
const nulls = fc.constantFrom({}, {}, { 'replace.null.with.default': 'false' });

type Options = Readonly<Record<string, string>>;

function made(name: string, options: fc.Arbitrary<Options>): fc.Arbitrary<Options> {
  return fc
    .tuple(options, nulls)
    .map(([more, also]) => ({ type: `org.apache.kafka.connect.transforms.${name}`, ...more, ...also }));
}

const onePart = (name: string, options: (part: string) => fc.Arbitrary<Options>): fc.Arbitrary<Options> =>
  fc.oneof(
    { weight: 12, arbitrary: made(`${name}$Value`, options('Value')) },
    { weight: 1, arbitrary: made(`${name}$Key`, options('Key')) },
  );

const transform: fc.Arbitrary<Options> = fc.oneof(
  onePart('Cast', () => fc.tuple(field, type).map(([name, to]) => ({ spec: `${name}:${to}` }))),
  onePart('InsertField', () =>
    fc.constantFrom(
      { 'static.field': 'inserted', 'static.value': '5' },
      { 'topic.field': 'inserted!', 'offset.field': 'o', 'timestamp.field': 't!' },
      { 'partition.field': 'inserted', 'timestamp.field': 'a' },
    ),
  ),
  onePart('MaskField', () =>
    fc.tuple(field, fc.constantFrom({}, { replacement: '7.9' }, { replacement: 'x' })).map(([fields, more]) => ({
      fields,
      ...more,
    })),
  ),
  onePart('ReplaceField', () =>
    fc.oneof(
      field.map((exclude) => ({ exclude })),
      fc.constantFrom<Options>(
        { include: 'a,b,c' },
        { renames: 'a:renamed' },
        { renames: 'a:b,b:a' },
        { renames: 'a:x,b:x', exclude: 'b' },
        { renames: 'a:x,b:x', exclude: 'a' },
      ),
    ),
  ),
  onePart('ExtractField', () => field.map((name) => ({ field: name }))),
  onePart('HoistField', () => fc.constant({ field: 'a' })),
  onePart('Flatten', () => fc.constant({ delimiter: '_' })),
  onePart('SetSchemaMetadata', () => fc.constant({ 'schema.name': 'named' })),
  onePart('HeaderFrom', () =>
    fc
      .tuple(field, fc.constantFrom('copy', 'move'))
      .map(([fields, operation]) => ({ fields, headers: 'h', operation })),
  ),
  onePart('TimestampConverter', () =>
    fc
      .record({
        field,
        'target.type': fc.constantFrom('string', 'unix', 'Date', 'Time', 'Timestamp'),
        'unix.precision': fc.constantFrom('milliseconds', 'seconds', 'nanoseconds'),
      })
      .chain((options) =>
        fc.constantFrom('yyyy-MM-dd', 'yyyy-MM-dd HH:mm:ss.SSS').map((format) => ({ ...options, format })),
      ),
  ),
  made('ValueToKey', fc.constantFrom({ fields: 'a' }, { fields: 'b,a' }, { fields: 'c' })),
  fc.constantFrom<Options>(
    { type: 'RegexRouter', regex: 'ord(.*)', replacement: 'new-$1' },
    { type: 'RegexRouter', regex: 'new.*', replacement: 'newer' },
    { type: 'TimestampRouter', 'timestamp.format': 'yyyy' },
    { type: 'DropHeaders', headers: 'h' },
    { type: 'InsertHeader', header: 'h', 'value.literal': '1' },
  ),
);

const conditions = fc.oneof(
  { weight: 15, arbitrary: fc.constant<Options>({}) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('topic', 'tombstone', 'header'), fc.constantFrom('true', 'false'))
      .map(([predicate, negate]): Options => ({ predicate, negate })),
  },
);

const PREDICATES = {
  predicates: 'topic,tombstone,header',
  'predicates.topic.type': 'TopicNameMatches',
  'predicates.topic.pattern': 'new.*',
  'predicates.tombstone.type': 'RecordIsTombstone',
  'predicates.header.type': 'HasHeaderKey',
  'predicates.header.name': 'h',
};

const chains = fc.array(fc.tuple(transform, conditions), { minLength: 1, maxLength: 3 }).map((steps) => {
  const named = steps.flatMap(([options, condition], index) =>
    Object.entries({ ...options, ...condition }).map(([key, value]) => [`transforms.t${String(index)}.${key}`, value]),
  );
  return {
    transforms: steps.map((_, index) => `t${String(index)}`).join(),
    ...PREDICATES,
    ...(Object.fromEntries(named) as Options),
  };
});

const surroundings = fc.record({
  keys: fc.constantFrom(null, 'key'),
  timestamp: fc.constantFrom(-1, 1_700_000_000_000, 1_700_000_000_000),
  header: fc.constantFrom(undefined, undefined, undefined, 'text'),
  tombstones: fc.boolean(),
});

const blocks = fc.tuple(structs, surroundings).map(([{ schema, list }, { keys, timestamp, header, tombstones }]) => {
  const json = jsonConverter();
  const messages = list.map((struct): Message => {
    const value = json.fromConnectData('orders', schema, struct);
    return { key: keys, value: value === null ? null : Buffer.from(value), timestamp, header };
  });
  return blockOf(tombstones ? [...messages, { key: keys, value: null, timestamp, header }, ...messages] : messages);
});

const POLICIES = (['none', 'record_key', 'record_value', 'kafka'] as const).map((keyMode): StructPolicy => ({
  tableNameFormat: '${topic}',
  keyMode,
  keyFields: keyMode === 'kafka' ? [] : ['a'],
  include: [],
  exclude: [],
  deletes: keyMode === 'record_key',
  truncates: false,
  placeholder: '__debezium_unavailable_value',
}));

describe('transforms that are planned by schema', () => {
  it('give the records and failures that they give record by record', async () => {
    let planned = 0;
    let all = 0;
    await fc.assert(
      fc.asyncProperty(blocks, chains, async (block, config) => {
        const { applied, ...seen } = await byPlan(block, config);
        assert.deepEqual(seen, await recordByRecord(block, config));
        all += block.count;
        planned += Math.max(0, block.count - applied);
      }),
      { numRuns: 300 },
    );
    console.log(`      ${String(planned)} of ${String(all)} records were transformed by plan`);
    assert.ok(planned > all / 10, `only ${String(planned)} of ${String(all)} records were transformed by plan`);
  });

  it('give the rows and faults of the database sink that they give record by record', async () => {
    await fc.assert(
      fc.asyncProperty(blocks, chains, fc.constantFrom(...POLICIES), async (block, config, policy) => {
        assert.deepEqual(await decoded(block, config, policy, true), await decoded(block, config, policy, false));
      }),
      { numRuns: 200 },
    );
  });
});
