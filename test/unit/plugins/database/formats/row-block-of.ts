import { RowBlock } from '../../../../../src/data/row-block.ts';

/** Rows as the server sends them; a cell may be bytes. */
export function rowBlockOf(rows: readonly (readonly (string | Buffer | null)[])[], columns: number): RowBlock {
  const starts = new Int32Array(rows.length);
  const parts: Buffer[] = [];
  let length = 0;
  const push = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
  };
  rows.forEach((row, index) => {
    push(Buffer.from('D....'));
    starts[index] = length;
    const count = Buffer.alloc(2);
    count.writeInt16BE(row.length);
    push(count);
    for (const cell of row) {
      const bytes = cell === null ? undefined : Buffer.from(cell);
      const size = Buffer.alloc(4);
      size.writeInt32BE(bytes?.length ?? -1);
      push(size);
      if (bytes !== undefined) push(bytes);
    }
  });
  const fields = Array.from({ length: columns }, (_, at) => ({
    name: `c${String(at)}`,
    typeOid: 25,
    typeModifier: -1,
  }));
  return new RowBlock(fields, Buffer.concat(parts), starts, rows.length);
}
