import type { TopicPartition } from '../../data/record.ts';
import { ConfigError, toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { PartitionPosition } from '../api.ts';
import type { ConsumerConfig, Isolation } from '../config/consumer-config.ts';
import type { Cluster } from '../connections/cluster.ts';
import { backoffOf, retry } from '../connections/retry.ts';
import type { TopicMetadata } from '../connections/topic-metadata.ts';
import { CommitRefusedError } from '../errors/kafka-errors.ts';
import type { ConsumerMetrics } from '../metrics/consumer-metrics.ts';
import { logEndOffsets } from './log-end-offsets.ts';
import type { Membership } from './membership.ts';
import { commitOffsets, fetchCommitted, logCommit, toPosition, type GroupIdentity } from './offsets.ts';
import type { StartPositions } from './start-positions.ts';

/** Reads and commits offsets for a consumer. Requests are retried until they time out or the consumer is closed. */
export class ConsumerOffsets {
  readonly #cluster: Cluster;
  readonly #metadata: TopicMetadata;
  readonly #positions: StartPositions;
  readonly #config: ConsumerConfig;
  readonly #metrics: ConsumerMetrics;
  readonly #logger: Logger;
  /** Set when the consumer subscribes. */
  membership: Membership | undefined;
  #isClosed = false;

  constructor(
    cluster: Cluster,
    metadata: TopicMetadata,
    positions: StartPositions,
    config: ConsumerConfig,
    metrics: ConsumerMetrics,
    logger: Logger,
  ) {
    this.#cluster = cluster;
    this.#metadata = metadata;
    this.#positions = positions;
    this.#config = config;
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /**
   * Commits positions, except those of a topic that was deleted and recreated. Each has the topic id and leader epoch
   * under which its records were read, as far as they are known.
   */
  async commit(positions: readonly PartitionPosition[]): Promise<void> {
    const identity = this.#identity();
    const current = positions.filter((each) => this.#isOfItsTopic(each));
    if (current.length === 0) return;
    const sentAt = performance.now();
    try {
      await this.#retry('The offset commit', () => {
        // Uses the current member epoch in each attempt, because it may change while the member keeps its partitions.
        return commitOffsets(this.#cluster, identity.isEpochMember === true ? this.#identity() : identity, current);
      });
      this.#metrics.committed(sentAt);
      logCommit(this.#logger, identity, current);
    } catch (error) {
      logCommit(this.#logger, identity, current, toError(error));
      if (error instanceof CommitRefusedError) this.membership?.onCommitRefused(identity.generationId, error);
      throw error;
    }
  }

  async committed(partitions: readonly TopicPartition[]): Promise<readonly PartitionPosition[]> {
    const { groupId } = this.#config;
    if (groupId === undefined) throw new ConfigError('Committed offsets require the property group.id');
    return this.#retry('Reading committed offsets', async () =>
      (await fetchCommitted(this.#cluster, groupId, partitions)).map(toPosition),
    );
  }

  /** Returns the high watermarks, or with `read_committed` the last stable offsets. */
  ends(
    partitions: readonly TopicPartition[],
    isolation: Isolation = this.#config.isolation,
  ): Promise<readonly PartitionPosition[]> {
    return this.#retry('Reading end offsets', async () => {
      const readCommitted = isolation === 'read_committed';
      try {
        return (await logEndOffsets(partitions, this.#metadata, this.#cluster, readCommitted)).map(toPosition);
      } catch (error) {
        this.#metadata.requestUpdate();
        throw error;
      }
    });
  }

  /**
   * Validates stored positions, see `PositionValidator.kept`. Retries without a time limit until `signal` is aborted or
   * the consumer is closed.
   */
  async kept(
    positions: readonly PartitionPosition[],
    signal: AbortSignal = new AbortController().signal,
  ): Promise<readonly PartitionPosition[]> {
    const stop = (): boolean => this.#isClosed || signal.aborted;
    const compare = (): Promise<readonly PartitionPosition[]> => this.#positions.kept(positions);
    const compared = retry('Comparing offsets with the log', backoffOf(this.#cluster), Infinity, compare, stop);
    const aborted = new Promise<never>((_resolve, reject) => {
      const abort = (): void => {
        reject(toError(signal.reason));
      };
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort, { once: true });
    });
    aborted.catch(() => undefined);
    return Promise.race([compared, aborted]);
  }

  /** Stops all retries. */
  close(): void {
    this.#isClosed = true;
  }

  /** False for an offset of a deleted topic, which must not be committed for the recreated topic. */
  #isOfItsTopic({ topic, topicId }: PartitionPosition): boolean {
    const current = this.#metadata.topicId(topic);
    return topicId === undefined || current === undefined || topicId === current;
  }

  #identity(): GroupIdentity {
    if (this.membership !== undefined) return this.membership.identity();
    const { groupId } = this.#config;
    if (groupId === undefined) throw new ConfigError('Committing offsets requires the property group.id');
    return { groupId, memberId: '', generationId: -1 };
  }

  #retry<T>(what: string, action: () => Promise<T>): Promise<T> {
    const { apiTimeoutMs } = this.#config.connection;
    return retry(what, backoffOf(this.#cluster), apiTimeoutMs, action, () => this.#isClosed);
  }
}
