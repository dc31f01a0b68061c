import type { ConsumedBlock, ConsumedHeader, ConsumedRecord } from '../../kafka/api.ts';
import type { DeadLetter } from './dead-letter.ts';

/** The letters of a block that are selected, with the headers that their records had. */
export class LetterBlock implements ConsumedBlock {
  readonly topic: string;
  readonly partition: number;
  readonly bytes: Buffer;
  readonly count: number;
  readonly offsets: readonly number[];
  readonly timestamps: readonly number[];
  readonly valueStarts: readonly number[];
  readonly valueEnds: readonly number[];
  readonly hasHeaders: boolean;
  readonly #block: ConsumedBlock;
  readonly #indices: readonly number[];
  readonly #letters: readonly DeadLetter[];

  /** `indices`: of the letters in the block. */
  constructor(block: ConsumedBlock, indices: readonly number[], letters: readonly DeadLetter[]) {
    const of = (list: ArrayLike<number>): readonly number[] => indices.map((index) => list[index] ?? -1);
    this.topic = block.topic;
    this.partition = block.partition;
    this.bytes = block.bytes;
    this.count = indices.length;
    this.offsets = of(block.offsets);
    this.timestamps = of(block.timestamps);
    this.valueStarts = of(block.valueStarts);
    this.valueEnds = of(block.valueEnds);
    this.hasHeaders = letters.some(({ headers }) => headers.length > 0);
    this.#block = block;
    this.#indices = indices;
    this.#letters = letters;
  }

  key(index: number): Buffer | null {
    return this.#block.key(this.#indices[index] ?? -1);
  }

  headers(index: number): readonly ConsumedHeader[] {
    return this.#letters[index]?.headers ?? [];
  }

  /** The dead letter as it was read. */
  record(index: number): ConsumedRecord {
    return this.#block.record(this.#indices[index] ?? -1);
  }

  hold(): void {
    this.#block.hold();
  }

  release(): void {
    this.#block.release();
  }
}
