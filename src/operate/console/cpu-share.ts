/** CPU time of the whole process, in milliseconds, at a monotonic time. */
interface Reading {
  readonly atMs: number;
  readonly cpuMs: number;
}

const SHORTEST_MS = 1000;
/** A console that has been closed for long is not shown the mean of all that time. */
const LONGEST_MS = 60_000;

/** How many cores the process has been busy with since it was asked the last time. */
export class CpuShare {
  readonly #read: () => Reading;
  #last: Reading;
  #share: number | null = null;

  constructor(read: () => Reading = ownReading) {
    this.#read = read;
    this.#last = read();
  }

  /** 1 is one core; `null` while nothing can be said. Several that ask within a second get one answer. */
  cores(): number | null {
    const now = this.#read();
    const passedMs = now.atMs - this.#last.atMs;
    if (passedMs < SHORTEST_MS) return this.#share;
    this.#share = passedMs > LONGEST_MS ? null : (now.cpuMs - this.#last.cpuMs) / passedMs;
    this.#last = now;
    return this.#share;
  }
}

function ownReading(): Reading {
  const { user, system } = process.cpuUsage();
  return { atMs: performance.now(), cpuMs: (user + system) / 1000 };
}
