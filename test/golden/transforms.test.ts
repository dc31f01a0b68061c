import assert from 'node:assert/strict';
import type { ConnectRecord, PredicatePlugin, TransformationPlugin } from '../../src/connect/api.ts';
import { predicatePlugins } from '../../src/transforms/predicates/registry.ts';
import { transformationPlugins } from '../../src/transforms/registry.ts';
import { TransformationChain } from '../../src/connect/pipeline/transformation-chain.ts';
import { transformedByPlan } from '../support/transformed-by-plan.ts';
import { Struct } from '../../src/data/value.ts';
import type { Header, SinkRecord, SourceRecord } from '../../src/data/record.ts';
import {
  assertGoldenError,
  checkCases,
  decodeSchema,
  decodeValue,
  encodeSchema,
  encodeValue,
  readGolden,
  unordered,
  type GoldenError,
  type Json,
  type JsonObject,
} from './golden-data.ts';

interface Application {
  readonly input: JsonObject;
  readonly output: Json;
}

interface TransformCase extends Application {
  readonly id: string;
  readonly class: string;
  readonly config: Readonly<Record<string, string>>;
  readonly phase: 'configure' | 'apply';
  readonly sameInstance?: boolean;
  readonly more?: readonly Application[];
}

const KNOWN_DIFFERENCES = {
  'cast-schemaless-bigint-to-int32':
    'a schemaless BigInteger: nothing here makes one; it is refused as a BigDecimal is, and the message names that class',
  'insertfield-offset-sink':
    'the offset 2^63-1: offsets are numbers here, exact up to 2^53, which no partition reaches',
  'timestampconverter-max-unix-microseconds': 'a time past the year 275760 is refused: a Date holds no later one',
  'timestampconverter-max-Timestamp-to-unix-nanos': 'a time past the year 275760: a Date holds no later one',
};

const PLUGINS = new Map<string, TransformationPlugin | PredicatePlugin>(
  [...transformationPlugins, ...predicatePlugins].map((plugin) => [plugin.className, plugin]),
);

/** The coordinates that the recorded source records were made with. */
const SOURCE = { sourcePartition: { p: 'a' }, sourceOffset: { o: 1 } };

function decodeRecord(json: JsonObject): SinkRecord | SourceRecord {
  const part = (name: string) => {
    const { schema, value } = json[name] as { schema: Json; value: Json };
    const decoded = decodeSchema(schema);
    return { schema: decoded, value: decodeValue(value, decoded) };
  };
  const key = part('key');
  const value = part('value');
  const record = {
    topic: json['topic'] as string,
    partition: json['partition'] as number | null,
    keySchema: key.schema,
    key: key.value,
    valueSchema: value.schema,
    value: value.value,
    timestamp: json['timestamp'] === null ? null : Number(json['timestamp']),
    headers: (json['headers'] as JsonObject[]).map((header): Header => {
      const schema = decodeSchema(header['schema']);
      return { key: header['key'] as string, schema, value: decodeValue(header['value'] ?? null, schema) };
    }),
  };
  if (json['kind'] === 'source') return { ...record, ...SOURCE };
  const partition = record.partition ?? 0;
  const offset = Number(json['offset']);
  const timestampType = record.timestamp === null ? 'NoTimestampType' : 'CreateTime';
  const place = { topic: record.topic, partition, offset };
  return { ...record, partition, offset, timestampType, original: place, consumed: place };
}

function encodeRecord(record: ConnectRecord): Json {
  const isSink = 'offset' in record;
  return {
    kind: isSink ? 'sink' : 'source',
    topic: record.topic,
    partition: record.partition,
    ...(isSink ? { offset: record.offset as number } : {}),
    timestamp: record.timestamp,
    key: { schema: encodeSchema(record.keySchema), value: encodeValue(record.key, record.keySchema) },
    value: { schema: encodeSchema(record.valueSchema), value: encodeValue(record.value, record.valueSchema) },
    headers: record.headers.map(({ key, schema, value }) => ({
      key,
      schema: encodeSchema(schema),
      value: encodeValue(value, schema),
    })),
  };
}

function thrownBy(run: () => unknown): unknown {
  let result: unknown;
  try {
    result = run();
  } catch (error) {
    return error;
  }
  return assert.fail(
    `nothing was thrown but given: ${JSON.stringify(result, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))}`,
  );
}

function checkCase(golden: TransformCase): void {
  const plugin = PLUGINS.get(golden.class);
  assert.ok(plugin, `no plugin ${golden.class}`);
  if (golden.phase === 'configure') {
    assertGoldenError(
      thrownBy(() => plugin.create(golden.config)),
      errorOf(golden.output) ?? assert.fail('no error is recorded'),
    );
    return;
  }
  const apply = applicationOf(plugin, golden.config);
  for (const { input, output } of [golden, ...(golden.more ?? [])]) {
    const record = decodeRecord(input);
    checkPlan(plugin, golden.config, record);
    const error = errorOf(output);
    if (error !== undefined) {
      assertGoldenError(
        thrownBy(() => apply(record)),
        error,
      );
      continue;
    }
    const result = apply(record);
    if (golden.sameInstance === true) assert.equal(result, record);
    assert.deepEqual(unordered(outcome(result)), unordered(oneKindOfBytes(output)));
  }
}

const structs = { seen: 0, planned: 0 };

/** The plan for the record's schema gives what `apply` gives, or leaves the record alone. */
function checkPlan(
  plugin: TransformationPlugin | PredicatePlugin,
  config: Readonly<Record<string, string>>,
  record: SinkRecord | SourceRecord,
): void {
  if (plugin.type === 'predicate' || !(record.value instanceof Struct)) return;
  structs.seen++;
  const read = 'offset' in record ? record : asSinkRecord(record);
  const chain = new TransformationChain([{ className: plugin.className, transformation: plugin.create(config) }]);
  const planned = transformedByPlan(chain, read);
  if (planned === undefined) return;
  structs.planned++;
  const applied = plugin.create(config).apply(read);
  assert.ok(applied, 'a plan exists only for a record that is not dropped');
  assert.deepEqual(encodeRecord(planned), encodeRecord(applied));
}

function asSinkRecord(record: ConnectRecord): SinkRecord {
  const [partition, offset] = [record.partition ?? 0, 7];
  const timestampType = record.timestamp === null ? 'NoTimestampType' : 'CreateTime';
  const place = { topic: record.topic, partition, offset };
  return { ...record, partition, offset, timestampType, original: place, consumed: place };
}

function errorOf(output: Json): GoldenError | undefined {
  return (output as { error?: GoldenError } | null)?.error;
}

function applicationOf(plugin: TransformationPlugin | PredicatePlugin, config: Readonly<Record<string, string>>) {
  if (plugin.type === 'predicate') {
    const predicate = plugin.create(config);
    return (record: SinkRecord | SourceRecord) => predicate.test(record);
  }
  const transformation = plugin.create(config);
  return (record: SinkRecord | SourceRecord) => transformation.apply(record);
}

/** Byte arrays and byte buffers are the same here. */
function oneKindOfBytes(json: Json): Json {
  return JSON.parse(JSON.stringify(json).replaceAll('"byteBuffer":', '"bytes":')) as Json;
}

function outcome(result: ConnectRecord | boolean | null): Json {
  if (result === null) return null;
  return typeof result === 'boolean' ? { test: result } : encodeRecord(result);
}

describe('transformations and predicates, against the cases recorded from the Java classes', () => {
  it('do what Java does', function () {
    const cases = readGolden<TransformCase[]>('connect-data/transforms.json');
    if (cases === undefined) return this.skip();
    checkCases('transforms', cases, KNOWN_DIFFERENCES, checkCase);
    console.log(
      `      ${String(structs.planned)} of ${String(structs.seen)} records with structs were also transformed by plan`,
    );
    assert.ok(structs.planned > 50, `only ${String(structs.planned)} were planned`);
  });
});
