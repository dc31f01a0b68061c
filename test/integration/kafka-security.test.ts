import assert from 'node:assert/strict';
import type { KafkaClient } from '../../src/kafka/api.ts';
import { refusalOf } from '../support/refusal.ts';
import { login, MECHANISMS, SecureBroker, trusting } from '../support/secure-broker.ts';
import { newTopic, partitionsOf, pollUntil, produceNumbers } from './kafka-fixture.ts';

/** Shorter than the test runs, so that clients must authenticate again. */
const SESSION_MS = 4_000;

/** A broker with a listener of each kind; every client here is one that a user configures with Java's properties. */
describe('a broker that requires authentication', function () {
  let broker: SecureBroker;

  before(async () => (broker = await SecureBroker.start(SESSION_MS)));
  after(() => broker.discard());

  async function movesRecords(of: KafkaClient): Promise<void> {
    const topic = await newTopic(of, 2);
    await produceNumbers(of, topic, { count: 2_000, partitions: 2 });
    const consumer = of.consumer({ 'auto.offset.reset': 'earliest' });
    consumer.assign(partitionsOf(topic, 2));
    try {
      const records = await pollUntil(consumer, (got) => got.length >= 2_000);
      assert.equal(new Set(records.map(({ value }) => value?.toString())).size, 2_000);
    } finally {
      await consumer.close(1000);
    }
  }

  for (const mechanism of MECHANISMS) {
    it(`accepts and returns records by ${mechanism}, with TLS and without`, async () => {
      await movesRecords(broker.client('SASL', { 'security.protocol': 'SASL_PLAINTEXT', ...login(mechanism) }));
      await movesRecords(broker.client('BOTH', broker.overTls(mechanism)));
    });
  }

  it('accepts and returns records over TLS alone', async () => {
    await movesRecords(broker.client('TLS', { 'security.protocol': 'SSL', ...trusting(broker.authority) }));
  });

  it('is not trusted without its certificate, and refuses a wrong password without retries', async () => {
    const untrusted = await refusalOf(broker.client('TLS', { 'security.protocol': 'SSL' }), 5_000);
    assert.match(untrusted, /TLS handshake failed: .*(?:self-signed certificate|unable to verify)/);
    for (const mechanism of ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512']) {
      const wrong = login(mechanism, 'not-this-password');
      const refused = await refusalOf(
        broker.client('SASL', { 'security.protocol': 'SASL_PLAINTEXT', ...wrong }),
        5_000,
      );
      assert.match(refused, /^Broker 127\.0\.0\.1:\d+: .*[Aa]uthentication failed/, mechanism);
      assert.ok(!refused.includes('not-this-password'), refused);
    }
  });
});
