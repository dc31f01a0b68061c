import type { ConsumedBlock, ConsumedHeader, ConsumedRecord } from '../../kafka/api.ts';
import { isLetterHeader } from './dead-letter.ts';

/** The letters of a block that are selected, with the headers that their records had. */
export class LetterBlock implements ConsumedBlock {
  readonly topic: string;
  readonly partition: number;
  readonly bytes: Buffer;
  readonly count: number;
  readonly offsets: ArrayLike<number>;
  readonly timestamps: ArrayLike<number>;
  readonly valueStarts: Int32Array;
  readonly valueEnds: Int32Array;
  readonly hasHeaders: boolean;
  readonly #block: ConsumedBlock;
  /** Absent: all of the block. */
  readonly #indices: Int32Array | undefined;

  /**
   * `indices`: of the letters in the block.
   * `hasHeaders`: whether any of their records had headers.
   */
  constructor(block: ConsumedBlock, indices: Int32Array, hasHeaders: boolean) {
    const count = indices.length;
    const isWhole = count === block.count;
    const of = (list: ArrayLike<number>): ArrayLike<number> =>
      isWhole ? list : Float64Array.from(indices, (index) => list[index] ?? -1);
    this.topic = block.topic;
    this.partition = block.partition;
    this.count = count;
    this.offsets = of(block.offsets);
    this.timestamps = of(block.timestamps);
    ({ bytes: this.bytes, starts: this.valueStarts, ends: this.valueEnds } = valuesOf(block, indices));
    this.hasHeaders = hasHeaders;
    this.#block = block;
    this.#indices = isWhole ? undefined : indices;
  }

  key(index: number): Buffer | null {
    return this.#block.key(this.#of(index));
  }

  headers(index: number): readonly ConsumedHeader[] {
    return this.hasHeaders ? this.#block.headers(this.#of(index)).filter(({ key }) => !isLetterHeader(key)) : [];
  }

  /** The dead letter as it was read. */
  record(index: number): ConsumedRecord {
    return this.#block.record(this.#of(index));
  }

  #of(index: number): number {
    return this.#indices === undefined ? index : (this.#indices[index] ?? -1);
  }
}

/** Values that are shorter are copied faster byte by byte. */
const SHORT_BYTES = 100;

/**
 * The values of the letters, one behind the other: they lie far apart between their headers, and whoever reads a block reads what is
 * between its values too.
 */
function valuesOf(
  { bytes, valueStarts, valueEnds }: ConsumedBlock,
  indices: Int32Array,
): { readonly bytes: Buffer; readonly starts: Int32Array; readonly ends: Int32Array } {
  const { length } = indices;
  const starts = new Int32Array(length);
  const ends = new Int32Array(length);
  let total = 0;
  for (let at = 0; at < length; at++) {
    const index = indices[at] ?? 0;
    const size = (valueEnds[index] ?? 0) - (valueStarts[index] ?? 0);
    starts[at] = total;
    ends[at] = total + size;
    total += Math.max(0, size);
  }
  const values = Buffer.allocUnsafeSlow(total);
  for (let at = 0; at < length; at++) {
    let from = valueStarts[indices[at] ?? 0] ?? 0;
    let to = starts[at] ?? 0;
    const end = ends[at] ?? 0;
    if (end - to > SHORT_BYTES) bytes.copy(values, to, from, from + end - to);
    else while (to < end) values[to++] = bytes[from++] ?? 0;
  }
  return { bytes: values, starts, ends };
}
