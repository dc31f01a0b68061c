import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { SchemaReader } from '../../../src/converters/schema-registry/schema-format.ts';
import { AvroFormat } from '../../../src/converters/avro/avro-format.ts';
import { avroCodec, writeLong } from '../../../src/converters/avro/avro-codec.ts';
import { avroToConnect } from '../../../src/converters/avro/avro-read.ts';
import { parseAvroSchema } from '../../../src/converters/avro/avro-schema.ts';
import { ConnectSchemas } from '../../../src/converters/avro/avro-to-connect.ts';
import { BlockText } from '../../../src/data/block-text.ts';
import type { MessageBlock } from '../../../src/data/message-block.ts';
import type { Struct } from '../../../src/data/value.ts';
import type { ConnectValue } from '../../../src/data/value.ts';
import { SluiceError } from '../../../src/errors.ts';
import { AVRO_DEFAULTS } from '../../support/avro-defaults.ts';
import { cpuMsOf } from '../../support/cpu-time.ts';
import { blockOf } from '../plugins/database/formats/block-of.ts';
import { plain } from './arbitrary-data.ts';

const FORMAT = new AvroFormat(AVRO_DEFAULTS);

/** A type of a field, and bytes that are values of it, or nearly so. */
interface Kind {
  readonly type: unknown;
  readonly bytes: fc.Arbitrary<Buffer>;
}

const long = (value: bigint | number): Buffer => Buffer.from(writeLong(BigInt(value)));
const sized = (bytes: Uint8Array): Buffer => Buffer.concat([long(bytes.length), bytes]);
const ofSize = (size: number) => fc.uint8Array({ minLength: size, maxLength: size }).map((bytes) => Buffer.from(bytes));

const anyLong = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const longs = fc.oneof(fc.integer(), anyLong, fc.constantFrom(2n ** 53n, -(2n ** 53n), 2n ** 52n, 2n ** 55n)).map(long);
const ints = fc.integer().map(long);
const texts = fc
  .oneof(
    fc.string({ maxLength: 8 }),
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    fc.constantFrom('state-1', 'state-2', 'x'.repeat(64), 'y'.repeat(65)),
  )
  .map((text) => sized(Buffer.from(text)));
const binaries = fc.oneof(fc.uint8Array({ maxLength: 8 }), fc.constantFrom(Buffer.of(0xc3, 0x28))).map(sized);

const PLAIN: readonly Kind[] = [
  { type: 'boolean', bytes: fc.constantFrom('00', '01', '02').map((hex) => Buffer.from(hex, 'hex')) },
  { type: 'int', bytes: fc.oneof(ints, longs) },
  { type: { type: 'int', 'connect.type': 'int8' }, bytes: ints },
  { type: { type: 'int', 'connect.type': 'int16' }, bytes: ints },
  { type: { type: 'int', logicalType: 'date' }, bytes: fc.oneof(ints, fc.constant(long(19_000))) },
  { type: { type: 'int', logicalType: 'time-millis' }, bytes: ints },
  { type: 'long', bytes: longs },
  { type: { type: 'long', logicalType: 'timestamp-millis' }, bytes: fc.oneof(longs, ints) },
  { type: { type: 'long', logicalType: 'timestamp-micros' }, bytes: longs },
  { type: 'float', bytes: ofSize(4) },
  { type: 'double', bytes: ofSize(8) },
  { type: 'string', bytes: fc.oneof(texts, binaries) },
  { type: 'bytes', bytes: binaries },
  { type: { type: 'bytes', logicalType: 'decimal', precision: 20, scale: 2 }, bytes: binaries },
  { type: { type: 'fixed', name: 'F', size: 3 }, bytes: ofSize(3) },
  { type: { type: 'fixed', name: 'D', size: 4, logicalType: 'decimal', precision: 9, scale: 1 }, bytes: ofSize(4) },
  { type: { type: 'enum', name: 'E', symbols: ['A', 'B'] }, bytes: fc.integer({ min: -1, max: 2 }).map(long) },
];

const leaf = fc.constantFrom(...PLAIN);

function joined(...parts: readonly fc.Arbitrary<Buffer>[]): fc.Arbitrary<Buffer> {
  return fc.tuple(...parts).map((buffers) => Buffer.concat(buffers));
}

/** A type that may be null, with null before or after it. */
function nullable({ type, bytes }: Kind, isFirst: boolean): Kind {
  const [ofNull, ofValue] = isFirst ? [0, 1] : [1, 0];
  return {
    type: isFirst ? ['null', type] : [type, 'null'],
    bytes: fc.oneof(
      { weight: 5, arbitrary: joined(fc.constant(long(ofValue)), bytes) },
      { weight: 2, arbitrary: fc.constant(long(ofNull)) },
      { weight: 1, arbitrary: fc.constant(long(2)) },
    ),
  };
}

function container({ type, bytes }: Kind, form: number): Kind {
  const block = fc
    .array(bytes, { maxLength: 3 })
    .map((items) => Buffer.concat([long(items.length), ...items, ...(items.length > 0 ? [long(0)] : [])]));
  const entry = joined(texts, bytes);
  const entries = fc
    .array(entry, { maxLength: 3 })
    .map((items) => Buffer.concat([long(items.length), ...items, ...(items.length > 0 ? [long(0)] : [])]));
  switch (form) {
    case 0:
      return { type: { type: 'array', items: type }, bytes: block };
    case 1:
      return { type: { type: 'map', values: type }, bytes: entries };
    case 2:
      return { type: { type: 'record', name: 'R', fields: [{ name: 'inner', type }] }, bytes };
    case 3:
      return { type: [type], bytes: joined(fc.constant(long(0)), bytes) };
    default: {
      const other = { type: 'record', name: 'Other', fields: [{ name: 'x', type: 'long' }] };
      return { type: ['null', type, other], bytes: joined(fc.constant(long(1)), bytes) };
    }
  }
}

const kind: fc.Arbitrary<Kind> = fc.oneof(
  { weight: 4, arbitrary: leaf },
  { weight: 4, arbitrary: fc.tuple(leaf, fc.boolean()).map(([of, isFirst]) => nullable(of, isFirst)) },
  { weight: 2, arbitrary: fc.tuple(leaf, fc.nat({ max: 4 })).map(([of, form]) => container(of, form)) },
);

/** Names may not come twice in a schema. */
function renamed(type: unknown, suffix: number): unknown {
  const text = JSON.stringify(type).replace(
    /"name":"([A-Z][a-z]*)"/g,
    (_, name) => `"name":"${String(name)}${suffix}"`,
  );
  return JSON.parse(text) as unknown;
}

const damage = fc.oneof(
  { weight: 5, arbitrary: fc.constant((message: Buffer) => message) },
  { weight: 1, arbitrary: fc.nat().map((at) => (message: Buffer) => message.subarray(0, at % (message.length + 1))) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 12 })).map(([at, bytes]) => {
      return (message: Buffer) => {
        const place = at % (message.length + 1);
        return Buffer.concat([message.subarray(0, place), bytes, message.subarray(place)]);
      };
    }),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.nat(), fc.nat({ max: 255 })).map(([at, byte]) => (message: Buffer) => {
      const copy = Buffer.from(message);
      if (copy.length > 0) copy[at % copy.length] = byte;
      return copy;
    }),
  },
);

const messages = fc.array(kind, { minLength: 1, maxLength: 6 }).chain((kinds) => {
  const fields = kinds.map(({ type }, index) => ({ name: `f${String(index)}`, type: renamed(type, index) }));
  const message = fc.tuple(joined(...kinds.map(({ bytes }) => bytes)), damage).map(([bytes, change]) => change(bytes));
  return fc
    .array(message, { minLength: 1, maxLength: 8 })
    .map((list) => ({ schema: { type: 'record', name: 'Row', fields }, list }));
});

function readerOf(schema: unknown): SchemaReader {
  const text = JSON.stringify(schema);
  return FORMAT.reader({ id: 1, schemaType: 'AVRO', text, references: [] }, undefined);
}

type Outcome = { readonly value: ConnectValue } | { readonly fault: string };

function outcomeOf(read: () => ConnectValue): Outcome {
  try {
    return { value: read() };
  } catch (error) {
    assert.ok(error instanceof SluiceError && error.scope === 'record', String(error));
    return { fault: error.message };
  }
}

/** Reads messages with the library alone. */
function libraryOf(type: unknown): (bytes: Buffer) => Outcome {
  const avro = parseAvroSchema(JSON.stringify(type));
  const codec = avroCodec(avro);
  const toConnect = avroToConnect(avro, new ConnectSchemas(AVRO_DEFAULTS).schemaOf(avro));
  return (bytes) => outcomeOf(() => toConnect(codec.decode(bytes, 0, bytes.length)));
}

function readInBlock(reader: SchemaReader, block: MessageBlock, index: number, window: BlockText) {
  const values: ConnectValue[] = [];
  window.open(block, index);
  const isRead = reader.structs?.readInto(
    window,
    block.bytes,
    block.valueStarts[index] ?? 0,
    block.valueEnds[index] ?? 0,
    values,
  );
  return isRead === true ? values : undefined;
}

function comparable(outcome: Outcome): unknown {
  return 'fault' in outcome ? outcome : plain(outcome.value);
}

/** An int64 may be a number where it is exact. */
function narrowed(value: ConnectValue): unknown {
  return plain(typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value);
}

describe('Avro messages, read where they lie', () => {
  it('have the values and the faults that the library finds, whatever schema and bytes', () => {
    let [quick, slow] = [0, 0];
    fc.assert(
      fc.property(messages, ({ schema, list }) => {
        const reader = readerOf(schema);
        const library = libraryOf(schema);
        const block = blockOf(list);
        const window = new BlockText();
        for (const [index, message] of list.entries()) {
          const expected = library(message);
          const alone = outcomeOf(() => reader.read(message, 0, message.length).value);
          const values = readInBlock(reader, block, index, window);
          assert.deepEqual(comparable(alone), comparable(expected));
          if ('fault' in expected) {
            assert.equal(values, undefined, `${message.toString('hex')} is at fault`);
          } else if (values === undefined) {
            slow++;
          } else {
            assert.deepEqual(values.map(narrowed), (expected.value as Struct).values.map(narrowed));
            quick++;
          }
        }
      }),
      { numRuns: 200 },
    );
    assert.ok(quick > 5 * slow, `${String(quick)} were read where they lie, ${String(slow)} could have been`);
  });

  it('have them too where a message is one value', () => {
    const message = kind.chain(({ type, bytes }) =>
      fc.tuple(bytes, damage).map(([value, change]) => ({ type, bytes: change(value) })),
    );
    fc.assert(
      fc.property(message, ({ type, bytes }) => {
        const alone = outcomeOf(() => readerOf(type).read(bytes, 0, bytes.length).value);
        assert.deepEqual(comparable(alone), comparable(libraryOf(type)(bytes)));
      }),
      { numRuns: 300 },
    );
  });

  it('have numbers for int64 as far as those are exact', () => {
    const reader = readerOf({ type: 'record', name: 'Row', fields: [{ name: 'a', type: 'long' }] });
    const list = [0n, -1n, 63n, -64n, 2n ** 31n, 2n ** 52n - 1n, -(2n ** 52n), 2n ** 53n + 1n, -(2n ** 63n)];
    const block = blockOf(list.map(long));
    const window = new BlockText();
    for (const [index, expected] of list.entries()) {
      const [value] = readInBlock(reader, block, index, window) ?? [];
      assert.equal(BigInt(value as number), expected);
      assert.equal(typeof value, expected < 2n ** 52n && expected >= -(2n ** 52n) ? 'number' : 'bigint');
    }
  });

  it('are refused quickly where bytes promise more than there is', () => {
    const fields = [
      'bytes',
      'string',
      { type: 'array', items: { type: 'record', name: 'None', fields: [] } },
      { type: 'map', values: 'long' },
    ].map((type, index) => ({ name: `f${String(index)}`, type: ['null', type] }));
    const reader = readerOf({ type: 'record', name: 'Row', fields });
    const nulls = (count: number): Buffer => Buffer.alloc(count);
    const promises = [2n ** 31n - 1n, 2n ** 40n, 2n ** 62n, -(2n ** 31n), -(2n ** 63n), -1n].map(long);
    const endless = Buffer.alloc(100_000, 0xff);
    const list = [0, 1, 2, 3].flatMap((field) =>
      [...promises, endless].map((promise) => Buffer.concat([nulls(field), Buffer.of(2), promise, nulls(3 - field)])),
    );
    const block = blockOf(list);
    const window = new BlockText();
    const tookMs = cpuMsOf(() => {
      for (const index of list.keys()) assert.equal(readInBlock(reader, block, index, window), undefined);
    });
    assert.ok(tookMs < 2_000, `${String(tookMs)} ms`);
  });
});
