/** Whether the group is settled, that is, no rebalance is in progress; callers can wait for it. */
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

  /** Resolves when the next rebalance ends, even if none is in progress. */
  async next(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#waiters.add({ resolve, reject });
    });
  }

  /** Rejects all waiting callers with the error. */
  abandon(error: Error): void {
    for (const { reject } of this.#waiters) reject(error);
    this.#waiters.clear();
  }
}
