import { ApiFailure } from '../route.ts';
import { TEXTS } from '../texts.ts';

/** Memory that the answer of one request may hold; it never waits for more. */
export interface Claim {
  /** The answer is complete and has `bytes` bytes: the rest of the claim is free for others. */
  shrink(bytes: number): void;
  /** More than once does no harm. */
  release(): void;
}

export interface HeldRoomLimits {
  /** Limit of all answers together. */
  readonly totalBytes: number;
  /** Limit of one answer. */
  readonly claimBytes: number;
  readonly waitMs: number;
}

interface Waiting {
  readonly user: string;
  readonly grant: () => void;
}

/**
 * The memory for answers that are held until their outcome is known.
 *
 * A request claims the memory for the largest answer at once, or waits without holding any, so that requests with
 * memory never wait for requests without. One user has at most half of the memory, unless that is less than one answer.
 * Claims are granted in order, among requests whose user may have more. Each waiting request holds one of the
 * `max.connections` HTTP connections.
 */
export class HeldRoom {
  readonly #limits: HeldRoomLimits;
  readonly #maxBytesPerUser: number;
  readonly #waiting: Waiting[] = [];
  readonly #bytesByUser = new Map<string, number>();
  #bytes = 0;

  constructor(limits: HeldRoomLimits) {
    this.#limits = limits;
    this.#maxBytesPerUser = Math.max(limits.claimBytes, limits.totalBytes / 2);
  }

  /** Bytes that are claimed now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** ApiFailure 503 when there was no room within the wait; rejects with the signal's reason when that is aborted. */
  async claim(user: string, signal: AbortSignal): Promise<Claim> {
    signal.throwIfAborted();
    if (!this.#hasRoomFor(user)) await this.#turn(user, signal);
    else this.#add(user, this.#limits.claimBytes);
    let held = this.#limits.claimBytes;
    const shrink = (bytes: number): void => {
      if (bytes >= held) return;
      this.#add(user, bytes - held);
      held = bytes;
      this.#serve();
    };
    return { shrink, release: () => shrink(0) };
  }

  /** Resolves with the room claimed. */
  async #turn(user: string, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      };
      const leave = (reason: Error): void => {
        stop();
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(reason);
      };
      const onAbort = (): void => leave(signal.reason as Error);
      const timer = setTimeout(
        () => leave(new ApiFailure(503, TEXTS.noRoom, { retryAfterSeconds: 1 })),
        this.#limits.waitMs,
      );
      const grant = (): void => {
        stop();
        resolve();
      };
      const waiting = { user, grant };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #serve(): void {
    for (let index = 0; index < this.#waiting.length;) {
      const next = this.#waiting[index];
      if (next === undefined || this.#bytes + this.#limits.claimBytes > this.#limits.totalBytes) return;
      if (this.#hasRoomFor(next.user)) {
        this.#waiting.splice(index, 1);
        this.#add(next.user, this.#limits.claimBytes);
        next.grant();
      } else {
        index += 1;
      }
    }
  }

  #hasRoomFor(user: string): boolean {
    const { totalBytes, claimBytes } = this.#limits;
    const own = this.#bytesByUser.get(user) ?? 0;
    return this.#bytes + claimBytes <= totalBytes && own + claimBytes <= this.#maxBytesPerUser;
  }

  #add(user: string, bytes: number): void {
    const own = (this.#bytesByUser.get(user) ?? 0) + bytes;
    if (own === 0) this.#bytesByUser.delete(user);
    else this.#bytesByUser.set(user, own);
    this.#bytes += bytes;
  }
}
