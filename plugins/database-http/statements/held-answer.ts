import { toError } from '../../../src/index.ts';
import type { ResultJson } from './result-json.ts';
import type { ApiAnswer } from '../route.ts';

/** Unsent bytes beyond which the reader of the result waits for the client. */
const MAX_AHEAD_BYTES = 256 * 1024;
/** With so much of it read in the holding time, the rest of the largest answer is worth waiting for. */
const NEARLY_ALL = 0.65;
/** More is not held, however large answers may be. */
const MAX_HELD_BYTES = 6 << 20;

export interface HeldLimits {
  readonly holdMs: number;
  /** A client that takes nothing for this long while rows wait for it does not get the rest: they hold a connection. */
  readonly stallMs: number;
  /** Of the answer. */
  readonly maxBytes: number;
}

/**
 * An answer whose head says how the query went, while rows are still being read.
 *
 * holding: rows are kept back. -> whole, when the result ended within the holding time: status, header and `time` tell all.
 *                              -> streaming, when it did not: what comes later is told by the body's last keys and a
 *                                 trailer, and a failure by breaking the body off.
 */
export class HeldAnswer {
  readonly #startedAt: number;
  readonly #limits: HeldLimits;
  readonly #pieces: Buffer[] = [];
  #heldBytes = 0;
  #json: ResultJson | undefined;
  #state: 'holding' | 'streaming' = 'holding';
  #finished: { readonly error: Error | undefined } | undefined;
  #wake: (() => void) | undefined;
  #drained: (() => void) | undefined;
  #filled: Promise<void> = Promise.resolve();

  constructor(startedAt: number, limits: HeldLimits) {
    this.#startedAt = startedAt;
    this.#limits = limits;
  }

  /** `filling` calls `begin` and `write`, and settles when the result is read. */
  fillFrom(filling: Promise<void>): void {
    const finish = (error: Error | undefined): void => {
      this.#finished = { error };
      this.#wake?.();
    };
    this.#filled = filling.then(
      () => finish(undefined),
      (error: unknown) => finish(toError(error)),
    );
  }

  begin(json: ResultJson): void {
    this.#json = json;
  }

  /** Resolves when there is room for more. */
  async write(bytes: Buffer): Promise<void> {
    if (bytes.length > 0) this.#pieces.push(bytes);
    this.#heldBytes += bytes.length;
    this.#wake?.();
    if (this.#state === 'streaming' && this.#heldBytes > MAX_AHEAD_BYTES) {
      await new Promise<void>((resolve, reject) => {
        const stalled = setTimeout(
          () => reject(new Error('the client takes nothing of the answer')),
          this.#limits.stallMs,
        );
        this.#drained = () => {
          clearTimeout(stalled);
          resolve();
        };
      });
    }
  }

  /** Rejects as the filling did, when that was while the answer was held. */
  async answer(): Promise<ApiAnswer> {
    await this.#hold();
    if (this.#finished !== undefined) {
      if (this.#finished.error !== undefined) throw this.#finished.error;
      return this.#whole();
    }
    this.#state = 'streaming';
    const headers = { Trailer: 'X-Truncated' };
    return { status: 200, headers, body: this.#stream(), trailers: () => this.#truncation() };
  }

  async #hold(): Promise<void> {
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      this.#wake?.();
    }, this.#limits.holdMs);
    // Without a row there is nothing to send yet, and the status may still be another.
    while (this.#finished === undefined && this.#isWorthHolding(isOver)) await this.#woken();
    clearTimeout(timer);
  }

  #isWorthHolding(isOver: boolean): boolean {
    if (this.#heldBytes > MAX_HELD_BYTES) return false;
    const { maxBytes } = this.#limits;
    return !isOver || this.#heldBytes === 0 || (maxBytes <= MAX_HELD_BYTES && this.#heldBytes > NEARLY_ALL * maxBytes);
  }

  #whole(): ApiAnswer {
    const head = Buffer.from(this.#json?.head(this.#seconds()) ?? '');
    const tail = Buffer.from(this.#json?.tail() ?? '');
    const body = Buffer.concat([head, ...this.#pieces, tail]);
    return { status: 200, headers: this.#truncation(), body };
  }

  async *#stream(): AsyncGenerator<Buffer | string, void, undefined> {
    try {
      yield this.#json?.head(this.#seconds()) ?? '';
      for (;;) {
        const piece = this.#pieces.shift();
        if (piece !== undefined) {
          this.#heldBytes -= piece.length;
          yield piece;
          if (this.#heldBytes <= MAX_AHEAD_BYTES) this.#drained?.();
        } else if (this.#finished === undefined) {
          await this.#woken();
        } else {
          if (this.#finished.error !== undefined) throw this.#finished.error;
          yield this.#json?.tail() ?? '';
          return;
        }
      }
    } finally {
      // The reader must end before the connection's user is let go.
      this.#heldBytes = 0;
      this.#pieces.length = 0;
      this.#state = 'holding';
      this.#drained?.();
      await this.#filled;
    }
  }

  #truncation(): Record<string, string> {
    return this.#json?.truncated === true ? { 'X-Truncated': 'true' } : {};
  }

  #seconds(): number {
    return (performance.now() - this.#startedAt) / 1000;
  }

  async #woken(): Promise<void> {
    await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = undefined;
  }
}
