/** Runs work one after the other; a failure only affects its own caller. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  async run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Resolves when all work that was added before has ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
