import type { Backoff } from '../../async/backoff.ts';
import { idle } from '../../async/sleep.ts';
import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import type { Logger } from '../../observe/logger.ts';
import type { RebalanceListener } from '../api.ts';
import { isRetriable } from '../errors.ts';
import type { TopicMetadata } from '../connections/topic-metadata.ts';
import type { Fetcher } from './fetcher.ts';
import type { GroupIdentity } from './offsets.ts';
import type { StartPositions } from './start-positions.ts';

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
  readonly #metadata: TopicMetadata;
  readonly #fetcher: Fetcher;
  readonly #positions: StartPositions;
  readonly #listener: RebalanceListener;
  readonly #logger: Logger;
  #owned: readonly TopicPartition[] | undefined;
  #ready: readonly TopicPartition[] | undefined;
  #preparing = false;
  #givingUp: Promise<void> | undefined;

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
    const fetcher = this.#fetcher;
    const positions = this.#positions;
    const backoff = positions.backoff();
    this.forgetReady();
    this.#preparing = true;
    try {
      const held = keysOf(this.owned);
      const added = partitions.filter((partition) => !held.has(keyOf(partition)));
      fetcher.assign([...this.owned, ...added]);
      for (const partition of added) fetcher.withhold(partition, true);
      // Offsets are kept with the ids of topics: a topic may have been created again since the last answer.
      if (added.length > 0) await this.#metadata.update().catch(waitIfRetriable(backoff));
      const mayMove = held.size === 0;
      while (isCurrent() && positions.needed) await positions.resolve(mayMove).catch(waitIfRetriable(backoff));
      await positions.keepBeginnings(identity);
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
      this.#fetcher.assign(next);
      for (const partition of added) this.#fetcher.withhold(partition, false);
    }
    if (isFirst || added.length > 0) await this.#listener.onAssigned(added);
    return revoked.length > 0;
  }

  /** What was prepared is not to be settled any more: another member may have it, and read on, before it comes again. */
  forgetReady(): void {
    this.#ready = undefined;
    this.#fetcher.assign(this.owned);
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
      this.#fetcher.assign([]);
    }
  }

  async #tellRevoked(how: 'revoked' | 'lost', partitions: readonly TopicPartition[]): Promise<void> {
    this.#logger.info({ partitions: partitions.map(keyOf) }, `partitions ${how}`);
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
