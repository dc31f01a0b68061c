/** Runs what is put in one after the other; a failure is its caller's alone. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  async run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Resolves when all that was put in before has ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
