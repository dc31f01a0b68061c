import { toError } from '../../../src/index.ts';
import type { RowGauge } from '../../database/index.ts';
import { ClientWait } from './client-wait.ts';
import type { Claim, HeldRoom } from './held-room.ts';
import type { Page } from './page.ts';
import type { ResultWriter } from './result-writer.ts';
import type { ApiAnswer, Tally } from '../route.ts';

/** Unsent bytes beyond which the reader of the result waits for the client. */
const MAX_AHEAD_BYTES = 256 * 1024;
/** Smaller answers claim no memory; their number is limited by the HTTP connections. */
const FREE_BYTES = 64 * 1024;
/** Upper limit of held bytes, however large answers may be. */
const MAX_HELD_BYTES = 5 << 20;

export interface HeldLimits {
  readonly room: HeldRoom;
  /** A client that reads nothing for this long while rows wait is disconnected, because the rows hold a connection. */
  readonly stallMs: number;
  /** Size limit of the answer. */
  readonly maxBytes: number;
  /** Bytes that are held before the answer is sent while it is read. */
  readonly holdBytes: number;
  readonly page: Page;
}

/** Memory that the largest answer needs. */
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
export class HeldAnswer {
  /** For the client, while the answer is streamed. */
  readonly clientWait: ClientWait;
  readonly #startedAt: number;
  readonly #limits: HeldLimits;
  readonly #pieces: Buffer[] = [];
  #heldBytes = 0;
  #json: ResultWriter | undefined;
  #state: 'holding' | 'streaming' = 'holding';
  #finished: { readonly error: Error | undefined } | undefined;
  #room: (() => Promise<void>) | undefined;
  #claiming: Promise<void> | undefined;
  #claim: Claim | undefined;
  #refusal: Error | undefined;
  #wake: (() => void) | undefined;
  #filled: Promise<void> = Promise.resolve();

  constructor(startedAt: number, limits: HeldLimits) {
    this.#startedAt = startedAt;
    this.#limits = limits;
    this.clientWait = new ClientWait(limits.stallMs);
  }

  /** Options for reading the rows. `stop` ends the reading: no memory was available, or the client disconnected. */
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

  begin(json: ResultWriter): void {
    this.#json = json;
  }

  /** Resolves when there is room for more. */
  async write(bytes: Buffer): Promise<void> {
    if (bytes.length > 0) this.#pieces.push(bytes);
    this.#heldBytes += bytes.length;
    this.#wake?.();
    if (this.#heldBytes > FREE_BYTES && this.#claiming === undefined) await this.#room?.();
    if (this.#state === 'streaming' && this.#heldBytes > MAX_AHEAD_BYTES) {
      await this.clientWait.begin();
    }
  }

  /** Rejects as the filling did, when that was while the answer was held. */
  async answer(): Promise<ApiAnswer> {
    while (this.#finished === undefined && this.#heldBytes <= this.#limits.holdBytes) await this.#woken();
    const sent = (): void => this.#release();
    if (this.#finished !== undefined) {
      if (this.#finished.error === undefined) return { ...this.#whole(), sent };
      sent();
      throw this.#refusal ?? this.#finished.error;
    }
    this.#state = 'streaming';
    const headers = { ...this.#type(), Trailer: 'X-Truncated, X-Continuation' };
    return {
      status: 200,
      headers,
      body: this.#stream(),
      trailers: () => this.#truncation(),
      tally: () => this.#tally(),
      sent,
    };
  }

  #whole(): ApiAnswer {
    const head = Buffer.from(this.#json?.head(this.#seconds()) ?? '');
    const tail = Buffer.from(this.#json?.tail?.() ?? '');
    const body = Buffer.concat([head, ...this.#pieces.splice(0), tail]);
    this.#claim?.shrink(body.length);
    const headers = { ...this.#type(), ...this.#truncation() };
    return { status: 200, headers, body, tally: () => this.#tally() };
  }

  async *#stream(): AsyncGenerator<Buffer | string, void, undefined> {
    try {
      yield this.#json?.head(this.#seconds()) ?? '';
      for (;;) {
        const piece = this.#pieces.shift();
        if (piece !== undefined) {
          this.#heldBytes -= piece.length;
          yield piece;
          this.clientWait.refresh();
          if (this.#heldBytes <= MAX_AHEAD_BYTES) {
            this.#release();
            this.clientWait.end();
          }
        } else if (this.#finished === undefined) {
          await this.#woken();
        } else {
          if (this.#finished.error !== undefined) throw this.#finished.error;
          yield this.#json?.tail?.() ?? '';
          return;
        }
      }
    } finally {
      // The reader must end before the connection is returned.
      this.#heldBytes = 0;
      this.#pieces.length = 0;
      this.#state = 'holding';
      this.clientWait.end();
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
    if (this.#json === undefined) return {};
    const continuation = this.#limits.page.continuation(this.#json);
    return {
      ...(this.#json.truncated ? { 'X-Truncated': 'true' } : {}),
      ...(continuation === undefined ? {} : { 'X-Continuation': continuation }),
    };
  }

  #tally(): Tally {
    return { rows: this.#json?.rowCount ?? 0, faults: 0 };
  }

  #type(): Record<string, string> {
    return this.#json === undefined ? {} : { 'Content-Type': this.#json.contentType };
  }

  #seconds(): number {
    return (performance.now() - this.#startedAt) / 1000;
  }

  async #woken(): Promise<void> {
    await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = undefined;
  }
}
