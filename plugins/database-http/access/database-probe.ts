/** How long the result of a probe is cached. Requests to `/health` need no credentials, and each probe opens a connection. */
const CACHE_MS = 1_000;

/** Checks whether the database server accepts connections, at most once a second regardless of the number of requests. */
export class DatabaseProbe {
  readonly #ask: () => Promise<boolean>;
  readonly #nowMs: () => number;
  #asking: Promise<boolean> | undefined;
  #known: { readonly answers: boolean; readonly untilMs: number } | undefined;

  constructor(ask: () => Promise<boolean>, nowMs: () => number) {
    this.#ask = ask;
    this.#nowMs = nowMs;
  }

  async answers(): Promise<boolean> {
    if (this.#known !== undefined && this.#known.untilMs > this.#nowMs()) return this.#known.answers;
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined));
    const answers = await this.#asking;
    this.#known = { answers, untilMs: this.#nowMs() + CACHE_MS };
    return answers;
  }
}
