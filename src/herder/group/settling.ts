/** Whether the group is settled, that is, no division of work is going on; others can wait for it. */
export class Settling {
  #isSettled = false;
  readonly #waiters = new Set<{ resolve: () => void; reject: (error: Error) => void }>();

  get isSettled(): boolean {
    return this.#isSettled;
  }

  begin(): void {
    this.#isSettled = false;
  }

  end(): void {
    this.#isSettled = true;
    for (const { resolve } of this.#waiters) resolve();
    this.#waiters.clear();
  }

  /** Resolves when it next ends, also when nothing is going on. */
  async next(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#waiters.add({ resolve, reject });
    });
  }

  /** Those that wait get the error. */
  abandon(error: Error): void {
    for (const { reject } of this.#waiters) reject(error);
    this.#waiters.clear();
  }
}
