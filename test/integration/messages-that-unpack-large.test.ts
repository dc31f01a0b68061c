import assert from 'node:assert/strict';
import { until } from '../support/until.ts';
import { LargeMessagesFixture, MIB } from './large-messages-fixture.ts';

describe('messages that unpack large (S1, S6)', function () {
  let fixture: LargeMessagesFixture;

  before(async () => (fixture = await LargeMessagesFixture.create()));
  after(() => fixture.close());

  const row = (id: number, bytes: number): Buffer => Buffer.from(JSON.stringify({ id, text: 'x'.repeat(bytes) }));

  for (const codec of ['gzip', 'snappy', 'lz4', 'zstd']) {
    it(`fail the task that reads a batch above the limit, with its place, and let it stop: ${codec}`, async () => {
      const topic = await fixture.compressedTopicOf(codec, [row(0, 10), row(1, 65 * MIB), row(2, 10)]);
      const name = await fixture.start(topic, { 'protocol.type': 'json_db', 'errors.tolerance': 'all' });
      const trace = await fixture.traceOf(name);
      assert.match(trace, /partition 0, offset 1: the \w+ batch of offsets 1 to 1 cannot be decompressed/);
      await fixture.sluice.rest.put(`/connectors/${name}/stop`);
      await until(async () => (await fixture.sluice.rest.status(name)).tasks.length === 0, 'the task has stopped');
    });
  }
});
