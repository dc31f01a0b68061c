import { createRequire } from 'node:module';

const POLYNOMIAL = 0x82f63b78;
const SLICES = 8;
const tables = new Int32Array(SLICES * 256);

for (let byte = 0; byte < 256; byte++) {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
  tables[byte] = crc;
}
for (let slice = 1; slice < SLICES; slice++) {
  for (let byte = 0; byte < 256; byte++) {
    const previous = tables[(slice - 1) * 256 + byte] ?? 0;
    tables[slice * 256 + byte] = (tables[previous & 0xff] ?? 0) ^ (previous >>> 8);
  }
}

type Crc32c = (bytes: Uint8Array) => number;

/** Uses the CPU instruction if the optional native package is installed (5.9 GB/s, compared to 1.3 GB/s with tables). */
const native = loadNative();

function loadNative(): Crc32c | undefined {
  try {
    return (createRequire(import.meta.url)('@node-rs/crc32') as { crc32c: Crc32c }).crc32c;
  } catch {
    return undefined;
  }
}

/** CRC-32C (Castagnoli), the checksum of record batches, as an unsigned 32-bit number. */
export function crc32c(bytes: Uint8Array, start: number, end: number): number {
  return native === undefined ? crc32cByTables(bytes, start, end) : native(bytes.subarray(start, end));
}

/**
 * Computes the checksum with slicing-by-8: eight tables, eight bytes per iteration. A single table reaches 0.45 GB/s.
 * @internal
 */
export function crc32cByTables(bytes: Uint8Array, start: number, end: number): number {
  const table = tables;
  const data = bytes;
  let crc = -1;
  let at = start;
  for (const last = end - 8; at <= last; at += 8) {
    const low = crc ^ (data[at]! | (data[at + 1]! << 8) | (data[at + 2]! << 16) | (data[at + 3]! << 24));
    crc =
      table[1792 + (low & 0xff)]! ^
      table[1536 + ((low >>> 8) & 0xff)]! ^
      table[1280 + ((low >>> 16) & 0xff)]! ^
      table[1024 + (low >>> 24)]! ^
      table[768 + data[at + 4]!]! ^
      table[512 + data[at + 5]!]! ^
      table[256 + data[at + 6]!]! ^
      table[data[at + 7]!]!;
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ table[(crc ^ data[at]!) & 0xff]!;
  return ~crc >>> 0;
}
