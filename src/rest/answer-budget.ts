import type { ServerResponse } from 'node:http';
import { RequestError } from '../errors.ts';

export interface AnswerLimits {
  /** Limit in bytes of all answers that clients have not read yet. */
  readonly totalBytes: number;
  /** Time limit for a client to read an answer. */
  readonly takeMs: number;
}

const LIMITS: AnswerLimits = { totalBytes: 64 * 1024 * 1024, takeMs: 90_000 };
/** If a client has been reading an answer for this long, the answer may be cut to make room for another one. */
const SLOW_MS = 2_000;

interface Held {
  readonly sinceMs: number;
  readonly bytes: number;
}

/**
 * Limits the memory for answers that clients have not read yet, and the time that a client may take to read one. If a
 * new answer does not fit, the client with the oldest answer is disconnected if it is slow; otherwise the request is
 * refused with status 503. An answer always fits if no other answer is waiting to be read.
 */
export class AnswerBudget {
  readonly #limits: AnswerLimits;
  /** Answers that clients have not read yet, the oldest first. */
  readonly #held = new Map<ServerResponse, Held>();
  #bytes = 0;

  constructor(limits: Partial<AnswerLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Called before an answer is sent.
   * @throws RequestError 503: the answer does not fit
   */
  hold(response: ServerResponse, body: unknown): void {
    const bytes = typeof body === 'string' ? Buffer.byteLength(body) : Buffer.isBuffer(body) ? body.length : 0;
    if (bytes === 0 || response.closed || response.destroyed) return;
    while (this.#isOver(bytes) && this.#cutSlowest());
    if (this.#isOver(bytes))
      throw new RequestError(503, 'The worker holds too many bytes of answers; try again in some seconds');
    this.#held.set(response, { sinceMs: performance.now(), bytes });
    this.#bytes += bytes;
    const timer = setTimeout(() => response.destroy(), this.#limits.takeMs).unref();
    response.once('close', () => {
      clearTimeout(timer);
      this.#release(response);
    });
  }

  #isOver(bytes: number): boolean {
    return this.#held.size > 0 && this.#bytes + bytes > this.#limits.totalBytes;
  }

  /** Disconnects the client with the oldest answer; returns `false` if it is not slow. */
  #cutSlowest(): boolean {
    const [oldest] = this.#held;
    if (oldest === undefined || oldest[1].sinceMs > performance.now() - SLOW_MS) return false;
    const [response] = oldest;
    this.#release(response);
    response.destroy();
    return true;
  }

  #release(response: ServerResponse): void {
    this.#bytes -= this.#held.get(response)?.bytes ?? 0;
    this.#held.delete(response);
  }
}
