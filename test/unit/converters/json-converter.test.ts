import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Converter, ConverterPlugin } from '../../../src/connect/api.ts';
import { converterPlugins } from '../../../src/converters/registry.ts';
import { JSON_TEXT, Schema } from '../../../src/data/schema.ts';
import { Struct, type ConnectValue } from '../../../src/data/value.ts';

function converter(config: Record<string, string> = {}, strictJson = false): Converter {
  const plugin = converterPlugins({ strictJson }).find(
    (each): each is ConverterPlugin =>
      each.className === 'org.apache.kafka.connect.json.JsonConverter' && each.type === 'converter',
  );
  assert.ok(plugin);
  return plugin.create(config, false);
}

const rowSchema = Schema.struct([
  { name: 'id', schema: new Schema('int64') },
  { name: 'n', schema: new Schema('int32', { optional: true }) },
  { name: 'text', schema: new Schema('string', { optional: true }) },
  { name: 'value', schema: new Schema('float64', { defaultValue: 1.5 }) },
  { name: 'ok', schema: new Schema('boolean') },
  { name: 'at', schema: new Schema('int64', { name: 'org.apache.kafka.connect.data.Timestamp', version: 1 }) },
  { name: 'list', schema: Schema.array(new Schema('string', { optional: true })) },
  { name: 'raw', schema: new Schema('bytes', { optional: true }) },
]);

const rows = fc
  .tuple(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.option(fc.integer()),
    fc.option(fc.string({ unit: 'grapheme' })),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.date({ noInvalidDate: true }),
    fc.array(fc.option(fc.string({ unit: 'grapheme' }))),
    fc.option(fc.uint8Array().map((bytes) => Buffer.from(bytes))),
  )
  .map((values) => new Struct(rowSchema, values as ConnectValue[]));

/** JSON reading knows no -0, as in Java. */
function positiveZero(values: readonly ConnectValue[]): ConnectValue[] {
  return values.map((value) => (Object.is(value, -0) ? 0 : value));
}

describe('JsonConverter', () => {
  it('gives back every struct it wrote, whether the schema was seen before or not', () => {
    const writer = converter();
    const reader = converter();
    fc.assert(
      fc.property(rows, (row) => {
        const bytes = writer.fromConnectData('t', rowSchema, row);
        for (const each of [reader, converter()]) {
          const { value } = each.toConnectData('t', bytes);
          assert.ok(value instanceof Struct);
          assert.deepEqual(positiveZero(value.values), positiveZero(row.values));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('reads decimals of known messages to the last bit', () => {
    const reader = converter();
    const schema = '{"type":"struct","fields":[{"field":"v","type":"double","optional":false}],"optional":false}';
    const read = (text: string): unknown => {
      const { value } = reader.toConnectData('t', Buffer.from(`{"schema":${schema},"payload":{"v":${text}}}`));
      return value instanceof Struct ? value.values[0] : undefined;
    };
    read('1');
    const decimals = fc.tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** 17n }), fc.integer({ min: 0, max: 17 }));
    fc.assert(
      fc.property(decimals, ([negative, digits, scale]) => {
        const padded = String(digits).padStart(scale + 1, '0');
        const point = padded.length - scale;
        const text = `${negative ? '-' : ''}${padded.slice(0, point)}${scale > 0 ? `.${padded.slice(point)}` : ''}`;
        assert.equal(read(text), Number(text) + 0, text);
      }),
      { numRuns: 200 },
    );
  });

  it('reads a damaged message of a known schema as it would one of a new schema', () => {
    const known = converter();
    known.toConnectData(
      't',
      converter().fromConnectData('t', rowSchema, new Struct(rowSchema, [1n, 1, 'x', 1, true, new Date(0), [], null])),
    );
    const outcome = (reader: Converter, bytes: Uint8Array) => {
      try {
        return (reader.toConnectData('t', bytes).value as Struct).values;
      } catch (error) {
        return (error as Error).message;
      }
    };
    fc.assert(
      fc.property(
        rows,
        fc.nat(),
        fc.constantFrom('', ' ', ',', '}', '"', '\\', '0', '.', 'e', '-', 'x', '\n'),
        (row, place, insert) => {
          const text = Buffer.from(converter().fromConnectData('t', rowSchema, row) ?? '').toString('utf8');
          const payload = text.indexOf('"payload":') + 10;
          const at = payload + (place % (text.length - payload));
          for (const damaged of [text.slice(0, at) + insert + text.slice(at), text.slice(0, at) + text.slice(at + 1)]) {
            const bytes = Buffer.from(damaged);
            assert.deepEqual(outcome(known, bytes), outcome(converter(), bytes), damaged);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('gives messages with the same schema the same Schema object', () => {
    const reader = converter();
    const message = (payload: string, schemaFirst = true) => {
      const schema = '"schema":{"type":"struct","fields":[{"field":"a","type":"int64"}]}';
      return Buffer.from(schemaFirst ? `{${schema},"payload":${payload}}` : `{"payload":${payload},${schema}}`);
    };
    const first = reader.toConnectData('t', message('{"a":1}')).schema;
    assert.equal(reader.toConnectData('t', message('{"a":2}')).schema, first);
    assert.equal(reader.toConnectData('t', message(' {"a" : 3} ')).schema, first);
    const last = reader.toConnectData('t', message('{"a":1}', false)).schema;
    assert.equal(reader.toConnectData('t', message('{"a":2}', false)).schema, last);
  });

  it('keeps envelopes of many schemas apart', () => {
    const reader = converter();
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 20; n++) {
        const bytes = Buffer.from(
          `{"schema":{"type":"struct","fields":[{"field":"f${String(n)}","type":"int32"}]},"payload":{"f${String(n)}":${String(n)}}}`,
        );
        const { value } = reader.toConnectData('t', bytes);
        assert.ok(value instanceof Struct);
        assert.equal(value.get(`f${String(n)}`), n);
      }
    }
  });

  it('says where JSON is wrong', () => {
    assert.throws(
      () => converter().toConnectData('t', Buffer.from('{"schema":{"type":"int32"},\n"payload":x}')),
      (error: Error) => {
        assert.match(error.message, /^Converting byte\[\] to Kafka Connect data failed due to serialization error: $/);
        assert.equal((error.cause as Error).message, "expected a value, found 'x' at line 2, column 11");
        return true;
      },
    );
  });

  it('refuses a timestamp that no date can hold', () => {
    const nanoseconds = `{"schema":{"type":"int64","name":"org.apache.kafka.connect.data.Timestamp","version":1},"payload":1700000000000000000}`;
    assert.throws(() => converter().toConnectData('t', Buffer.from(nanoseconds)), /is it a number of milliseconds\?/);
  });

  describe('when strict', () => {
    const read = (payload: string, type: string) => () =>
      converter({}, true).toConnectData('t', Buffer.from(`{"schema":{"type":"${type}"},"payload":${payload}}`)).value;

    it('refuses what Java damages silently', () => {
      assert.throws(read('300', 'int8'), /300 does not fit int8/);
      assert.throws(read('1.5', 'int32'), /1\.5 does not fit int32/);
      assert.throws(read('9223372036854775808', 'int64'), /does not fit int64/);
      assert.throws(read('"5"', 'int32'), /A int32 cannot be read from a JSON STRING/);
      assert.throws(read('5', 'string'), /A string cannot be read from a JSON NUMBER/);
      assert.throws(read('1', 'boolean'), /A boolean cannot be read from a JSON NUMBER/);
    });

    it('takes what fits', () => {
      assert.equal(read('127', 'int8')(), 127);
      assert.equal(read('9223372036854775807', 'int64')(), 9223372036854775807n);
      assert.equal(read('1', 'double')(), 1);
    });

    it('refuses text after the value, and integers beyond 64 bits without a schema', () => {
      const plain = converter({ 'schemas.enable': 'false' }, true);
      assert.throws(() => plain.toConnectData('t', Buffer.from('{"a":1} x')), /serialization error/);
      assert.throws(
        () => plain.toConnectData('t', Buffer.from('9223372036854775808')),
        /does not fit a 64-bit integer/,
      );
      assert.equal(plain.toConnectData('t', Buffer.from('5 ')).value, 5n);
    });
  });

  it('writes a text that is JSON as it is, also in an envelope, and any other string as a string (M11)', () => {
    const text = '{"table":"t","data":[{"n":9007199254740993}]}';
    const written = (schemas: string, schema: Schema): string => {
      const bytes = converter({ 'schemas.enable': schemas }).fromConnectData('t', schema, text);
      return Buffer.from(bytes ?? []).toString();
    };
    assert.equal(written('false', JSON_TEXT), text);
    assert.equal(written('true', JSON_TEXT), `{"schema":null,"payload":${text}}`);
    assert.equal(written('false', new Schema('string')), JSON.stringify(text));
    const read = converter({ 'schemas.enable': 'true' }).toConnectData('t', Buffer.from(written('true', JSON_TEXT)));
    assert.equal(read.schema, null);
  });
});
