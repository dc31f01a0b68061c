/** Waits that double from the first to the longest, each up to a fifth shorter or longer, so that those who wait spread. */
export class Backoff {
  readonly #firstMs: number;
  readonly #maxMs: number;
  #attempts = 0;

  constructor(firstMs: number, maxMs: number) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
  }

  /** Milliseconds to wait before the next attempt. */
  nextMs(): number {
    const baseMs = Math.min(this.#maxMs, this.#firstMs * 2 ** this.#attempts);
    this.#attempts += 1;
    return baseMs * (0.8 + Math.random() * 0.4);
  }

  /** The next wait is the first one again. */
  reset(): void {
    this.#attempts = 0;
  }
}
