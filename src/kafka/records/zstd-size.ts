import { tooLarge } from './unpacked-limit.ts';

const MAGIC = 0xfd2fb528;
const SKIPPED_MAGIC = 0x184d2a50;
const MAX_BLOCK_BYTES = 128 * 1024;
const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;
const BLOCK = { stored: 0, oneByteRepeated: 1 } as const;
/** The window must hold a whole block. */
const MIN_WINDOW = MAX_BLOCK_BYTES;
/**
 * Limits how many bytes fzstd may move within its window, as a multiple of the size limit. For frames of unknown size, fzstd
 * moves the whole window for each block. With windows of 8 MiB and full blocks, it moves 64 times the decompressed size.
 */
const MAX_MOVED_FACTOR = 256;

/**
 * Returns the zstd frames in `packed` (RFC 8878) with windows that are no larger than their content. Streams declare the window
 * of their compression level, up to 128 MiB, and fzstd would allocate it.
 *
 * Throws an Error if the frame and block headers indicate more than `maxBytes` of content. This check is needed because fzstd,
 * which is used if Node has no zstd, has no size limit.
 */
export function limitedZstd(packed: Buffer, maxBytes: number): Buffer {
  let size = 0;
  let moved = 0;
  let narrowed: Buffer | undefined;
  const takeSize = (bytes: number): void => {
    size += bytes;
    if (size > maxBytes) throw tooLarge(maxBytes);
  };
  const need = (end: number): void => {
    if (end > packed.length) throw new Error('truncated zstd frame');
  };
  for (let at = 0; at < packed.length;) {
    need(at + 8);
    const magic = packed.readUInt32LE(at);
    if (magic >>> 4 === SKIPPED_MAGIC >>> 4) {
      at += 8 + packed.readUInt32LE(at + 4);
      need(at);
      continue;
    }
    if (magic !== MAGIC) throw new Error('not a zstd frame');
    const descriptor = packed[at + 4] ?? 0;
    at += 5;
    const isSingle = (descriptor & 0x20) !== 0;
    const windowAt = at;
    if (!isSingle) at += 1;
    at += DICTIONARY_ID_BYTES[(descriptor & 3) as 0 | 1 | 2 | 3];
    const sizeFlag = (descriptor >>> 6) as 0 | 1 | 2 | 3;
    const sizeBytes = sizeFlag === 0 && isSingle ? 1 : CONTENT_SIZE_BYTES[sizeFlag];
    need(at + sizeBytes);
    const announced = sizeBytes === 8 ? Number(packed.readBigUInt64LE(at)) : packed.readUIntLE(at, sizeBytes || 1);
    if (sizeBytes > 0 && announced > maxBytes) throw tooLarge(maxBytes);
    at += sizeBytes;
    const sizeBefore = size;
    let blocks = 0;
    for (let isLast = false; !isLast; blocks++) {
      need(at + 3);
      const header = packed.readUIntLE(at, 3);
      isLast = (header & 1) !== 0;
      const type = (header >>> 1) & 3;
      const length = header >>> 3;
      at += 3 + (type === BLOCK.oneByteRepeated ? 1 : length);
      need(at);
      takeSize(type === BLOCK.stored || type === BLOCK.oneByteRepeated ? length : MAX_BLOCK_BYTES);
    }
    if (!isSingle) {
      const window = packed[windowAt] ?? 0;
      const enough = windowFor(size - sizeBefore);
      if (enough < window) (narrowed ??= Buffer.from(packed))[windowAt] = enough;
      if (sizeBytes === 0) moved += blocks * windowBytes(Math.min(enough, window));
      if (moved > maxBytes * MAX_MOVED_FACTOR) throw tooLarge(maxBytes);
    }
    if ((descriptor & 4) !== 0) at += 4;
  }
  return narrowed ?? packed;
}

function windowBytes(descriptor: number): number {
  return 2 ** (10 + (descriptor >>> 3)) * (1 + (descriptor & 7) / 8);
}

/** Returns the descriptor of the smallest window that holds a whole frame. */
function windowFor(frameBytes: number): number {
  return (Math.ceil(Math.log2(Math.max(frameBytes, MIN_WINDOW))) - 10) << 3;
}
