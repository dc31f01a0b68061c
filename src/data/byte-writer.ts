/**
 * Up to this length, copying byte by byte is faster than a library call; twice this length if the call needs a view.
 */
const SHORT = 24;
const ZERO = 48;
const MINUS = 45;
const MILLION = 1_000_000;

/** A buffer that grows as bytes are written. */
export class ByteWriter {
  bytes: Buffer;
  /** Position of the next byte. */
  at = 0;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafe(size);
  }

  /** Reserves space for `count` further bytes. */
  reserve(count: number): void {
    const needed = this.at + count;
    if (needed <= this.bytes.length) return;
    const bytes = Buffer.allocUnsafe(Math.max(needed, 2 * this.bytes.length));
    this.bytes.copy(bytes, 0, 0, this.at);
    this.bytes = bytes;
  }

  /** Continues at the start of a new buffer; the previous one remains unchanged. */
  restart(size: number): void {
    this.bytes = Buffer.allocUnsafe(size);
    this.at = 0;
  }

  /** Writes one byte. The space must have been reserved. */
  byte(value: number): void {
    this.bytes[this.at++] = value;
  }

  /** Writes all bytes of `source`. The space must have been reserved. */
  put(source: Uint8Array): void {
    const { bytes } = this;
    const { length } = source;
    const at = this.at;
    if (length <= SHORT) for (let index = 0; index < length; index++) bytes[at + index] = source[index]!;
    else bytes.set(source, at);
    this.at = at + length;
  }

  /** Writes the text in UTF-8, and reserves the space for it. */
  text(text: string): void {
    this.reserve(3 * text.length);
    this.at += this.bytes.write(text, this.at, 'utf8');
  }

  /** Writes the bytes of `source` from `start` to `end` (exclusive). The space must have been reserved. */
  copy(source: Uint8Array, start: number, end: number): void {
    if (end - start > 2 * SHORT) {
      this.bytes.set(source.subarray(start, end), this.at);
      this.at += end - start;
      return;
    }
    const { bytes } = this;
    let at = this.at;
    for (let from = start; from < end; from++) bytes[at++] = source[from]!;
    this.at = at;
  }

  /** Writes the bytes from `start` to `end` (exclusive) of this buffer again. */
  repeat(start: number, end: number): void {
    this.reserve(end - start);
    this.bytes.copyWithin(this.at, start, end);
    this.at += end - start;
  }

  /** Writes the digits of a safe integer. Space of 17 bytes must have been reserved. */
  integer(value: number): void {
    let rest = value;
    if (rest < 0) {
      this.byte(MINUS);
      rest = -rest;
    }
    const high = Math.floor(rest / MILLION);
    if (high === 0) this.#digits(rest, digitsOf(rest));
    else if (high < MILLION) {
      this.#digits(high, digitsOf(high));
      this.#digits(rest - high * MILLION, 6);
    } else {
      const top = Math.floor(high / MILLION);
      this.#digits(top, digitsOf(top));
      this.#digits(high - top * MILLION, 6);
      this.#digits(rest - high * MILLION, 6);
    }
  }

  #digits(value: number, count: number): void {
    const { bytes } = this;
    let rest = value | 0;
    for (let at = this.at + count - 1; at >= this.at; at--) {
      const next = (rest / 10) | 0;
      bytes[at] = ZERO + rest - 10 * next;
      rest = next;
    }
    this.at += count;
  }
}

/** Returns the number of digits of an integer below a million. */
function digitsOf(value: number): number {
  if (value < 10) return 1;
  if (value < 100) return 2;
  if (value < 1_000) return 3;
  if (value < 10_000) return 4;
  return value < 100_000 ? 5 : 6;
}
