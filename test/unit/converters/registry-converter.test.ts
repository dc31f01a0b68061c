import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { validateOptions } from '../../../src/config/parse.ts';
import { optionText } from '../../../src/config/to-text.ts';
import { avroConverterPlugin } from '../../../src/converters/avro/avro-converter.ts';
import { jsonSchemaConverterPlugin } from '../../../src/converters/json-schema/json-schema-converter.ts';
import { protobufConverterPlugin } from '../../../src/converters/protobuf/protobuf-converter.ts';
import { loadOptional } from '../../../src/converters/schema-registry/optional-package.ts';
import type { Converter, ConverterPlugin } from '../../../src/connect/api.ts';
import type { MessageBlock, TakeStruct } from '../../../src/data/message-block.ts';
import { Schema } from '../../../src/data/schema.ts';
import { Struct, type ConnectValue } from '../../../src/data/value.ts';
import { javaTrace, SluiceError, UnavailableError } from '../../../src/errors.ts';
import { until } from '../../support/until.ts';
import { plain } from './arbitrary-data.ts';
import { RegistryStub } from '../../support/registry-stub.ts';

const ROW = '{"type":"record","name":"Row","namespace":"com.acme","fields":[{"name":"a","type":"int"}]}';
/** `{"a": 42}` of schema 1 in Confluent's wire format: a zero, the id, and 42 in zigzag. */
const ROW_42 = Buffer.from('000000000154', 'hex');
const rowSchema = Schema.struct([{ name: 'a', schema: new Schema('int32') }], { name: 'com.acme.Row' });

describe('converters with a schema registry', () => {
  let registry: RegistryStub;
  const open: Converter[] = [];

  beforeEach(async () => {
    registry = await RegistryStub.start();
  });

  afterEach(async () => {
    for (const converter of open.splice(0)) converter.close?.();
    await registry.stop();
  });

  function converter(
    config: Record<string, string> = {},
    plugin: ConverterPlugin = avroConverterPlugin,
    isKey = false,
  ) {
    const all = { 'schema.registry.url': registry.url, 'max.retries': '0', ...config };
    const made = plugin.create(all, isKey);
    open.push(made);
    return made;
  }

  async function read(made: Converter, bytes: Uint8Array, topic = 't') {
    await made.prepareToConnectData?.(topic, bytes);
    return made.toConnectData(topic, bytes);
  }

  async function write(made: Converter, schema: Schema | null, value: ConnectValue, topic = 't'): Promise<string> {
    await made.prepareFromConnectData?.(topic, schema, value);
    return Buffer.from(made.fromConnectData(topic, schema, value) ?? '').toString('hex');
  }

  const post = () => registry.requests.filter((request) => request.startsWith('POST'));

  describe('reading', () => {
    it('fetch the schema of an id once, however many records come at the same time', async () => {
      registry.add('t-value', { schema: ROW });
      const made = converter();
      const waiting = Array.from({ length: 500 }, async () => {
        await made.prepareToConnectData?.('t', ROW_42);
      });
      await Promise.all(waiting);
      assert.equal(registry.count('GET /schemas/ids/1?'), 1);
      assert.equal(made.prepareToConnectData?.('t', ROW_42), undefined);
      const [first, second] = [made.toConnectData('t', ROW_42), made.toConnectData('t', ROW_42)];
      assert.deepEqual(plain(first.value), { struct: { a: 42 } });
      assert.equal(first.schema, second.schema, 'records of one id have one and the same schema');
      assert.deepEqual([first.schema?.name, first.schema?.version], ['com.acme.Row', 1]);
    });

    it('return null for no bytes, without a request', () => {
      const made = converter();
      assert.equal(made.prepareToConnectData?.('t', null), undefined);
      assert.deepEqual(made.toConnectData('t', null), { schema: null, value: null });
      assert.deepEqual(registry.requests, []);
    });

    it('call bytes that are not in the wire format a fault of the record, in the words of the Java converter', () => {
      const made = converter();
      for (const hex of ['', '00', '0000000', '7b2261223a317d', '010000000154']) {
        const bytes = Buffer.from(hex, 'hex');
        assert.equal(made.prepareToConnectData?.('t', bytes), undefined);
        assert.throws(() => made.toConnectData('t', bytes), {
          name: 'DataError',
          scope: 'record',
          message: 'Failed to deserialize data for topic t to Avro: Unknown magic byte!',
        });
      }
      assert.deepEqual(registry.requests, []);
    });

    it('call an id that the registry does not have a fault of the record, and ask for it once a second at most', async () => {
      const made = converter();
      const unknown = Buffer.from('000000006354', 'hex');
      for (let attempt = 0; attempt < 20; attempt++) {
        await assert.rejects(read(made, unknown), {
          name: 'DataError',
          message:
            'Failed to deserialize data for topic t to Avro: the registry says: Schema 99 not found; error code: 40403 (schema id 99)',
        });
      }
      assert.ok(registry.count('GET /schemas/ids/99') <= 2, String(registry.requests));
    });

    it('refuse the schemas of other formats', async () => {
      registry.add('t-value', { schema: 'message M {}', schemaType: 'PROTOBUF' });
      await assert.rejects(read(converter(), ROW_42), /Schema 1 is of type PROTOBUF, not AVRO/);
    });

    it('keep a bounded number of schemas, and request evicted ones again', async () => {
      for (let index = 0; index < 5; index++) {
        registry.add('t-value', { schema: ROW.replace('Row', `Row${String(index)}`) });
      }
      const made = converter({ 'schemas.cache.config': '2' });
      const message = (id: number) => Buffer.from(`00000000${id.toString(16).padStart(2, '0')}54`, 'hex');
      for (const id of [1, 2, 3, 4, 5, 1]) {
        assert.equal((await read(made, message(id))).schema?.name, `com.acme.Row${String(id - 1)}`);
      }
      assert.equal(registry.count('GET /schemas/ids/1?'), 2);
      assert.equal(registry.count('GET /schemas/ids/5?'), 1);
    });

    it('hand out structs of a block without a record, up to the first that must wait or is wrong', async () => {
      registry.add('t-value', { schema: ROW });
      const made = converter();
      const messages = [ROW_42, ROW_42, Buffer.from('000000000903', 'hex'), ROW_42];
      const block: MessageBlock = {
        topic: 't',
        partition: 0,
        bytes: Buffer.concat([Buffer.of(7, 7), ...messages]),
        count: messages.length,
        offsets: [0, 1, 2, 3],
        timestamps: [-1, -1, -1, -1],
        valueStarts: [2, 8, 14, 20],
        valueEnds: [8, 14, 20, 26],
      };
      const taken: unknown[] = [];
      const take: TakeStruct = (schema, values, index) => taken.push([schema.name, values[0], index]) > 0;
      assert.equal(made.readStructs?.(block, 0, 4, take), 0, 'the schema is not known yet');
      await read(made, ROW_42);
      assert.equal(made.readStructs?.(block, 0, 4, take), 2);
      assert.equal(made.readStructs?.(block, 3, 4, take), 4);
      assert.deepEqual(taken, [
        ['com.acme.Row', 42, 0],
        ['com.acme.Row', 42, 1],
        ['com.acme.Row', 42, 3],
      ]);
    });

    it('follow references to other subjects', async () => {
      registry.add('inner', {
        schema: '{"type":"record","name":"Inner","namespace":"com.acme","fields":[{"name":"x","type":"int"}]}',
      });
      const id = registry.add('t-value', {
        schema: '{"type":"record","name":"Outer","namespace":"com.acme","fields":[{"name":"i","type":"Inner"}]}',
        references: [{ name: 'com.acme.Inner', subject: 'inner', version: 1 }],
      });
      const { value } = await read(converter(), Buffer.from(`000000000${String(id)}04`, 'hex'));
      assert.deepEqual(plain(value), { struct: { i: { struct: { x: 2 } } } });
    });
  });

  describe('writing', () => {
    it('register the schema under topic and kind once, and begin each message with its id', async () => {
      const made = converter();
      const values = [1, 42].map((a) => new Struct(rowSchema, [a]));
      const results = await Promise.all(values.map((value) => write(made, rowSchema, value)));
      assert.deepEqual(results, ['000000000102', '000000000154']);
      assert.deepEqual(post(), ['POST /subjects/t-value/versions']);
      assert.deepEqual(JSON.parse(registry.bodies[0] ?? ''), {
        schema: ROW.replace(']}', '],"connect.name":"com.acme.Row"}'),
      });
      assert.equal(made.prepareFromConnectData?.('t', rowSchema, values[0] ?? null), undefined);
    });

    it('recognise a schema that was created again by its text', async () => {
      const made = converter();
      for (let index = 0; index < 3; index++) {
        const again = Schema.struct([{ name: 'a', schema: new Schema('int32') }], { name: 'com.acme.Row' });
        await write(made, again, new Struct(again, [1]));
      }
      assert.equal(post().length, 1);
    });

    it('leave null as no bytes where the schema allows it', async () => {
      const made = converter();
      assert.equal(made.fromConnectData('t', null, null), null);
      assert.equal(made.fromConnectData('t', new Schema('string', { optional: true }), null), null);
      assert.deepEqual(registry.requests, []);
    });

    it('name subjects by the strategies', async () => {
      const value = new Struct(rowSchema, [1]);
      const strategy = (name: string) => ({
        'value.subject.name.strategy': `io.confluent.kafka.serializers.subject.${name}`,
      });
      await write(converter({}, avroConverterPlugin, true), rowSchema, value, 'a b/c');
      await write(converter(strategy('RecordNameStrategy')), rowSchema, value);
      await write(converter(strategy('TopicRecordNameStrategy')), rowSchema, value);
      assert.deepEqual(post(), [
        'POST /subjects/a%20b%2Fc-key/versions',
        'POST /subjects/com.acme.Row/versions',
        'POST /subjects/t-com.acme.Row/versions',
      ]);
      await assert.rejects(write(converter(strategy('RecordNameStrategy')), new Schema('string'), 'x'), {
        message: /the message value must only be a record schema/,
        scope: 'record',
      });
    });

    it('only look the schema up with auto.register.schemas=false', async () => {
      const value = new Struct(rowSchema, [1]);
      const made = converter({ 'auto.register.schemas': 'false', 'normalize.schemas': 'true' });
      await assert.rejects(write(made, rowSchema, value), {
        name: 'DataError',
        message: 'Failed to serialize Avro data from topic t : the registry says: Schema not found; error code: 40403',
      });
      assert.deepEqual(post(), ['POST /subjects/t-value?normalize=true']);
      const text = (JSON.parse(registry.bodies[0] ?? '{}') as { schema: string }).schema;
      registry.add('t-value', { schema: text });
      assert.equal(await write(converter({ 'auto.register.schemas': 'false' }), rowSchema, value), '000000000102');
    });

    it('write with the latest version, or with one id, if so configured', async () => {
      const target = ROW.replace('"type":"int"', '"type":"long"');
      registry.add('t-value', { schema: ROW });
      const id = registry.add('t-value', { schema: target });
      const value = new Struct(rowSchema, [-1]);
      const latest = converter({ 'auto.register.schemas': 'false', 'use.latest.version': 'true' });
      assert.equal(await write(latest, rowSchema, value), `000000000${String(id)}01`);
      const first = converter({ 'auto.register.schemas': 'false', 'use.schema.id': '1' });
      assert.equal(await write(first, rowSchema, value), '000000000101');
      assert.deepEqual(post(), []);
    });

    it('ask for the latest version again after latest.cache.ttl.sec', async () => {
      registry.add('t-value', { schema: ROW });
      const value = new Struct(rowSchema, [1]);
      const config = { 'auto.register.schemas': 'false', 'use.latest.version': 'true' };
      const keeping = converter(config);
      const asking = converter({ ...config, 'latest.cache.ttl.sec': '0' });
      for (const made of [keeping, asking]) await write(made, rowSchema, value);
      registry.add('t-value', { schema: ROW.replace('"int"', '"long"') });
      assert.equal(await write(keeping, rowSchema, value), '000000000102');
      await until(
        async () => (await write(asking, rowSchema, value)) === '000000000202',
        'the second version is written with',
      );
    });

    it('make incompatible schemas a fault of the record, with the words of the registry', async () => {
      registry.intercept = () => ({ status: 409, body: { error_code: 409, message: 'Schema is incompatible' } });
      await assert.rejects(write(converter(), rowSchema, new Struct(rowSchema, [1])), {
        scope: 'record',
        message: /the registry says: Schema is incompatible; error code: 409/,
      });
    });
  });

  describe('an unreachable registry', () => {
    const isUnavailable = (words: RegExp) => (error: unknown) => {
      assert.ok(error instanceof UnavailableError, String(error));
      assert.equal(error.scope, 'infrastructure');
      assert.match(error.message, words);
      return true;
    };

    it('is no fault of the record, and is asked again later', async () => {
      registry.add('t-value', { schema: ROW });
      const made = converter();
      registry.intercept = () => ({ status: 503, body: 'overloaded' });
      await assert.rejects(read(made, ROW_42), isUnavailable(/request GET \/schemas\/ids\/1.* failed: .*503/));
      registry.intercept = undefined;
      await assert.rejects(read(made, ROW_42), UnavailableError, 'a failure is given again for a second');
      const { value } = await until(() => read(made, ROW_42), 'the schema is fetched');
      assert.deepEqual(plain(value), { struct: { a: 42 } });
    });

    it('is tried max.retries times', async () => {
      registry.add('t-value', { schema: ROW });
      let failures = 2;
      registry.intercept = (request) =>
        request.includes('/schemas/ids/1?') && failures-- > 0 ? { status: 500, body: {} } : undefined;
      const made = converter({ 'max.retries': '2', 'retries.wait.ms': '5' });
      assert.deepEqual(plain((await read(made, ROW_42)).value), { struct: { a: 42 } });
    });

    it('is passed over for the next URL', async () => {
      registry.add('t-value', { schema: ROW });
      const gone = await RegistryStub.start();
      const { url } = gone;
      await gone.stop();
      const made = converter({ 'schema.registry.url': `${url},${registry.url}` });
      assert.deepEqual(plain((await read(made, ROW_42)).value), { struct: { a: 42 } });
    });

    it('fails the task if its port is closed or used by another service', async () => {
      registry.intercept = () => ({ status: 404, body: '<html>not here</html>' });
      await assert.rejects(
        read(converter(), ROW_42),
        isUnavailable(/HTTP 404, which is not the response of a schema registry/),
      );
      registry.intercept = () => ({ status: 302, body: '' });
      await assert.rejects(read(converter(), ROW_42), isUnavailable(/HTTP 302/));
      registry.intercept = () => ({ status: 200, body: '<html>hello</html>' });
      await assert.rejects(read(converter(), ROW_42), isUnavailable(/not JSON/));
      const made = converter();
      await registry.stop();
      await assert.rejects(read(made, ROW_42), isUnavailable(/ECONNREFUSED/));
    });

    it('causes a timeout when it does not answer for http.read.timeout.ms', async () => {
      const silent = createServer((socket) => void socket.resume());
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      try {
        const { port } = silent.address() as { port: number };
        const made = converter({
          'schema.registry.url': `http://127.0.0.1:${String(port)}`,
          'http.read.timeout.ms': '50',
        });
        await assert.rejects(read(made, ROW_42), isUnavailable(/no answer within 50 ms/));
        const closing = converter({ 'schema.registry.url': `http://127.0.0.1:${String(port)}` });
        const waiting = read(closing, ROW_42);
        closing.close?.();
        await assert.rejects(waiting, { name: 'AbortError' });
      } finally {
        await new Promise((resolve) => silent.close(resolve));
      }
    });
  });

  describe('credentials', () => {
    const authorization = () => registry.headers.at(-1)?.authorization;
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

    it('come from the URL, from the user info, from SASL or are a token', async () => {
      registry.add('t-value', { schema: ROW });
      const sent = async (config: Record<string, string>) => {
        await read(converter(config), ROW_42);
        return authorization();
      };
      const withUser = registry.url.replace('http://', 'http://ann:s%3Ac@');
      assert.equal(await sent({}), undefined);
      assert.equal(await sent({ 'schema.registry.url': withUser }), basic('ann:s:c'));
      const info = { 'basic.auth.credentials.source': 'USER_INFO', 'basic.auth.user.info': 'bob:pw:1' };
      assert.equal(await sent(info), basic('bob:pw:1'));
      const old = { 'basic.auth.credentials.source': 'USER_INFO', 'schema.registry.basic.auth.user.info': 'eve:pw' };
      assert.equal(await sent(old), basic('eve:pw'));
      const jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";';
      assert.equal(
        await sent({ 'basic.auth.credentials.source': 'SASL_INHERIT', 'sasl.jaas.config': jaas }),
        basic('u:p'),
      );
      const token = { 'bearer.auth.credentials.source': 'STATIC_TOKEN', 'bearer.auth.token': 'abc' };
      assert.equal(await sent(token), 'Bearer abc');
    });

    it('that are rejected fail the task, and are in no error message', async () => {
      registry.intercept = () => ({ status: 401, body: { error_code: 401, message: 'Unauthorized' } });
      const url = registry.url.replace('http://', 'http://ann:hush-hush@');
      for (const config of [
        { 'schema.registry.url': url },
        { 'basic.auth.credentials.source': 'USER_INFO', 'basic.auth.user.info': 'ann:hush-hush' },
      ] as Record<string, string>[]) {
        await assert.rejects(read(converter({ ...config, 'max.retries': '5' }), ROW_42), (error: unknown) => {
          assert.ok(error instanceof UnavailableError);
          assert.match(error.message, /refuses the credentials \(HTTP 401\)/);
          const encoded = Buffer.from('ann:hush-hush').toString('base64');
          const said = javaTrace(error);
          assert.ok(!said.includes('hush') && !said.includes(encoded), said);
          return true;
        });
      }
      assert.equal(registry.requests.length, 2, 'credentials are not tried again');
    });
  });

  describe('settings', () => {
    const refusal = (config: Record<string, string>, plugin = avroConverterPlugin): string => {
      try {
        plugin.create(config, false);
      } catch (error) {
        assert.ok(error instanceof SluiceError, String(error));
        assert.equal(error.scope, 'caller');
        return error.message;
      }
      return assert.fail('the settings were taken');
    };

    it('that are wrong are refused with their name, without what they hold', () => {
      for (const plugin of [avroConverterPlugin, protobufConverterPlugin, jsonSchemaConverterPlugin]) {
        assert.match(refusal({}, plugin), /Missing required configuration "schema.registry.url"/);
        const url = { 'schema.registry.url': 'http://h:8081' };
        assert.match(refusal({ ...url, 'schemas.cache.config': '0' }, plugin), /schemas.cache.config/);
        assert.match(refusal({ ...url, 'auto.register.schemas': 'maybe' }, plugin), /auto.register.schemas/);
        assert.match(
          refusal({ ...url, 'value.subject.name.strategy': 'com.acme.Mine' }, plugin),
          /com.acme.Mine.*value.subject.name.strategy.*TopicNameStrategy/,
        );
      }
      const secret = refusal({ 'schema.registry.url': 'ann:hush@host:1' });
      assert.match(secret, /schema.registry.url/);
      assert.doesNotMatch(secret, /hush/);
      const url = { 'schema.registry.url': 'http://h:8081' };
      assert.match(
        refusal({ ...url, 'basic.auth.credentials.source': 'USER_INFO' }),
        /basic.auth.user.info must be given/,
      );
      assert.match(refusal({ ...url, 'basic.auth.credentials.source': 'KEYTAB' }), /basic.auth.credentials.source/);
    });

    it('show no password of a URL in validation', () => {
      const config = { 'schema.registry.url': 'http://ann:hu@sh@h1:1,https://bob:hush@h2/x', 'converter.type': 'key' };
      const [url] = validateOptions(avroConverterPlugin.options, config).filter(
        ({ name }) => name === 'schema.registry.url',
      );
      assert.equal(optionText(url?.value, 'LIST'), 'http://ann:[hidden]@h1:1,https://bob:[hidden]@h2/x');
    });

    it('have packages that they need named in one line, where these are missing', () => {
      assert.throws(() => loadOptional('no-such-package-at-all', 'AvroConverter'), {
        name: 'ConfigError',
        message:
          'AvroConverter needs the optional package "no-such-package-at-all", which could not be loaded ' +
          "(Cannot find module 'no-such-package-at-all'): npm install no-such-package-at-all",
      });
    });

    it('have the class names of Confluent', () => {
      assert.deepEqual(
        [avroConverterPlugin, protobufConverterPlugin, jsonSchemaConverterPlugin].map(({ className }) => className),
        [
          'io.confluent.connect.avro.AvroConverter',
          'io.confluent.connect.protobuf.ProtobufConverter',
          'io.confluent.connect.json.JsonSchemaConverter',
        ],
      );
    });
  });

  it('keep the three formats apart by the type that they register', async () => {
    const value = new Struct(rowSchema, [1]);
    const bytes: string[] = [];
    for (const [index, plugin] of [avroConverterPlugin, protobufConverterPlugin, jsonSchemaConverterPlugin].entries()) {
      bytes.push(await write(converter({}, plugin), rowSchema, value, `t${String(index)}`));
    }
    // Avro: zigzag 1. Protobuf: message index 0, field 1 as a varint, 1. JSON: its text.
    assert.deepEqual(bytes, [
      '000000000102',
      '0000000002000801',
      `0000000003${Buffer.from('{"a":1}').toString('hex')}`,
    ]);
    const types = registry.bodies
      .filter((body) => body !== '')
      .map((body) => JSON.parse(body) as { schemaType?: string });
    assert.deepEqual(
      types.map(({ schemaType }) => schemaType),
      [undefined, 'PROTOBUF', 'JSON'],
    );
  });
});
