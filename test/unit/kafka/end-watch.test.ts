import assert from 'node:assert/strict';
import type { Cluster } from '../../../src/kafka/connections/cluster.ts';
import { EndWatch } from '../../../src/kafka/consumer/end-watch.ts';
import { PartitionBuffer } from '../../../src/kafka/consumer/partition-buffer.ts';
import type { TopicMetadata } from '../../../src/kafka/connections/topic-metadata.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { until } from '../../support/until.ts';

const INTERVAL_MS = 20;

describe('the watch of the ends of partitions that are not fetched', () => {
  /** Partitions of each request. */
  const asked: number[][] = [];
  let watch: EndWatch | undefined;
  let answer: () => Promise<number>;

  beforeEach(() => {
    asked.splice(0);
    answer = () => Promise.resolve(7);
  });
  afterEach(() => watch?.stop());

  /** Watches partitions of one leader, which are led by node 1. */
  function watching(partitions: readonly PartitionBuffer[]): void {
    const cluster = {
      callNode: async () => {
        asked.push(led.splice(0));
        const offset = await answer();
        const places = asked.at(-1) ?? [];
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
    watch = new EndWatch(cluster, metadata, () => partitions, silentLogger, INTERVAL_MS);
    watch.start();
    watch.start();
  }

  function positioned(partition: number): PartitionBuffer {
    const buffer = new PartitionBuffer('t', partition);
    buffer.positionAt(0);
    return buffer;
  }

  it('asks for those whose end nobody has said for an interval, and notes it', async () => {
    const [silent, heard, unpositioned] = [positioned(0), positioned(1), new PartitionBuffer('t', 2)];
    const keepHearing = setInterval(() => heard.endsAt(3), 1);
    heard.endsAt(3);
    try {
      watching([silent, heard, unpositioned]);
      await until(() => silent.highWatermark === 7, 'the end is known');
    } finally {
      clearInterval(keepHearing);
    }
    assert.deepEqual([heard.highWatermark, unpositioned.highWatermark], [3, undefined]);
    assert.deepEqual(asked[0], [0]);
  });

  it('asks again after a failure, and never twice at the same time', async () => {
    const silent = positioned(0);
    let running = 0;
    let most = 0;
    answer = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5 * INTERVAL_MS));
      running -= 1;
      if (asked.length < 3) throw new Error('the broker is away');
      return 9;
    };
    watching([silent]);
    await until(() => silent.highWatermark === 9, 'the third answer has the end');
    assert.equal(most, 1);
  });

  it('asks nobody where all ends are known, nor after it was stopped', async () => {
    const heard = positioned(0);
    heard.endsAt(3);
    watching([]);
    watch?.stop();
    await new Promise((resolve) => setTimeout(resolve, 3 * INTERVAL_MS));
    assert.deepEqual(asked, []);
  });
});
