import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Converter, ConverterPlugin } from '../../src/connect/api.ts';
import { avroConverterPlugin } from '../../src/converters/avro/avro-converter.ts';
import { jsonSchemaConverterPlugin } from '../../src/converters/json-schema/json-schema-converter.ts';
import { protobufConverterPlugin } from '../../src/converters/protobuf/protobuf-converter.ts';
import { LogicalName, Schema } from '../../src/data/schema.ts';
import { Decimal, Struct, type ConnectValue } from '../../src/data/value.ts';
import { Apicurio, findApicurio } from '../support/apicurio.ts';
import { sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic, type TestMessage } from '../support/kafka-traffic.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const PASSWORD = 'hush-hush-41';
const AUTHORIZATION = `Basic ${Buffer.from(`ann:${PASSWORD}`).toString('base64')}`;

/** A proxy of a registry that rejects requests without credentials, and can be made unreachable. */
class Gate {
  away = false;
  readonly #server = createServer((request, response) => {
    this.#serve(request, response);
  });
  readonly #target: string;

  constructor(target: string) {
    this.#target = target;
  }

  async open(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    if (this.away || request.headers.authorization !== AUTHORIZATION) {
      request.resume();
      response.writeHead(this.away ? 503 : 401).end();
      return;
    }
    const { method = 'GET', url = '', headers } = request;
    const onward = forward(`${this.#target}${url}`, { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.writeHead(502).end());
    request.pipe(onward);
  }
}

interface PreviewedRecord {
  readonly rows?: readonly { readonly operation: string }[];
  readonly faults: readonly unknown[];
}

const keySchema = Schema.struct([{ name: 'id', schema: new Schema('int64') }], { name: 'com.acme.Key' });
const amount = new Schema('bytes', { name: LogicalName.decimal, version: 1, parameters: new Map([['scale', '2']]) });
const FIELDS = [
  { name: 'id', schema: new Schema('int64') },
  { name: 'name', schema: new Schema('string', { optional: true }) },
  { name: 'ratio', schema: new Schema('float64') },
  { name: 'ok', schema: new Schema('boolean') },
  { name: 'amount', schema: amount },
  { name: 'at', schema: new Schema('int64', { name: LogicalName.timestamp, version: 1 }) },
  { name: 'day', schema: new Schema('int32', { name: LogicalName.date, version: 1 }) },
];
const rowSchema = Schema.struct(FIELDS, { name: 'com.acme.Row' });
const widerSchema = Schema.struct([...FIELDS, { name: 'note', schema: new Schema('string', { optional: true }) }], {
  name: 'com.acme.Row',
});
const AT = new Date('2026-01-02T03:04:05.678Z');

function row(schema: Schema, id: number, name: string | null, ...more: readonly ConnectValue[]): Struct {
  const day = new Date('2026-03-04');
  return new Struct(schema, [BigInt(id), name, id / 4, true, new Decimal(BigInt(100 * id + 25), 2), AT, day, ...more]);
}

describe('a schema registry', function () {
  let apicurio: Apicurio | undefined;
  let gate: Gate | undefined;
  let url: string;
  let sluice: WorkerProcess | undefined;
  let db: TestDatabase;
  let sql: SqlClient | undefined;
  let kafka: KafkaTraffic;

  before(async function () {
    // The first run fetches 159 MB.
    this.timeout(600_000);
    const found = await findApicurio();
    if (typeof found === 'string') {
      console.log(`      skipped: no schema registry to work with, ${found}`);
      return this.skip();
    }
    apicurio = await Apicurio.start(found);
    gate = new Gate(apicurio.url);
    url = await gate.open();
    [sluice, db, kafka] = await Promise.all([WorkerProcess.start(), database('registry'), KafkaTraffic.shared()]);
    sql = new SqlClient(db);
  });

  after(async () => {
    await sluice?.discard();
    await sql?.close();
    gate?.close();
    await apicurio?.discard();
  });

  const login = (): Record<string, string> => ({
    'schema.registry.url': url,
    'basic.auth.credentials.source': 'USER_INFO',
    'basic.auth.user.info': `ann:${PASSWORD}`,
  });

  /** Settings of a connector for its converters. */
  function converterConfig(className: string, more: Record<string, string> = {}): Record<string, string> {
    const entries = Object.entries({ ...login(), ...more });
    return Object.fromEntries(
      ['key', 'value'].flatMap((kind) => [
        [`${kind}.converter`, className],
        ...entries.map(([name, value]) => [`${kind}.converter.${name}`, value]),
      ]),
    ) as Record<string, string>;
  }

  async function bytesOf(made: Converter, topic: string, schema: Schema, value: ConnectValue): Promise<Uint8Array> {
    await made.prepareFromConnectData?.(topic, schema, value);
    const bytes = made.fromConnectData(topic, schema, value);
    assert.ok(bytes);
    return bytes;
  }

  /** Writes records as a source would: a row and a new form of it, a deletion, a row of a newer schema. */
  async function messages(plugin: ConverterPlugin, topic: string): Promise<TestMessage[]> {
    const [keys, values] = [plugin.create(login(), true), plugin.create(login(), false)];
    const key = (id: bigint) => bytesOf(keys, topic, keySchema, new Struct(keySchema, [id]));
    const list: TestMessage[] = [
      { key: await key(1n), value: await bytesOf(values, topic, rowSchema, row(rowSchema, 1, 'a')) },
      { key: await key(2n), value: await bytesOf(values, topic, rowSchema, row(rowSchema, 2, 'b')) },
      { key: await key(1n), value: await bytesOf(values, topic, rowSchema, row(rowSchema, 1, null)) },
      { key: await key(2n), value: null },
      { key: await key(3n), value: await bytesOf(values, topic, widerSchema, row(widerSchema, 3, 'ä', 'new')) },
    ];
    keys.close?.();
    values.close?.();
    return list;
  }

  const upserts = {
    'protocol.type': 'struct',
    'insert.mode': 'upsert',
    'pk.mode': 'record_key',
    'delete.enabled': 'true',
    'auto.create': 'true',
    'auto.evolve': 'add',
  };

  const untilRows = (query: string, rows: unknown): Promise<unknown> =>
    until(
      async () => JSON.stringify(await sql?.rows(query)) === JSON.stringify(rows),
      `${query} gives ${JSON.stringify(rows)}`,
      { timeoutMs: 60_000 },
    );

  for (const plugin of [avroConverterPlugin, protobufConverterPlugin, jsonSchemaConverterPlugin]) {
    const name = plugin.className.slice(plugin.className.lastIndexOf('.') + 1);

    it(`keeps the schemas of ${name}: a sink makes rows of its keys, values, tombstones and newer schemas`, async () => {
      const topic = uniqueName(name.toLowerCase()).replaceAll('-', '_');
      await kafka.createTopic(topic);
      await kafka.produce(topic, await messages(plugin, topic));
      const config = { ...upserts, topics: topic, ...converterConfig(plugin.className) };
      await sluice?.rest.create(uniqueName('registry-sink'), sinkConfig(db, config));
      // Protobuf has no null for a text, as in Java, unless it is configured to have one.
      const none = plugin === protobufConverterPlugin ? '' : null;
      const preview = await sluice?.rest.post<{ records: PreviewedRecord[] }>('/connector-plugins/DbSink/preview', {
        config: sinkConfig(db, config),
        topic,
        count: 5,
      });
      assert.deepEqual(
        preview?.body.records.map(({ rows, faults }) => [rows?.[0]?.operation, faults.length]),
        ['store', 'store', 'store', 'delete', 'store'].map((operation) => [operation, 0]),
      );
      await untilRows(
        `select id, name, ratio, ok, amount, (extract(epoch from at) * 1000)::bigint, day, note from ${topic} order by id`,
        [
          ['1', none, '0.25', 't', '1.25', String(AT.getTime()), '2026-03-04', null],
          ['3', 'ä', '0.75', 't', '3.25', String(AT.getTime()), '2026-03-04', 'new'],
        ],
      );
    });
  }

  it('that is unreachable fails the task and makes no dead letters; an unknown schema makes one, and so does rubbish', async () => {
    assert.ok(sluice !== undefined && gate !== undefined);
    const [topic, letters] = [uniqueName('avro').replaceAll('-', '_'), uniqueName('letters')];
    await kafka.createTopic(topic);
    await kafka.createTopic(letters);
    const rubbish: TestMessage[] = [
      { value: 'rubbish' },
      { value: Buffer.from('00000f423f02', 'hex') },
      { value: Buffer.from('0000000001', 'hex') },
    ];
    await kafka.produce(topic, [...rubbish, ...(await messages(avroConverterPlugin, topic))]);
    const name = uniqueName('registry-away');
    gate.away = true;
    await sluice.rest.create(
      name,
      sinkConfig(db, {
        ...upserts,
        topics: topic,
        ...converterConfig(avroConverterPlugin.className, { 'max.retries': '0' }),
        // It is restarted below, once.
        'restart.policy': 'never',
        'errors.tolerance': 'all',
        'errors.log.enable': 'true',
        'errors.log.include.messages': 'true',
        'errors.deadletterqueue.topic.name': letters,
        'errors.deadletterqueue.context.headers.enable': 'true',
      }),
    );
    const failed = await until(
      async () => (await sluice?.rest.status(name))?.tasks.find(({ state }) => state === 'FAILED'),
      'the task fails',
      { timeoutMs: 60_000 },
    );
    assert.match(failed.trace ?? '', /The request GET .* to the schema registry at http.* failed: .*503/);
    const reasons = async () =>
      (await kafka.all(letters)).map(({ headers }) =>
        String(headers.find(({ key }) => key === '__connect.errors.exception.message')?.value),
      );
    assert.ok((await reasons()).every((reason) => reason.includes('Unknown magic byte!')));
    gate.away = false;
    await sluice.rest.post(`/connectors/${name}/restart?includeTasks=true&onlyFailed=true`);
    await untilRows(`select id from ${topic} order by id`, [['1'], ['3']]);
    const said = await until(async () => {
      const all = await reasons();
      return all.length >= 3 ? all : undefined;
    }, 'three dead letters');
    assert.match(said.join('\n'), /Unknown magic byte!/);
    assert.match(said.join('\n'), /the registry says: .*error code: 40403 \(schema id 999999\)/);
  });

  it('has the schemas of sources, and its password is in no answer about validation, no status and no log', async () => {
    assert.ok(sluice !== undefined);
    const name = uniqueName('registry-file');
    const topic = uniqueName('lines');
    const config = {
      'connector.class': 'FileStreamSource',
      file: new URL('../../LICENSE', import.meta.url).pathname,
      topic,
      'topic.creation.default.partitions': '1',
      'topic.creation.default.replication.factor': '1',
      ...converterConfig(avroConverterPlugin.className),
    };
    await sluice.rest.create(name, config);
    const [record] = await kafka.read(topic, ({ length }) => length > 0);
    const reader = avroConverterPlugin.create(login(), false);
    await reader.prepareToConnectData?.(topic, record?.value ?? null);
    const { schema, value } = reader.toConnectData(topic, record?.value ?? null);
    reader.close?.();
    assert.deepEqual([schema?.type, typeof value], ['string', 'string']);

    const wrong = { name, ...config, 'value.converter.schemas.cache.config': 'many' };
    const { body } = await sluice.rest.put<{ configs: { value: { name: string; errors: string[] } }[] }>(
      '/connector-plugins/FileStreamSource/config/validate',
      { ...wrong, 'key.converter.schema.registry.url': url.replace('//', `//ann:${PASSWORD}@`) },
    );
    const errors = body.configs.filter(({ value: { errors: each } }) => each.length > 0);
    assert.deepEqual(
      errors.map(({ value: { name: option } }) => option),
      ['value.converter.schemas.cache.config'],
    );
    const status = await sluice.rest.get(`/connectors/${name}/status`);
    for (const text of [JSON.stringify(body), JSON.stringify(status.body), sluice.log]) {
      assert.ok(!text.includes(PASSWORD), text.slice(Math.max(0, text.indexOf(PASSWORD) - 300)));
    }
  });
});
