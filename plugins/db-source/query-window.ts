/** A query that took less than this may cover twice the time; one that took ten times as long half of it. */
const QUICK_QUERY_MS = 500;
/** Windows do not grow beyond some 30,000 years. */
const MAX_WINDOW_MS = 1e15;

/** The length of time that one query of a table covers. */
export class QueryWindow {
  readonly #leastMs: number;
  #ms: number | undefined;

  /** `undefined`: queries reach up to now. */
  constructor(ms: number | undefined) {
    this.#leastMs = ms ?? 0;
    this.#ms = ms;
  }

  get ms(): number | undefined {
    return this.#ms;
  }

  /** Whether a query went up to now, by the clock of the server, whose first row has this time. */
  reachedNow(firstAt: bigint | undefined, nowMicros: bigint): boolean {
    if (this.#ms === undefined || firstAt === undefined) return true;
    return firstAt + BigInt(this.#ms) * 1000n >= nowMicros;
  }

  adapt(tookMs: number): void {
    if (this.#ms === undefined) return;
    if (tookMs < QUICK_QUERY_MS) this.#ms = Math.min(this.#ms * 2, MAX_WINDOW_MS);
    else if (tookMs > QUICK_QUERY_MS * 10) this.#ms = Math.max(Math.floor(this.#ms / 2), this.#leastMs);
  }
}
