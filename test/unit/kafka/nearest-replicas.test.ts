import assert from 'node:assert/strict';
import type { Cluster } from '../../../src/kafka/connections/cluster.ts';
import { consumerConfig } from '../../../src/kafka/config/consumer-config.ts';
import type { FetchedPartition } from '../../../src/kafka/consumer/fetch-protocol.ts';
import { Fetcher } from '../../../src/kafka/consumer/fetcher.ts';
import { ErrorCode } from '../../../src/kafka/errors/error-codes.ts';
import { BrokerUnreachableError } from '../../../src/kafka/errors/kafka-errors.ts';
import type { TopicMetadata } from '../../../src/kafka/connections/topic-metadata.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { until } from '../../support/until.ts';

const LEADER = 1;
const REPLICA = 2;
const PARTITION = { topic: 't', partition: 0 };

type Answer = Partial<FetchedPartition> | Error;

/** A cluster whose leader returns a preferred replica; the replica returns the given responses in turn. */
class Brokers {
  readonly config = { retryBackoffMs: 1, retryBackoffMaxMs: 2 };
  readonly requested: number[] = [];
  readonly ofReplica: Answer[] = [];

  async callNode(node: number): Promise<unknown> {
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.requested.push(node);
    const answer = node === LEADER ? { preferredReplica: REPLICA } : (this.ofReplica.shift() ?? {});
    if (answer instanceof Error) throw answer;
    const nothing = { errorCode: 0, highWatermark: 5, lastStableOffset: 5, aborted: [], preferredReplica: -1 };
    const partition = { ...PARTITION, ...nothing, records: Buffer.alloc(0), ...answer };
    return { errorCode: 0, clientSideThrottleTime: 0, partitions: [partition], bytes: Buffer.alloc(0) };
  }
}

describe('fetching from the preferred replica', () => {
  let brokers: Brokers;
  let fetcher: Fetcher;

  function begin(maxAge: string): void {
    brokers = new Brokers();
    const metadata = {
      leaderOf: () => LEADER,
      leaderEpochOf: () => 3,
      topicId: () => undefined,
      requestUpdate: () => {
        setTimeout(() => {
          fetcher.wake();
        }, 1);
      },
    };
    const properties = { 'bootstrap.servers': 'x:1', 'client.rack': 'r', 'metadata.max.age.ms': maxAge };
    const cluster: unknown = brokers;
    const config = consumerConfig(properties, silentLogger);
    fetcher = new Fetcher(
      cluster as Cluster,
      metadata as unknown as TopicMetadata,
      config,
      () => undefined,
      silentLogger,
    );
    fetcher.assign([PARTITION]);
    fetcher.get(PARTITION)?.seek(0);
    fetcher.wake();
  }
  afterEach(() => {
    fetcher.stop();
  });

  const turns = (count: number): Promise<unknown> =>
    until(() => brokers.requested.length >= count, `${String(count)} answers`, { everyMs: 2 });

  it('continues for metadata.max.age.ms', async () => {
    begin('60000');
    await turns(5);
    assert.deepEqual(brokers.requested.slice(0, 5), [LEADER, REPLICA, REPLICA, REPLICA, REPLICA]);
  });

  it('returns to the leader after metadata.max.age.ms', async () => {
    begin('20');
    await until(() => brokers.requested.filter((node) => node === LEADER).length >= 2, 'the leader again', {
      everyMs: 2,
    });
    assert.deepEqual(brokers.requested.slice(0, 2), [LEADER, REPLICA]);
  });

  const failures: [string, Answer][] = [
    ['does not answer', new BrokerUnreachableError('connect ECONNREFUSED')],
    ['does not have the offset, which only the leader knows', { errorCode: ErrorCode.offsetOutOfRange }],
    ['has no replica any more', { errorCode: ErrorCode.notLeaderOrFollower }],
  ];
  for (const [what, answer] of failures) {
    it(`returns to the leader if the broker ${what}`, async () => {
      begin('60000');
      brokers.ofReplica.push(answer);
      await turns(4);
      assert.deepEqual(brokers.requested.slice(0, 4), [LEADER, REPLICA, LEADER, REPLICA]);
      assert.equal(fetcher.get(PARTITION)?.needsReset, false);
    });
  }
});
