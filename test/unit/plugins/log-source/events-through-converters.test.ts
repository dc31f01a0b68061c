import assert from 'node:assert/strict';
import type { Converter } from '../../../../src/connect/api.ts';
import { avroConverterPlugin } from '../../../../src/converters/avro/avro-converter.ts';
import { jsonConverterPlugins } from '../../../../src/converters/json-converter.ts';
import { jsonSchemaConverterPlugin } from '../../../../src/converters/json-schema/json-schema-converter.ts';
import { protobufConverterPlugin } from '../../../../src/converters/protobuf/protobuf-converter.ts';
import { Schema } from '../../../../src/data/schema.ts';
import { Struct, type ConnectValue } from '../../../../src/data/value.ts';
import { partsOf } from '../../../../plugins/database/formats/format.ts';
import { RegistryStub } from '../../../support/registry-stub.ts';
import { groupsOf, rowsOf } from '../database/formats/rows-of.ts';
import { structDecoder } from '../database/formats/struct-records.ts';
import { event, product, recordOf } from './transforms/change-events.ts';

const TOPIC = 'products';
const KEY = Schema.struct([{ name: 'id', schema: new Schema('int64') }], { name: 'shop.public.products.Key' });

describe('events of the log source in the struct sink', () => {
  let registry: RegistryStub;

  before(async () => {
    registry = await RegistryStub.start();
  });
  after(() => registry.stop());

  async function passed(converter: Converter, schema: Schema, value: ConnectValue) {
    await converter.prepareFromConnectData?.(TOPIC, schema, value);
    const bytes = converter.fromConnectData(TOPIC, schema, value);
    await converter.prepareToConnectData?.(TOPIC, bytes);
    return converter.toConnectData(TOPIC, bytes);
  }

  const [json] = jsonConverterPlugins(false);
  const plugins = {
    'JsonConverter with schemas': [json, { 'schemas.enable': 'true' }],
    'JsonConverter without schemas': [json, { 'schemas.enable': 'false' }],
    AvroConverter: [avroConverterPlugin, {}],
    ProtobufConverter: [protobufConverterPlugin, {}],
    JsonSchemaConverter: [jsonSchemaConverterPlugin, {}],
  } as const;

  for (const [title, [plugin, options]] of Object.entries(plugins)) {
    it(`are the same rows with ${title}`, async () => {
      const config = { 'schema.registry.url': registry.url, ...options };
      const [keys, values] = [plugin.create(config, true), plugin.create(config, false)];
      const decoder = structDecoder({
        keyMode: 'record_key',
        deletes: true,
        truncates: true,
        tableNameFormat: '${source.schema}.${source.table}',
      });
      const old = product(2n, 'old', 0.5);
      const events: readonly (readonly [id: bigint | null, event: Struct])[] = [
        [1n, event('r', { after: product(1n, 'pump', 1.5) })],
        [2n, event('u', { before: old, after: product(2n, '__debezium_unavailable_value', 2.5) })],
        [2n, event('d', { before: old })],
        [null, event('t')],
      ];
      try {
        for (const [offset, [id, value]] of events.entries()) {
          const key = id === null ? { schema: null, value: null } : await passed(keys, KEY, new Struct(KEY, [id]));
          const read = await passed(values, value.schema, value);
          const record = recordOf(read.value, { offset, keySchema: key.schema, key: key.value });
          const origin = { kind: 'record', topic: TOPIC, partition: 0, offset } as const;
          decoder.add({ ...record, valueSchema: read.schema }, origin);
        }
      } finally {
        keys.close?.();
        values.close?.();
      }
      const decoded = decoder.take();
      assert.deepEqual(decoded.faults, []);
      const [rows, truncation] = partsOf(decoded);
      assert.ok(rows?.kind === 'rows' && truncation?.kind === 'statement');
      const { batch } = rows.rows;
      assert.deepEqual(batch.table, { schema: 'public', name: 'products' });
      assert.deepEqual(groupsOf(batch), ['store id,name,price', 'store id,price', 'delete id']);
      assert.deepEqual(rowsOf(batch).slice(0, 2), [
        { id: 1, name: 'pump', price: 1.5 },
        { id: 2, name: null, price: 2.5 },
      ]);
      assert.equal(truncation.statement.sql, 'TRUNCATE TABLE "public"."products"');
    });
  }
});
