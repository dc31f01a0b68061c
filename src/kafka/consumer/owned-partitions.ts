import type { Backoff } from '../../async/backoff.ts';
import { idle } from '../../async/sleep.ts';
import { topicPartitionKey, type TopicPartition, topicPartitionText } from '../../data/record.ts';
import type { Logger } from '../../observe/logger.ts';
import type { RebalanceListener } from '../api.ts';
import { isRetriable } from '../errors/kafka-errors.ts';
import type { TopicMetadata } from '../connections/topic-metadata.ts';
import type { Fetcher } from './fetcher.ts';
import type { GroupIdentity } from './offsets.ts';
import type { StartPositions } from './start-positions.ts';

/**
 * The partitions that a group member owns, as announced to its listener.
 *
 *   none --prepare: positions are determined--> ready --apply: onAssigned--> owned
 *   owned --prepare (new partitions are withheld)--> ready --apply: onRevoked, onAssigned--> owned
 *   owned --release: onRevoked or onLost--> none
 *
 * An assignment that is ready, but was not applied, can be discarded without calling the listener. The listener is only
 * called by `apply` and `release`.
 */
export class OwnedPartitions {
  readonly #metadata: TopicMetadata;
  readonly #fetcher: Fetcher;
  readonly #positions: StartPositions;
  readonly #listener: RebalanceListener;
  readonly #logger: Logger;
  #owned: readonly TopicPartition[] | undefined;
  #ready: readonly TopicPartition[] | undefined;
  #preparing = false;
  #releasing: Promise<void> | undefined;

  constructor(
    metadata: TopicMetadata,
    fetcher: Fetcher,
    positions: StartPositions,
    listener: RebalanceListener,
    logger: Logger,
  ) {
    this.#metadata = metadata;
    this.#fetcher = fetcher;
    this.#positions = positions;
    this.#listener = listener;
    this.#logger = logger;
  }

  get owned(): readonly TopicPartition[] {
    return this.#owned ?? [];
  }

  /** True from the first `apply` (`onAssigned`) until `release`; the consumer returns records only then. */
  get announced(): boolean {
    return this.#owned !== undefined;
  }

  get isReady(): boolean {
    return this.#ready !== undefined;
  }

  /** While true, the membership determines the positions of its partitions, so the consumer must not determine them. */
  get findsPositions(): boolean {
    return !this.announced || this.#preparing;
  }

  /**
   * Determines the positions of partitions that are not owned yet, commits the start positions of new partitions with
   * `identity`, and then marks the assignment as ready. Stops if `isCurrent` returns false.
   */
  async prepare(
    partitions: readonly TopicPartition[],
    isCurrent: () => boolean,
    identity: () => GroupIdentity,
  ): Promise<void> {
    const fetcher = this.#fetcher;
    const positions = this.#positions;
    const backoff = positions.backoff();
    this.discardReady();
    this.#preparing = true;
    try {
      const ownedPartitions = keysOf(this.owned);
      const added = partitions.filter((partition) => !ownedPartitions.has(keyOf(partition)));
      fetcher.assign([...this.owned, ...added]);
      for (const partition of added) fetcher.withhold(partition, true);
      // Committed offsets contain topic ids, so current metadata is required to detect recreated topics.
      if (added.length > 0) await this.#metadata.update().catch(waitIfRetriable(backoff));
      const mayMove = ownedPartitions.size === 0;
      while (isCurrent() && positions.needed) await positions.resolve(mayMove).catch(waitIfRetriable(backoff));
      await positions.commitStartPositions(identity);
      if (!isCurrent()) return;
      this.#ready = partitions;
      this.#logger.debug({ partitions: partitions.map(topicPartitionText) }, 'The assignment is ready');
    } finally {
      this.#preparing = false;
    }
  }

  /** Marks an assignment as ready without determining positions. It must be a subset of the owned partitions. */
  keepOnly(kept: readonly TopicPartition[]): void {
    this.#ready = kept;
  }

  /** Announces the ready assignment to the listener. Returns true if partitions were revoked. */
  async apply(): Promise<boolean> {
    const next = this.#ready;
    if (next === undefined) return false;
    this.#ready = undefined;
    const isFirst = this.#owned === undefined;
    const nextKeys = keysOf(next);
    const heldKeys = keysOf(this.owned);
    const revoked = this.owned.filter((partition) => !nextKeys.has(keyOf(partition)));
    const added = next.filter((partition) => !heldKeys.has(keyOf(partition)));
    try {
      if (revoked.length > 0) await this.#notifyRevoked('revoked', revoked);
    } finally {
      this.#owned = next;
      this.#fetcher.assign(next);
      for (const partition of added) this.#fetcher.withhold(partition, false);
    }
    this.#logger.debug(
      { added: added.map(topicPartitionText), partitions: next.map(topicPartitionText) },
      'Applied the assignment',
    );
    if (isFirst || added.length > 0) await this.#listener.onAssigned(added);
    return revoked.length > 0;
  }

  /** Discards a prepared assignment, because another member may own and read the partitions before they are assigned again. */
  discardReady(): void {
    this.#ready = undefined;
    this.#fetcher.assign(this.owned);
  }

  /** Releases all partitions and notifies the listener. Concurrent calls share one notification. */
  release(how: 'revoked' | 'lost'): Promise<void> {
    this.#releasing ??= this.#notifyAndDrop(how).finally(() => {
      this.#releasing = undefined;
    });
    return this.#releasing;
  }

  async #notifyAndDrop(how: 'revoked' | 'lost'): Promise<void> {
    const partitions = this.owned;
    this.#ready = undefined;
    try {
      if (partitions.length > 0) await this.#notifyRevoked(how, partitions);
    } finally {
      this.#owned = undefined;
      this.#fetcher.assign([]);
    }
  }

  async #notifyRevoked(how: 'revoked' | 'lost', partitions: readonly TopicPartition[]): Promise<void> {
    this.#logger.info({ partitions: partitions.map(topicPartitionText) }, `Partitions ${how}`);
    await (how === 'lost' ? this.#listener.onLost(partitions) : this.#listener.onRevoked(partitions));
  }
}

function keyOf({ topic, partition }: TopicPartition): string {
  return topicPartitionKey(topic, partition);
}

function keysOf(partitions: readonly TopicPartition[]): ReadonlySet<string> {
  return new Set(partitions.map(keyOf));
}

export function waitIfRetriable(backoff: Backoff): (error: unknown) => Promise<void> {
  return async (error) => {
    if (!isRetriable(error)) throw error;
    await idle(backoff.nextMs());
  };
}
