import assert from 'node:assert/strict';
import { LargeMessagesFixture, MIB } from '../integration/large-messages-fixture.ts';

describe('messages that unpack large (S1, S6)', function () {
  let fixture: LargeMessagesFixture;

  before(async () => (fixture = await LargeMessagesFixture.create()));
  after(() => fixture.close());

  it('do not block the worker and the other tasks of the thread', async () => {
    const large = Buffer.alloc(60 * MIB, 'x');
    const topic = await fixture.compressedTopicOf(
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

  it('are displayed and searched outside the main thread (S1)', async () => {
    const topic = await fixture.compressedTopicOf(
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

  for (const codec of ['gzip', 'lz4', 'zstd']) {
    it(`fail the task that reads a batch above the limit, with its place, and let it stop: ${codec}`, () =>
      fixture.failsAboveLimit(codec));
  }
});
