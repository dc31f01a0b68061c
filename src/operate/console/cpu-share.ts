/** CPU time of the whole process, in milliseconds, at a monotonic time. */
interface Reading {
  readonly atMs: number;
  readonly cpuMs: number;
}

const SHORTEST_MS = 1000;
/** The mean of a longer time, during which no console was open, is not shown. */
const LONGEST_MS = 60_000;

/** The number of cores that the process has used since the last call. */
export class CpuShare {
  readonly #read: () => Reading;
  #last: Reading;
  #share: number | null = null;

  constructor(read: () => Reading = ownReading) {
    this.#read = read;
    this.#last = read();
  }

  /** 1 is one core; `null`: not known yet. Calls within a second get the same answer. */
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
