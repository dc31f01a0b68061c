/** CPU time of the whole process, in milliseconds, at a monotonic time. */
interface Reading {
  readonly atMs: number;
  readonly cpuMs: number;
}

const SHORTEST_MS = 1000;
/** A mean is only returned if the previous call was within this time. Otherwise, no console was open in between. */
const LONGEST_MS = 60_000;

/** Measures how many cores the process has used on average since the last call. */
export class CpuShare {
  readonly #read: () => Reading;
  #last: Reading;
  #share: number | null = null;

  constructor(read: () => Reading = ownReading) {
    this.#read = read;
    this.#last = read();
  }

  /** Average number of busy cores; `null`: unknown. Calls within a second return the same number. */
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
