const MAGIC = 0x184d2204;
const HEADER_BYTES = 7;
const STORED = 0x80000000;
/** A match of four bytes and each further byte of 255 in its length: no block becomes more than 255 times as long. */
const MOST_GROWTH = 255;

const FLAG = { blockChecksum: 0x10, contentSize: 0x08, contentChecksum: 0x04, dictionary: 0x01 } as const;

/**
 * What the LZ4 frames in `packed` become at most (https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md), by the headers of
 * their blocks: the library that unpacks them has no limit of its own. Throws an Error for bytes that are no frames.
 */
export function unpackedLz4Size(packed: Buffer): number {
  let size = 0;
  for (let at = 0; at < packed.length;) {
    if (at + HEADER_BYTES > packed.length || packed.readUInt32LE(at) !== MAGIC) throw new Error('it is no LZ4 frame');
    const flags = packed[at + 4] ?? 0;
    const mostOfBlock = 2 ** (8 + 2 * (((packed[at + 5] ?? 0) >>> 4) & 7));
    at += HEADER_BYTES + ((flags & FLAG.contentSize) === 0 ? 0 : 8) + ((flags & FLAG.dictionary) === 0 ? 0 : 4);
    for (;;) {
      if (at + 4 > packed.length) throw new Error('the LZ4 frame is cut off');
      const header = packed.readUInt32LE(at);
      at += 4;
      if (header === 0) break;
      const length = header & ~STORED;
      at += length + ((flags & FLAG.blockChecksum) === 0 ? 0 : 4);
      if (at > packed.length) throw new Error('a block goes beyond the LZ4 frame');
      size += Math.min(mostOfBlock, header >= STORED ? length : length * MOST_GROWTH);
    }
    if ((flags & FLAG.contentChecksum) !== 0) at += 4;
  }
  return size;
}
