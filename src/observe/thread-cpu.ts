import { openSync, readSync } from 'node:fs';

/** Clock ticks per second of `/proc`, the same on every Linux. */
const TICKS_PER_SECOND = 100;
const MAX_BYTES = 1024;

/** CPU time of one thread if the system reports it, otherwise of the process. Node 23.9 and later have a function for it. */
class ThreadCpu {
  readonly #bytes = Buffer.alloc(MAX_BYTES);
  #file: number | undefined;

  /** The file stays open: opening it costs more than reading it. */
  constructor() {
    try {
      this.#file = openSync('/proc/thread-self/stat', 'r');
    } catch {
      this.#file = undefined;
    }
  }

  /** Whether the time is that of the thread or of the process. */
  get of(): 'thread' | 'process' {
    return this.#file === undefined ? 'process' : 'thread';
  }

  /** The CPU time since the start. */
  ms(): number {
    if (this.#file === undefined) {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    }
    const text = this.#bytes.toString('latin1', 0, readSync(this.#file, this.#bytes, 0, MAX_BYTES, 0));
    // The name in parentheses may contain any character. The text after it starts with the third field.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
  }
}

/** The CPU time of the calling thread. */
export const threadCpu = new ThreadCpu();
