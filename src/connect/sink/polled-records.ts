import type { SinkRecordBlock, TakeStruct } from '../../data/message-block.ts';
import { topicPartitionKey, type SinkRecord } from '../../data/record.ts';
import type { ConsumedBlock } from '../../kafka/api.ts';
import type { Converter, PartitionOffset, SinkTask } from '../api.ts';
import type { Converters, SinkRecordConverter } from '../pipeline/record-converter.ts';

/** Records of one partition in the form in which the task takes them, and the offset behind them. */
interface Portion {
  readonly content: SinkRecordBlock | readonly SinkRecord[];
  readonly count: number;
  readonly end: PartitionOffset;
}

/**
 * What polls gave, on its way into a sink task: as blocks where the task may read messages where they lie, else as records.
 * Empty -> (take) waiting -> (put) empty; a put that failed leaves what was not put yet.
 */
export class PolledRecords {
  readonly #task: SinkTask;
  readonly #converter: SinkRecordConverter;
  readonly #value: Converter;
  readonly #passes: ((block: ConsumedBlock) => boolean) | undefined;
  #portions: Portion[] = [];

  constructor(task: SinkTask, converter: SinkRecordConverter, converters: Converters, hasTransforms: boolean) {
    this.#task = task;
    this.#converter = converter;
    this.#value = converters.value;
    const { value } = converters;
    const readsBlocks = value.passesMessages === true || value.readStructs !== undefined;
    const passes = task.putBlock !== undefined && !hasTransforms && readsBlocks;
    this.#passes = passes ? (block) => convertsAside(block, converters) : undefined;
  }

  get count(): number {
    return this.#portions.reduce((count, portion) => count + portion.count, 0);
  }

  /** Rejects when a record cannot be converted and the error policy does not let it go. */
  async take(blocks: readonly ConsumedBlock[]): Promise<void> {
    for (const block of blocks) {
      const { topic, partition, offsets, count } = block;
      const end = { topic, partition, offset: (offsets[count - 1] ?? -1) + 1 };
      const content = this.#passes?.(block) === true ? this.#sinkBlock(block) : await this.#records(block);
      this.#portions.push({ content, count, end });
    }
  }

  /** Hands over what waits; `onPut` is told of each portion that the task has taken. */
  async put(onPut: (end: PartitionOffset, count: number) => void): Promise<void> {
    // As in Java: a task may do by the clock what it does in `put`.
    if (this.#portions.length === 0) await this.#task.put([]);
    while (this.#portions.length > 0) {
      const [first] = this.#portions;
      if (first === undefined) return;
      if ('bytes' in first.content) {
        await this.#task.putBlock?.(first.content);
        this.#done([first], onPut);
        continue;
      }
      const ready = this.#recordPortions();
      await this.#task.put(ready.flatMap(({ content }) => ('bytes' in content ? [] : content)));
      this.#done(ready, onPut);
    }
  }

  /** The task may have sought elsewhere while it took them: then they do not count. */
  #done(taken: readonly Portion[], onPut: (end: PartitionOffset, count: number) => void): void {
    const counted = taken.filter((portion) => this.#portions.includes(portion));
    this.#portions = this.#portions.filter((portion) => !taken.includes(portion));
    for (const { end, count } of counted) onPut(end, count);
  }

  /** Drops records of partitions that are somebody else's now, or are read from elsewhere. */
  keep(isOwned: (partitionKey: string) => boolean): void {
    this.#portions = this.#portions.filter(({ end }) => isOwned(topicPartitionKey(end.topic, end.partition)));
  }

  #recordPortions(): Portion[] {
    const blockAt = this.#portions.findIndex(({ content }) => 'bytes' in content);
    return blockAt < 0 ? [...this.#portions] : this.#portions.slice(0, blockAt);
  }

  async #records(block: ConsumedBlock): Promise<SinkRecord[]> {
    return this.#converter.convert(Array.from({ length: block.count }, (_, index) => block.record(index)));
  }

  #sinkBlock(block: ConsumedBlock): SinkRecordBlock {
    return new SinkBlock(block, this.#converter, this.#value);
  }
}

class SinkBlock implements SinkRecordBlock {
  readonly topic: string;
  readonly partition: number;
  readonly bytes: Buffer;
  readonly count: number;
  readonly offsets: ArrayLike<number>;
  readonly timestamps: ArrayLike<number>;
  readonly valueStarts: ArrayLike<number>;
  readonly valueEnds: ArrayLike<number>;
  readonly passesMessages: boolean;
  readonly #block: ConsumedBlock;
  readonly #converter: SinkRecordConverter;
  readonly #value: Converter;

  constructor(block: ConsumedBlock, converter: SinkRecordConverter, value: Converter) {
    this.topic = block.topic;
    this.partition = block.partition;
    this.bytes = block.bytes;
    this.count = block.count;
    this.offsets = block.offsets;
    this.timestamps = block.timestamps;
    this.valueStarts = block.valueStarts;
    this.valueEnds = block.valueEnds;
    this.passesMessages = value.passesMessages ?? false;
    this.#block = block;
    this.#converter = converter;
    this.#value = value;
  }

  readStructs(from: number, to: number, take: TakeStruct): number {
    return this.#value.readStructs?.(this.#block, from, to, take) ?? from;
  }

  sinkRecord(index: number): SinkRecord | undefined | Promise<SinkRecord | undefined> {
    return this.#converter.convertOne(this.#block.record(index));
  }
}

/** Whether keys and headers can be converted: who reads messages alone must not hide that they are bad. */
function convertsAside(block: ConsumedBlock, { key, header }: Converters): boolean {
  if (key.passesMessages === true && !block.hasHeaders) return true;
  try {
    for (let index = 0; index < block.count; index++) {
      if (key.passesMessages !== true) key.toConnectData(block.topic, block.key(index));
      for (const each of block.headers(index)) header.toConnectHeader(block.topic, each.key, each.value);
    }
    return true;
  } catch {
    return false;
  }
}
