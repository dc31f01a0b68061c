import type { ConsumedRecord } from '../api.ts';

/** A view of less than this part of its memory is copied. */
const WORTH_COPYING = 2;

/**
 * The record with bytes of its own, unless they are most of the memory that they are a view of. A small record that is kept would
 * otherwise keep its whole unpacked batch in memory.
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
  if (bytes === null || bytes.length * WORTH_COPYING >= bytes.buffer.byteLength) return bytes;
  return Buffer.from(bytes);
}
