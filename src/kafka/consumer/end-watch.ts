import type { Logger } from '../../observe/logger.ts';
import type { Cluster } from '../connections/cluster.ts';
import type { TopicMetadata } from '../connections/topic-metadata.ts';
import { leadersOf } from './leaders.ts';
import { listOffsets, OffsetTime } from './offsets.ts';
import type { PartitionBuffer } from './partition-buffer.ts';

const EVERY_MS = 5000;

/** Asks for the ends of partitions that are not fetched for now (paused, or buffered ahead), so that their lag keeps growing. */
export class EndWatch {
  readonly #cluster: Cluster;
  readonly #metadata: TopicMetadata;
  readonly #partitions: () => Iterable<PartitionBuffer>;
  readonly #logger: Logger;
  readonly #intervalMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;

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
    this.#timer ??= setInterval(() => void this.#look(), this.#intervalMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const before = performance.now() - this.#intervalMs;
    const old = [...this.#partitions()].filter(
      ({ position, endHeardAt }) => position !== undefined && endHeardAt < before,
    );
    if (old.length === 0 || this.#isAsking) return;
    this.#isAsking = true;
    try {
      const leaders = await leadersOf(old, this.#metadata, this.#cluster);
      const ends = await listOffsets(this.#cluster, leaders, old, OffsetTime.latest, false);
      for (const { topic, partition, offset } of ends) {
        old.find((each) => each.topic === topic && each.partition === partition)?.endsAt(offset);
      }
    } catch (error) {
      this.#logger.debug({ err: error }, 'The ends of partitions that are not fetched are not known');
    } finally {
      this.#isAsking = false;
    }
  }
}
