import {
  topicPartitionKey,
  type Origin,
  type PartitionOffset,
  type SinkRecord,
  type SinkRecordBlock,
} from '../../src/index.ts';

interface BlockPart {
  readonly block: SinkRecordBlock;
  readonly from: number;
  readonly to: number;
}

/** Records whose rows are collected or on their way, kept so that a refused one can be reported whole. */
export class WaitingRecords {
  /** The first offset per partition. */
  readonly firstOffsets = new Map<string, number>();
  readonly #ends = new Map<string, PartitionOffset>();
  readonly #parts: (SinkRecord | BlockPart)[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(record: SinkRecord): void {
    this.#parts.push(record);
    this.#count++;
    const { topic, partition, offset } = record.original;
    this.#note(topic, partition, offset, offset + 1);
  }

  addBlock(block: SinkRecordBlock, from: number, to: number): void {
    this.#parts.push({ block, from, to });
    this.#count += to - from;
    const { topic, partition, offsets } = block;
    this.#note(topic, partition, offsets[from] ?? 0, (offsets[to - 1] ?? 0) + 1);
  }

  /** The offset behind the last record, of each partition. */
  get ends(): readonly PartitionOffset[] {
    return [...this.#ends.values()];
  }

  /** Where the first record was. */
  get firstOrigin(): Origin | undefined {
    const [first] = this.#parts;
    if (first === undefined) return undefined;
    if (!('block' in first)) return { kind: 'record', ...first.original };
    const { topic, partition, offsets } = first.block;
    return { kind: 'record', topic, partition, offset: offsets[first.from] ?? 0 };
  }

  /** The record that a fault came from. */
  async find(origin: Origin | undefined): Promise<SinkRecord | undefined> {
    if (origin?.kind !== 'record') return undefined;
    for (const part of this.#parts) {
      const index = indexIn(part, origin);
      if (index >= 0) return 'block' in part ? part.block.sinkRecord(index) : part;
    }
    return undefined;
  }

  holds(origin: Origin | undefined): boolean {
    return origin?.kind === 'record' && this.#parts.some((part) => indexIn(part, origin) >= 0);
  }

  /** The records up to that one, which was added by itself, and those behind it. */
  splitBehind(origin: Origin): readonly [WaitingRecords, WaitingRecords] {
    return this.#splitAt(this.#placeOf(origin) + 1);
  }

  /** The records before that one, which was added by itself, and the others. */
  splitBefore(origin: Origin): readonly [WaitingRecords, WaitingRecords] {
    return this.#splitAt(Math.max(0, this.#placeOf(origin)));
  }

  #placeOf(origin: Origin): number {
    return origin.kind === 'record' ? this.#parts.findIndex((part) => indexIn(part, origin) >= 0) : -1;
  }

  #splitAt(place: number): readonly [WaitingRecords, WaitingRecords] {
    const halves = [new WaitingRecords(), new WaitingRecords()] as const;
    for (const [index, part] of this.#parts.entries()) {
      const half = halves[index < place ? 0 : 1];
      if ('block' in part) half.addBlock(part.block, part.from, part.to);
      else half.add(part);
    }
    return halves;
  }

  #note(topic: string, partition: number, first: number, end: number): void {
    const key = topicPartitionKey(topic, partition);
    if (!this.firstOffsets.has(key)) this.firstOffsets.set(key, first);
    this.#ends.set(key, { topic, partition, offset: end });
  }
}

/** Where in the part the record is that the origin names; -1 where it is not. */
function indexIn(part: SinkRecord | BlockPart, origin: Extract<Origin, { kind: 'record' }>): number {
  if (!('block' in part)) {
    const { topic, partition, offset } = part.original;
    return offset === origin.offset && partition === origin.partition && topic === origin.topic ? 0 : -1;
  }
  const { block, from, to } = part;
  if (block.partition !== origin.partition || block.topic !== origin.topic) return -1;
  for (let index = from; index < to; index++) if (block.offsets[index] === origin.offset) return index;
  return -1;
}
