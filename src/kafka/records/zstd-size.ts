import { tooLarge } from './unpacked-limit.ts';

const MAGIC = 0xfd2fb528;
const SKIPPED_MAGIC = 0x184d2a50;
const MOST_OF_BLOCK = 128 * 1024;
const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;
const BLOCK = { stored: 0, oneByteRepeated: 1 } as const;
/**
 * For each block of a frame of unknown length the library moves the whole window: with windows of 8 MiB and full blocks,
 * 64 times as much as comes of the frame.
 */
const MOST_MOVED = 256;

/**
 * Throws an Error unless the zstd frames in `packed` become at most `maxBytes` (RFC 8878), by the headers of frames and blocks:
 * the library that unpacks them where Node cannot has no limits of its own.
 */
export function requireZstdSize(packed: Buffer, maxBytes: number): void {
  let size = 0;
  let moved = 0;
  const takeSize = (bytes: number): void => {
    size += bytes;
    if (size > maxBytes || moved > maxBytes * MOST_MOVED) throw tooLarge(maxBytes);
  };
  const need = (end: number): void => {
    if (end > packed.length) throw new Error('the zstd frame is cut off');
  };
  for (let at = 0; at < packed.length;) {
    need(at + 8);
    const magic = packed.readUInt32LE(at);
    if (magic >>> 4 === SKIPPED_MAGIC >>> 4) {
      at += 8 + packed.readUInt32LE(at + 4);
      need(at);
      continue;
    }
    if (magic !== MAGIC) throw new Error('it is no zstd frame');
    const descriptor = packed[at + 4] ?? 0;
    at += 5;
    const isSingle = (descriptor & 0x20) !== 0;
    let windowBytes = 0;
    if (!isSingle) {
      const window = packed[at] ?? 0;
      windowBytes = 2 ** (10 + (window >>> 3)) * (1 + (window & 7) / 8);
      at += 1;
    }
    at += DICTIONARY_ID_BYTES[(descriptor & 3) as 0 | 1 | 2 | 3];
    const sizeFlag = (descriptor >>> 6) as 0 | 1 | 2 | 3;
    const sizeBytes = sizeFlag === 0 && isSingle ? 1 : CONTENT_SIZE_BYTES[sizeFlag];
    need(at + sizeBytes);
    const announced = sizeBytes === 8 ? Number(packed.readBigUInt64LE(at)) : packed.readUIntLE(at, sizeBytes || 1);
    if (Math.max(windowBytes, sizeBytes === 0 ? 0 : announced) > maxBytes) takeSize(Infinity);
    at += sizeBytes;
    for (let isLast = false; !isLast;) {
      need(at + 3);
      const header = packed.readUIntLE(at, 3);
      isLast = (header & 1) !== 0;
      const type = (header >>> 1) & 3;
      const length = header >>> 3;
      at += 3 + (type === BLOCK.oneByteRepeated ? 1 : length);
      need(at);
      if (sizeBytes === 0) moved += windowBytes;
      takeSize(type === BLOCK.stored || type === BLOCK.oneByteRepeated ? length : MOST_OF_BLOCK);
    }
    if ((descriptor & 4) !== 0) at += 4;
  }
}
