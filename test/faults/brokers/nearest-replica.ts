import assert from 'node:assert/strict';
import { createKafkaClient } from '../../../src/kafka/client/client.ts';
import { Cluster } from '../../../src/kafka/connections/cluster.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { rackOf } from '../../support/broker-cluster.ts';
import { uniqueName } from '../../support/services.ts';
import { useBrokers } from '../../support/shared-brokers.ts';
import { pollUntil, produceNumbers, rebalanceLog, values } from '../../integration/kafka-fixture.ts';

describe('a consumer with client.rack', function () {
  const brokers = useBrokers();
  // eslint-disable-next-line @typescript-eslint/unbound-method -- It is applied to the cluster that it was called on.
  const { callNode } = Cluster.prototype;
  /** The brokers that records were asked of, in turn. */
  const asked: number[] = [];

  before(() => {
    Cluster.prototype.callNode = function <A>(this: Cluster, ...call: Parameters<typeof callNode<A>>): Promise<A> {
      if (call[1] === 'fetch') asked.push(call[0]);
      return callNode.apply<Cluster, typeof call, Promise<A>>(this, call);
    };
  });
  after(() => {
    Cluster.prototype.callNode = callNode;
  });

  it('reads from the replica in its rack, and from the leader when that is unreachable (KIP-392)', async () => {
    const topic = uniqueName('nearest');
    await brokers().createTopic(topic, { replicas: [[1, 2, 3]] });
    const client = createKafkaClient({ 'bootstrap.servers': brokers().bootstrapServers }, silentLogger);
    await produceNumbers(client, topic, { count: 10 });
    const settings = { 'group.id': topic, 'auto.offset.reset': 'earliest', 'client.rack': rackOf(2) };
    const consumer = client.consumer(settings);
    try {
      consumer.subscribe([topic], rebalanceLog());
      const first = await pollUntil(consumer, (got) => got.length >= 10);
      assert.deepEqual(values(first).map(Number), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      assert.deepEqual([asked[0], asked.at(-1)], [1, 2]);
      await brokers().kill(2);
      await produceNumbers(client, topic, { from: 10, count: 10 });
      const second = await pollUntil(consumer, (got) => got.length >= 10, 60_000);
      assert.deepEqual(values(second).map(Number), [10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
      assert.equal(asked.at(-1), 1);
    } finally {
      await consumer.close(5000);
    }
  });
});
