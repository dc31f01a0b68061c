import { idle } from '../../async/sleep.ts';
import { toError } from '../../errors.ts';
import type { TopicMetadata } from '../connections/topic-metadata.ts';
import { BrokerUnreachableError, ClosedError, isRetriable } from '../errors/kafka-errors.ts';
import type { Membership } from './membership.ts';
import type { StartPositions } from './start-positions.ts';

/**
 * Determines and validates positions in the background, one attempt at a time. While a member joins, its membership determines
 * the positions instead.
 */
export class PositionUpdates {
  readonly positions: StartPositions;
  readonly #metadata: TopicMetadata;
  readonly #retryBackoffMs: number;
  readonly #notify: () => void;
  #running: Promise<void> | undefined;
  #failure: Error | undefined;

  constructor(positions: StartPositions, metadata: TopicMetadata, retryBackoffMs: number, notify: () => void) {
    this.positions = positions;
    this.#metadata = metadata;
    this.#retryBackoffMs = retryBackoffMs;
    this.#notify = notify;
  }

  /** Starts an attempt if a partition needs one. */
  start(membership: Membership | undefined): void {
    const isDoneByMembership = membership?.ownedPartitions.findsPositions === true;
    if (isDoneByMembership || this.#running !== undefined || !this.#areNeeded() || !this.#metadata.known) return;
    this.#running = this.#attempt(membership)
      .catch(async (error: unknown) => {
        if (isRetriable(error)) await idle(this.#retryBackoffMs);
        else if (!(error instanceof ClosedError)) this.#failure = toError(error);
      })
      .finally(() => {
        this.#running = undefined;
        this.#notify();
      });
  }

  takeFailure(): Error | undefined {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  #areNeeded(): boolean {
    return this.positions.needed || this.positions.needsValidation || this.positions.diverged !== undefined;
  }

  /**
   * If the consumer is a group member and positions have diverged, its membership releases the partitions and determines their
   * positions again, because the committed offsets are affected too.
   */
  async #attempt(membership: Membership | undefined): Promise<void> {
    const { needed, needsValidation } = this.positions;
    if (needed) await this.positions.resolve(membership === undefined);
    else if (needsValidation) await this.positions.validate();
    if (membership === undefined) await this.positions.resetDiverged();
    else if (this.positions.diverged !== undefined) membership.onDiverged(this.positions.diverged);
    if (this.positions.needsValidation)
      throw new BrokerUnreachableError('The positions of some partitions have not been validated yet');
  }
}
