import assert from 'node:assert/strict';
import { SluiceError } from '../../src/errors.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { newTopic, record } from '../integration/kafka-fixture.ts';
import { TransactionsFixture } from '../integration/kafka-transactions-fixture.ts';

describe('a transactional producer', function () {
  let fixture: TransactionsFixture;

  before(async () => (fixture = await TransactionsFixture.create()));
  afterEach(() => fixture.closeProducers());

  it('cannot continue a transaction that took longer than transaction.timeout.ms', async () => {
    const topic = await newTopic(fixture.client);
    const id = uniqueName('txn');
    const producer = await fixture.start(id, { 'transaction.timeout.ms': '500' });
    producer.begin();
    await producer.send([record(topic, 'slow')]);
    // Brokers look for such transactions every 10 s by default.
    await until(async () => (await ended(topic)) > 1, 'the broker has ended it', { timeoutMs: 25_000 });
    await assert.rejects(producer.send([record(topic, 'more')]), /INVALID_PRODUCER_EPOCH|newer producer/);
    await assert.rejects(producer.commit(), (error: unknown) => error instanceof SluiceError);
    assert.deepEqual(await fixture.read(topic, 'read_committed', 0), []);
  });

  async function ended(topic: string): Promise<number> {
    const admin = fixture.client.admin();
    try {
      return (await admin.endOffsets(topic)).reduce((sum, { offset }) => sum + offset, 0);
    } finally {
      await admin.close();
    }
  }
});
