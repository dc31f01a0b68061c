import { Decoder, type DecoderInsides } from './kafkajs-internals.ts';

/**
 * kafkajs 2.2.4 believes every length: a negative one moves its decoder back, so that it reads the same bytes again for each of
 * up to 2^31 entries of a list, and a list of 2^31 entries gets its memory before the first is read.
 */
const PATCHED = Symbol.for('sluice.kafka.decoder-patched');

/** Applied once per process, before the first connection is made. */
export function patchDecoder(): void {
  const prototype: DecoderInsides & { [PATCHED]?: true } = Decoder.prototype;
  if (prototype[PATCHED]) return;
  prototype.readString = function (this: DecoderInsides): string | null {
    const length = this.readInt16();
    if (length === -1) return null;
    const start = pass(this, length);
    return this.buffer.toString('utf8', start, start + length);
  };
  prototype.readBytes = function (this: DecoderInsides, length = this.readInt32()): Buffer | null {
    if (length === -1) return null;
    const start = pass(this, length);
    return this.buffer.subarray(start, start + length);
  };
  prototype.readArray = function <T>(this: DecoderInsides, read: (decoder: DecoderInsides) => T): T[] {
    const entries: T[] = [];
    for (let left = listLength(this); left > 0; left--) entries.push(read(this));
    return entries;
  };
  prototype.readArrayAsync = async function <T>(
    this: DecoderInsides,
    read: (decoder: DecoderInsides) => Promise<T>,
  ): Promise<T[]> {
    const entries: T[] = [];
    for (let left = listLength(this); left > 0; left--) entries.push(await read(this));
    return entries;
  };
  prototype[PATCHED] = true;
}

function listLength(decoder: DecoderInsides): number {
  const count = decoder.readInt32();
  if (count < -1 || count > decoder.buffer.length - decoder.offset) {
    throw new RangeError(`a list of ${String(count)} entries is announced at byte ${String(decoder.offset - 4)}`);
  }
  return count;
}

function pass(decoder: DecoderInsides, length: number): number {
  const start = decoder.offset;
  if (length < 0 || start + length > decoder.buffer.length) {
    const total = String(decoder.buffer.length);
    throw new RangeError(`${String(length)} bytes are announced at byte ${String(start)} of ${total}`);
  }
  decoder.offset = start + length;
  return start;
}
