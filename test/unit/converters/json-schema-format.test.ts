import assert from 'node:assert/strict';
import fc from 'fast-check';
import { JsonSchemaFormat } from '../../../src/converters/json-schema/json-schema-format.ts';
import type { JsonSchemaSettings } from '../../../src/converters/json-schema/json-schema-names.ts';
import type { ReferencedSchema } from '../../../src/converters/schema-registry/registry-client.ts';
import { wirePrefix } from '../../../src/converters/schema-registry/wire-format.ts';
import { LogicalName, Schema } from '../../../src/data/schema.ts';
import { sameSchema } from '../../../src/data/schema-equality.ts';
import { Decimal, type ConnectValue, type Struct } from '../../../src/data/value.ts';
import { plain, samples } from './arbitrary-data.ts';

const SETTINGS: JsonSchemaSettings = {
  generalized: false,
  flattenSingletonUnions: true,
  additionalProperties: true,
  optionalForNonRequired: false,
  ignoreDefaultForNullables: false,
  decimalFormat: 'BASE64',
};
const PREFIX = wirePrefix(1);

function format(settings: Partial<JsonSchemaSettings> = {}): JsonSchemaFormat {
  return new JsonSchemaFormat({ ...SETTINGS, ...settings });
}

/** Reads a text with a JSON schema. */
function read(
  schema: unknown,
  text: string,
  settings: Partial<JsonSchemaSettings> = {},
  references: readonly ReferencedSchema[] = [],
) {
  const bytes = Buffer.from(text);
  return format(settings)
    .reader({ id: 1, schemaType: 'JSON', text: JSON.stringify(schema), references }, undefined)
    .read(bytes, 0, bytes.length);
}

/** The text after the prefix. */
function written(schema: Schema | null, value: ConnectValue, settings: Partial<JsonSchemaSettings> = {}): string {
  const made = format(settings);
  return Buffer.from(made.writer(schema, made.describe(schema), true).write(value, PREFIX)).toString('utf8', 5);
}

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

describe('JSON with a schema', () => {
  it('has the types of Connect that the schema says', () => {
    const schema = object({
      long: { type: 'integer' },
      int: { type: 'integer', 'connect.type': 'int32' },
      double: { type: 'number' },
      float: { type: 'number', 'connect.type': 'float32' },
      text: { type: 'string' },
      flag: { type: 'boolean' },
      bytes: { type: 'string', 'connect.type': 'bytes' },
      list: { type: 'array', items: { type: 'integer' } },
      map: { type: 'object', 'connect.type': 'map', additionalProperties: { type: 'string' } },
    });
    const text =
      '{"long":9007199254740993,"int":-1,"double":1e3,"float":0.5,"text":"ä","flag":true,"bytes":"AP8=","list":[1],"map":{"k":"v"}}';
    const { value, schema: connect } = read(schema, text);
    assert.deepEqual((value as Struct).values, [
      9007199254740993n,
      -1,
      1000,
      0.5,
      'ä',
      true,
      Buffer.of(0, 255),
      [1n],
      new Map([['k', 'v']]),
    ]);
    assert.deepEqual(
      connect?.fields.map(({ schema: field }) => field.type),
      ['int64', 'int32', 'float64', 'float32', 'string', 'boolean', 'bytes', 'array', 'map'],
    );
  });

  it('has logical types by their titles', () => {
    const schema = object({
      amount: {
        type: 'number',
        title: LogicalName.decimal,
        'connect.type': 'bytes',
        'connect.parameters': { scale: '2' },
      },
      at: { type: 'integer', title: LogicalName.timestamp, 'connect.type': 'int64' },
      day: { type: 'integer', title: LogicalName.date, 'connect.type': 'int32' },
      time: { type: 'integer', title: LogicalName.time, 'connect.type': 'int32' },
    });
    const { value } = read(schema, '{"amount":"z8c=","at":1000,"day":1,"time":5}');
    const expected = [new Decimal(-12345n, 2), new Date(1000), new Date(86_400_000), new Date(5)];
    assert.deepEqual((value as Struct).values, expected);
    const numeric = read(schema, '{"amount":-123.45,"at":1000,"day":1,"time":5}');
    assert.deepEqual((numeric.value as Struct).values, expected);
  });

  it('has fields in the order of connect.index, else in the order of the text', () => {
    const names = (properties: object) =>
      read(object(properties), '{}', { optionalForNonRequired: true }).schema?.fields.map(({ name }) => name);
    const type = 'string';
    assert.deepEqual(names({ b: { type }, a: { type } }), ['b', 'a']);
    assert.deepEqual(names({ b: { type, 'connect.index': 1 }, a: { type, 'connect.index': 0 } }), ['a', 'b']);
  });

  it('is optional by a oneOf with null, by a list of types, or by not being required', () => {
    const schema = object(
      { a: { oneOf: [{ type: 'null' }, { type: 'integer' }] }, b: { type: ['null', 'string'] }, c: { type: 'string' } },
      { required: ['a'] },
    );
    const optional = (settings: Partial<JsonSchemaSettings> = {}) =>
      read(schema, '{"a":null,"b":null,"c":"x"}', settings).schema?.fields.map((field) => field.schema.optional);
    assert.deepEqual(optional(), [true, true, false]);
    assert.deepEqual(optional({ optionalForNonRequired: true }), [true, true, true]);
    assert.deepEqual((read(schema, '{"c":"x"}').value as Struct).values, [null, null, 'x']);
  });

  it('with several kinds is a struct of which one field is set', () => {
    const schema = object({
      u: { oneOf: [{ type: 'integer' }, { type: 'string' }, object({ x: { type: 'boolean' } })] },
    });
    const union = (text: string) => plain(read(schema, `{"u":${text}}`).value);
    const member = (index: number, value: unknown) => ({
      struct: {
        u: {
          struct: Object.fromEntries(
            [0, 1, 2].map((each) => [
              `io.confluent.connect.json.OneOf.field.${String(each)}`,
              each === index ? value : null,
            ]),
          ),
        },
      },
    });
    assert.deepEqual(union('5'), member(0, 5n));
    assert.deepEqual(union('"a"'), member(1, 'a'));
    assert.deepEqual(union('{"x":true}'), member(2, { struct: { x: true } }));
    assert.throws(() => union('[1]'), { name: 'DataError', message: /Did not find matching oneof field/ });
  });

  it('follows references inside the schema and to other subjects', () => {
    const inner: ReferencedSchema = {
      name: 'inner.json',
      text: '{"type":"integer","connect.type":"int8"}',
      references: [],
    };
    const schema = {
      ...object({ a: { $ref: '#/definitions/a' }, b: { $ref: 'inner.json' } }),
      definitions: { a: { type: 'string' } },
    };
    assert.deepEqual((read(schema, '{"a":"x","b":-3}', {}, [inner]).value as Struct).values, ['x', -3]);
    assert.throws(() => read(object({ a: { $ref: '#/nowhere' } }), '{}'), {
      scope: 'record',
      message: /cannot be resolved/,
    });
  });

  it('that does not fit, or is no JSON, is a fault of the record', () => {
    const schema = object({ a: { type: 'integer' } });
    for (const text of ['', '{', '[1]', '{"a":"x"}', '{"a":1.5}', '{"a":true}', 'nonsense']) {
      assert.throws(() => read(schema, text), { scope: 'record' }, text);
    }
    const bytes = Buffer.from('{"a":"\xff"}', 'latin1');
    const reader = format().reader(
      { id: 1, schemaType: 'JSON', text: JSON.stringify(object({ a: { type: 'string' } })), references: [] },
      1,
    );
    assert.throws(() => reader.read(bytes, 0, bytes.length), { name: 'DataError', message: /UTF-8/ });
  });

  it('whose schema contains itself is refused', () => {
    const schema = { ...object({ next: { $ref: '#' } }) };
    assert.throws(() => read(schema, '{}'), { scope: 'record', message: /contains itself/ });
  });
});

describe('JSON schemas of Connect schemas', () => {
  it('have the words that Java gives them', () => {
    const schema = Schema.struct(
      [
        { name: 'id', schema: new Schema('int64') },
        { name: 'name', schema: new Schema('string', { optional: true, doc: 'a "text"' }) },
        { name: 'n', schema: new Schema('int32', { defaultValue: 5 }) },
        { name: 'at', schema: new Schema('int64', { name: LogicalName.timestamp, version: 1 }) },
        { name: 'labels', schema: Schema.map(new Schema('string'), new Schema('boolean')) },
        { name: 'list', schema: Schema.array(new Schema('float32')) },
      ],
      { name: 'com.acme.Row', version: 2 },
    );
    assert.deepEqual(JSON.parse(format({ additionalProperties: false }).describe(schema).text), {
      type: 'object',
      title: 'com.acme.Row',
      'connect.version': 2,
      additionalProperties: false,
      properties: {
        id: { type: 'integer', 'connect.index': 0, 'connect.type': 'int64' },
        name: { 'connect.index': 1, oneOf: [{ type: 'null' }, { type: 'string', description: 'a "text"' }] },
        n: { type: 'integer', default: 5, 'connect.index': 2, 'connect.type': 'int32' },
        at: {
          type: 'integer',
          title: LogicalName.timestamp,
          'connect.index': 3,
          'connect.type': 'int64',
          'connect.version': 1,
        },
        labels: {
          type: 'object',
          'connect.index': 4,
          'connect.type': 'map',
          additionalProperties: { type: 'boolean' },
        },
        list: { type: 'array', 'connect.index': 5, items: { type: 'number', 'connect.type': 'float32' } },
      },
    });
  });

  it('say nothing for data without a schema, which is plain JSON', () => {
    const value = new Map<ConnectValue, ConnectValue>([['a', [1n, 'x', null]]]);
    assert.equal(format().describe(null).text, '{}');
    assert.equal(written(null, value), '{"a":[1,"x",null]}');
    const back = read({}, '{"a":[1,"x",null]}');
    assert.equal(back.schema, null);
    assert.deepEqual(plain(back.value), plain(value));
  });

  it('write decimals as base64 or as numbers', () => {
    const schema = new Schema('bytes', {
      name: LogicalName.decimal,
      version: 1,
      parameters: new Map([['scale', '2']]),
    });
    assert.equal(written(schema, new Decimal(-12345n, 2)), '"z8c="');
    assert.equal(written(schema, new Decimal(-12345n, 2), { decimalFormat: 'NUMERIC' }), '-123.45');
  });
});

describe('JSON with a schema, both ways', () => {
  it('keeps every schema and every value', () => {
    fc.assert(
      fc.property(samples({ nestedContainers: true, numberKeys: true }), ({ schema, values }) => {
        const made = format();
        const text = made.describe(schema);
        const writer = made.writer(schema, text, true);
        const reader = made.reader({ id: 1, schemaType: 'JSON', ...text }, undefined);
        for (const value of values) {
          const bytes = Buffer.from(writer.write(value, PREFIX));
          const back = reader.read(bytes, 5, bytes.length);
          assert.deepEqual(unsigned(plain(back.value)), unsigned(plain(value)));
          assert.ok(back.schema !== null && sameSchema(back.schema, schema), text.text);
        }
      }),
      { numRuns: 150 },
    );
  });
});

/** JSON numbers are decimals in Java, which know no -0. */
function unsigned(value: unknown): unknown {
  if (typeof value === 'number') return value + 0;
  if (Array.isArray(value)) return value.map(unsigned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, unsigned(each)]));
}
