import type { ConsumedRecord } from './consumed-record.ts';

/** Views of less than half of their buffer are copied. */
const COPY_FACTOR = 2;

/**
 * Copies key, value and header values, unless they are most of their buffer. Otherwise a small record that is kept would retain its
 * whole decompressed batch.
 */
export function ownedRecord(record: ConsumedRecord): ConsumedRecord {
  const { key, value, headers } = record;
  return {
    ...record,
    key: owned(key),
    value: owned(value),
    headers: headers.map((header) => ({ key: header.key, value: owned(header.value) })),
  };
}

function owned(bytes: Buffer | null): Buffer | null {
  if (bytes === null || bytes.length * COPY_FACTOR >= bytes.buffer.byteLength) return bytes;
  return Buffer.from(bytes);
}
