/** Byte offsets of the header fields of a record batch in message format 2 (Kafka 0.11). */
export const BatchField = {
  baseOffset: 0,
  /** Number of bytes after this field. */
  length: 8,
  leaderEpoch: 12,
  magic: 16,
  crc: 17,
  /** The checksum covers all bytes from here on. */
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

/** Size of the base offset and the length field. The value of the length field does not include these bytes. */
export const LENGTH_OVERHEAD = 12;
export const MAGIC = 2;

export const BatchAttribute = { logAppendTime: 0x08, transactional: 0x10, control: 0x20 } as const;

const TWO_TO_32 = 2 ** 32;

/** Reads a 64-bit integer. The result is exact up to 2^53, which offsets and timestamps do not exceed. */
export function readInt64(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at) * TWO_TO_32 + bytes.readUInt32BE(at + 4);
}

export function writeInt64(bytes: Buffer, value: number, at: number): void {
  bytes.writeInt32BE(Math.floor(value / TWO_TO_32), at);
  bytes.writeUInt32BE(((value % TWO_TO_32) + TWO_TO_32) % TWO_TO_32, at + 4);
}

/** Returned by `batchEnd` at the end of the bytes, and for a batch that the broker truncated at the size limit. */
export const CUT_OFF = -1;
/** Returned by `batchEnd` if the batch is corrupt or of another format; `batchDamage` explains why. */
export const DAMAGED = -2;

const MAGIC_END = BatchField.magic + 1;
const MIN_LENGTH = BatchField.records - LENGTH_OVERHEAD;

/** The end of the batch at `at`, or CUT_OFF or DAMAGED. */
export function batchEnd(bytes: Buffer, at: number): number {
  if (at + MAGIC_END > bytes.length) return CUT_OFF;
  const length = bytes.readInt32BE(at + BatchField.length);
  if (bytes.readInt8(at + BatchField.magic) !== MAGIC || length < MIN_LENGTH) return DAMAGED;
  const end = at + LENGTH_OVERHEAD + length;
  if (end > bytes.length) return CUT_OFF;
  return isOrdered(bytes, at) ? end : DAMAGED;
}

/** Explains why `batchEnd` returned DAMAGED. */
export function batchDamage(bytes: Buffer, at: number): string {
  const magic = bytes.readInt8(at + BatchField.magic);
  if (magic === 0 || magic === 1) return `message format ${String(magic)} (before Kafka 0.11) cannot be read`;
  if (magic !== MAGIC) return `the batch has the unknown message format ${String(magic)}`;
  const length = bytes.readInt32BE(at + BatchField.length);
  if (length < MIN_LENGTH) return `the batch length ${String(length)} is smaller than its header`;
  const baseOffset = bytes.readBigInt64BE(at + BatchField.baseOffset);
  const lastOffsetDelta = bytes.readInt32BE(at + BatchField.lastOffsetDelta);
  return `the batch has the invalid base offset ${String(baseOffset)} and last offset delta ${String(lastOffsetDelta)}`;
}

function isOrdered(bytes: Buffer, at: number): boolean {
  const baseOffset = readInt64(bytes, at + BatchField.baseOffset);
  const lastOffsetDelta = bytes.readInt32BE(at + BatchField.lastOffsetDelta);
  return baseOffset >= 0 && lastOffsetDelta >= 0 && Number.isSafeInteger(baseOffset + lastOffsetDelta + 1);
}

export function offsetAfter(bytes: Buffer, at: number): number {
  return readInt64(bytes, at + BatchField.baseOffset) + bytes.readInt32BE(at + BatchField.lastOffsetDelta) + 1;
}

/**
 * Returns the offset after the last complete batch of a record set, or `undefined` if there is none. Brokers may truncate the
 * last batch at the size limit. A corrupt batch ends the set; it is reported when the reader reaches it.
 */
export function nextOffsetOf(bytes: Buffer): number | undefined {
  let next: number | undefined;
  for (let at = 0; ;) {
    const end = batchEnd(bytes, at);
    if (end < 0 || (next !== undefined && readInt64(bytes, at + BatchField.baseOffset) < next)) return next;
    next = offsetAfter(bytes, at);
    at = end;
  }
}

/** The first known offset that was written in a leader epoch. */
export interface EpochStart {
  readonly epoch: number;
  readonly from: number;
}

export function epochStarts(bytes: Buffer, after: number): readonly EpochStart[] {
  const starts: EpochStart[] = [];
  let newest = after;
  for (let at = 0, end = batchEnd(bytes, at); end >= 0; at = end, end = batchEnd(bytes, at)) {
    const epoch = bytes.readInt32BE(at + BatchField.leaderEpoch);
    if (epoch <= newest) continue;
    starts.push({ epoch, from: readInt64(bytes, at) });
    newest = epoch;
  }
  return starts;
}
