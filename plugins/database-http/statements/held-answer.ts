import { toError } from '../../../src/index.ts';
import type { RowGauge } from '../../database/index.ts';
import { ClientWait } from './client-wait.ts';
import type { Claim, HeldRoom } from './held-room.ts';
import type { Page } from './page.ts';
import type { ResultWriter } from './result-writer.ts';
import type { ApiAnswer, Tally } from '../route.ts';

/** The reader of the result waits for the client when more than this number of bytes is not sent yet. */
const MAX_AHEAD_BYTES = 256 * 1024;
/** Smaller answers claim no memory. Their total size is limited by the number of HTTP connections. */
const FREE_BYTES = 64 * 1024;
/** Upper limit of the held bytes of one answer, regardless of the maximum size of answers. */
const MAX_HELD_BYTES = 5 << 20;

export interface HeldLimits {
  readonly room: HeldRoom;
  /** A client that reads nothing for this long while rows wait is disconnected, because the rows hold a connection. */
  readonly stallMs: number;
  /** Size limit of the answer. */
  readonly maxBytes: number;
  /** Number of held bytes beyond which the answer is streamed. */
  readonly holdBytes: number;
  readonly page: Page;
}

/** Number of bytes that an answer claims: enough for the largest answer that is held. */
export function claimBytes(maxBytes: number): number {
  return Math.min(maxBytes, MAX_HELD_BYTES);
}

/**
 * The answer of a query, which is held back so that its status can report whether the query succeeded.
 *
 * holding -> whole: The result has ended. Status, headers and `time` are final, and no database connection is used while the
 *            answer is sent.
 * holding -> streaming: The result has more bytes than are held. This happens to a JSON result only if `query.max.bytes` is greater than
 *            the number of held bytes, because JSON results are truncated at `query.max.bytes`. The last keys of the body and trailers report what is known at the end, and a failure truncates the body.
 */
export class HeldAnswer {
  /** Waits for the client while the answer is streamed. */
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

  /** Options for reading the rows. `stop` ends the reading if no memory is available or the client disconnects. */
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
    // If the statement is translated and run again, it reuses the claim of the first attempt.
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

  /** Adds bytes of the body. Resolves when more may be written. */
  async write(bytes: Buffer): Promise<void> {
    if (bytes.length > 0) this.#pieces.push(bytes);
    this.#heldBytes += bytes.length;
    this.#wake?.();
    if (this.#heldBytes > FREE_BYTES && this.#claiming === undefined) await this.#room?.();
    if (this.#state === 'streaming' && this.#heldBytes > MAX_AHEAD_BYTES) {
      await this.clientWait.begin();
    }
  }

  /** Resolves with the whole or streamed answer. Rejects with the error of the filling if it failed while the answer was held. */
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
      // If the client has disconnected, the code that reads the result may still wait for the client. It is woken, and
      // must end before its database connection is given back.
      this.#heldBytes = 0;
      this.#pieces.length = 0;
      this.#state = 'holding';
      this.clientWait.end();
      await this.#filled;
    }
  }

  /** Releases the claim, also if it has not been granted yet. */
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
