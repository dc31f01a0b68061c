import type { TopicPartition } from '../../data/record.ts';
import type {
  ConsumedBlock,
  ConsumedRecord,
  Consumer,
  Handover,
  PartitionLag,
  PartitionPosition,
  RebalanceListener,
  TopicPredicate,
} from '../../kafka/api.ts';
import type { LetterReplay } from './letter-replay.ts';

/** What a replay has to know of positions: which letters nobody has counted. */
type LetterCounts = Pick<LetterReplay, 'uncounted' | 'reached' | 'recount'>;

/**
 * The consumer of a replay. Where a partition is read from a position that is behind what was counted, as after the end of a worker that
 * could not store its counts, the letters in between are read first, for their counts alone; the task is not told of them.
 *
 * Of a partition: unknown --position known--> read on; behind --counted up to the position--> read on; any --seek, assigned--> unknown.
 * Delegates all else.
 */
export class ReplayConsumer implements Consumer {
  readonly #consumer: Consumer;
  readonly #counts: LetterCounts;
  /** Of partitions that are read on: where the last poll has left them. */
  readonly #readTo = new Map<number, number>();
  /** Of partitions whose letters are being counted: where the task goes on. */
  readonly #behind = new Map<number, PartitionPosition>();

  constructor(consumer: Consumer, counts: LetterCounts) {
    this.#consumer = consumer;
    this.#counts = counts;
  }

  async pollBlocks(timeoutMs: number, maxRecords?: number): Promise<readonly ConsumedBlock[]> {
    for (const each of this.#consumer.assignment()) this.#look(each);
    const blocks = await this.#consumer.pollBlocks(timeoutMs, maxRecords);
    const wanted: ConsumedBlock[] = [];
    /** Partitions that were sought: what else was polled of them is read again. */
    const sought = new Set<number>();
    for (const block of blocks) {
      const { topic, partition } = block;
      if (sought.has(partition)) continue;
      // Assigned, or sought by the task, while it was polled.
      const isNew = !this.#readTo.has(partition) && !this.#behind.has(partition);
      if (isNew && this.#goBack({ topic, partition, offset: block.offsets[0] ?? 0 })) {
        sought.add(partition);
        continue;
      }
      const position = this.#behind.get(partition);
      if (position === undefined) wanted.push(block);
      else if (await this.#count(block, position)) sought.add(partition);
    }
    for (const each of this.#consumer.assignment()) this.#note(each);
    return wanted;
  }

  #look({ topic, partition }: TopicPartition): void {
    const offset = this.#consumer.position({ topic, partition });
    if (offset === undefined || this.#behind.has(partition) || this.#readTo.get(partition) === offset) return;
    this.#goBack({ topic, partition, offset });
  }

  /** To letters before the position that nobody has counted; `false`: there are none. */
  #goBack(position: PartitionPosition): boolean {
    const { topic, partition } = position;
    const offset = this.#counts.uncounted(partition, position.offset);
    this.#readTo.set(partition, position.offset);
    if (offset === undefined) return false;
    this.#behind.set(partition, this.#consumer.identified(position));
    this.#consumer.seek({ topic, partition, offset });
    return true;
  }

  /** `true`: all before the position has been counted. */
  async #count(block: ConsumedBlock, position: PartitionPosition): Promise<boolean> {
    await this.#counts.recount(block, position.offset);
    const end = (block.offsets[block.count - 1] ?? -1) + 1;
    // The task may have been given another position meanwhile.
    if (end < position.offset || this.#behind.get(block.partition) !== position) return false;
    this.#goOn(position);
    return true;
  }

  #goOn(position: PartitionPosition): void {
    const { partition, offset } = position;
    this.#behind.delete(partition);
    this.#readTo.set(partition, offset);
    this.#counts.reached(partition, offset);
    this.#consumer.seek(position);
  }

  #note({ topic, partition }: TopicPartition): void {
    const offset = this.#consumer.position({ topic, partition });
    if (offset === undefined) return;
    const position = this.#behind.get(partition);
    if (position !== undefined) {
      // Nothing but gaps was left.
      if (offset >= position.offset) this.#goOn(position);
    } else if (this.#readTo.has(partition)) {
      this.#readTo.set(partition, offset);
      this.#counts.reached(partition, offset);
    }
  }

  #forget(partitions: readonly TopicPartition[]): void {
    for (const { partition } of partitions) {
      this.#readTo.delete(partition);
      this.#behind.delete(partition);
    }
  }

  subscribe(topics: readonly string[] | TopicPredicate, listener: RebalanceListener, handover?: Handover): void {
    const onAssigned = async (partitions: readonly TopicPartition[]): Promise<void> => {
      this.#forget(partitions);
      await listener.onAssigned(partitions);
    };
    const onRevoked = (partitions: readonly TopicPartition[]) => listener.onRevoked(partitions);
    const onLost = (partitions: readonly TopicPartition[]) => listener.onLost(partitions);
    this.#consumer.subscribe(topics, { onAssigned, onRevoked, onLost }, handover);
  }

  seek(position: PartitionPosition): void {
    this.#forget([position]);
    this.#consumer.seek(position);
  }

  /** Where the task goes on. */
  position(partition: TopicPartition): number | undefined {
    return this.#behind.get(partition.partition)?.offset ?? this.#consumer.position(partition);
  }

  hasMore(partition: TopicPartition): boolean {
    return !this.#behind.has(partition.partition) && this.#consumer.hasMore(partition);
  }

  assign(partitions: readonly TopicPartition[]): void {
    this.#forget(partitions);
    this.#consumer.assign(partitions);
  }

  async poll(timeoutMs: number): Promise<readonly ConsumedRecord[]> {
    const blocks = await this.pollBlocks(timeoutMs);
    return blocks.flatMap((block) => Array.from({ length: block.count }, (_, index) => block.record(index)));
  }

  assignment(): readonly TopicPartition[] {
    return this.#consumer.assignment();
  }

  get isInGroup(): boolean {
    return this.#consumer.isInGroup;
  }

  lags(): readonly PartitionLag[] {
    return this.#consumer.lags();
  }

  missingTopics(): readonly string[] {
    return this.#consumer.missingTopics();
  }

  identified(position: PartitionPosition): PartitionPosition {
    return this.#consumer.identified(position);
  }

  kept(positions: readonly PartitionPosition[], signal?: AbortSignal): Promise<readonly PartitionPosition[]> {
    return this.#consumer.kept(positions, signal);
  }

  pause(partitions: readonly TopicPartition[]): void {
    this.#consumer.pause(partitions);
  }

  resume(partitions: readonly TopicPartition[]): void {
    this.#consumer.resume(partitions);
  }

  paused(): readonly TopicPartition[] {
    return this.#consumer.paused();
  }

  commit(positions: readonly PartitionPosition[]): Promise<void> {
    return this.#consumer.commit(positions);
  }

  committed(partitions: readonly TopicPartition[]): Promise<readonly PartitionPosition[]> {
    return this.#consumer.committed(partitions);
  }

  endOffsets(partitions: readonly TopicPartition[]): Promise<readonly PartitionPosition[]> {
    return this.#consumer.endOffsets(partitions);
  }

  wakeup(): void {
    this.#consumer.wakeup();
  }

  close(timeoutMs: number): Promise<void> {
    return this.#consumer.close(timeoutMs);
  }

  handOver(timeoutMs: number): Promise<Handover | undefined> {
    return this.#consumer.handOver(timeoutMs);
  }
}
