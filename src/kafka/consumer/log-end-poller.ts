import type { Logger } from '../../observe/logger.ts';
import type { Cluster } from '../connections/cluster.ts';
import type { TopicMetadata } from '../connections/topic-metadata.ts';
import { logEndOffsets } from './log-end-offsets.ts';
import type { PartitionBuffer } from './partition-buffer.ts';

const EVERY_MS = 5000;

/**
 * Polls the high watermarks of partitions that are currently not fetched (paused, or with full buffers), so that their lag
 * stays up to date.
 */
export class LogEndPoller {
  readonly #cluster: Cluster;
  readonly #metadata: TopicMetadata;
  readonly #partitions: () => Iterable<PartitionBuffer>;
  readonly #logger: Logger;
  readonly #intervalMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isRequesting = false;

  constructor(
    cluster: Cluster,
    metadata: TopicMetadata,
    partitions: () => Iterable<PartitionBuffer>,
    logger: Logger,
    intervalMs = EVERY_MS,
  ) {
    this.#cluster = cluster;
    this.#metadata = metadata;
    this.#partitions = partitions;
    this.#logger = logger;
    this.#intervalMs = intervalMs;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.#pollOnce(), this.#intervalMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #pollOnce(): Promise<void> {
    const before = performance.now() - this.#intervalMs;
    const old = [...this.#partitions()].filter(
      ({ position, highWatermarkUpdatedAt }) => position !== undefined && highWatermarkUpdatedAt < before,
    );
    if (old.length === 0 || this.#isRequesting) return;
    this.#isRequesting = true;
    try {
      const ends = await logEndOffsets(old, this.#metadata, this.#cluster, false);
      for (const { topic, partition, offset } of ends) {
        old.find((each) => each.topic === topic && each.partition === partition)?.updateHighWatermark(offset);
      }
    } catch (error) {
      this.#logger.debug({ err: error }, 'Failed to fetch the log end offsets of partitions that are not being read');
    } finally {
      this.#isRequesting = false;
    }
  }
}
