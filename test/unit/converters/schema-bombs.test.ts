import assert from 'node:assert/strict';
import type { Converter } from '../../../src/connect/api.ts';
import { avroConverterPlugin } from '../../../src/converters/avro/avro-converter.ts';
import { jsonSchemaConverterPlugin } from '../../../src/converters/json-schema/json-schema-converter.ts';
import { protobufConverterPlugin } from '../../../src/converters/protobuf/protobuf-converter.ts';
import { toError } from '../../../src/errors.ts';
import { RegistryStub, type StubSchema } from '../../support/registry-stub.ts';

const LEVELS = Array.from({ length: 40 }, (_none, index) => index + 1);
const names = (count: number): string[] => Array.from({ length: count }, (_none, index) => `f${String(index)}`);

/** Each record has the next smaller one twice: 2^40 parts when written out. */
function avroDoubling(): object {
  const first: object = { type: 'record', name: 'R0', fields: [{ name: 'x', type: 'int' }] };
  return LEVELS.reduce((inner, level) => {
    const again = `R${String(level - 1)}`;
    const fields = [
      { name: 'a', type: inner },
      { name: 'b', type: again },
    ];
    return { type: 'record', name: `R${String(level)}`, fields };
  }, first);
}

function jsonDoubling(): object {
  const definitions: Record<string, object> = { D0: { type: 'integer' } };
  for (const level of LEVELS) {
    const inner = { $ref: `#/definitions/D${String(level - 1)}` };
    definitions[`D${String(level)}`] = { type: 'object', properties: { a: inner, b: inner } };
  }
  return { $ref: '#/definitions/D40', definitions };
}

function protobufDoubling(): string {
  const messages = [...LEVELS].reverse().map((level) => {
    const inner = `M${String(level - 1)}`;
    return `message M${String(level)} { ${inner} a = 1; ${inner} b = 2; }`;
  });
  return `syntax = "proto3"; ${messages.join('\n')} message M0 { int32 x = 1; }`;
}

const protobufOf = (count: number): string =>
  `syntax = "proto3"; message M { ${names(count)
    .map((name, index) => `int32 ${name} = ${String(index + 20_000)};`)
    .join(' ')} }`;

const BOMBS: readonly (readonly [string, StubSchema, RegExp])[] = [
  ['Avro types that double', avro(avroDoubling()), /more than 50000 parts/],
  ['an Avro record of 100,000 fields', avro(recordOf(100_000)), /more than 50000 parts/],
  ['an Avro union of 60,000 records', avro(names(60_000).map(emptyRecord)), /more than 50000 parts/],
  ['Avro lists 100,000 deep', { schema: deep('"int"') }, /more than 1000 levels of nesting/],
  [
    'an Avro record in itself',
    avro({ type: 'record', name: 'R', fields: [{ name: 'r', type: 'R' }] }),
    /contains itself/,
  ],
  ['JSON definitions that double', json(jsonDoubling()), /more than 50000 parts/],
  ['a JSON schema that is its own reference', json({ $ref: '#' }), /more than 200 levels/],
  [
    'JSON references in a ring',
    json({ $ref: '#/d/a', d: { a: { $ref: '#/d/b' }, b: { $ref: '#/d/a' } } }),
    /more than 200 levels/,
  ],
  ['JSON lists 100,000 deep', { schemaType: 'JSON', schema: deep('{}') }, /more than 1000 levels of nesting/],
  ['Protobuf messages that double', protobuf(protobufDoubling()), /more than 50000 parts/],
  ['a Protobuf message of 100,000 fields', protobuf(protobufOf(100_000)), /more than 3000 fields/],
  [
    'Protobuf messages 50,000 deep',
    protobuf(`syntax = "proto3"; ${'message M {'.repeat(50_000)}${'}'.repeat(50_000)}`),
    /max depth exceeded/,
  ],
];

function avro(schema: unknown): StubSchema {
  return { schema: JSON.stringify(schema) };
}

function json(schema: unknown): StubSchema {
  return { schemaType: 'JSON', schema: JSON.stringify(schema) };
}

function protobuf(schema: string): StubSchema {
  return { schemaType: 'PROTOBUF', schema };
}

function recordOf(count: number): object {
  return { type: 'record', name: 'R', fields: names(count).map((name) => ({ name, type: 'int' })) };
}

function emptyRecord(name: string): object {
  return { type: 'record', name, fields: [] };
}

function deep(inner: string): string {
  return `${'{"type":"array","items":'.repeat(100_000)}${inner}${'}'.repeat(100_000)}`;
}

describe('schemas of a registry that are made to do harm', () => {
  const plugins = { AVRO: avroConverterPlugin, JSON: jsonSchemaConverterPlugin, PROTOBUF: protobufConverterPlugin };
  let registry: RegistryStub;

  before(async () => (registry = await RegistryStub.start()));
  after(() => registry.stop());

  async function failureOf({ schemaType = 'AVRO' }: StubSchema, id: number): Promise<string> {
    const made: Converter = plugins[schemaType as keyof typeof plugins].create(
      { 'schema.registry.url': registry.url, 'max.retries': '0' },
      false,
    );
    try {
      const message = Buffer.alloc(12);
      message.writeInt32BE(id, 1);
      await made.prepareToConnectData?.('t', message);
      return 'it was read';
    } catch (thrown) {
      const error = toError(thrown);
      return `${error.message}: ${error.cause === undefined ? '' : toError(error.cause).message}`;
    } finally {
      made.close?.();
    }
  }

  for (const [name, schema, message] of BOMBS) {
    it(`fail the records that have them, and are read to no end: ${name}`, async () => {
      const id = registry.add(`t-value-${name}`, schema);
      const { schemaType = 'AVRO' } = schema;
      if (schemaType !== 'PROTOBUF') assert.match(await failureOf(schema, id), message);
      else assert.match(await protobufFailure(id), message);
    });
  }

  /** Protobuf schemas are written out when the first message of a type is read. */
  async function protobufFailure(id: number): Promise<string> {
    const schema = { schemaType: 'PROTOBUF', schema: '' };
    const failure = await failureOf(schema, id);
    if (failure !== 'it was read') return failure;
    const made = protobufConverterPlugin.create({ 'schema.registry.url': registry.url }, false);
    const message = Buffer.alloc(12);
    message.writeInt32BE(id, 1);
    await made.prepareToConnectData?.('t', message);
    try {
      made.toConnectData('t', message);
      return failure;
    } catch (thrown) {
      const error = toError(thrown);
      return `${error.message}: ${error.cause === undefined ? '' : toError(error.cause).message}`;
    } finally {
      made.close?.();
    }
  }

  it('fail the records where references double', async () => {
    let below = registry.add('L0', avro(emptyRecord('L0')));
    for (const level of LEVELS) {
      const [subject, inner] = [`L${String(level)}`, `L${String(level - 1)}`];
      const references = ['a', 'b'].map(() => ({ name: inner, subject: inner, version: 1 }));
      const fields = [{ name: 'f', type: inner }];
      below = registry.add(subject, { ...avro({ type: 'record', name: subject, fields }), references });
    }
    assert.match(await failureOf({ schema: '' }, below), /more than 1000 references/);
    assert.ok(registry.requests.length < 1100, `${String(registry.requests.length)} requests`);
  });

  it('fail the records where references are too deep', async () => {
    let below = registry.add('D0', avro(emptyRecord('D0')));
    for (let level = 1; level <= 101; level++) {
      const [subject, inner] = [`D${String(level)}`, `D${String(level - 1)}`];
      const references = [{ name: inner, subject: inner, version: 1 }];
      below = registry.add(subject, {
        ...avro({ type: 'record', name: subject, fields: [{ name: 'f', type: inner }] }),
        references,
      });
    }
    assert.match(await failureOf({ schema: '' }, below), /over more than 100 levels/);
  });
});
