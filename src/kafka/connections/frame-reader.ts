/** Each response is preceded by its size. */
const SIZE_BYTES = 4;
/** The smallest response consists of the correlation id only. */
const MIN_FRAME_BYTES = 4;

/**
 * Upper limit of a response size. A larger size means that the peer is not a Kafka broker: `HTTP` read as a size is 1.2 GB, a
 * TLS alert 352 MB.
 */
const MAX_FRAME_BYTES = 256 * 1024 * 1024;

/**
 * Assembles responses from the chunks that a socket reads. Each response is copied into its own buffer, so the caller may
 * overwrite the chunks.
 */
export class FrameReader {
  readonly #take: (frame: Buffer) => void;
  readonly #size = Buffer.alloc(SIZE_BYTES);
  #sizeFilled = 0;
  #frame: Buffer | undefined;
  #filled = 0;

  /** `take` is called with each response, without its size. */
  constructor(take: (frame: Buffer) => void) {
    this.#take = take;
  }

  /** @throws Error if the size is invalid; `push` must not be called again after that */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#frame === undefined) {
        const copied = chunk.copy(this.#size, this.#sizeFilled, at);
        at += copied;
        this.#sizeFilled += copied;
        if (this.#sizeFilled < SIZE_BYTES) return;
        this.#frame = frameOf(this.#size.readInt32BE(0));
        this.#sizeFilled = 0;
        this.#filled = 0;
      }
      const copied = chunk.copy(this.#frame, this.#filled, at);
      at += copied;
      this.#filled += copied;
      if (this.#filled === this.#frame.length) {
        const frame = this.#frame;
        this.#frame = undefined;
        this.#take(frame);
      }
    }
  }
}

function frameOf(bytes: number): Buffer {
  if (bytes < MIN_FRAME_BYTES || bytes > MAX_FRAME_BYTES) {
    throw new Error(
      `Invalid response size of ${String(bytes)} bytes. Check that the address is a Kafka listener and that security.protocol ` +
        `matches it.`,
    );
  }
  return Buffer.allocUnsafe(bytes);
}
