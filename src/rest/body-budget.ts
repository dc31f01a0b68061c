import type { IncomingMessage, ServerResponse } from 'node:http';
import { RequestError } from '../errors.ts';

export interface BodyLimits {
  /** Limit in bytes of all bodies together. */
  readonly totalBytes: number;
  /**
   * The part of `totalBytes` for requests between workers, whose signature can only be checked when the body is
   * complete.
   */
  readonly internalBytes: number;
}

const LIMITS: BodyLimits = { totalBytes: 64 * 1024 * 1024, internalBytes: 16 * 1024 * 1024 };
/** A body that has been arriving for this long may be cut to make room for another one. */
const SLOW_MS = 2_000;

interface Body {
  readonly request: IncomingMessage;
  isInternal: boolean;
  readonly sinceMs: number;
  bytes: number;
  isComplete: boolean;
}

const budgets = new WeakMap<IncomingMessage, BodyBudget>();

/**
 * Limits the memory for request bodies. A body counts from its first byte until its request is answered. If a body does
 * not fit, the slowest other body is cut if it is slow, so that clients that stall cannot keep others out; otherwise
 * the request is refused with status 503.
 */
export class BodyBudget {
  readonly #limits: BodyLimits;
  /** The bodies in the order in which they began. */
  readonly #bodies = new Map<IncomingMessage, Body>();
  #bytes = 0;
  #internalBytes = 0;

  constructor(limits = LIMITS) {
    this.#limits = limits;
  }

  /**
   * The budget of a request. `undefined`: the request did not come through a listener, so only the size of its own body
   * is limited.
   */
  static of(request: IncomingMessage): BodyBudget | undefined {
    return budgets.get(request);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Must be called before the body is read. */
  watch(request: IncomingMessage, response: ServerResponse, isInternal: boolean): void {
    budgets.set(request, this);
    this.#bodies.set(request, { request, isInternal, sinceMs: performance.now(), bytes: 0, isComplete: false });
    response.once('close', () => {
      this.release(request);
    });
  }

  /**
   * Counts further bytes of a body.
   * @throws RequestError 503: they do not fit
   */
  add(request: IncomingMessage, bytes: number): void {
    const body = this.#bodies.get(request);
    if (body === undefined) return;
    const { totalBytes, internalBytes } = this.#limits;
    const isOver = (): boolean => this.#bytes + bytes > totalBytes;
    const isOverShare = (): boolean => body.isInternal && this.#internalBytes + bytes > internalBytes;
    while ((isOver() || isOverShare()) && this.#cutSlowest(body, !isOver()));
    if (isOver() || isOverShare())
      throw new RequestError(503, 'The worker holds too many bytes of request bodies; try again in some seconds');
    this.#count(body, bytes);
  }

  complete(request: IncomingMessage): void {
    const body = this.#bodies.get(request);
    if (body !== undefined) body.isComplete = true;
  }

  /** Called when the signature of a request is valid: its body counts like those of users from then on. */
  trust(request: IncomingMessage): void {
    const body = this.#bodies.get(request);
    if (body?.isInternal !== true) return;
    this.#internalBytes -= body.bytes;
    body.isInternal = false;
  }

  release(request: IncomingMessage): void {
    const body = this.#bodies.get(request);
    if (body === undefined) return;
    this.#count(body, -body.bytes);
    this.#bodies.delete(request);
  }

  /** Cuts the slowest body except `newest`; returns `false` if no such body is slow. */
  #cutSlowest(newest: Body, internalOnly: boolean): boolean {
    const latest = performance.now() - SLOW_MS;
    for (const body of this.#bodies.values()) {
      if (body.sinceMs > latest) return false;
      if (body === newest || body.isComplete || body.bytes === 0 || (internalOnly && !body.isInternal)) continue;
      this.release(body.request);
      body.request.destroy();
      return true;
    }
    return false;
  }

  #count(body: Body, bytes: number): void {
    body.bytes += bytes;
    this.#bytes += bytes;
    if (body.isInternal) this.#internalBytes += bytes;
  }
}
