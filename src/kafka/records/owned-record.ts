import type { ConsumedRecord } from './consumed-record.ts';

/** A view is copied if it is smaller than its buffer divided by this factor. */
const COPY_FACTOR = 2;

/**
 * Copies a key, value or header value, unless it makes up at least half of its buffer. Otherwise a small retained record
 * would keep its whole decompressed batch in memory.
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
