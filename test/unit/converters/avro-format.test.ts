import assert from 'node:assert/strict';
import fc from 'fast-check';
import { AvroFormat } from '../../../src/converters/avro/avro-format.ts';
import type { AvroSettings } from '../../../src/converters/avro/avro-settings.ts';
import { readLong, writeLong } from '../../../src/converters/avro/avro-codec.ts';
import { wirePrefix } from '../../../src/converters/schema-registry/wire-format.ts';
import { LogicalName, Schema } from '../../../src/data/schema.ts';
import { sameSchema } from '../../../src/data/schema-equality.ts';
import { Decimal, Struct, TypedNumber, type ConnectValue } from '../../../src/data/value.ts';
import { AVRO_DEFAULTS } from '../../support/avro-defaults.ts';
import { plain, samples } from './arbitrary-data.ts';

const PREFIX = wirePrefix(1);

function format(settings: Partial<AvroSettings> = {}): AvroFormat {
  return new AvroFormat({ ...AVRO_DEFAULTS, ...settings });
}

/** Reads hex digits with an Avro schema. */
function read(avro: unknown, hex: string, settings: Partial<AvroSettings> = {}) {
  const text = JSON.stringify(avro);
  const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  return format(settings)
    .reader({ id: 1, schemaType: 'AVRO', text, references: [] }, undefined)
    .read(bytes, 0, bytes.length);
}

/** The bytes behind the prefix, as hex digits. */
function written(schema: Schema | null, value: ConnectValue, settings: Partial<AvroSettings> = {}): string {
  const made = format(settings);
  return Buffer.from(made.writer(schema, made.describe(schema), true).write(value, PREFIX))
    .toString('hex')
    .slice(10);
}

const record = (...fields: unknown[]) => ({ type: 'record', name: 'test', fields });

describe('Avro values', () => {
  it('are read as the specification writes its examples', () => {
    const schema = record({ name: 'a', type: 'long' }, { name: 'b', type: 'string' });
    assert.deepEqual((read(schema, '36 06 66 6f 6f').value as Struct).values, [27n, 'foo']);
    const list = record({ name: 'a', type: { type: 'array', items: 'long' } });
    assert.deepEqual((read(list, '04 06 36 00').value as Struct).values, [[3n, 27n]]);
    const union = record({ name: 'u', type: ['null', 'string'] });
    assert.deepEqual((read(union, '00').value as Struct).values, [null]);
    assert.deepEqual((read(union, '02 02 61').value as Struct).values, ['a']);
    const symbols = record({ name: 'e', type: { type: 'enum', name: 'Foo', symbols: ['A', 'B', 'C', 'D'] } });
    assert.deepEqual((read(symbols, '06').value as Struct).values, ['D']);
  });

  it('have longs of 64 bits, in the zigzag bytes of the specification', () => {
    const examples: readonly [bigint, string][] = [
      [0n, '00'],
      [-1n, '01'],
      [1n, '02'],
      [-2n, '03'],
      [2n, '04'],
      [-64n, '7f'],
      [64n, '8001'],
      [2n ** 63n - 1n, 'feffffffffffffffff01'],
      [-(2n ** 63n), 'ffffffffffffffffff01'],
    ];
    for (const [value, hex] of examples) {
      assert.equal(writeLong(value).toString('hex'), hex);
      assert.equal(readLong(Buffer.from(hex, 'hex')), value);
    }
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        (value) => readLong(writeLong(value)) === value,
      ),
    );
  });

  it('of logical types become those of Connect', () => {
    const schema = record(
      { name: 'd', type: { type: 'bytes', logicalType: 'decimal', precision: 9, scale: 2 } },
      { name: 'f', type: { type: 'fixed', name: 'F', size: 3, logicalType: 'decimal', precision: 5, scale: 1 } },
      { name: 'day', type: { type: 'int', logicalType: 'date' } },
      { name: 'time', type: { type: 'int', logicalType: 'time-millis' } },
      { name: 'at', type: { type: 'long', logicalType: 'timestamp-millis' } },
      { name: 'micros', type: { type: 'long', logicalType: 'timestamp-micros' } },
    );
    const { value, schema: connect } = read(schema, '04 cfc7 ffff9c 02 02 d00f 02');
    assert.deepEqual((value as Struct).values, [
      new Decimal(-12345n, 2),
      new Decimal(-100n, 1),
      new Date(86_400_000),
      new Date(1),
      new Date(1000),
      1n,
    ]);
    assert.deepEqual(
      connect?.fields.map(({ schema: field }) => [field.type, field.name, field.version]),
      [
        ['bytes', LogicalName.decimal, 1],
        ['bytes', LogicalName.decimal, 1],
        ['int32', LogicalName.date, 1],
        ['int32', LogicalName.time, 1],
        ['int64', LogicalName.timestamp, 1],
        ['int64', undefined, undefined],
      ],
    );
    assert.deepEqual(
      [...(connect?.field('d')?.schema.parameters ?? [])],
      [
        ['scale', '2'],
        ['connect.decimal.precision', '9'],
      ],
    );
  });

  it('of unions are structs with one field set', () => {
    const schema = record({ name: 'u', type: ['null', 'int', 'string', record2()] });
    const union = (hex: string) => {
      const value = (read(schema, hex).value as Struct).values[0];
      return value instanceof Struct
        ? Object.fromEntries(value.schema.fields.map((f, i) => [f.name, plain(value.values[i] ?? null)]))
        : value;
    };
    assert.equal(union('00'), null);
    assert.deepEqual(union('02 54'), { int: 42, string: null, Inner: null });
    assert.deepEqual(union('04 02 61'), { int: null, string: 'a', Inner: null });
    assert.deepEqual(union('06 02'), { int: null, string: null, Inner: { struct: { x: 1 } } });
    assert.equal(read(schema, '00').schema?.fields[0]?.schema.name, 'io.confluent.connect.avro.Union');
    const names = read(schema, '00', { generalized: true }).schema?.fields[0]?.schema;
    assert.deepEqual(
      names?.fields.map(({ name }) => name),
      ['connect_union_field_1', 'connect_union_field_2', 'connect_union_field_3'],
    );
  });

  function record2() {
    return { type: 'record', name: 'com.acme.Inner', fields: [{ name: 'x', type: 'int' }] };
  }

  it('that end early, or are followed by other bytes, are faults of the record', () => {
    const schema = record({ name: 'a', type: 'long' }, { name: 'b', type: 'string' });
    assert.throws(() => read(schema, '36 06 66'), { name: 'DataError', message: /end before the value/ });
    assert.throws(() => read(schema, '36 06 66 6f 6f 00'), { name: 'DataError', message: /1 bytes are left/ });
    assert.throws(
      () => read(record({ name: 'e', type: { type: 'enum', name: 'E', symbols: ['A'] } }), '08'),
      /do not fit/,
    );
  });

  it('with counts that the bytes cannot hold are faults of the record, at once', () => {
    const list = (items: unknown) => record({ name: 'a', type: { type: 'array', items } });
    const map = record({ name: 'a', type: { type: 'map', values: 'int' } });
    for (const schema of [map, list('int'), list('long'), list('null'), list({ type: 'array', items: 'int' })]) {
      // 2^40, 2^30 and, with the size of the block, -2^30.
      for (const count of ['80808080808040', '8080808008', 'ffffffff07 02']) {
        const started = performance.now();
        assert.throws(() => read(schema, count), { scope: 'record' }, `${JSON.stringify(schema)} ${count}`);
        assert.ok(performance.now() - started < 5000, 'it took too long');
      }
    }
    assert.throws(() => read(list('int'), '06 02 04'), /the bytes end before the value does/);
    assert.deepEqual((read(list('int'), '03 04 02 04 00').value as Struct).values, [[1, 2]]);
  });

  it('without a schema are written as anything there is, and read back', () => {
    const anything = new Map<ConnectValue, ConnectValue>([
      ['list', [1n, 2.5, null, true, 'x', new TypedNumber('int32', 7)]],
      ['map', new Map([[1n, Buffer.of(1)]])],
    ]);
    const made = format();
    const text = made.describe(null);
    const bytes = Buffer.from(made.writer(null, text, true).write(anything, PREFIX));
    const back = made.reader({ id: 1, schemaType: 'AVRO', ...text }, 1).read(bytes, 5, bytes.length);
    assert.equal(back.schema, null);
    assert.deepEqual(plain(back.value), plain(anything));
  });
});

describe('Avro schemas of Connect schemas', () => {
  it('have the words, properties and order that Java gives them', () => {
    const decimal = new Schema('bytes', {
      name: LogicalName.decimal,
      version: 1,
      parameters: new Map([['scale', '2']]),
    });
    const schema = Schema.struct(
      [
        { name: 'i8', schema: new Schema('int8') },
        { name: 's', schema: new Schema('string', { optional: true, doc: 'a text' }) },
        { name: 'd', schema: new Schema('int32', { defaultValue: 5 }) },
        { name: 'od', schema: new Schema('int64', { optional: true, defaultValue: 9007199254740993n }) },
        { name: 'dec', schema: decimal },
        { name: 'at', schema: new Schema('int64', { name: LogicalName.timestamp, version: 1, optional: true }) },
        { name: 'm', schema: Schema.map(new Schema('int32'), new Schema('string')) },
      ],
      { name: 'com.acme.Row', version: 2 },
    );
    assert.equal(
      format().describe(schema).text,
      '{"type":"record","name":"Row","namespace":"com.acme","fields":[' +
        '{"name":"i8","type":{"type":"int","connect.type":"int8"}},' +
        '{"name":"s","type":["null",{"type":"string","connect.doc":"a text"}],"default":null},' +
        '{"name":"d","type":{"type":"int","connect.default":5},"default":5},' +
        '{"name":"od","type":[{"type":"long","connect.default":9007199254740993},"null"],"default":9007199254740993},' +
        '{"name":"dec","type":{"type":"bytes","scale":2,"precision":64,"connect.version":1,' +
        '"connect.parameters":{"scale":"2"},"connect.name":"org.apache.kafka.connect.data.Decimal","logicalType":"decimal"}},' +
        '{"name":"at","type":["null",{"type":"long","connect.version":1,' +
        '"connect.name":"org.apache.kafka.connect.data.Timestamp","logicalType":"timestamp-millis"}],"default":null},' +
        '{"name":"m","type":{"type":"array","items":{"type":"record","name":"MapEntry","namespace":"io.confluent.connect.avro",' +
        '"fields":[{"name":"key","type":"int"},{"name":"value","type":"string"}]}}}' +
        '],"connect.version":2,"connect.name":"com.acme.Row"}',
    );
  });

  it('write a type once and name it then; structs without a name are numbered', () => {
    const named = Schema.struct([{ name: 'x', schema: new Schema('int32') }], { name: 'com.acme.Value' });
    const optional = new Schema('struct', { name: 'com.acme.Value', optional: true }, { fields: named.fields });
    const nameless = Schema.struct([{ name: 'y', schema: new Schema('boolean') }]);
    const schema = Schema.struct([
      { name: 'before', schema: optional },
      { name: 'after', schema: optional },
      { name: 'n', schema: nameless },
    ]);
    assert.equal(
      format().describe(schema).text,
      '{"type":"record","name":"ConnectDefault","namespace":"io.confluent.connect.avro","fields":[' +
        '{"name":"before","type":["null",{"type":"record","name":"Value","namespace":"com.acme",' +
        '"fields":[{"name":"x","type":"int"}],"connect.name":"com.acme.Value"}],"default":null},' +
        '{"name":"after","type":["null","com.acme.Value"],"default":null},' +
        '{"name":"n","type":{"type":"record","name":"ConnectDefault2","fields":[{"name":"y","type":"boolean"}]}}]}',
    );
  });

  it('are refused for names that Avro forbids, unless these may be changed', () => {
    const schema = Schema.struct([{ name: 'a-b', schema: new Schema('int32') }], { name: 'my-server.1.Row' });
    assert.throws(() => format().describe(schema), /Illegal character in: my-server.1.Row/);
    const text = format({ scrubInvalidNames: true }).describe(schema).text;
    assert.match(text, /"name":"Row","namespace":"my_server.x1","fields":\[\{"name":"a_b"/);
    assert.equal(written(schema, new Struct(schema, [1]), { scrubInvalidNames: true }), '02');
  });

  it('keep enums with enhanced.avro.schema.support, and make texts of them without', () => {
    const avro = record({ name: 'e', type: { type: 'enum', name: 'com.acme.Color', symbols: ['RED', 'GREEN'] } });
    const { schema, value } = read(avro, '02');
    assert.ok(schema);
    assert.deepEqual(
      [...(schema.fields[0]?.schema.parameters ?? [])],
      [
        ['io.confluent.connect.avro.Enum', 'com.acme.Color'],
        ['io.confluent.connect.avro.Enum.RED', 'RED'],
        ['io.confluent.connect.avro.Enum.GREEN', 'GREEN'],
      ],
    );
    assert.match(format().describe(schema).text, /"name":"e","type":\{"type":"string","connect.parameters"/);
    assert.match(
      format({ enhanced: true }).describe(schema).text,
      /"type":"enum","name":"Color","namespace":"com.acme","symbols":\["RED","GREEN"\]/,
    );
    assert.equal(written(schema, value, { enhanced: true }), '02');
  });
});

describe('Connect schemas of Avro schemas', () => {
  it('take names, documentation, versions and defaults from where Java takes them', () => {
    const avro = {
      type: 'record',
      name: 'com.acme.Row',
      doc: 'rows',
      'connect.version': 4,
      'connect.parameters': { p: 'q' },
      fields: [
        { name: 'a', type: 'int', default: 7, doc: 'the a' },
        { name: 'n', type: ['null', 'string'], default: null },
        { name: 'o', type: [{ type: 'int', 'connect.default': 3 }, 'null'], default: 3 },
      ],
    };
    const { schema } = read(avro, '02 00 02');
    assert.ok(schema);
    assert.deepEqual([schema.name, schema.version, schema.doc], ['com.acme.Row', 4, undefined]);
    assert.deepEqual(
      [...(schema.parameters ?? [])],
      [
        ['io.confluent.connect.avro.record.doc', 'rows'],
        ['io.confluent.connect.avro.field.doc.a', 'the a'],
        ['p', 'q'],
      ],
    );
    const [a, n, o] = schema.fields.map((field) => field.schema);
    assert.deepEqual(
      [a?.defaultValue, a?.optional, [...(a?.parameters ?? [])]],
      [7, false, [['io.confluent.connect.avro.field.default', 'true']]],
    );
    assert.deepEqual([n?.defaultValue, n?.optional], [undefined, true]);
    assert.deepEqual([o?.defaultValue, o?.optional, o?.parameters], [3, true, undefined]);
    const plainSchema = read(avro, '02 00 02', { connectMetaData: false }).schema;
    assert.equal(plainSchema?.parameters, undefined);
  });

  it('have the version of the registry where they state none', () => {
    const reader = format().reader(
      { id: 1, schemaType: 'AVRO', text: '{"type":"record","name":"R","fields":[]}', references: [] },
      3,
    );
    assert.equal(reader.read(Buffer.alloc(0), 0, 0).schema?.version, 3);
  });

  it('find types that other subjects define, by name', () => {
    const inner = {
      name: 'com.acme.Inner',
      text: '{"type":"record","name":"Inner","namespace":"com.acme","fields":[{"name":"x","type":"int"}]}',
      references: [],
    };
    const text = '{"type":"record","name":"Outer","namespace":"com.acme","fields":[{"name":"i","type":"Inner"}]}';
    const reader = format().reader({ id: 1, schemaType: 'AVRO', text, references: [inner] }, 1);
    assert.deepEqual(plain(reader.read(Buffer.of(4), 0, 1).value), { struct: { i: { struct: { x: 2 } } } });
  });

  it('are refused where a record contains itself, and where there is nothing but null', () => {
    const list = record({ name: 'next', type: ['null', 'test'] });
    assert.throws(() => read(list, '00'), /Record test contains itself/);
    assert.throws(() => read('null', ''), /Standalone null/);
  });
});

describe('Avro, both ways', () => {
  it('keeps every schema and every value', () => {
    fc.assert(
      fc.property(samples({ nestedContainers: true, numberKeys: true }), ({ schema, values }) => {
        const made = format();
        const text = made.describe(schema);
        const writer = made.writer(schema, text, true);
        const reader = made.reader({ id: 1, schemaType: 'AVRO', ...text }, undefined);
        for (const value of values) {
          const bytes = Buffer.from(writer.write(value, PREFIX));
          const back = reader.read(bytes, 5, bytes.length);
          assert.deepEqual(plain(back.value), plain(value));
          assert.ok(back.schema);
          assert.ok(sameSchema(back.schema, schema), text.text);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('writes with another schema of the registry by the names of fields', () => {
    const schema = Schema.struct(
      [
        { name: 'a', schema: new Schema('int32') },
        { name: 'b', schema: new Schema('string') },
      ],
      { name: 'R' },
    );
    const row = new Struct(schema, [1, 'x']);
    const target = (...fields: unknown[]) => ({
      text: JSON.stringify({ type: 'record', name: 'R', fields }),
      references: [],
    });
    const wider = target(
      { name: 'b', type: ['null', 'string'] },
      { name: 'c', type: ['null', 'int'], default: null },
      { name: 'a', type: 'long' },
    );
    assert.equal(
      Buffer.from(format().writer(schema, wider, true).write(row, PREFIX))
        .toString('hex')
        .slice(10),
      '02027800' + '02',
    );
    const narrower = target({ name: 'a', type: 'int' });
    assert.throws(() => format().writer(schema, narrower, true), /Incompatible schema: record R has no field b/);
    assert.equal(
      Buffer.from(format().writer(schema, narrower, false).write(row, PREFIX))
        .toString('hex')
        .slice(10),
      '02',
    );
  });

  it('replaces nulls by defaults, unless that is disabled', () => {
    const schema = Schema.struct([{ name: 'o', schema: new Schema('int32', { optional: true, defaultValue: 5 }) }]);
    assert.equal(written(schema, new Struct(schema, [null])), '000a');
    assert.equal(written(schema, new Struct(schema, [null]), { ignoreDefaultForNullables: true }), '02');
  });

  it('says which field has a value of another kind', () => {
    const schema = Schema.struct([{ name: 'a', schema: new Schema('int32') }]);
    assert.throws(
      () => written(schema, new Struct(schema, ['x'])),
      /Field a: Invalid type for INT32: class java.lang.String/,
    );
    assert.throws(
      () => written(schema, new Struct(schema, [null])),
      /Field a: Found null value for non-optional schema/,
    );
  });
});
