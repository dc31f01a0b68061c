/** Measures the parts of a request. Waiting for the body, or for a free connection, counts only for the total. */
export class RequestClock {
  readonly startedAt: number;
  readonly #now: () => number;
  #parseMs = 0;
  #databaseMs = 0;
  /** Calls of the database under way, and since when there are any. */
  #busy = 0;
  #busySince = 0;

  /** `now` returns the milliseconds of a monotonic clock. */
  constructor(now = () => performance.now()) {
    this.#now = now;
    this.startedAt = now();
  }

  /** Text read, split, translated. */
  parse<T>(work: () => T): T {
    const began = this.#now();
    const result = work();
    this.#parseMs += this.#now() - began;
    return result;
  }

  /** The same for work that queries the database in between. */
  async parseWith<T>(work: () => Promise<T>): Promise<T> {
    const began = this.#now();
    const databaseMs = this.#databaseMs;
    try {
      return await work();
    } finally {
      this.#parseMs += this.#now() - began - (this.#databaseMs - databaseMs);
    }
  }

  /** Calls of the database, one or several at a time. */
  async database<T>(work: () => Promise<T>): Promise<T> {
    if (this.#busy++ === 0) this.#busySince = this.#now();
    try {
      return await work();
    } finally {
      if (--this.#busy === 0) this.#databaseMs += this.#now() - this.#busySince;
    }
  }

  /** The same for each step of a stream: what its reader does in between is not the database's time. */
  async *stream<T>(source: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    const steps = source[Symbol.asyncIterator]();
    try {
      for (;;) {
        const step = await this.database(() => steps.next());
        if (step.done === true) return;
        yield step.value;
      }
    } finally {
      await steps.return?.();
    }
  }

  get totalMs(): number {
    return this.#now() - this.startedAt;
  }

  /** `Server-Timing` as of now. */
  header(): string {
    const running = this.#busy === 0 ? 0 : this.#now() - this.#busySince;
    return serverTiming({ parseMs: this.#parseMs, databaseMs: this.#databaseMs + running, totalMs: this.totalMs });
  }
}

/** Where the time of a request went, in milliseconds. */
export interface Timings {
  readonly parseMs: number;
  readonly databaseMs: number;
  readonly totalMs: number;
}

export function serverTiming({ parseMs, databaseMs, totalMs }: Timings): string {
  return `parse;dur=${parseMs.toFixed(2)}, db;dur=${databaseMs.toFixed(2)}, total;dur=${totalMs.toFixed(2)}`;
}
