import { topicPartitionKey, type Origin, type SinkRecord, type SinkRecordBlock } from '../../src/index.ts';

interface BlockPart {
  readonly block: SinkRecordBlock;
  readonly from: number;
  readonly to: number;
}

/** Records whose rows are collected or on their way, kept so that a refused one can be reported whole. */
export class WaitingRecords {
  /** The first offset per partition. */
  readonly firstOffsets = new Map<string, number>();
  readonly #parts: (SinkRecord | BlockPart)[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(record: SinkRecord): void {
    this.#parts.push(record);
    this.#count++;
    const { topic, partition, offset } = record.original;
    this.#note(topicPartitionKey(topic, partition), offset);
  }

  addBlock(block: SinkRecordBlock, from: number, to: number): void {
    this.#parts.push({ block, from, to });
    this.#count += to - from;
    this.#note(topicPartitionKey(block.topic, block.partition), block.offsets[from] ?? 0);
  }

  /** The record that a fault came from. */
  async find(origin: Origin | undefined): Promise<SinkRecord | undefined> {
    if (origin?.kind !== 'record') return undefined;
    for (const part of this.#parts) {
      if (!('block' in part)) {
        const { topic, partition, offset } = part.original;
        if (offset === origin.offset && partition === origin.partition && topic === origin.topic) return part;
        continue;
      }
      const { block, from, to } = part;
      if (block.partition !== origin.partition || block.topic !== origin.topic) continue;
      const index = block.offsets.indexOf(origin.offset, from);
      if (index >= 0 && index < to) return block.sinkRecord(index);
    }
    return undefined;
  }

  #note(key: string, offset: number): void {
    if (!this.firstOffsets.has(key)) this.firstOffsets.set(key, offset);
  }
}
