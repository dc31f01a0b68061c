/** Long work split into steps, one per call of `next`, so that other work can run in between. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Number of tokens that take about a millisecond. */
const TOKENS_PER_STEP = 5_000;

/** Number of characters per step, which limits steps with long tokens. A single token is never split. */
const CHARACTERS_PER_STEP = 100_000;

/** Determines when enough tokens and characters for one step have been read. */
export class StepMeter {
  #tokens = 0;
  #pauseAt: number;

  constructor(position: number) {
    this.#pauseAt = position + CHARACTERS_PER_STEP;
  }

  /** Called for each token; `end` is its end position. */
  isOver(end: number): boolean {
    if (++this.#tokens < TOKENS_PER_STEP && end < this.#pauseAt) return false;
    this.#tokens = 0;
    this.#pauseAt = end + CHARACTERS_PER_STEP;
    return true;
  }
}

/** Runs all steps synchronously. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Calls `pause` after each step and awaits the promise that it returns. */
export async function finishWith<T>(steps: Steps<T>, pause: () => Promise<void> | undefined): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const wait = pause();
    if (wait !== undefined) await wait;
  }
}
