import { ApiFailure } from '../route.ts';
import { TEXTS } from '../texts.ts';

/** Memory for the answer of one request. */
export interface Claim {
  /** Called when the answer is complete: keeps `bytes` bytes of the claim and releases the rest. */
  shrink(bytes: number): void;
  /** Releases the claim. Further calls have no effect. */
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
 * A request claims the memory for the largest answer at once, or waits without any memory, so requests that have memory never wait
 * for more. One user gets at most half of the memory, unless that is less than one answer. Claims are granted in order, but requests
 * of users at their limit are skipped. The number of waiting requests is limited by `max.connections`.
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

  /** Number of bytes that are currently claimed. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Rejects with an ApiFailure 503 if no memory became free in time, and with the signal's reason if it is aborted. */
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

  /** Waits in the queue. Resolves when the memory has been claimed for the user. */
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
