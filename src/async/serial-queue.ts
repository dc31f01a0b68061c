/** Runs work items one at a time. A failure is only reported to the caller that added the work. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  async run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Resolves when all work that was added earlier has ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
