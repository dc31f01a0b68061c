/** An answer holds for this long: whoever asks needs no credentials, and each answer costs the server a connection. */
const HOLDS_MS = 1_000;

/** Whether the database server takes connections: asked at most once a second, however many want to know. */
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
    this.#known = { answers, untilMs: this.#nowMs() + HOLDS_MS };
    return answers;
  }
}
