/**
 * Framing of Java's snappy streams (org.xerial.snappy.SnappyOutputStream). A stream has a 16-byte header and then blocks, each
 * with a 32-bit length and a plain snappy block. Other clients write a single plain block without framing.
 */
const MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const HEADER_BYTES = 16;
const VERSION = 1;
const BLOCK_BYTES = 32 * 1024;

/**
 * Decompresses a stream or a plain block. `maxBytes` limits the total decompressed size; `decompressBlock` is called with the
 * remaining limit.
 */
export function splitXerial(
  packed: Buffer,
  decompressBlock: (block: Buffer, maxBytes: number) => Buffer,
  maxBytes: number,
): Buffer {
  if (packed.length < HEADER_BYTES || !packed.subarray(0, MAGIC.length).equals(MAGIC)) {
    return decompressBlock(packed, maxBytes);
  }
  const blocks: Buffer[] = [];
  let leftBytes = maxBytes;
  let offset = HEADER_BYTES;
  while (offset < packed.length) {
    // In concatenated streams, each stream has its own header.
    if (packed.length - offset >= HEADER_BYTES && packed.subarray(offset, offset + MAGIC.length).equals(MAGIC)) {
      offset += HEADER_BYTES;
      continue;
    }
    const start = offset + 4;
    const length = start > packed.length ? -1 : packed.readInt32BE(offset);
    if (length < 0 || start + length > packed.length) throw new Error('a snappy block exceeds its stream');
    const block = decompressBlock(packed.subarray(start, start + length), leftBytes);
    blocks.push(block);
    leftBytes -= block.length;
    offset = start + length;
  }
  return Buffer.concat(blocks);
}

export function joinXerial(plain: Buffer, compressBlock: (block: Buffer) => Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeInt32BE(VERSION, 8);
  header.writeInt32BE(VERSION, 12);
  const parts: Buffer[] = [header];
  for (let offset = 0; offset < plain.length; offset += BLOCK_BYTES) {
    const block = compressBlock(plain.subarray(offset, offset + BLOCK_BYTES));
    const length = Buffer.alloc(4);
    length.writeInt32BE(block.length);
    parts.push(length, block);
  }
  return Buffer.concat(parts);
}
