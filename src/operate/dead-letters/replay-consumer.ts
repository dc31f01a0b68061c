import { Turn } from '../../connect/pipeline/turn.ts';
import type { SinkConsumer } from '../../connect/sink/sink-task-context.ts';
import type { TopicPartition } from '../../data/record.ts';
import type {
  ConsumedRecord,
  Handover,
  PartitionLag,
  PartitionPosition,
  RebalanceListener,
  TopicPredicate,
} from '../../kafka/api.ts';
import { RecordBlock } from '../../kafka/records/record-block.ts';
import { parseDeadLetter, recordBytes, originalRecord } from './dead-letter-record.ts';
import type { SelectionMatcher } from './selection-matcher.ts';
import type { ReplayCounts } from './replay-counts.ts';

export interface DeadLetterReading {
  readonly consumer: SinkConsumer;
  readonly matcher: SelectionMatcher;
  readonly counts: ReplayCounts;
  /**
   * Converts a record that an earlier task has stored but not counted, to find its outcome. Absent: the record counts
   * as delivered.
   */
  readonly recount: ((record: ConsumedRecord) => unknown) | undefined;
  /** Called when all records are stored and counted. */
  readonly onComplete: () => void;
}

/**
 * Reads dead letters on behalf of a sink task. The task gets the selected records as the connector once consumed them,
 * but with their offsets in the dead-letter topic. Records that an earlier task has stored but not counted are read for
 * the counts and not returned to the task. The other methods delegate to the wrapped consumer.
 */
export class ReplayConsumer implements SinkConsumer {
  readonly #reading: DeadLetterReading;
  readonly #consumer: SinkConsumer;
  readonly #counts: ReplayCounts;

  constructor(reading: DeadLetterReading) {
    this.#reading = reading;
    this.#consumer = reading.consumer;
    this.#counts = reading.counts;
  }

  subscribe(topics: readonly string[] | TopicPredicate, listener: RebalanceListener, handover?: Handover): void {
    const onAssigned = async (partitions: readonly TopicPartition[]): Promise<void> => {
      for (const place of partitions) {
        const position = this.#consumer.position(place);
        const offset = this.#counts.assigned(place.partition, position);
        if (offset !== position) this.#consumer.seek({ ...place, offset });
      }
      await listener.onAssigned(partitions);
    };
    this.#consumer.subscribe(topics, { ...listener, onAssigned }, handover);
  }

  seek(position: PartitionPosition): void {
    const { topic, partition } = position;
    const offset = this.#counts.sought(partition, position.offset);
    this.#consumer.seek(offset === position.offset ? position : { topic, partition, offset });
  }

  async pollBlocks(timeoutMs: number, maxRecords?: number): Promise<readonly RecordBlock[]> {
    const ended = this.assignment().filter(({ partition }) => this.#counts.isAtEnd(partition));
    if (ended.length > 0) this.#consumer.pause(ended);
    const blocks = await this.#consumer.pollBlocks(timeoutMs, maxRecords);
    const selected: RecordBlock[] = [];
    for (const block of blocks) {
      const records = await this.#select(block);
      if (records.length > 0) {
        const offsets = records.map(({ deadLetter: source }) => source.offset);
        selected.push(RecordBlock.ofRecords(block, records, offsets));
      }
    }
    for (const place of this.assignment()) this.#counts.passed(place.partition, this.#consumer.position(place) ?? 0);
    this.#endIfComplete();
    return selected;
  }

  async #select(block: RecordBlock): Promise<readonly ReplayedRecord[]> {
    const records: ReplayedRecord[] = [];
    const turn = new Turn();
    for (let index = 0; index < block.count; index++) {
      const source = block.record(index);
      if (!this.#counts.has(source)) continue;
      const deadLetter = parseDeadLetter(source);
      const isSelected = this.#reading.matcher.has(deadLetter);
      const isNew = this.#counts.read(source, isSelected);
      if (isSelected) {
        const record = { ...originalRecord(deadLetter), deadLetter: source };
        if (!this.#counts.isStored(source)) records.push(record);
        else if (isNew) await this.#reading.recount?.(record);
      }
      if (turn.isOver(recordBytes(deadLetter))) await turn.next();
    }
    return records;
  }

  async commit(positions: readonly PartitionPosition[]): Promise<void> {
    await this.#consumer.commit(positions);
    this.#counts.committed(positions);
    this.#endIfComplete();
  }

  #endIfComplete(): void {
    if (this.assignment().length === 0 || !this.#counts.isComplete) return;
    this.#counts.complete();
    this.#reading.onComplete();
  }

  /** The offset of the next record that the task gets; the consumer may still read earlier ones for the counts. */
  position(place: TopicPartition): number | undefined {
    const position = this.#consumer.position(place);
    return position === undefined ? undefined : Math.max(position, this.#counts.stored(place.partition));
  }

  hasMore(partition: TopicPartition): boolean {
    return this.#consumer.hasMore(partition);
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

type ReplayedRecord = ConsumedRecord & { readonly deadLetter: ConsumedRecord };
