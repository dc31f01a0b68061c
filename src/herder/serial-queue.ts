/** Runs what is put in one after the other; a failure is its caller's alone. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** True while something runs or waits. */
  get busy(): boolean {
    return this.#waiting > 0;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting++;
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined).finally(() => this.#waiting--);
    return done;
  }

  /** Resolves when all that was put in before has ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
