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

/** In place of a batch's end: the broker cut the batch off where the size limit was. */
export const CUT_OFF = -1;
/** In place of a batch's end: there is no batch of this format; `batchDamage` says why. */
export const DAMAGED = -2;

const MAGIC_END = BatchField.magic + 1;
const LEAST_LENGTH = BatchField.records - LENGTH_OVERHEAD;

/** Where the batch that begins at `at` ends, or CUT_OFF or DAMAGED. */
export function batchEnd(bytes: Buffer, at: number): number {
  if (at + MAGIC_END > bytes.length) return CUT_OFF;
  const length = bytes.readInt32BE(at + BatchField.length);
  if (bytes.readInt8(at + BatchField.magic) !== MAGIC || length < LEAST_LENGTH) return DAMAGED;
  const end = at + LENGTH_OVERHEAD + length;
  if (end > bytes.length) return CUT_OFF;
  return isOrdered(bytes, at) ? end : DAMAGED;
}

/** What is wrong with a batch for which `batchEnd` gives DAMAGED. */
export function batchDamage(bytes: Buffer, at: number): string {
  const magic = bytes.readInt8(at + BatchField.magic);
  if (magic === 0 || magic === 1) return `message format ${String(magic)} (before Kafka 0.11) cannot be read`;
  if (magic !== MAGIC) return `the batch has the unknown message format ${String(magic)}`;
  const length = bytes.readInt32BE(at + BatchField.length);
  if (length < LEAST_LENGTH) return `the length of the batch is ${String(length)}, less than that of its header`;
  const baseOffset = bytes.readBigInt64BE(at + BatchField.baseOffset);
  const lastOffsetDelta = bytes.readInt32BE(at + BatchField.lastOffsetDelta);
  return `the offsets of the batch begin at ${String(baseOffset)} and end ${String(lastOffsetDelta)} later`;
}

function isOrdered(bytes: Buffer, at: number): boolean {
  const baseOffset = readInt64(bytes, at + BatchField.baseOffset);
  const lastOffsetDelta = bytes.readInt32BE(at + BatchField.lastOffsetDelta);
  return baseOffset >= 0 && lastOffsetDelta >= 0 && Number.isSafeInteger(baseOffset + lastOffsetDelta + 1);
}

/** The offset after a batch that is whole. */
export function offsetAfter(bytes: Buffer, at: number): number {
  return readInt64(bytes, at + BatchField.baseOffset) + bytes.readInt32BE(at + BatchField.lastOffsetDelta) + 1;
}

/**
 * The offset after the last whole batch of a record set, `undefined` when there is none. Brokers may cut the last batch
 * off where the size limit was. A damaged batch ends the set: whoever reads it up to there learns why.
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

/** The first offset that is known of a leader epoch. */
export interface EpochStart {
  readonly epoch: number;
  readonly from: number;
}

/** Where leader epochs newer than `after` begin in a record set. */
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
