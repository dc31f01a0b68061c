/** Size of the field at the start of a row that contains the number of its cells. */
const COUNT_BYTES = 2;

/** Positions of the cells of one row in the bytes of its block. The arrays are reused for each row. */
export interface CellBounds {
  /** -1 for NULL. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** Size of the row in bytes, including the fields that contain the lengths of its cells. */
  readonly length: number;
}

/**
 * Rows of a result in PostgreSQL's format (DataRow). Objects for rows are created only on request. A row consists of the
 * number of its cells (16 bits), and for each cell its length (32 bits, -1 for NULL) and its text in UTF-8.
 */
export class RowBlock {
  readonly fields: readonly { readonly name: string; readonly typeOid: number; readonly typeModifier: number }[];
  readonly count: number;
  readonly bytes: Buffer;
  readonly #starts: Int32Array;
  readonly #bounds: { starts: Int32Array; ends: Int32Array; length: number };

  /** `starts` has the position of each row; it may be longer than `count`. */
  constructor(fields: RowBlock['fields'], bytes: Buffer, starts: Int32Array, count: number) {
    this.fields = fields;
    this.bytes = bytes;
    this.count = count;
    this.#starts = starts;
    this.#bounds = { starts: new Int32Array(fields.length), ends: new Int32Array(fields.length), length: 0 };
  }

  /**
   * Returns the cells of a row, in arrays that the next call reuses.
   * @throws an error if the bytes are not such a row
   */
  cells(index: number): CellBounds {
    const { bytes } = this;
    const { starts, ends } = this.#bounds;
    const columns = starts.length;
    let at = this.#starts[index]!;
    const limit = index + 1 < this.count ? this.#starts[index + 1]! : bytes.length;
    if (((bytes[at]! << 8) | bytes[at + 1]!) !== columns) throw damaged();
    at += COUNT_BYTES;
    for (let column = 0; column < columns; column++) {
      const length = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
      at += 4;
      if (length < -1 || at + length > limit) throw damaged();
      if (length === -1) {
        starts[column] = -1;
        ends[column] = -1;
        continue;
      }
      starts[column] = at;
      at += length;
      ends[column] = at;
    }
    this.#bounds.length = at - this.#starts[index]!;
    return this.#bounds;
  }

  cell(index: number, column: number): string | null {
    const { starts, ends } = this.cells(index);
    const start = starts[column] ?? -1;
    return start < 0 ? null : this.bytes.toString('utf8', start, ends[column]);
  }

  row(index: number): readonly (string | null)[] {
    const { starts, ends } = this.cells(index);
    const row = new Array<string | null>(starts.length);
    for (let column = 0; column < starts.length; column++) {
      const start = starts[column]!;
      row[column] = start < 0 ? null : this.bytes.toString('utf8', start, ends[column]);
    }
    return row;
  }
}

function damaged(): Error {
  return new Error('the server sent an invalid row');
}
