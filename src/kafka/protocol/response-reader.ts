import { MalformedResponseError } from '../errors/kafka-errors.ts';
import { readInt64 } from '../records/record-batch.ts';

/** The zero UUID, which means that there is no id. */
const NO_ID = Buffer.alloc(16).toString('base64url');
/** Maximum length of an unsigned 32-bit varint. */
const MAX_VARINT_BYTES = 5;

/**
 * Reads the fields of a response, or of data of a group member, in order (https://kafka.apache.org/protocol). Never
 * reads beyond the end or backwards, because each length and count is compared with the number of unread bytes. A
 * compact field (flexible versions, KIP-482) begins with a varint: its length plus one.
 *
 * @throws MalformedResponseError
 */
export class ResponseReader {
  readonly #bytes: Buffer;
  readonly #what: string;
  #at = 0;

  /** `what` is the prefix of error messages. */
  constructor(bytes: Buffer, what = '') {
    this.#bytes = bytes;
    this.#what = what;
  }

  /** True if there are unread bytes. */
  get hasMore(): boolean {
    return this.#at < this.#bytes.length;
  }

  boolean(): boolean {
    return this.#bytes[this.#advance(1)] !== 0;
  }

  int16(): number {
    return this.#bytes.readInt16BE(this.#advance(2));
  }

  int32(): number {
    return this.#bytes.readInt32BE(this.#advance(4));
  }

  /** The result is exact up to 2^53. */
  int64(): number {
    return readInt64(this.#bytes, this.#advance(8));
  }

  string(): string {
    const length = this.int16();
    const start = this.#advance(length);
    return this.#bytes.toString('utf8', start, start + length);
  }

  /** Returns an empty string if the length is -1. */
  nullableString(): string {
    return this.#text(this.int16());
  }

  /** Returns `null` if the length is -1. */
  stringOrNull(): string | null {
    const length = this.int16();
    return length === -1 ? null : this.#text(length);
  }

  compactString(): string {
    return this.#text(this.#varint() - 1);
  }

  /** Reads whether a nullable structure is present. */
  isPresent(): boolean {
    return this.#bytes.readInt8(this.#advance(1)) >= 0;
  }

  /** Returns the UUID as Kafka's tools print it, or `undefined` for the zero UUID. */
  uuid(): string | undefined {
    const start = this.#advance(16);
    const id = this.#bytes.toString('base64url', start, start + 16);
    return id === NO_ID ? undefined : id;
  }

  /** Returns a view, which is empty if the length is -1. */
  bytes(): Buffer {
    return this.#view(this.int32());
  }

  /** Returns `undefined` if the length is -1. */
  nullableBytes(): Buffer | undefined {
    const length = this.int32();
    return length === -1 ? undefined : this.#view(length);
  }

  compactBytes(): Buffer {
    return this.#view(this.#varint() - 1);
  }

  /** Reads each entry with `read`. The list is empty if the length is -1. */
  list<T>(read: () => T): T[] {
    const entries: T[] = [];
    this.each(() => entries.push(read()));
    return entries;
  }

  each(read: () => void): void {
    this.#readEntries(this.int32(), read);
  }

  compactEach(read: () => void): void {
    this.#readEntries(this.#varint() - 1, read);
  }

  compactList<T>(read: () => T): T[] {
    const entries: T[] = [];
    this.compactEach(() => entries.push(read()));
    return entries;
  }

  /** Skips tagged fields, or calls `field` with the tag and the bytes of each. */
  tags(field?: (tag: number, bytes: Buffer) => void): void {
    for (let left = this.#varint(); left > 0; left--) {
      const tag = this.#varint();
      const bytes = this.#view(this.#varint());
      field?.(tag, bytes);
    }
  }

  skip(bytes: number): void {
    this.#advance(bytes);
  }

  #readEntries(count: number, read: () => void): void {
    // Each entry takes at least one byte, so an excessive count is detected before any entry is read.
    if (count < -1 || count > this.#bytes.length - this.#at) {
      throw this.#damaged(`invalid list length ${String(count)} before byte ${String(this.#at)}`);
    }
    for (let left = count; left > 0; left--) read();
  }

  #varint(): number {
    let value = 0;
    for (let index = 0; index < MAX_VARINT_BYTES; index++) {
      const byte = this.#bytes[this.#advance(1)]!;
      value += (byte & 0x7f) * 2 ** (7 * index);
      if (byte < 0x80) return value;
    }
    throw this.#damaged(`invalid varint before byte ${String(this.#at)}`);
  }

  /** Returns an empty string if the length is -1. */
  #text(length: number): string {
    if (length === -1) return '';
    const start = this.#advance(length);
    return this.#bytes.toString('utf8', start, start + length);
  }

  #view(length: number): Buffer {
    const size = length === -1 ? 0 : length;
    const start = this.#advance(size);
    return this.#bytes.subarray(start, start + size);
  }

  /** Advances by `length` bytes, which must exist, and returns where they start. */
  #advance(length: number): number {
    const start = this.#at;
    const end = start + length;
    if (length < 0 || end > this.#bytes.length) {
      const total = String(this.#bytes.length);
      throw this.#damaged(`invalid length ${String(length)} at byte ${String(start)} of ${total}`);
    }
    this.#at = end;
    return start;
  }

  #damaged(reason: string): MalformedResponseError {
    return new MalformedResponseError(this.#what === '' ? reason : `${this.#what}: ${reason}`);
  }
}
