/** Tracks whether the group is settled, that is, no rebalance is in progress. Callers can wait until it is settled. */
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

  /** Resolves when the next rebalance ends, even if none is in progress now. */
  async next(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#waiters.add({ resolve, reject });
    });
  }

  /** Rejects all callers that are waiting, with this error. */
  abandon(error: Error): void {
    for (const { reject } of this.#waiters) reject(error);
    this.#waiters.clear();
  }
}
