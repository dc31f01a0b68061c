import { toError } from '../../../src/index.ts';
import type { RowGauge } from '../../../src/index-database.ts';
import type { Claim, HeldRoom } from './held-room.ts';
import type { ResultJson } from './result-json.ts';
import type { ApiAnswer } from '../route.ts';
import type { SlotHolder } from '../transport/connection-slots.ts';

/** Unsent bytes beyond which the reader of the result waits for the client. */
const MAX_AHEAD_BYTES = 256 * 1024;
/** Smaller answers claim no room; there are never more of them than HTTP connections. */
const FREE_BYTES = 64 * 1024;
/** More is not held, however large answers may be. */
const MAX_HELD_BYTES = 5 << 20;

export interface HeldLimits {
  readonly room: HeldRoom;
  /** A client that takes nothing for this long while rows wait for it does not get the rest: they hold a connection. */
  readonly stallMs: number;
  /** Of the answer. */
  readonly maxBytes: number;
}

/** What the largest answer needs of the room. */
export function claimBytes(maxBytes: number): number {
  return Math.min(maxBytes, MAX_HELD_BYTES);
}

/**
 * An answer whose head says how the query went.
 *
 * holding: rows are kept back. -> whole, when the result ended: status, header and `time` tell all, and nothing of the
 *                                 database is held while it is sent.
 *                              -> streaming, when there is more than is held, which `query.max.bytes` must allow: the body's
 *                                 last keys and a trailer report what comes later, and a failure breaks the body off.
 */
export class HeldAnswer implements SlotHolder {
  readonly #startedAt: number;
  readonly #limits: HeldLimits;
  readonly #pieces: Buffer[] = [];
  #heldBytes = 0;
  #json: ResultJson | undefined;
  #state: 'holding' | 'streaming' = 'holding';
  #finished: { readonly error: Error | undefined } | undefined;
  #room: (() => Promise<void>) | undefined;
  #claiming: Promise<void> | undefined;
  #claim: Claim | undefined;
  #refusal: Error | undefined;
  #wake: (() => void) | undefined;
  #stalled: NodeJS.Timeout | undefined;
  #drained: (() => void) | undefined;
  #blockedSinceMs: number | undefined;
  #cut: (() => void) | undefined;
  #filled: Promise<void> = Promise.resolve();

  constructor(startedAt: number, limits: HeldLimits) {
    this.#startedAt = startedAt;
    this.#limits = limits;
  }

  /** For the rows of the result, which `stop` ends: there is no room for them, or nobody wants them any more. */
  gauge(user: string, stop: AbortController): RowGauge {
    const claim = async (): Promise<void> => {
      try {
        this.#claim = await this.#limits.room.claim(user, stop.signal);
      } catch (error) {
        this.#refusal = toError(error);
        stop.abort(error);
        throw error;
      }
    };
    // A statement that is translated and run again has what the first try claimed.
    this.#room = () => (this.#claiming ??= claim());
    return { maxBytes: this.#limits.maxBytes, freeBytes: FREE_BYTES, room: this.#room };
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
    if (this.#heldBytes > FREE_BYTES && this.#claiming === undefined) await this.#room?.();
    if (this.#state === 'streaming' && this.#heldBytes > MAX_AHEAD_BYTES) {
      await this.#roomAhead();
    }
  }

  get blockedSinceMs(): number | undefined {
    return this.#blockedSinceMs;
  }

  cut(): void {
    this.#cut?.();
  }

  async #roomAhead(): Promise<void> {
    this.#blockedSinceMs = performance.now();
    try {
      await new Promise<void>((resolve, reject) => {
        const stall = (): void => reject(new Error('the client takes nothing of the answer'));
        this.#stalled = setTimeout(stall, this.#limits.stallMs);
        this.#cut = () =>
          reject(new Error('the client takes the answer too slowly, and other requests wait for its database connection'));
        this.#drained = resolve;
      });
    } finally {
      clearTimeout(this.#stalled);
      this.#blockedSinceMs = undefined;
      this.#cut = undefined;
    }
  }

  /** Rejects as the filling did, when that was while the answer was held. */
  async answer(): Promise<ApiAnswer> {
    while (this.#finished === undefined && this.#heldBytes <= MAX_HELD_BYTES) await this.#woken();
    const sent = (): void => this.#release();
    if (this.#finished !== undefined) {
      if (this.#finished.error === undefined) return { ...this.#whole(), sent };
      sent();
      throw this.#refusal ?? this.#finished.error;
    }
    this.#state = 'streaming';
    const headers = { Trailer: 'X-Truncated' };
    return { status: 200, headers, body: this.#stream(), trailers: () => this.#truncation(), sent };
  }

  #whole(): ApiAnswer {
    const head = Buffer.from(this.#json?.head(this.#seconds()) ?? '');
    const tail = Buffer.from(this.#json?.tail() ?? '');
    const body = Buffer.concat([head, ...this.#pieces.splice(0), tail]);
    this.#claim?.shrink(body.length);
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
          if (this.#blockedSinceMs !== undefined) {
            this.#stalled?.refresh();
            this.#blockedSinceMs = performance.now();
          }
          if (this.#heldBytes <= MAX_AHEAD_BYTES) {
            this.#release();
            this.#drained?.();
          }
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

  /** Also of a claim that is being granted. */
  #release(): void {
    this.#claiming?.then(
      () => this.#claim?.release(),
      () => undefined,
    );
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
