import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ProtobufFormat } from '../../../src/converters/protobuf/protobuf-format.ts';
import type { ProtobufSettings } from '../../../src/converters/protobuf/protobuf-names.ts';
import type { ReferencedSchema } from '../../../src/converters/schema-registry/registry-client.ts';
import { wirePrefix } from '../../../src/converters/schema-registry/wire-format.ts';
import { LogicalName, Schema } from '../../../src/data/schema.ts';
import { Decimal, Struct, type ConnectValue } from '../../../src/data/value.ts';
import { plain, samples } from './arbitrary-data.ts';

const SETTINGS: ProtobufSettings = {
  enhanced: false,
  generalized: false,
  scrubInvalidNames: false,
  intForEnums: false,
  optionalForNullables: false,
  optionalForProto2: true,
  wrapperForNullables: false,
  wrapperForRawPrimitives: true,
  structForNulls: false,
  indexForUnions: true,
  flattenUnions: false,
  ignoreDefaultForNullables: false,
};
const PREFIX = wirePrefix(1);

function format(settings: Partial<ProtobufSettings> = {}): ProtobufFormat {
  return new ProtobufFormat({ ...SETTINGS, ...settings });
}

/** Reads hex digits (message indexes and message) with the schema of a text. */
function read(
  text: string,
  hex: string,
  settings: Partial<ProtobufSettings> = {},
  references: readonly ReferencedSchema[] = [],
) {
  const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  return format(settings)
    .reader({ id: 1, schemaType: 'PROTOBUF', text, references }, undefined)
    .read(bytes, 0, bytes.length);
}

const values = (text: string, hex: string, settings: Partial<ProtobufSettings> = {}): readonly ConnectValue[] =>
  (read(text, hex, settings).value as Struct).values;

/** The bytes behind the prefix, as hex digits; written with the schema's own text or another one. */
function written(schema: Schema, value: ConnectValue, settings: Partial<ProtobufSettings> = {}, text?: string): string {
  const made = format(settings);
  const target = text === undefined ? made.describe(schema) : { text, references: [] };
  return Buffer.from(made.writer(schema, target, true).write(value, PREFIX))
    .toString('hex')
    .slice(10);
}

const proto3 = (body: string): string => `syntax = "proto3";\n${body}`;

describe('Protobuf messages', () => {
  it('are read as the encoding guide writes its examples', () => {
    const text = proto3(`
      message Test1 { int32 a = 1; }
      message Test2 { string b = 2; }
      message Test3 { Test1 c = 3; }
      message Test4 { repeated int32 f = 6; }`);
    assert.deepEqual(values(text, '00 08 96 01'), [150]);
    assert.deepEqual(values(text, '02 02 12 07 74 65 73 74 69 6e 67'), ['testing']);
    assert.deepEqual(plain(read(text, '02 04 1a 03 08 96 01').value), { struct: { c: { struct: { a: 150 } } } });
    assert.deepEqual(values(text, '02 06 32 06 03 8e 02 9e a7 05'), [[3, 270, 86942]]);
    assert.deepEqual(values(text, '02 06 30 03 30 8e 02'), [[3, 270]], 'not packed');
  });

  it('are found by their message indexes: a zero for the first, else count and places in zigzag', () => {
    const text = proto3(`
      message A { message B { int32 x = 1; } message C { message D { int32 y = 1; } } }
      message E { int32 z = 1; }`);
    const name = (hex: string) => read(text, hex).schema?.name;
    assert.deepEqual(['00', '02 00', '02 02', '04 00 00', '04 00 02', '06 00 02 00'].map(name), [
      'A',
      'A',
      'E',
      'B',
      'C',
      'D',
    ]);
    for (const wrong of ['02 04', '04 02 00', '02 01', '', '02', 'ff ff ff ff 0f']) {
      assert.throws(() => read(text, wrong), { name: 'DataError', scope: 'record' }, wrong);
    }
  });

  it('have every scalar type; what is unsigned turns wide, or negative', () => {
    const text = proto3(`message M {
      double d = 1; float f = 2; int64 i64 = 3; uint64 u64 = 4; sint32 s32 = 5; sint64 s64 = 6; fixed32 x32 = 7;
      fixed64 x64 = 8; sfixed32 sx32 = 9; sfixed64 sx64 = 10; bool b = 11; bytes y = 12; uint32 u32 = 13; int32 i32 = 14; }`);
    const hex =
      '00 09 000000000000f83f 15 0000c03f 18 ffffffffffffffff7f 20 ffffffffffffffffff01 28 03 30 ffffffffffffffffff01' +
      '3d ffffffff 41 ffffffffffffffff 4d feffffff 51 feffffffffffffff 58 01 62 02 ff00 68 ffffffff0f 70 ffffffffffffffffff01';
    assert.deepEqual(values(text, hex), [
      1.5,
      1.5,
      2n ** 63n - 1n,
      -1n,
      -2,
      -(2n ** 63n),
      4294967295n,
      -1n,
      -2,
      -2n,
      true,
      Buffer.of(0xff, 0),
      4294967295n,
      -1,
    ]);
  });

  it('have default values for missing fields, and null for fields with presence', () => {
    const text = proto3(
      'message M { int32 a = 1; string s = 2; optional int32 o = 3; M2 m = 4; repeated int32 r = 5; } message M2 {}',
    );
    assert.deepEqual(values(text, '00'), [0, '', null, null, []]);
    assert.deepEqual(values(text, '00', { optionalForNullables: true }), [0, '', null, null, []]);
    const optional = (settings: Partial<ProtobufSettings>) =>
      read(text, '00', settings).schema?.fields.map(({ schema }) => schema.optional);
    assert.deepEqual(optional({ optionalForNullables: true }), [false, false, true, true, true]);
  });

  it('skip fields that the schema does not have', () => {
    assert.deepEqual(values(proto3('message M { int32 a = 1; }'), '00 10 07 22 02 aabb 08 05'), [5]);
  });

  it('of well-known types become logical types of Connect', () => {
    const text = proto3(`
      import "google/protobuf/timestamp.proto"; import "google/type/date.proto"; import "google/type/timeofday.proto";
      import "confluent/type/decimal.proto"; import "confluent/meta.proto";
      message M {
        google.protobuf.Timestamp at = 1; google.type.Date day = 2; google.type.TimeOfDay time = 3;
        confluent.type.Decimal amount = 4 [(confluent.field_meta) = { params: [ { key: "scale", value: "2" } ] }]; }`);
    const hex = '00 0a 06 08 01 10 80ade204 12 07 08 b20f 10 02 18 03 1a 04 08 01 10 02 22 08 0a 02 cfc7 10 05 18 02';
    const { schema, value } = read(text, hex);
    assert.deepEqual((value as Struct).values, [
      new Date(1010),
      new Date(Date.UTC(1970, 1, 3) + 0),
      new Date(3_720_000),
      new Decimal(-12345n, 2),
    ]);
    assert.deepEqual(
      schema?.fields.map((field) => field.schema.name),
      [LogicalName.timestamp, LogicalName.date, LogicalName.time, LogicalName.decimal],
    );
  });

  it('with a oneof have a struct of which one field is set', () => {
    const text = proto3('message M { oneof pick { int32 a = 1; string b = 2; } int32 c = 3; }');
    assert.deepEqual(plain(read(text, '00 12 01 78 18 01').value), {
      struct: { pick_0: { struct: { a: null, b: 'x' } }, c: 1 },
    });
    assert.deepEqual(plain(read(text, '00 12 01 78', { flattenUnions: true }).value), {
      struct: { a: null, b: 'x', c: 0 },
    });
    const { schema, value } = read(text, '00 08 00');
    assert.ok(schema);
    assert.equal(written(schema, value, {}, text), '000800', 'a member of a oneof is written though it is zero');
  });

  it('with enums are texts, or numbers with int.for.enums', () => {
    const text = proto3('message M { E e = 1; } enum E { ZERO = 0; ONE = 1; }');
    assert.deepEqual(values(text, '00 08 01'), ['ONE']);
    assert.deepEqual(values(text, '00'), ['ZERO']);
    assert.deepEqual(values(text, '00 08 01', { intForEnums: true }), [1]);
    const { schema, value } = read(text, '00 08 01');
    assert.ok(schema);
    assert.equal(written(schema, value, {}, text), '000801');
  });

  it('with maps are maps', () => {
    const text = proto3('message M { map<string, int64> m = 1; }');
    assert.deepEqual(plain(read(text, '00 0a 05 0a 01 61 10 01 0a 03 0a 01 62').value), {
      struct: {
        m: {
          map: [
            ['a', 1n],
            ['b', 0n],
          ],
        },
      },
    });
  });

  it('that end early, or are no Protobuf, are faults of the record', () => {
    const text = proto3('message M { string s = 1; M2 m = 2; } message M2 { int32 a = 1; }');
    for (const hex of ['00 0a 05 61', '00 0a', '00 08', '00 12 05 08 01', '00 0f', '00 12 01 08']) {
      assert.throws(() => read(text, hex), { name: 'DataError', scope: 'record' }, hex);
    }
  });

  it('find types that other subjects define, by the name that is imported', () => {
    const inner: ReferencedSchema = {
      name: 'acme/inner.proto',
      text: proto3('package acme; message Inner { int32 x = 1; }'),
      references: [],
    };
    const text = proto3('import "acme/inner.proto"; package acme; message Outer { Inner i = 1; }');
    assert.deepEqual(plain(read(text, '00 0a 02 08 02', {}, [inner]).value), {
      struct: { i: { struct: { x: 2 } } },
    });
  });

  it('that contain themselves are refused, and so are texts that are no schema', () => {
    assert.throws(() => read(proto3('message M { M next = 1; }'), '00'), /contains itself/);
    assert.throws(() => read('nonsense', '00'), { name: 'ProtobufSchemaError', scope: 'record' });
    assert.throws(() => read(proto3('message M { Unknown u = 1; }'), '00'), { scope: 'record' });
  });
});

describe('Protobuf schemas of Connect schemas', () => {
  it('have the words and numbers that Java gives them', () => {
    const schema = Schema.struct(
      [
        { name: 'id', schema: new Schema('int64') },
        { name: 'name', schema: new Schema('string', { optional: true }) },
        { name: 'small', schema: new Schema('int8') },
        { name: 'list', schema: Schema.array(new Schema('float64')) },
        { name: 'labels', schema: Schema.map(new Schema('string'), new Schema('string')) },
        { name: 'at', schema: new Schema('int64', { name: LogicalName.timestamp, version: 1 }) },
        {
          name: 'inner',
          schema: Schema.struct([{ name: 'x', schema: new Schema('boolean') }], { name: 'com.acme.Inner' }),
        },
      ],
      { name: 'com.acme.Row' },
    );
    assert.equal(
      format().describe(schema).text,
      [
        'syntax = "proto3";',
        'package com.acme;',
        '',
        'import "confluent/meta.proto";',
        'import "google/protobuf/timestamp.proto";',
        '',
        'message Row {',
        '  int64 id = 1;',
        '  string name = 2;',
        '  int32 small = 3 [(confluent.field_meta) = {',
        '    params: [',
        '      {',
        '        key: "connect.type",',
        '        value: "int8"',
        '      }',
        '    ]',
        '  }];',
        '  repeated double list = 4;',
        '  map<string, string> labels = 5;',
        '  google.protobuf.Timestamp at = 6;',
        '  Inner inner = 7;',
        '  message Inner {',
        '    bool x = 1;',
        '  }',
        '}',
        '',
      ]
        .join('\n')
        .replaceAll('\n    params', '\n    params'),
    );
  });

  it('keep the numbers that fields had where they came from', () => {
    const text = proto3('message M { int32 a = 7; string b = 3; }');
    const { schema, value } = read(text, '00 38 05 1a 01 78');
    assert.ok(schema);
    assert.match(format().describe(schema).text, /int32 a = 7;\s+string b = 3;/);
    assert.equal(written(schema, value), '001a01783805', 'in the order of the numbers');
  });

  it('wrap values that are no structs in the messages of google.protobuf', () => {
    const made = format();
    for (const [schema, value, hex] of [
      [new Schema('string'), 'a', '02 0e 0a 01 61'],
      [new Schema('int64'), 5n, '02 04 08 05'],
      [new Schema('boolean'), true, '02 0c 08 01'],
    ] as const) {
      const text = made.describe(schema);
      assert.equal(written(schema, value), hex.replaceAll(' ', ''));
      const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
      const back = made.reader({ id: 1, schemaType: 'PROTOBUF', ...text }, undefined).read(bytes, 0, bytes.length);
      assert.deepEqual([back.schema?.type, back.value], [schema.type, value]);
    }
    assert.throws(() => made.describe(Schema.array(new Schema('string'))), /Unsupported root schema of type ARRAY/);
    assert.throws(() => made.describe(null), /Protobuf needs a schema/);
  });

  it('are refused for names that Protobuf forbids, unless these may be changed', () => {
    const schema = Schema.struct([{ name: 'a-b', schema: new Schema('int32') }], { name: 'Row' });
    assert.throws(() => format().describe(schema), /Illegal character in: a-b/);
    assert.equal(written(schema, new Struct(schema, [1]), { scrubInvalidNames: true }), '000801');
  });

  it('distinguish nulls with optional.for.nullables and wrapper.for.nullables', () => {
    const schema = Schema.struct(
      [
        { name: 'n', schema: new Schema('int32', { optional: true }) },
        { name: 's', schema: new Schema('string', { optional: true }) },
      ],
      { name: 'Row' },
    );
    for (const settings of [{ optionalForNullables: true }, { wrapperForNullables: true }]) {
      const made = format(settings);
      const text = made.describe(schema);
      const writer = made.writer(schema, text, true);
      const reader = made.reader({ id: 1, schemaType: 'PROTOBUF', ...text }, undefined);
      for (const row of [
        [null, null],
        [0, ''],
        [1, null],
      ]) {
        const bytes = Buffer.from(writer.write(new Struct(schema, row), PREFIX));
        assert.deepEqual((reader.read(bytes, 5, bytes.length).value as Struct).values, row);
      }
    }
  });
});

describe('Protobuf, both ways', () => {
  /** But for nulls inside lists and maps, which Protobuf does not have. */
  it('keeps every value', () => {
    fc.assert(
      fc.property(samples({ nestedContainers: false, numberKeys: true }), ({ schema, values: rows }) => {
        for (const settings of [{ optionalForNullables: true }, { wrapperForNullables: true }]) {
          const made = format(settings);
          const text = made.describe(schema);
          const writer = made.writer(schema, text, true);
          const reader = made.reader({ id: 1, schemaType: 'PROTOBUF', ...text }, undefined);
          for (const value of rows) {
            const bytes = Buffer.from(writer.write(value, PREFIX));
            const back = reader.read(bytes, 5, bytes.length);
            assert.deepEqual(withoutNulls(plain(back.value)), withoutNulls(plain(value)), text.text);
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it('says which field a target does not have, and of what type a value is not', () => {
    const schema = Schema.struct([{ name: 'a', schema: new Schema('int32') }], { name: 'M' });
    const narrow = proto3('message M { string b = 1; }');
    assert.throws(() => written(schema, new Struct(schema, [1]), {}, narrow), /message M has no field a/);
    const other = proto3('message M { string a = 1; }');
    assert.throws(
      () => written(schema, new Struct(schema, [1]), {}, other),
      /int32 cannot be written as Protobuf string/,
    );
    assert.throws(() => written(schema, new Struct(schema, ['x'])), { scope: 'record' });
  });
});

/** A list or map that is null is the same as an empty one. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, withoutNulls(each)] as const);
  if ('map' in value && Array.isArray(value.map) && value.map.length === 0) return null;
  return Object.fromEntries(entries);
}
