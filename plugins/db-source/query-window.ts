/** The window is doubled after a query of less than this time, and halved after a query of more than ten times this time. */
const QUICK_QUERY_MS = 500;
/** Maximum size of a window, about 30,000 years. */
const MAX_WINDOW_MS = 1e15;

/** The time range that each query of a table covers. */
export class QueryWindow {
  readonly #minMs: number;
  #ms: number | undefined;

  /** `ms` is the initial size; `undefined` means that queries extend up to the current time. */
  constructor(ms: number | undefined) {
    this.#minMs = ms ?? 0;
    this.#ms = ms;
  }

  get ms(): number | undefined {
    return this.#ms;
  }

  /** Returns true if a query extended up to the server's current time. `firstAt`: the time of the first row that it returned. */
  reachedNow(firstAt: bigint | undefined, nowMicros: bigint): boolean {
    if (this.#ms === undefined || firstAt === undefined) return true;
    return firstAt + BigInt(this.#ms) * 1000n >= nowMicros;
  }

  adapt(tookMs: number): void {
    if (this.#ms === undefined) return;
    if (tookMs < QUICK_QUERY_MS) this.#ms = Math.min(this.#ms * 2, MAX_WINDOW_MS);
    else if (tookMs > QUICK_QUERY_MS * 10) this.#ms = Math.max(Math.floor(this.#ms / 2), this.#minMs);
  }
}
