/** Work that may take long, done a little with each call of `next`, so that whoever waits for it can let others run in between. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Tokens that are read in one step: about a millisecond. */
export const TOKENS_PER_STEP = 5_000;

/** The same in characters, for long tokens; one token is never cut. */
export const CHARACTERS_PER_STEP = 100_000;

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
