import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import type { ConsumedRecord, KafkaClient } from '../../src/kafka/api.ts';
import { sinkConfig } from '../support/connectors.ts';
import { uniqueName } from '../support/services.ts';
import { newTopic, record, sharedClient } from './kafka-fixture.ts';
import { SinkFixture } from './sink-fixture.ts';

const CODECS = ['gzip', 'snappy', 'lz4', 'zstd'] as const;
const RESPONSE_BYTES = [1_000, 70_000, 10_000_000];
/** Records in a batch, in turn. */
const BATCH_RECORDS = [1, 7, 120, 800];
/** Half of it is random, so that responses stay large although they are compressed. */
const VALUE_BYTES = 4_000;
const BATCHES = 16;

/** Values of every size from nothing to 4 kB. The broker compresses them, with Java's codecs. */
function valueOf(number: number): Buffer | null {
  if (number % 97 === 0) return null;
  const size = number % 53 === 0 ? 0 : (number * 211) % VALUE_BYTES;
  return Buffer.concat([randomBytes(size >>> 1), Buffer.alloc(size - (size >>> 1), 'v')]);
}

function digest(values: readonly (Buffer | null)[]): string {
  const hash = createHash('sha256');
  for (const value of values) hash.update(value === null ? 'null' : `${String(value.length)}:`).update(value ?? '');
  return hash.digest('hex');
}

describe('compressed topics (K1)', function () {
  let client: KafkaClient;

  before(async () => (client = await sharedClient()));

  async function written(topic: string): Promise<(Buffer | null)[]> {
    const values: (Buffer | null)[] = [];
    const producer = client.producer({ 'max.request.size': '8388608', 'batch.size': '8388608' });
    for (let batch = 0; batch < BATCHES; batch++) {
      const count = BATCH_RECORDS[batch % BATCH_RECORDS.length] ?? 1;
      const own = Array.from({ length: count }, (_none, index) => valueOf(values.length + index));
      values.push(...own);
      await producer.send(own.map((value) => record(topic, null, { partition: 0, value })));
    }
    await producer.close();
    return values;
  }

  async function readAll(topic: string, count: number, responseBytes: number): Promise<ConsumedRecord[]> {
    const consumer = client.consumer({
      'auto.offset.reset': 'earliest',
      'fetch.max.bytes': String(responseBytes),
      'max.partition.fetch.bytes': String(responseBytes),
    });
    consumer.assign([{ topic, partition: 0 }]);
    const records: ConsumedRecord[] = [];
    while (records.length < count) records.push(...(await consumer.poll(10_000)));
    await consumer.close(1000);
    return records;
  }

  for (const codec of CODECS) {
    it(`are read to their end in responses of any size: ${codec}`, async () => {
      const topic = await newTopic(client, 1, { 'compression.type': codec, 'max.message.bytes': '8388608' });
      const values = await written(topic);
      for (const bytes of RESPONSE_BYTES) {
        const records = await readAll(topic, values.length, bytes);
        assert.equal(records.length, values.length);
        assert.ok(records.every(({ offset }, index) => offset === index));
        assert.equal(digest(records.map(({ value }) => value)), digest(values), `${String(bytes)} bytes a response`);
      }
    });
  }

  describe('in a worker', function () {
    const ROWS = 6_000;
    const json = (id: number): string =>
      JSON.stringify({
        schema: {
          type: 'struct',
          fields: [
            { field: 'id', type: 'int64' },
            { field: 'name', type: 'string' },
          ],
        },
        payload: { id, name: `${'n'.repeat(id % 50)}${String(id)}` },
      });
    let fixture: SinkFixture;

    before(async () => (fixture = await SinkFixture.create('compressed')));
    after(() => fixture.close());

    for (const codec of CODECS) {
      it(`reach the table row by row, while the worker answers previews: ${codec}`, async () => {
        const topic = uniqueName(`compressed-${codec}`).replaceAll('-', '_');
        await fixture.kafka.createTopic(topic, 1, { 'compression.type': codec });
        for (let from = 0; from < ROWS; from += 2_000) {
          await fixture.send(
            topic,
            Array.from({ length: 2_000 }, (_none, index) => json(from + index)),
          );
        }
        const options = {
          'protocol.type': 'struct',
          'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
          'insert.mode': 'upsert',
          'pk.mode': 'record_value',
          'pk.fields': 'id',
          'auto.create': 'true',
        };
        const name = await fixture.start(topic, options);
        const { rest } = fixture.sluice;
        const config = sinkConfig(fixture.db, { topics: topic, ...options });
        const preview = await rest.post<{ records: unknown[] }>('/connector-plugins/DbSink/preview', {
          config,
          topic,
          count: 100,
        });
        assert.equal(preview.body.records.length, 100);
        await fixture.done(name, ROWS);
        assert.deepEqual(
          await fixture.sql.rows(`select count(*), count(distinct id), max(id), sum(length(name)) from ${topic}`),
          [[String(ROWS), String(ROWS), String(ROWS - 1), String(lengths(ROWS))]],
        );
      });
    }
  });
});

function lengths(rows: number): number {
  let sum = 0;
  for (let id = 0; id < rows; id++) sum += (id % 50) + String(id).length;
  return sum;
}
