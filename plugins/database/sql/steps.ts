/** Work that may take long, done a little with each call of `next`, so that whoever waits for it can let others run in between. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Tokens that are read in one step: about a millisecond. */
const TOKENS_PER_STEP = 5_000;

/** The same in characters, for long tokens; one token is never cut. */
const CHARACTERS_PER_STEP = 100_000;

/** Tells when the tokens and characters of a step have been read. */
export class StepMeter {
  #tokens = 0;
  #pauseAt: number;

  constructor(position: number) {
    this.#pauseAt = position + CHARACTERS_PER_STEP;
  }

  /** To be called for each token; `end` is where it ends. */
  isOver(end: number): boolean {
    if (++this.#tokens < TOKENS_PER_STEP && end < this.#pauseAt) return false;
    this.#tokens = 0;
    this.#pauseAt = end + CHARACTERS_PER_STEP;
    return true;
  }
}

/** All of it at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Asks after each step whether to wait for something. */
export async function finishWith<T>(steps: Steps<T>, pause: () => Promise<void> | undefined): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const wait = pause();
    if (wait !== undefined) await wait;
  }
}
