/** The header of a record batch, message format 2 (Kafka 0.11): offsets of its fields in bytes. */
export const BatchField = {
  baseOffset: 0,
  /** Bytes after this field. */
  length: 8,
  leaderEpoch: 12,
  magic: 16,
  crc: 17,
  /** The checksum covers everything from here. */
  attributes: 21,
  lastOffsetDelta: 23,
  baseTimestamp: 27,
  maxTimestamp: 35,
  producerId: 43,
  producerEpoch: 51,
  baseSequence: 53,
  recordCount: 57,
  records: 61,
} as const;

/** Base offset and length, which come before what `length` counts. */
export const LENGTH_OVERHEAD = 12;
export const MAGIC = 2;

export const BatchAttribute = { logAppendTime: 0x08, transactional: 0x10, control: 0x20 } as const;

const TWO_TO_32 = 2 ** 32;

/** Exact up to 2^53; offsets and timestamps stay below. */
export function readInt64(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at) * TWO_TO_32 + bytes.readUInt32BE(at + 4);
}

export function writeInt64(bytes: Buffer, value: number, at: number): void {
  bytes.writeInt32BE(Math.floor(value / TWO_TO_32), at);
  bytes.writeUInt32BE(((value % TWO_TO_32) + TWO_TO_32) % TWO_TO_32, at + 4);
}

/**
 * The offset after the last whole batch of a record set, `undefined` when there is none. Brokers may cut the last batch
 * off where the size limit was.
 */
export function nextOffsetOf(bytes: Buffer): number | undefined {
  let next: number | undefined;
  let at = 0;
  while (at + BatchField.records <= bytes.length) {
    const end = at + LENGTH_OVERHEAD + bytes.readInt32BE(at + BatchField.length);
    if (end > bytes.length || bytes.readInt8(at + BatchField.magic) < MAGIC) break;
    next = readInt64(bytes, at) + bytes.readInt32BE(at + BatchField.lastOffsetDelta) + 1;
    at = end;
  }
  return next;
}
