import { toError } from '../../errors.ts';
import { BoundedMap } from '../../data/bounded-map.ts';

/** How long a failure is reused, so that a flood of invalid records does not cause a flood of requests. */
const FAILURE_TTL_MS = 1000;

interface Failure {
  readonly error: Error;
  readonly untilMs: number;
}

/**
 * Caches the results of requests by key. Concurrent calls for one key share a request. Up to `size` results are cached,
 * and up to `size` failures; a failure is cached for a second.
 *
 * unknown -> (fetch) in flight -> known, or failed -> (after a second) unknown
 */
export class SharedRequests<V> {
  readonly #known: BoundedMap<string, V>;
  readonly #failed: BoundedMap<string, Failure>;
  readonly #inFlight = new Map<string, Promise<V>>();

  constructor(size: number) {
    this.#known = new BoundedMap(size);
    this.#failed = new BoundedMap(size);
  }

  /** The cached result; `undefined` if there is none. */
  known(key: string): V | undefined {
    return this.#known.get(key);
  }

  forget(key: string): void {
    this.#known.delete(key);
  }

  fetch(key: string, request: () => Promise<V>): Promise<V> {
    const known = this.#known.get(key);
    if (known !== undefined) return Promise.resolve(known);
    const failed = this.#failed.get(key);
    if (failed !== undefined && Date.now() < failed.untilMs) return Promise.reject(failed.error);
    let inFlight = this.#inFlight.get(key);
    if (inFlight === undefined) {
      inFlight = this.#fetchNow(key, request);
      this.#inFlight.set(key, inFlight);
    }
    return inFlight;
  }

  async #fetchNow(key: string, request: () => Promise<V>): Promise<V> {
    try {
      const value = await request();
      this.#known.set(key, value);
      return value;
    } catch (error) {
      this.#failed.set(key, { error: toError(error), untilMs: Date.now() + FAILURE_TTL_MS });
      throw error;
    } finally {
      this.#inFlight.delete(key);
    }
  }
}
