import { MessageChannel, type MessagePort } from 'node:worker_threads';

/** Less is freed by the collector: taking an array buffer apart costs some 10 µs. */
const LEAST_FREED_BYTES = 65_536;

/** Of a memory that belongs to a view: an answer's view begins behind the number of its request. */
const MOST_UNSEEN_BYTES = 8;

let nowhere: MessagePort | undefined;

/**
 * Frees memory at once that the garbage collector frees after some 64 MB of a thread have been let go of, since it counts the objects
 * of the heap before all. Every view of it is empty from then on. Only for memory that nothing else uses: no other view, no write to a socket on its way.
 * @internal
 */
export function freeMemory(memory: ArrayBufferLike): void {
  if (!(memory instanceof ArrayBuffer) || memory.byteLength < LEAST_FREED_BYTES) return;
  try {
    // A transfer takes the memory away, also when the port is closed (HTML, "message port post message steps"); transfer() came with Node 22.
    closedPort().postMessage(undefined, [memory]);
  } catch {
    // What must not be transferred, such as memory of native code, is left to the collector.
  }
}

function closedPort(): MessagePort {
  if (nowhere === undefined) {
    nowhere = new MessageChannel().port1;
    nowhere.close();
  }
  return nowhere;
}

/**
 * Memory with several holders, of whom the one that made this is the first. It is freed when the last one has released it, unless
 * someone was given a view to keep. A holder that never releases it leaves it to the collector.
 */
export class SharedBytes {
  readonly #memory: ArrayBufferLike;
  #holders = 1;
  #isKept: boolean;

  /** `bytes`: all of a memory that is not used otherwise; the memory of a view of a part is never freed. */
  constructor({ buffer, length }: Buffer) {
    this.#memory = buffer;
    this.#isKept = buffer.byteLength - length > MOST_UNSEEN_BYTES;
  }

  hold(): void {
    if (this.#holders === 0) throw new Error('Memory that was released cannot be held again');
    this.#holders++;
  }

  /** There are views that may be used at any time. */
  keep(): void {
    this.#isKept = true;
  }

  release(): void {
    if (this.#holders === 0) throw new Error('Memory was released more often than it was held');
    this.#holders--;
    if (this.#holders === 0 && !this.#isKept) freeMemory(this.#memory);
  }
}
