/** Values in `#starts` that mark cells without bytes. */
const NULL_CELL = -1;
const UNCHANGED_CELL = -2;

const NULL_VALUE = 0x6e;
const UNCHANGED_VALUE = 0x75;
const TEXT_VALUE = 0x74;

/** Locates the values of a row in a message of `pgoutput` (Logical Replication Message Formats, TupleData). */
export class RowCells {
  #bytes: Buffer = Buffer.alloc(0);
  #starts = new Int32Array(16);
  #ends = new Int32Array(16);
  count = 0;

  /** The buffer that contains the message. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /**
   * Reads the row that begins at index `at` of a message that ends before index `end`. Returns the index after the row.
   * @throws RangeError if the message is invalid
   */
  read(bytes: Buffer, at: number, end: number): number {
    this.#bytes = bytes;
    const count = bytes.readUInt16BE(at);
    if (count > this.#starts.length) {
      this.#starts = new Int32Array(count);
      this.#ends = new Int32Array(count);
    }
    this.count = count;
    let next = at + 2;
    for (let index = 0; index < count; index++) {
      const type = bytes[next++];
      if (type === TEXT_VALUE) {
        const start = next + 4;
        next = start + bytes.readUInt32BE(next);
        if (next > end) break;
        this.#starts[index] = start;
        this.#ends[index] = next;
      } else if (type === NULL_VALUE) this.#starts[index] = NULL_CELL;
      else if (type === UNCHANGED_VALUE) this.#starts[index] = UNCHANGED_CELL;
      else throw new RangeError(`pgoutput sent a value of the unknown type ${String(type)}`);
    }
    if (next > end) throw new RangeError('pgoutput sent a message that ends too early');
    return next;
  }

  isNull(index: number): boolean {
    return index >= this.count || this.#starts[index] === NULL_CELL;
  }

  isUnchanged(index: number): boolean {
    return index < this.count && this.#starts[index] === UNCHANGED_CELL;
  }

  start(index: number): number {
    return this.#starts[index] ?? NULL_CELL;
  }

  end(index: number): number {
    return this.#ends[index] ?? NULL_CELL;
  }

  text(index: number): string {
    return this.#bytes.toString('utf8', this.#starts[index], this.#ends[index]);
  }

  /** Whether another row has the same value in this column. */
  isSame(index: number, other: RowCells): boolean {
    if (this.isNull(index) || other.isNull(index)) return this.isNull(index) === other.isNull(index);
    if (this.isUnchanged(index)) return true;
    const start = this.#starts[index];
    return this.#bytes.compare(other.bytes, other.start(index), other.end(index), start, this.#ends[index]) === 0;
  }
}
