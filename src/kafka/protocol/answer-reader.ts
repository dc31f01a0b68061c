import { DamagedAnswerError } from '../errors.ts';
import { readInt64 } from '../records/record-batch.ts';

/** An id of a topic that means none. */
const NO_ID = Buffer.alloc(16).toString('base64url');
/** The longest form of an unsigned 32-bit number in pieces of seven bits. */
const MAX_VARINT_BYTES = 5;

/**
 * Reads the fields of a broker's answer, or of what a member of a group says, in their order (https://kafka.apache.org/protocol).
 * Nothing is read beyond the end and nothing goes back, whatever lengths and counts stand in it: each entry of a list takes bytes.
 * Compact fields, whose lengths are varints and count one more, are those of flexible versions (KIP-482).
 *
 * @throws DamagedAnswerError
 */
export class AnswerReader {
  readonly #bytes: Buffer;
  readonly #what: string;
  #at = 0;

  /** `what` begins the messages where the caller does not name the answer. */
  constructor(bytes: Buffer, what = '') {
    this.#bytes = bytes;
    this.#what = what;
  }

  /** There are bytes that were not read. */
  get hasMore(): boolean {
    return this.#at < this.#bytes.length;
  }

  boolean(): boolean {
    return this.#bytes[this.#pass(1)] !== 0;
  }

  int16(): number {
    return this.#bytes.readInt16BE(this.#pass(2));
  }

  int32(): number {
    return this.#bytes.readInt32BE(this.#pass(4));
  }

  /** Exact up to 2^53. */
  int64(): number {
    return readInt64(this.#bytes, this.#pass(8));
  }

  string(): string {
    const length = this.int16();
    const start = this.#pass(length);
    return this.#bytes.toString('utf8', start, start + length);
  }

  /** '' where the length is -1. */
  nullableString(): string {
    return this.#text(this.int16());
  }

  /** `null` where the length is -1. */
  stringOrNull(): string | null {
    const length = this.int16();
    return length === -1 ? null : this.#text(length);
  }

  compactString(): string {
    return this.#text(this.#varint() - 1);
  }

  /** Whether a structure follows that may be missing. */
  isPresent(): boolean {
    return this.#bytes.readInt8(this.#pass(1)) >= 0;
  }

  /** As Kafka's tools print it; `undefined` for the id that means none. */
  uuid(): string | undefined {
    const start = this.#pass(16);
    const id = this.#bytes.toString('base64url', start, start + 16);
    return id === NO_ID ? undefined : id;
  }

  /** A view; none where the length is -1. */
  bytes(): Buffer {
    return this.#view(this.int32());
  }

  /** `undefined` where the length is -1. */
  nullableBytes(): Buffer | undefined {
    const length = this.int32();
    return length === -1 ? undefined : this.#view(length);
  }

  compactBytes(): Buffer {
    return this.#view(this.#varint() - 1);
  }

  /** Entries, each of which `read` reads; none where the length is -1. */
  list<T>(read: () => T): T[] {
    const entries: T[] = [];
    this.each(() => entries.push(read()));
    return entries;
  }

  each(read: () => void): void {
    this.#times(this.int32(), read);
  }

  compactEach(read: () => void): void {
    this.#times(this.#varint() - 1, read);
  }

  compactList<T>(read: () => T): T[] {
    const entries: T[] = [];
    this.compactEach(() => entries.push(read()));
    return entries;
  }

  /** Passes over the fields at the end of a flexible structure that its version does not name; `field` gets the bytes of each, by its number. */
  tags(field?: (tag: number, bytes: Buffer) => void): void {
    for (let left = this.#varint(); left > 0; left--) {
      const tag = this.#varint();
      const bytes = this.#view(this.#varint());
      field?.(tag, bytes);
    }
  }

  skip(bytes: number): void {
    this.#pass(bytes);
  }

  #times(count: number, read: () => void): void {
    // An entry has a byte at least, so that a count beyond the end is known before anything is read.
    if (count < -1 || count > this.#bytes.length - this.#at) {
      throw this.#damaged(`a list of ${String(count)} entries is announced before byte ${String(this.#at)}`);
    }
    for (let left = count; left > 0; left--) read();
  }

  #varint(): number {
    let value = 0;
    for (let index = 0; index < MAX_VARINT_BYTES; index++) {
      const byte = this.#bytes[this.#pass(1)]!;
      value += (byte & 0x7f) * 2 ** (7 * index);
      if (byte < 0x80) return value;
    }
    throw this.#damaged(`the number before byte ${String(this.#at)} has no end`);
  }

  /** None where the length is -1. */
  #text(length: number): string {
    if (length === -1) return '';
    const start = this.#pass(length);
    return this.#bytes.toString('utf8', start, start + length);
  }

  #view(length: number): Buffer {
    const size = length === -1 ? 0 : length;
    const start = this.#pass(size);
    return this.#bytes.subarray(start, start + size);
  }

  /** Where `length` bytes begin that are there. */
  #pass(length: number): number {
    const start = this.#at;
    const end = start + length;
    if (length < 0 || end > this.#bytes.length) {
      const total = String(this.#bytes.length);
      throw this.#damaged(`${String(length)} bytes are announced at byte ${String(start)} of ${total}`);
    }
    this.#at = end;
    return start;
  }

  #damaged(reason: string): DamagedAnswerError {
    return new DamagedAnswerError(this.#what === '' ? reason : `${this.#what}: ${reason}`);
  }
}
