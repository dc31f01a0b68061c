/** Length of the number before each answer of a broker, which says how many bytes follow. */
const SIZE_BYTES = 4;
/** Every answer has a correlation id. */
const LEAST_FRAME_BYTES = 4;

/** What is longer is no answer of a broker: `HTTP` read as a number is 1.2 GB, the alert of a TLS listener 352 MB. */
const MAX_FRAME_BYTES = 256 * 1024 * 1024;

/**
 * Puts the answers of a broker together from what a socket reads. Each becomes one piece of memory of its own length, so that
 * what is pushed may be overwritten afterwards.
 */
export class FrameReader {
  readonly #take: (frame: Buffer) => void;
  readonly #size = Buffer.alloc(SIZE_BYTES);
  #sizeFilled = 0;
  #frame: Buffer | undefined;
  #filled = 0;

  /** `take` gets each answer without its size. */
  constructor(take: (frame: Buffer) => void) {
    this.#take = take;
  }

  /** @throws Error when this is not what a broker sends; nothing more may be pushed then */
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
  if (bytes < LEAST_FRAME_BYTES || bytes > MAX_FRAME_BYTES) {
    throw new Error(
      `An answer of ${String(bytes)} bytes is announced, which no Kafka broker sends. Does the address belong to a Kafka ` +
        `listener, and does security.protocol fit it?`,
    );
  }
  return Buffer.allocUnsafe(bytes);
}
