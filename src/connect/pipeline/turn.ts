/** Number of bytes after which the clock is read. Processing them takes a few milliseconds. */
const BYTES_PER_CLOCK_READ = 131_072;
/** Cost of a record, expressed in bytes and added to its size. */
const BYTES_PER_RECORD = 1_024;
/** Maximum duration of the work of all tasks together in one turn of the event loop. */
const MAX_TURN_MS = 20;

/** When work began in this turn of the event loop; -1 if it has not begun. */
let beganAt = -1;
/** Resolve functions of the tasks that wait for another turn, in order. */
const waiting: (() => void)[] = [];

function begin(): void {
  if (beganAt >= 0) return;
  beganAt = performance.now();
  setImmediate(end);
}

/** Ends the turn and resumes one of the waiting tasks, so that all tasks get the same share. */
function end(): void {
  beganAt = -1;
  const resume = waiting.shift();
  if (resume === undefined) return;
  begin();
  resume();
}

/**
 * Divides long work into turns of the event loop, so that requests, heartbeats and other tasks run in between. All tasks
 * together use 20 ms of a turn. The clock is read only once per 128 records or 128 kB.
 *
 * ```ts
 * const turn = new Turn();
 * for (const message of messages) {
 *   handle(message);
 *   if (turn.isOver(message.length)) await turn.next();
 * }
 * ```
 */
export class Turn {
  #bytesLeft = BYTES_PER_CLOCK_READ;

  constructor() {
    begin();
  }

  /** Must be called after work on this number of bytes and records. If it returns `true`, the caller must await `next()`. */
  isOver(bytes: number, records = 1): boolean {
    this.#bytesLeft -= bytes + records * BYTES_PER_RECORD;
    if (this.#bytesLeft > 0) return false;
    this.#bytesLeft = BYTES_PER_CLOCK_READ;
    begin();
    return performance.now() - beganAt >= MAX_TURN_MS;
  }

  /** Resolves in a later turn. */
  next(): Promise<void> {
    begin();
    return new Promise((resolve) => waiting.push(resolve));
  }
}
