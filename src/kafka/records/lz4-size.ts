const MAGIC = 0x184d2204;
const HEADER_BYTES = 7;
const STORED = 0x80000000;
/** Maximum compression ratio of an LZ4 block: each byte of a match length represents at most 255 bytes. */
const MAX_GROWTH = 255;

const FLAG = { blockChecksum: 0x10, contentSize: 0x08, contentChecksum: 0x04, dictionary: 0x01 } as const;

/**
 * Returns an upper bound of the decompressed size of the LZ4 frames in `packed`
 * (https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md), based on the block headers. This check is needed because the
 * LZ4 library has no size limit. Throws an Error if the bytes are not LZ4 frames.
 */
export function unpackedLz4Size(packed: Buffer): number {
  let size = 0;
  for (let at = 0; at < packed.length;) {
    if (at + HEADER_BYTES > packed.length || packed.readUInt32LE(at) !== MAGIC) throw new Error('not an LZ4 frame');
    const flags = packed[at + 4] ?? 0;
    const maxBlockBytes = 2 ** (8 + 2 * (((packed[at + 5] ?? 0) >>> 4) & 7));
    at += HEADER_BYTES + ((flags & FLAG.contentSize) === 0 ? 0 : 8) + ((flags & FLAG.dictionary) === 0 ? 0 : 4);
    for (;;) {
      if (at + 4 > packed.length) throw new Error('truncated LZ4 frame');
      const header = packed.readUInt32LE(at);
      at += 4;
      if (header === 0) break;
      const length = header & ~STORED;
      at += length + ((flags & FLAG.blockChecksum) === 0 ? 0 : 4);
      if (at > packed.length) throw new Error('an LZ4 block exceeds its frame');
      size += Math.min(maxBlockBytes, header >= STORED ? length : length * MAX_GROWTH);
    }
    if ((flags & FLAG.contentChecksum) !== 0) at += 4;
  }
  return size;
}
