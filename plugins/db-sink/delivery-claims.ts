import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  ConnectError,
  RetriableError,
  toError,
  topicPartitionKey,
  within,
  type PartitionOffset,
  type SinkTaskContext,
  type TopicPartition,
} from '../../src/index.ts';
import { DatabaseError } from '../database/index.ts';
import type { DeliveryOffsets, FencedError } from './delivery-offsets.ts';
import { withMessage, type Retries } from './retries.ts';

/**
 * Time for the group to revoke lost partitions after fencing, which takes a few heartbeats. Partitions that are still
 * assigned after this time are claimed again.
 */
const FENCED_FOR_MS = 10_000;
/**
 * How often the task may be fenced before it fails. Members of the group do not claim partitions assigned to this task,
 * so repeated claims come from outside the group.
 */
const MAX_FENCES = 2;
/** How long a call waits for the database. After this time, the partitions are paused and polling continues. */
const MAX_WAIT_MS = 5_000;

interface Claiming {
  readonly owner: string;
  readonly abort: AbortController;
  readonly result: Promise<{ positions: readonly PartitionOffset[] } | { failure: Error }>;
}

/**
 * The task's claims on its assigned partitions, and their positions according to the offsets table.
 * any --open--> claiming --claimed, position set--> held --fenced--> fenced --still assigned after a while--> claiming
 * any --all closed--> none; any --some closed--> claiming (the remaining partitions)
 * Records are only accepted while the partitions are held.
 */
export class DeliveryClaims {
  readonly #offsets: DeliveryOffsets;
  readonly #context: SinkTaskContext;
  readonly #retries: Retries;
  readonly #dropWrites: () => Promise<void>;
  readonly #fencedForMs: number;
  #state: 'none' | 'claiming' | 'held' | 'fenced' = 'none';
  readonly #partitions = new Map<string, TopicPartition>();
  readonly #positions = new Map<string, number>();
  #owner = '';
  #claiming: Claiming | undefined;
  #fencedAt = 0;
  #fences = 0;
  #fence: FencedError | undefined;

  /** `dropWrites` aborts the writes in flight and drops pending records. */
  constructor(
    offsets: DeliveryOffsets,
    context: SinkTaskContext,
    retries: Retries,
    dropWrites: () => Promise<void>,
    fencedForMs = FENCED_FOR_MS,
  ) {
    this.#offsets = offsets;
    this.#context = context;
    this.#retries = retries;
    this.#dropWrites = dropWrites;
    this.#fencedForMs = fencedForMs;
  }

  get isHeld(): boolean {
    return this.#state === 'held';
  }

  get owner(): string {
    return this.#owner;
  }

  position(key: string): number | undefined {
    return this.#positions.get(key);
  }

  /** Adds the topic id and the leader epoch, which identify the log of the partition. */
  identified(offset: PartitionOffset): PartitionOffset {
    return this.#context.identified(offset);
  }

  /** Records the offset stored by a committed transaction. */
  moved(key: string, offset: number): void {
    if (this.#positions.has(key)) this.#positions.set(key, offset);
  }

  /** Claims all assigned partitions. If the database is unreachable, `ready` continues the claim. */
  async open(partitions: readonly TopicPartition[]): Promise<void> {
    for (const each of partitions) this.#partitions.set(topicPartitionKey(each.topic, each.partition), each);
    this.#fences = 0;
    await this.#claim();
    await this.#settle();
  }

  /**
   * Rejects with RetriableError if the partitions were not held at the time of the call, even if they are held now. Also
   * rejects with the error of a failed claim, and after too many fences.
   */
  async ready(): Promise<void> {
    if (this.#state === 'held' || this.#state === 'none') return;
    if (this.#state === 'fenced') {
      if (performance.now() - this.#fencedAt < this.#fencedForMs) {
        throw new RetriableError('The partitions were claimed by another task; the group has not revoked them yet');
      }
      if (this.#fences > MAX_FENCES) {
        throw new ConnectError('Partitions that are assigned to this task were claimed by others repeatedly', {
          cause: this.#fence,
        });
      }
      this.#context.logger.warn('The partitions are still assigned to this task; claiming them again');
      await this.#claim();
    }
    await this.#settle();
    // Records that were polled before the claim are read again, from the offset in the table.
    throw new RetriableError('The offsets of the partitions are not known yet');
  }

  /** Stops writing until the group has had time to revoke the partitions. */
  fenced(error: FencedError): void {
    if (this.#state !== 'held') return;
    this.#state = 'fenced';
    this.#fencedAt = performance.now();
    this.#fences += 1;
    this.#fence = error;
    this.#context.logger.warn(`${error.message}; the pending writes of this task were rolled back`);
  }

  async close(partitions: readonly TopicPartition[]): Promise<void> {
    await this.#cancel();
    for (const { topic, partition } of partitions) {
      const key = topicPartitionKey(topic, partition);
      this.#partitions.delete(key);
      this.#positions.delete(key);
    }
    this.#state = 'none';
    if (this.#partitions.size === 0) return;
    // The offsets table shows whether pending writes of the remaining partitions were stored.
    await this.#claim();
    await this.#settle();
  }

  async #claim(): Promise<void> {
    const context = this.#context;
    await this.#cancel();
    await this.#dropWrites();
    this.#state = 'claiming';
    const owner = `task ${String(context.taskIndex)} of ${context.connectorName}, ${hostname()}/${String(process.pid)}, ${randomUUID()}`;
    const abort = new AbortController();
    const signal = AbortSignal.any([context.signal, abort.signal]);
    const from = [...this.#partitions].map(([key, { topic, partition }]) => {
      const offset = this.#positions.get(key) ?? context.position({ topic, partition }) ?? 0;
      return context.identified({ topic, partition, offset });
    });
    const attempted = { what: `The offsets of ${String(from.length)} partitions`, from: '', done: 'claimed' } as const;
    const claim = async (): Promise<{ positions: readonly PartitionOffset[] }> => {
      const claimed = await this.#retries.run(attempted, signal, async () =>
        this.#offsets.claim(owner, from, { signal }),
      );
      const positions = await context.kept(claimed, signal);
      await this.#retries.run(attempted, signal, async () =>
        this.#offsets.correct(owner, claimed, positions, { signal }),
      );
      return { positions };
    };
    const result = claim().catch((error: unknown) => ({ failure: claimError(error) }));
    this.#claiming = { owner, abort, result };
    void result.then(() => {
      context.requestCommit();
    });
  }

  /** Applies the result of the claim, if it arrives in time. */
  async #settle(): Promise<void> {
    const claiming = this.#claiming;
    if (claiming === undefined) return;
    const result = (await within(claiming.result, MAX_WAIT_MS)) ? await claiming.result : undefined;
    if (result === undefined) return;
    this.#claiming = undefined;
    if ('failure' in result) throw result.failure;
    const context = this.#context;
    this.#owner = claiming.owner;
    for (const { topic, partition, offset } of result.positions) {
      this.#positions.set(topicPartitionKey(topic, partition), offset);
    }
    if (context.logger.isLevelEnabled('debug')) {
      context.logger.debug({ offsets: Object.fromEntries(this.#positions) }, 'Claimed the offsets of the partitions');
    }
    // The position is set even if it does not change, because otherwise records polled earlier would be delivered twice.
    context.seek(result.positions);
    this.#state = 'held';
  }

  async #cancel(): Promise<void> {
    this.#claiming?.abort.abort();
    await this.#claiming?.result;
    this.#claiming = undefined;
  }
}

/** Adds context to an error that waiting does not fix, such as missing privileges. */
function claimError(error: unknown): Error {
  if (!(error instanceof DatabaseError) || error.scope === 'infrastructure') return toError(error);
  return withMessage(error, `The offsets of the partitions could not be claimed: ${error.message}`);
}
