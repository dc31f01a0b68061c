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

/** Time for the group to say that partitions have gone: some heartbeats. Then they are claimed again, if they are still ours. */
const FENCED_FOR_MS = 10_000;
/** Nobody in the group claims partitions that are ours; who does so again and again is not in it. */
const MAX_FENCES = 2;
/** How long a call waits for the database; then partitions are paused and polling goes on. */
const MAX_WAIT_MS = 5_000;

interface Claiming {
  readonly owner: string;
  readonly abort: AbortController;
  readonly result: Promise<{ positions: readonly PartitionOffset[] } | { failure: Error }>;
}

/**
 * The task's claims on the partitions that it was assigned, and where the table of offsets has them.
 *
 * none --open--> claiming --claimed, sought--> held --fenced--> fenced --after a while, still assigned--> claiming
 * any --close of all--> none; any --close of some--> claiming the others again. Records are taken while the partitions are held, and only then.
 */
export class DeliveryClaims {
  readonly #offsets: DeliveryOffsets;
  readonly #context: SinkTaskContext;
  readonly #retries: Retries;
  readonly #dropWrites: () => Promise<void>;
  readonly #fencedForMs: number;
  #state: 'none' | 'claiming' | 'held' | 'fenced' = 'none';
  readonly #partitions = new Map<string, TopicPartition>();
  /** As the table has them. */
  readonly #positions = new Map<string, number>();
  #owner = '';
  #claiming: Claiming | undefined;
  #fencedAt = 0;
  #fences = 0;
  #fence: FencedError | undefined;

  /** `dropWrites` ends the writes in flight and forgets the records that wait. */
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

  /** With what tells its log from another. */
  identified(offset: PartitionOffset): PartitionOffset {
    return this.#context.identified(offset);
  }

  /** What a transaction, which has ended well, has put into the table. */
  moved(key: string, offset: number): void {
    if (this.#positions.has(key)) this.#positions.set(key, offset);
  }

  /** Claims all that the task has by now; when the database is away, `ready` goes on with it. */
  async open(partitions: readonly TopicPartition[]): Promise<void> {
    for (const each of partitions) this.#partitions.set(topicPartitionKey(each.topic, each.partition), each);
    this.#fences = 0;
    await this.#claim();
    await this.#settle();
  }

  /** Rejects with RetriableError while the partitions are not held, and when the claim failed for good. */
  async ready(): Promise<void> {
    if (this.#state === 'held' || this.#state === 'none') return;
    if (this.#state === 'fenced') {
      if (performance.now() - this.#fencedAt < this.#fencedForMs) {
        throw new RetriableError('The partitions are claimed by others; the group has not taken them back yet');
      }
      if (this.#fences > MAX_FENCES) {
        throw new ConnectError('Partitions that the group leaves to this task are claimed by others again and again', {
          cause: this.#fence,
        });
      }
      this.#context.logger.warn('The group leaves the partitions to this task: it claims them again');
      await this.#claim();
    }
    await this.#settle();
    // What was polled before is read again from where the table has it.
    throw new RetriableError('The offsets of the partitions were not known yet');
  }

  /** A transaction was refused: nothing is written any more until the group has had its say. */
  fenced(error: FencedError): void {
    if (this.#state !== 'held') return;
    this.#state = 'fenced';
    this.#fencedAt = performance.now();
    this.#fences += 1;
    this.#fence = error;
    this.#context.logger.warn(`${error.message}; what was being written of it is undone`);
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
    // What was being written of those that stay may be stored or not: the table knows.
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
    const result = claim().catch((error: unknown) => ({ failure: unclaimed(error) }));
    this.#claiming = { owner, abort, result };
    void result.then(() => {
      context.requestCommit();
    });
  }

  /** Takes over what was claimed, when that comes in time. */
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
    // Also where that changes nothing: what was polled already must not be put as well.
    context.seek(result.positions);
    this.#state = 'held';
  }

  async #cancel(): Promise<void> {
    this.#claiming?.abort.abort();
    await this.#claiming?.result;
    this.#claiming = undefined;
  }
}

/** What waiting cannot mend: rights, for instance. */
function unclaimed(error: unknown): Error {
  if (!(error instanceof DatabaseError) || error.scope === 'infrastructure') return toError(error);
  return withMessage(error, `The offsets of the partitions could not be claimed: ${error.message}`);
}
