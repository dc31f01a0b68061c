import { SluiceError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { PartitionPosition } from '../api.ts';
import type { Cluster } from '../cluster.ts';
import type { ConsumerConfig } from '../config/consumer-config.ts';
import type { Fetcher } from './fetcher.ts';
import { OffsetTime, fetchCommitted, listOffsets } from './offsets.ts';
import type { PartitionBuffer } from './partition-buffer.ts';
import type { TopicMetadata } from '../topic-metadata.ts';

/** Where reading begins: at the committed offset, else (or when that offset is gone) where `auto.offset.reset` says. */
export class StartPositions {
  readonly #cluster: Cluster;
  readonly #metadata: TopicMetadata;
  readonly #fetcher: Fetcher;
  readonly #config: ConsumerConfig;
  readonly #logger: Logger;

  constructor(cluster: Cluster, metadata: TopicMetadata, fetcher: Fetcher, config: ConsumerConfig, logger: Logger) {
    this.#cluster = cluster;
    this.#metadata = metadata;
    this.#fetcher = fetcher;
    this.#config = config;
    this.#logger = logger;
  }

  /** True when some partition has nowhere to read from. */
  get needed(): boolean {
    for (const buffer of this.#fetcher.partitions) if (isLost(buffer)) return true;
    return false;
  }

  /** One attempt at a position for every partition without one. */
  async resolve(): Promise<void> {
    const fresh = [...this.#fetcher.partitions].filter((buffer) => buffer.position === undefined);
    const { groupId } = this.#config;
    if (groupId !== undefined && fresh.length > 0) {
      this.#apply(await fetchCommitted(this.#cluster, groupId, fresh));
    }
    const lost = [...this.#fetcher.partitions].filter(isLost);
    if (lost.length === 0) return;
    this.#apply(await this.#resetPositions(lost));
    this.#fetcher.wake();
  }

  async #resetPositions(lost: readonly PartitionBuffer[]): Promise<readonly PartitionPosition[]> {
    const { offsetReset, isolation } = this.#config;
    if (offsetReset === 'none') throw noPosition(lost);
    const time = OffsetTime[offsetReset];
    const leaderOf = this.#metadata.leaderOf.bind(this.#metadata);
    let positions: readonly PartitionPosition[];
    try {
      positions = await listOffsets(this.#cluster, leaderOf, lost, time, isolation === 'read_committed');
    } catch (error) {
      this.#metadata.requestUpdate();
      throw error;
    }
    for (const { topic, partition, offset } of positions) {
      const from = lost.find((buffer) => buffer.topic === topic && buffer.partition === partition)?.position;
      if (from === undefined) this.#logger.debug({ topic, partition, offset }, `starting at the ${offsetReset} offset`);
      else
        this.#logger.warn({ topic, partition, from, offset }, 'the offset is not there any more, position was reset');
    }
    return positions;
  }

  /** Whatever was positioned meanwhile by `seek` stays where it is. */
  #apply(positions: readonly PartitionPosition[]): void {
    for (const position of positions) {
      const buffer = this.#fetcher.get(position);
      if (buffer !== undefined && isLost(buffer)) buffer.positionAt(position.offset);
    }
    this.#fetcher.wake();
  }
}

function isLost(buffer: PartitionBuffer): boolean {
  return buffer.position === undefined || buffer.needsReset;
}

function noPosition(lost: readonly PartitionBuffer[]): SluiceError {
  const names = lost.map(({ topic, partition }) => `${topic}-${String(partition)}`).join(', ');
  const gone = lost.filter(({ position }) => position !== undefined);
  if (gone.length === 0) {
    return new SluiceError(`Undefined offset with no reset policy for partitions: [${names}]`, {
      javaName: 'org.apache.kafka.clients.consumer.NoOffsetForPartitionException',
    });
  }
  return new SluiceError(`Offsets out of range with no configured reset policy for partitions: [${names}]`, {
    javaName: 'org.apache.kafka.clients.consumer.OffsetOutOfRangeException',
  });
}
