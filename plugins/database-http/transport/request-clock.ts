/** Measures the parts of a request. The wait for the body or for a free connection counts only towards the total. */
export class RequestClock {
  readonly startedAt: number;
  readonly #now: () => number;
  #parseMs = 0;
  #databaseMs = 0;
  /** Number of running database calls, and when the first of them began. */
  #busy = 0;
  #busySince = 0;

  /** `now` returns the milliseconds of a monotonic clock. */
  constructor(now = () => performance.now()) {
    this.#now = now;
    this.startedAt = now();
  }

  /** Measures parsing, which includes splitting and translating SQL. */
  parse<T>(work: () => T): T {
    const began = this.#now();
    const result = work();
    this.#parseMs += this.#now() - began;
    return result;
  }

  /** Measures parsing that also calls the database; the time of these calls is not counted as parsing. */
  async parseWith<T>(work: () => Promise<T>): Promise<T> {
    const began = this.#now();
    const databaseMs = this.#databaseMs;
    try {
      return await work();
    } finally {
      this.#parseMs += this.#now() - began - (this.#databaseMs - databaseMs);
    }
  }

  /** Measures a database call. The time of concurrent calls is counted once. */
  async database<T>(work: () => Promise<T>): Promise<T> {
    if (this.#busy++ === 0) this.#busySince = this.#now();
    try {
      return await work();
    } finally {
      if (--this.#busy === 0) this.#databaseMs += this.#now() - this.#busySince;
    }
  }

  /** Measures each step of a stream as a database call. The time between the steps is not counted. */
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

  /** The current value of the header `Server-Timing`. */
  header(): string {
    const running = this.#busy === 0 ? 0 : this.#now() - this.#busySince;
    return serverTiming({ parseMs: this.#parseMs, databaseMs: this.#databaseMs + running, totalMs: this.totalMs });
  }
}

/** Duration of a request and of its parts, in milliseconds. */
export interface Timings {
  readonly parseMs: number;
  readonly databaseMs: number;
  readonly totalMs: number;
}

export function serverTiming({ parseMs, databaseMs, totalMs }: Timings): string {
  return `parse;dur=${parseMs.toFixed(2)}, db;dur=${databaseMs.toFixed(2)}, total;dur=${totalMs.toFixed(2)}`;
}
