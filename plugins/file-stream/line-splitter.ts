const LF = 0x0a;
const CR = 0x0d;
const INITIAL_BYTES = 1024;

/** A line without its line end, and its length in bytes including the line end. */
export interface Line {
  readonly text: string;
  readonly bytes: number;
}

/**
 * Splits bytes into lines at `\n`, `\r\n` or `\r`; the bytes arrive in chunks of any size. A `\r` at the end of the
 * buffer is kept until the next byte has arrived, which may be `\n`. The buffer grows with the longest line.
 */
export class LineSplitter {
  #buffer = Buffer.alloc(INITIAL_BYTES);
  #start = 0;
  #end = 0;
  /** There is no line end from `#start` up to this position. */
  #scanned = 0;

  push(chunk: Uint8Array): void {
    if (this.#end + chunk.length > this.#buffer.length) this.#makeRoom(chunk.length);
    this.#buffer.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** Returns the next line; `undefined` if the buffer has no complete line. */
  next(): Line | undefined {
    const buffer = this.#buffer;
    for (let at = this.#scanned; at < this.#end; at++) {
      const byte = buffer[at];
      if (byte !== LF && byte !== CR) continue;
      this.#scanned = at;
      if (byte === CR && at + 1 === this.#end) return undefined;
      const next = byte === CR && buffer[at + 1] === LF ? at + 2 : at + 1;
      const line = { text: buffer.toString('utf8', this.#start, at), bytes: next - this.#start };
      this.#start = next;
      this.#scanned = next;
      return line;
    }
    this.#scanned = this.#end;
    return undefined;
  }

  #makeRoom(bytes: number): void {
    const kept = this.#end - this.#start;
    let size = this.#buffer.length;
    while (size < kept + bytes) size *= 2;
    const buffer = size === this.#buffer.length ? this.#buffer : Buffer.alloc(size);
    this.#buffer.copy(buffer, 0, this.#start, this.#end);
    this.#buffer = buffer;
    this.#scanned -= this.#start;
    this.#start = 0;
    this.#end = kept;
  }
}
