import type { Backoff } from '../../async/backoff.ts';
import { idle } from '../../async/sleep.ts';
import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { RebalanceListener } from '../api.ts';
import type { Cluster } from '../cluster.ts';
import { isRetriable } from '../errors.ts';
import { backoffOf } from '../retry.ts';
import type { TopicMetadata } from '../topic-metadata.ts';
import type { Fetcher } from './fetcher.ts';
import { commitOffsets, type GroupIdentity } from './offsets.ts';
import type { StartPositions } from './start-positions.ts';

export interface HoldingDependencies {
  readonly cluster: Cluster;
  readonly metadata: TopicMetadata;
  readonly fetcher: Fetcher;
  readonly positions: StartPositions;
  readonly logger: Logger;
}

/**
 * What a member of a group holds, as its listener was told.
 *
 *   nothing --prepare: positions are found--> ready --settle: onAssigned--> held
 *   held --prepare (what is new is not handed out yet)--> ready --settle: onRevoked of what goes, onAssigned of what comes--> held
 *   held --giveUp: onRevoked or onLost--> nothing
 *
 * What was prepared but never settled is forgotten without a word. The listener is called from `settle` and `giveUp` alone.
 *
 * One class, because what is held, what comes next and what the fetcher reads change together.
 */
export class HeldPartitions {
  readonly #dependencies: HoldingDependencies;
  readonly #listener: RebalanceListener;
  #owned: readonly TopicPartition[] | undefined;
  #ready: readonly TopicPartition[] | undefined;
  #preparing = false;
  #givingUp: Promise<void> | undefined;

  constructor(dependencies: HoldingDependencies, listener: RebalanceListener) {
    this.#dependencies = dependencies;
    this.#listener = listener;
  }

  get owned(): readonly TopicPartition[] {
    return this.#owned ?? [];
  }

  /** From the first `settle` until everything is given up. */
  get announced(): boolean {
    return this.#owned !== undefined;
  }

  get isReady(): boolean {
    return this.#ready !== undefined;
  }

  /** Positions are being found. */
  get isPreparing(): boolean {
    return this.#preparing;
  }

  /**
   * Finds positions for the partitions that are not held yet, as long as `isCurrent`; then they are ready. `identity` commits where
   * partitions were begun.
   */
  async prepare(
    partitions: readonly TopicPartition[],
    isCurrent: () => boolean,
    identity: () => GroupIdentity,
  ): Promise<void> {
    const { cluster, metadata, fetcher, positions } = this.#dependencies;
    const backoff = backoffOf(cluster);
    this.forgetReady();
    this.#preparing = true;
    try {
      const held = keysOf(this.owned);
      const added = partitions.filter((partition) => !held.has(keyOf(partition)));
      fetcher.assign([...this.owned, ...added]);
      for (const partition of added) fetcher.withhold(partition, true);
      // Offsets are kept with the ids of topics: a topic may have been created again since the last answer.
      if (added.length > 0) await metadata.update().catch(waitIfRetriable(backoff));
      const mayMove = held.size === 0;
      while (isCurrent() && positions.needed) await positions.resolve(mayMove).catch(waitIfRetriable(backoff));
      await this.#keepBeginnings(identity);
      if (isCurrent()) this.#ready = partitions;
    } finally {
      this.#preparing = false;
    }
  }

  /** What of the held partitions stays, to be settled. */
  offer(kept: readonly TopicPartition[]): void {
    this.#ready = kept;
  }

  /** Tells the listener of what goes and of what comes; true when something went. */
  async settle(): Promise<boolean> {
    const next = this.#ready;
    if (next === undefined) return false;
    this.#ready = undefined;
    const isFirst = this.#owned === undefined;
    const nextKeys = keysOf(next);
    const heldKeys = keysOf(this.owned);
    const revoked = this.owned.filter((partition) => !nextKeys.has(keyOf(partition)));
    const added = next.filter((partition) => !heldKeys.has(keyOf(partition)));
    try {
      if (revoked.length > 0) await this.#tellRevoked('revoked', revoked);
    } finally {
      this.#owned = next;
      this.#dependencies.fetcher.assign(next);
      for (const partition of added) this.#dependencies.fetcher.withhold(partition, false);
    }
    if (isFirst || added.length > 0) await this.#listener.onAssigned(added);
    return revoked.length > 0;
  }

  /** What was prepared is not to be settled any more: another member may have it, and read on, before it comes again. */
  forgetReady(): void {
    this.#ready = undefined;
    this.#dependencies.fetcher.assign(this.owned);
  }

  /** Takes the partitions away from the fetcher after the listener has had its say, once. */
  giveUp(how: 'revoked' | 'lost'): Promise<void> {
    this.#givingUp ??= this.#tellAndDrop(how).finally(() => {
      this.#givingUp = undefined;
    });
    return this.#givingUp;
  }

  async #tellAndDrop(how: 'revoked' | 'lost'): Promise<void> {
    const partitions = this.owned;
    this.#ready = undefined;
    try {
      if (partitions.length > 0) await this.#tellRevoked(how, partitions);
    } finally {
      this.#owned = undefined;
      this.#dependencies.fetcher.assign([]);
    }
  }

  async #tellRevoked(how: 'revoked' | 'lost', partitions: readonly TopicPartition[]): Promise<void> {
    this.#dependencies.logger.info({ partitions: partitions.map(keyOf) }, `partitions ${how}`);
    await (how === 'lost' ? this.#listener.onLost(partitions) : this.#listener.onRevoked(partitions));
  }

  /**
   * The group is told at once where new partitions were begun: whoever gets them before anything else is committed may have come
   * after them, and would begin at their end.
   */
  async #keepBeginnings(identity: () => GroupIdentity): Promise<void> {
    const { cluster, positions, logger } = this.#dependencies;
    const beginnings = positions.takeBeginnings();
    if (beginnings.length === 0) return;
    try {
      await commitOffsets(cluster, identity(), beginnings);
    } catch (error) {
      logger.debug({ reason: toError(error).message }, 'the beginnings of new partitions were not committed');
    }
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
