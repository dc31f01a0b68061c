import assert from 'node:assert/strict';
import type { KafkaClient } from '../../src/kafka/api.ts';
import { uniqueName } from '../support/services.ts';
import { record, sharedClient } from '../integration/kafka-fixture.ts';
import { SinkFixture } from '../integration/sink-fixture.ts';

const MIB = 1024 * 1024;

describe('messages that unpack large (S1, S6)', function () {
  let client: KafkaClient;
  let fixture: SinkFixture;

  before(async () => {
    [client, fixture] = await Promise.all([sharedClient(), SinkFixture.create('large', { 'task.threads': '1' })]);
  });
  after(() => fixture.close());

  /** A batch for each value, which the broker compresses to some 60 kB or less. */
  async function topicOf(codec: string, values: Iterable<Buffer>): Promise<string> {
    const topic = uniqueName('large').replaceAll('-', '_');
    const maxBytes = String(128 * MIB);
    await fixture.kafka.createTopic(topic, 1, { 'compression.type': codec, 'max.message.bytes': maxBytes });
    const producer = client.producer({ 'max.request.size': maxBytes, 'buffer.memory': String(512 * MIB) });
    for (const value of values) await producer.send([record(topic, null, { partition: 0, value })]);
    await producer.close();
    return topic;
  }

  it('leave the worker and the other tasks of the thread their turns', async () => {
    const large = Buffer.alloc(60 * MIB, 'x');
    const topic = await topicOf(
      'gzip',
      Array.from({ length: 8 }, () => large),
    );
    const other = await fixture.topicOf(Array.from({ length: 2000 }, (_none, id) => JSON.stringify({ id })));
    const structs = {
      'protocol.type': 'struct',
      'auto.create': 'true',
      'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
      'value.converter.schemas.enable': 'false',
    };
    const skipping = await fixture.start(topic, { ...structs, 'errors.tolerance': 'all' });
    const storing = await fixture.start(other, { ...structs, 'insert.mode': 'insert' });
    await Promise.all([fixture.done(storing, 2000), fixture.done(skipping, 8)]);
    assert.deepEqual(await fixture.sql.rows(`select count(*) from ${other}`), [['2000']]);
    const { tasks } = await fixture.sluice.rest.status(skipping);
    assert.deepEqual(
      tasks.map(({ state }) => state),
      ['RUNNING'],
    );
  });

  it('are shown to people, and searched, outside the main thread (S1)', async () => {
    const topic = await topicOf(
      'gzip',
      Array.from({ length: 8 }, () => Buffer.alloc(60 * MIB, 'x')),
    );
    const name = await fixture.start(topic, { 'protocol.type': 'json_db', 'errors.tolerance': 'all' });
    const { rest } = fixture.sluice;
    const ask = (query: object): Promise<Response> =>
      fetch(`${rest.url}/ui/connectors/${name}/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(query),
      });
    const questions = [{}, { key: 'no message has this key' }, { offset: 3 }].map(ask);
    let ended = false;
    const answers = Promise.all(questions).finally(() => (ended = true));
    let others = 0;
    while (!ended) {
      assert.equal((await rest.get(`/connectors/${name}/status`)).status, 200);
      others += 1;
    }
    const bodies = await Promise.all((await answers).map((answer) => answer.text()));
    assert.ok(
      bodies.every((body) => body.includes('"messages":[')),
      bodies.map((body) => body.slice(0, 200)).join('\n'),
    );
    assert.ok(others > questions.length, `${String(others)} other requests were answered meanwhile`);
  });
});
