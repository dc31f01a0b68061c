import { RowBlock } from '../../../src/data/row-block.ts';

/** Default size of the buffer in bytes, used until the size of previous rows is known. */
const FIRST_BYTES = 16_384;

/** Collects the rows of a response as they arrive from the socket. */
export class RowCollector {
  #bytes: Buffer;
  #length = 0;
  #starts: Int32Array;
  #count = 0;

  /** `rows` and `bytes` are the expected number of rows and their expected total size. */
  constructor(rows: number, bytes = FIRST_BYTES) {
    this.#bytes = Buffer.allocUnsafe(bytes);
    this.#starts = new Int32Array(rows);
  }

  get length(): number {
    return this.#length;
  }

  get count(): number {
    return this.#count;
  }

  /** Records the start of a row as an offset into the collected bytes, which may not have been appended yet. */
  begin(at: number): void {
    if (this.#count === this.#starts.length) {
      const starts = new Int32Array(2 * this.#count + 1);
      starts.set(this.#starts);
      this.#starts = starts;
    }
    this.#starts[this.#count++] = at;
  }

  append(data: Buffer, start: number, end: number): void {
    const length = this.#length + end - start;
    if (length > this.#bytes.length) {
      const bytes = Buffer.allocUnsafe(Math.max(length, 2 * this.#bytes.length));
      this.#bytes.copy(bytes, 0, 0, this.#length);
      this.#bytes = bytes;
    }
    data.copy(this.#bytes, this.#length, start, end);
    this.#length = length;
  }

  block(fields: RowBlock['fields']): RowBlock {
    return new RowBlock(fields, this.#bytes.subarray(0, this.#length), this.#starts, this.#count);
  }
}
