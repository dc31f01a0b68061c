import assert from 'node:assert/strict';
import type { Cluster } from '../../../src/kafka/connections/cluster.ts';
import { LogEndPoller } from '../../../src/kafka/consumer/log-end-poller.ts';
import { PartitionBuffer } from '../../../src/kafka/consumer/partition-buffer.ts';
import type { TopicMetadata } from '../../../src/kafka/connections/topic-metadata.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { until } from '../../support/until.ts';

const INTERVAL_MS = 20;

describe('the log end poller', () => {
  /** Partitions of each request. */
  const requested: number[][] = [];
  let watch: LogEndPoller | undefined;
  let answer: () => Promise<number>;

  beforeEach(() => {
    requested.splice(0);
    answer = () => Promise.resolve(7);
  });
  afterEach(() => watch?.stop());

  /** Polls partitions that node 1 leads. */
  function watching(partitions: readonly PartitionBuffer[]): void {
    const cluster = {
      callNode: async () => {
        requested.push(led.splice(0));
        const offset = await answer();
        const places = requested.at(-1) ?? [];
        return {
          partitions: places.map((partition) => ({ topic: 't', partition, errorCode: 0, offset, leaderEpoch: 0 })),
        };
      },
    } as unknown as Cluster;
    const led: number[] = [];
    const metadata = {
      leaderOf: ({ partition }: { partition: number }) => {
        if (!led.includes(partition)) led.push(partition);
        return 1;
      },
      leaderEpochOf: () => -1,
    } as unknown as TopicMetadata;
    watch = new LogEndPoller(cluster, metadata, () => partitions, silentLogger, INTERVAL_MS);
    watch.start();
    watch.start();
  }

  function positioned(partition: number): PartitionBuffer {
    const buffer = new PartitionBuffer('t', partition);
    buffer.seek(0);
    return buffer;
  }

  it('requests the log end offsets that have not been updated for an interval', async () => {
    const [silent, heard, unpositioned] = [positioned(0), positioned(1), new PartitionBuffer('t', 2)];
    const keepHearing = setInterval(() => heard.updateHighWatermark(3), 1);
    heard.updateHighWatermark(3);
    try {
      watching([silent, heard, unpositioned]);
      await until(() => silent.highWatermark === 7, 'the end is known');
    } finally {
      clearInterval(keepHearing);
    }
    assert.deepEqual([heard.highWatermark, unpositioned.highWatermark], [3, undefined]);
    assert.deepEqual(requested[0], [0]);
  });

  it('retries after a failure and never sends concurrent requests', async () => {
    const silent = positioned(0);
    let running = 0;
    let most = 0;
    answer = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5 * INTERVAL_MS));
      running -= 1;
      if (requested.length < 3) throw new Error('the broker is unreachable');
      return 9;
    };
    watching([silent]);
    await until(() => silent.highWatermark === 9, 'the third answer has the end');
    assert.equal(most, 1);
  });

  it('sends no request if all log end offsets are current, or after it was stopped', async () => {
    const heard = positioned(0);
    heard.updateHighWatermark(3);
    watching([]);
    watch?.stop();
    await new Promise((resolve) => setTimeout(resolve, 3 * INTERVAL_MS));
    assert.deepEqual(requested, []);
  });
});
