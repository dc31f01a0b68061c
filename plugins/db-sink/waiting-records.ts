import {
  topicPartitionKey,
  Turn,
  type MessageBlock,
  type PartitionOffset,
  type SinkRecord,
  type SinkRecordBlock,
} from '../../src/index.ts';
import type { Decoded, Origin } from '../database/index.ts';
import type { RecordDecoder } from './record-decoder.ts';

/** Maximum size of the messages that are decoded by one call, unless a single message is larger. */
const MAX_SLICE_BYTES = 262_144;

/** Number of lookups above which an index of the records pays off. */
const LOOKUPS_WITHOUT_INDEX = 16;

interface BlockPart {
  readonly block: SinkRecordBlock;
  readonly from: number;
  readonly to: number;
}

/** Where a record is stored: in a block, at `index`, or as an individual record (`index` is 0). */
interface Place {
  readonly part: SinkRecord | BlockPart;
  readonly index: number;
}

/** A batch to which no records are added any more, and what its records were decoded to. */
export interface SealedBatch {
  readonly records: WaitingRecords;
  readonly decoded: Decoded;
}

/** Records whose rows are pending or in flight, kept so that a refused one can be reported completely. */
export class WaitingRecords {
  readonly firstOffsets = new Map<string, number>();
  readonly #ends = new Map<string, PartitionOffset>();
  readonly #parts: (SinkRecord | BlockPart)[] = [];
  #count = 0;
  #bytes = 0;
  #lookups = 0;
  /** Index by partition and offset; created if many records are looked up. */
  #places: Map<string, Map<number, Place>> | undefined;

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(record: SinkRecord): void {
    this.#parts.push(record);
    this.#count++;
    this.#bytes += messageBytes(record);
    const { topic, partition, offset } = record.consumed;
    this.#track(topic, partition, offset, offset + 1);
  }

  addBlock(block: SinkRecordBlock, from: number, to: number): void {
    this.#parts.push({ block, from, to });
    this.#count += to - from;
    this.#bytes += bytesBetween(block.messages, from, to);
    const { topic, partition, offsets } = block.messages;
    this.#track(topic, partition, offsets[from] ?? 0, (offsets[to - 1] ?? 0) + 1);
  }

  /** The offset after the last record of each partition. */
  get ends(): readonly PartitionOffset[] {
    return [...this.#ends.values()];
  }

  get firstOrigin(): Origin | undefined {
    const [first] = this.#parts;
    if (first === undefined) return undefined;
    if (!('block' in first)) return { kind: 'record', ...first.consumed };
    const { topic, partition, offsets } = first.block.messages;
    return { kind: 'record', topic, partition, offset: offsets[first.from] ?? 0 };
  }

  async find(origin: Origin | undefined): Promise<SinkRecord | undefined> {
    const place = this.#find(origin);
    if (place === undefined) return undefined;
    const { part, index } = place;
    return 'block' in part ? part.block.sinkRecord(index) : part;
  }

  holds(origin: Origin | undefined): boolean {
    return this.#find(origin) !== undefined;
  }

  /** Splits after a record that was added individually. */
  splitAfter(origin: Origin): readonly [WaitingRecords, WaitingRecords] {
    return this.#splitAtPart(this.#placeOf(origin) + 1);
  }

  /** Splits before a record that was added individually. */
  splitBefore(origin: Origin): readonly [WaitingRecords, WaitingRecords] {
    return this.#splitAtPart(Math.max(0, this.#placeOf(origin)));
  }

  splitAt(count: number): readonly [WaitingRecords, WaitingRecords] {
    const halves = [new WaitingRecords(), new WaitingRecords()] as const;
    let left = count;
    for (const part of this.#parts) {
      if (!('block' in part)) {
        halves[left > 0 ? 0 : 1].add(part);
        left -= 1;
        continue;
      }
      const { block, from, to } = part;
      const middle = Math.min(to, from + Math.max(0, left));
      if (middle > from) halves[0].addBlock(block, from, middle);
      if (to > middle) halves[1].addBlock(block, middle, to);
      left -= to - from;
    }
    return halves;
  }

  /** Decodes all records again, over several iterations of the event loop. */
  async decode(decoder: RecordDecoder): Promise<Decoded> {
    const turn = new Turn();
    for (const part of this.#parts) {
      if (!('block' in part)) {
        decodeRecord(decoder, part);
        if (turn.isOver(messageBytes(part))) await turn.next();
        continue;
      }
      const { block, from, to } = part;
      for (let index = from; index < to;) {
        const begin = index;
        const end = sliceEnd(block.messages, index, to);
        index = decoder.addBlock?.(block, index, end) ?? index;
        if (index < end) {
          const made = block.sinkRecord(index);
          const record = made instanceof Promise ? await made : made;
          if (record !== undefined) decodeRecord(decoder, record);
          index++;
        }
        if (turn.isOver(bytesBetween(block.messages, begin, index), index - begin)) await turn.next();
      }
    }
    return decoder.take();
  }

  #find(origin: Origin | undefined): Place | undefined {
    if (origin?.kind !== 'record') return undefined;
    if (++this.#lookups > LOOKUPS_WITHOUT_INDEX) {
      this.#places ??= placesByPartition(this.#parts);
      return this.#places.get(topicPartitionKey(origin.topic, origin.partition))?.get(origin.offset);
    }
    for (const part of this.#parts) {
      const index = indexIn(part, origin);
      if (index >= 0) return { part, index };
    }
    return undefined;
  }

  #placeOf(origin: Origin): number {
    return origin.kind === 'record' ? this.#parts.findIndex((part) => indexIn(part, origin) >= 0) : -1;
  }

  #splitAtPart(place: number): readonly [WaitingRecords, WaitingRecords] {
    const halves = [new WaitingRecords(), new WaitingRecords()] as const;
    for (const [index, part] of this.#parts.entries()) {
      const half = halves[index < place ? 0 : 1];
      if ('block' in part) half.addBlock(part.block, part.from, part.to);
      else half.add(part);
    }
    return halves;
  }

  #track(topic: string, partition: number, first: number, end: number): void {
    this.#places = undefined;
    const key = topicPartitionKey(topic, partition);
    if (!this.firstOffsets.has(key)) this.firstOffsets.set(key, first);
    this.#ends.set(key, { topic, partition, offset: end });
  }
}

/** Adds the record with its coordinates as the origin. */
export function decodeRecord(decoder: RecordDecoder, record: SinkRecord): void {
  const { topic, partition, offset } = record.consumed;
  decoder.add(record, { kind: 'record', topic, partition, offset });
}

/** Returns the size of the message in bytes; 0 if it is unknown. */
export function messageBytes({ consumed }: SinkRecord): number {
  return 'value' in consumed && consumed.value instanceof Uint8Array ? consumed.value.length : 0;
}

/** Returns the number of bytes of the messages from `from` to `to` (exclusive). */
export function bytesBetween({ valueStarts, valueEnds }: MessageBlock, from: number, to: number): number {
  return to > from ? Math.max(0, (valueEnds[to - 1] ?? 0) - (valueStarts[from] ?? 0)) : 0;
}

/**
 * Returns the end (exclusive) of the next slice to decode. The slice has at least one message and does not go beyond
 * `to`.
 */
export function sliceEnd(messages: MessageBlock, from: number, to: number): number {
  let end = to;
  while (end - from > 1 && bytesBetween(messages, from, end) > MAX_SLICE_BYTES) end = from + ((end - from) >>> 1);
  return end;
}

function placesByPartition(parts: readonly (SinkRecord | BlockPart)[]): Map<string, Map<number, Place>> {
  const places = new Map<string, Map<number, Place>>();
  for (const part of parts) {
    const { topic, partition } = 'block' in part ? part.block.messages : part.consumed;
    const key = topicPartitionKey(topic, partition);
    let byOffset = places.get(key);
    if (byOffset === undefined) places.set(key, (byOffset = new Map<number, Place>()));
    const [from, to] = 'block' in part ? [part.from, part.to] : [0, 1];
    for (let index = from; index < to; index++) {
      const offset = 'block' in part ? (part.block.messages.offsets[index] ?? -1) : part.consumed.offset;
      if (!byOffset.has(offset)) byOffset.set(offset, { part, index });
    }
  }
  return places;
}

/** Returns the index of the origin's record in the part; -1 if it is not included. */
function indexIn(part: SinkRecord | BlockPart, origin: Extract<Origin, { kind: 'record' }>): number {
  if (!('block' in part)) {
    const { topic, partition, offset } = part.consumed;
    return offset === origin.offset && partition === origin.partition && topic === origin.topic ? 0 : -1;
  }
  const { from, to } = part;
  const { topic, partition, offsets } = part.block.messages;
  if (partition !== origin.partition || topic !== origin.topic) return -1;
  for (let index = from; index < to; index++) if (offsets[index] === origin.offset) return index;
  return -1;
}
