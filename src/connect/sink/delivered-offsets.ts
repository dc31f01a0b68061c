import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import type { RecordBlock, Consumer, PartitionLag } from '../../kafka/api.ts';
import type { PartitionOffset, SinkTask } from '../api.ts';
import type { SinkPositions } from './sink-positions.ts';

/**
 * Delivered offsets of the owned partitions, as reported by `SinkTask.stored`. For a task without `stored`, they are
 * based on the last result of `preCommit`. If that result covered all records that had been put, the task is assumed to
 * store later records as soon as they are put.
 */
export class DeliveredOffsets {
  readonly #task: Pick<SinkTask, 'stored'>;
  readonly #consumer: Pick<Consumer, 'lags' | 'position'>;
  readonly #positions: SinkPositions;
  readonly #measures: { delivered(offsets: number): void };
  /** The offset after the last record that was polled, by partition. */
  readonly #polled = new Map<string, number>();
  /** Results of `preCommit` that were lower than the offset after the last record that had been put, by partition. */
  readonly #confirmed = new Map<string, number>();
  /** The offset up to which deliveries have been counted, by partition. */
  readonly #counted = new Map<string, number>();

  constructor(
    task: Pick<SinkTask, 'stored'>,
    consumer: Pick<Consumer, 'lags' | 'position'>,
    positions: SinkPositions,
    measures: { delivered(offsets: number): void },
  ) {
    this.#task = task;
    this.#consumer = consumer;
    this.#positions = positions;
    this.#measures = measures;
  }

  polled(blocks: readonly RecordBlock[]): void {
    for (const { topic, partition, offsets, count } of blocks)
      this.#polled.set(topicPartitionKey(topic, partition), (offsets[count - 1] ?? -1) + 1);
  }

  /** Records the result of `preCommit` and returns it. */
  confirmed(answer: readonly PartitionOffset[]): readonly PartitionOffset[] {
    for (const { topic, partition, offset } of answer) {
      const key = topicPartitionKey(topic, partition);
      if (offset < (this.#positions.delivered.get(key)?.offset ?? 0)) this.#confirmed.set(key, offset);
      else this.#confirmed.delete(key);
    }
    return answer;
  }

  /** Called after the task has sought to another offset. */
  sought(position: PartitionOffset): void {
    const key = topicPartitionKey(position.topic, position.partition);
    this.#forget(key);
    this.#positions.deliver(key, position);
  }

  disown(partition: TopicPartition): void {
    this.#positions.disown(partition);
    this.#forget(topicPartitionKey(partition.topic, partition.partition));
  }

  /**
   * The lag of each owned partition behind the log end, measured from the delivered offset. Also counts the offsets that were
   * delivered since the last call.
   */
  lags(): readonly PartitionLag[] {
    const stored = storedBy(this.#task, this.#positions);
    return this.#consumer.lags().flatMap((each): PartitionLag | readonly [] => {
      const key = topicPartitionKey(each.topic, each.partition);
      const put = this.#positions.delivered.get(key)?.offset;
      if (put === undefined) return [];
      const delivered = Math.min(put, (stored ?? this.#confirmed).get(key) ?? put);
      this.#count(key, delivered);
      // If all polled records are delivered, the consumer's own lag applies. The offsets from the delivered offset up
      // to the consumer's position then belong to control records or gaps.
      const isAllDelivered = delivered === put && put >= (this.#polled.get(key) ?? 0);
      const position = this.#consumer.position(each);
      if (isAllDelivered || each.lag === undefined || position === undefined) return each;
      return { ...each, lag: Math.max(0, each.lag + position - delivered) };
    });
  }

  #count(key: string, delivered: number): void {
    const before = this.#counted.get(key) ?? delivered;
    if (delivered > before) this.#measures.delivered(delivered - before);
    this.#counted.set(key, delivered);
  }

  #forget(key: string): void {
    for (const each of [this.#polled, this.#confirmed, this.#counted]) each.delete(key);
  }
}

function storedBy(task: Pick<SinkTask, 'stored'>, positions: SinkPositions): ReadonlyMap<string, number> | undefined {
  const stored = task.stored?.(positions.delivered);
  return stored && new Map(stored.map((each) => [topicPartitionKey(each.topic, each.partition), each.offset]));
}
