/**
 * The offset file of a standalone worker: a serialized Java `HashMap<byte[], byte[]>` (FileOffsetBackingStore), which Java workers
 * can read. Format: Java Object Serialization Stream Protocol, version 5.
 */

const STREAM_HEADER = 0xaced0005;
const TC_NULL = 0x70;
const TC_REFERENCE = 0x71;
const TC_CLASSDESC = 0x72;
const TC_OBJECT = 0x73;
const TC_ARRAY = 0x75;
const TC_BLOCKDATA = 0x77;
const TC_ENDBLOCKDATA = 0x78;
const HASH_MAP_UID = 0x0507dac1c31660d1n;
const BYTE_ARRAY_UID = 0xacf317f8060854e0n;
/** The stream numbers its handles from 0x7e0000, in this order: class of the map, map, class of byte arrays. */
const BYTE_ARRAY_CLASS_HANDLE = 0x7e0002;
const LOAD_FACTOR = 0.75;

export type ByteMapEntries = readonly (readonly [Uint8Array, Uint8Array | null])[];

export function writeJavaMap(entries: ByteMapEntries): Buffer {
  let capacity = 16;
  while (entries.length > capacity * LOAD_FACTOR) capacity *= 2;
  const out = new Writer();
  out.u32(STREAM_HEADER).u8(TC_OBJECT).u8(TC_CLASSDESC).utf('java.util.HashMap').u64(HASH_MAP_UID).u8(3).u16(2);
  out.u8(0x46).utf('loadFactor').u8(0x49).utf('threshold').u8(TC_ENDBLOCKDATA).u8(TC_NULL);
  // Java allocates the table with the first entry; until then the threshold is 0.
  out.f32(LOAD_FACTOR).u32(entries.length === 0 ? 0 : capacity * LOAD_FACTOR);
  out.u8(TC_BLOCKDATA).u8(8).u32(capacity).u32(entries.length);
  let classWritten = false;
  for (const bytes of entries.flat()) {
    if (bytes === null) {
      out.u8(TC_NULL);
      continue;
    }
    out.u8(TC_ARRAY);
    if (classWritten) out.u8(TC_REFERENCE).u32(BYTE_ARRAY_CLASS_HANDLE);
    else out.u8(TC_CLASSDESC).utf('[B').u64(BYTE_ARRAY_UID).u8(2).u16(0).u8(TC_ENDBLOCKDATA).u8(TC_NULL);
    classWritten = true;
    out.u32(bytes.length).bytes(bytes);
  }
  return out.u8(TC_ENDBLOCKDATA).result();
}

/** Throws an error if the file is not a serialized `HashMap<byte[], byte[]>`. */
export function readJavaMap(file: Buffer): ByteMapEntries {
  const input = new Reader(file);
  input.expect(input.u32() === STREAM_HEADER, 'it is not a Java serialization stream');
  input.expect(input.u8() === TC_OBJECT && input.u8() === TC_CLASSDESC, 'it contains no object');
  input.expect(input.utf() === 'java.util.HashMap', 'it contains no java.util.HashMap');
  input.skip(8 + 1);
  const fields = input.u16();
  for (let i = 0; i < fields; i++) {
    input.skip(1);
    input.utf();
  }
  input.skip(2 + 4 + 4);
  input.expect(input.u8() === TC_BLOCKDATA, 'the map has no size');
  input.skip(1 + 4);
  const size = input.u32();
  return Array.from({ length: size }, () => {
    const key = input.byteArray();
    input.expect(key !== null, 'a key is null');
    return [key ?? new Uint8Array(), input.byteArray()] as const;
  });
}

class Writer {
  readonly #parts: Uint8Array[] = [];

  u8(value: number): this {
    return this.bytes(Uint8Array.of(value));
  }

  u16(value: number): this {
    return this.#number(2, (buffer) => buffer.writeUInt16BE(value));
  }

  u32(value: number): this {
    return this.#number(4, (buffer) => buffer.writeUInt32BE(value));
  }

  u64(value: bigint): this {
    return this.#number(8, (buffer) => buffer.writeBigUInt64BE(value));
  }

  f32(value: number): this {
    return this.#number(4, (buffer) => buffer.writeFloatBE(value));
  }

  utf(text: string): this {
    const bytes = Buffer.from(text);
    return this.u16(bytes.length).bytes(bytes);
  }

  bytes(bytes: Uint8Array): this {
    this.#parts.push(bytes);
    return this;
  }

  result(): Buffer {
    return Buffer.concat(this.#parts);
  }

  #number(size: number, write: (buffer: Buffer) => void): this {
    const buffer = Buffer.alloc(size);
    write(buffer);
    return this.bytes(buffer);
  }
}

class Reader {
  readonly #buffer: Buffer;
  #at = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  expect(holds: boolean, problem: string): void {
    if (!holds) throw new Error(`not an offset file: ${problem} (near byte ${String(this.#at)})`);
  }

  skip(bytes: number): void {
    this.#at += bytes;
  }

  u8(): number {
    return this.#take(1).readUInt8();
  }

  u16(): number {
    return this.#take(2).readUInt16BE();
  }

  u32(): number {
    return this.#take(4).readUInt32BE();
  }

  utf(): string {
    return this.#take(this.u16()).toString();
  }

  byteArray(): Buffer | null {
    const tag = this.u8();
    if (tag === TC_NULL) return null;
    this.expect(tag === TC_ARRAY, 'an entry is not a byte array');
    const description = this.u8();
    if (description === TC_REFERENCE) this.skip(4);
    else {
      this.expect(description === TC_CLASSDESC && this.utf() === '[B', 'an entry is not a byte array');
      this.skip(8 + 1 + 2 + 2);
    }
    return Buffer.from(this.#take(this.u32()));
  }

  #take(bytes: number): Buffer {
    this.expect(this.#at + bytes <= this.#buffer.length, 'it is truncated');
    const taken = this.#buffer.subarray(this.#at, this.#at + bytes);
    this.#at += bytes;
    return taken;
  }
}
