import { within } from '../async/within.ts';
import { RequestError } from '../errors.ts';
import type { ReaderControlFunctions, ReaderThreadFunctions } from './thread-protocol.ts';
import { WorkerThread, type ThreadSurroundings } from './worker-thread.ts';

type Thread<Reading> = WorkerThread<ReaderThreadFunctions<Reading>, ReaderControlFunctions>;

const PURPOSE = 'reading';
const MAX_THREADS = 2;
const MAX_WAITING = 16;
const HEAP_MB = 512;
/** How long a thread may take to abandon its work once the client has left. */
const ABANDON_MS = 3000;
/** Threads are ended after this time without work. */
const IDLE_MS = 60_000;

/**
 * Threads in which topics are read and messages are converted for people. Messages come from outside: one that takes a minute to
 * convert, or that fills the heap, ends its thread and fails its own request, and the main thread keeps answering.
 *
 * A thread works on one request at a time, so that ending it affects no other request.
 */
export class ReaderThreads<Reading> {
  readonly #entry: URL;
  readonly #surroundings: ThreadSurroundings;
  readonly #idle = new Map<Thread<Reading>, NodeJS.Timeout>();
  readonly #busy = new Set<Thread<Reading>>();
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(entry: URL, surroundings: ThreadSurroundings) {
    this.#entry = entry;
    this.#surroundings = surroundings;
  }

  /**
   * Resolves with the answer of a thread, a JSON text.
   * @throws RequestError of the reading; 503: too many requests wait, or this one took too long; 409: the client left
   */
  async read(reading: Reading, { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number }): Promise<string> {
    await this.#takeSlot(signal);
    try {
      if (signal.aborted) throw clientLeft();
      const thread = this.#takeThread();
      const answer = await this.#readIn(thread, reading, signal, timeoutMs);
      this.#keep(thread);
      return answer;
    } finally {
      this.#taken -= 1;
      this.#waiting.shift()?.();
    }
  }

  async stop(): Promise<void> {
    const threads = [...this.#idle.keys(), ...this.#busy];
    for (const timer of this.#idle.values()) clearTimeout(timer);
    this.#idle.clear();
    await Promise.all(threads.map((thread) => thread.end('the worker stops')));
  }

  async #takeSlot(signal: AbortSignal): Promise<void> {
    if (this.#taken < MAX_THREADS) {
      this.#taken += 1;
      return;
    }
    if (this.#waiting.length >= MAX_WAITING) {
      throw new RequestError(503, `This worker reads messages for ${String(MAX_WAITING)} other requests; try again`);
    }
    await new Promise<void>((resolve, reject) => {
      const abort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(clientLeft());
      };
      const begin = (): void => {
        signal.removeEventListener('abort', abort);
        this.#taken += 1;
        resolve();
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.push(begin);
    });
  }

  #takeThread(): Thread<Reading> {
    for (const [thread, timer] of this.#idle) {
      clearTimeout(timer);
      this.#idle.delete(thread);
      if (!thread.isEnding) return this.#occupied(thread);
    }
    const options = { purpose: PURPOSE, entry: this.#entry, memoryMaxMb: HEAP_MB };
    const secretKnown = (value: string): void => {
      this.#surroundings.secrets.add(value);
    };
    return this.#occupied(new WorkerThread(options, this.#surroundings, { secretKnown }));
  }

  #occupied(thread: Thread<Reading>): Thread<Reading> {
    this.#busy.add(thread);
    return thread;
  }

  #keep(thread: Thread<Reading>): void {
    this.#busy.delete(thread);
    if (thread.isEnding) return;
    const end = (): void => {
      this.#idle.delete(thread);
      void thread.end({ kind: 'idle', reason: 'it had nothing to read', error: undefined });
    };
    this.#idle.set(thread, setTimeout(end, IDLE_MS).unref());
  }

  async #readIn(thread: Thread<Reading>, reading: Reading, signal: AbortSignal, timeoutMs: number): Promise<string> {
    let abandoning: NodeJS.Timeout | undefined;
    const abandon = (): void => {
      thread.calls.tell('abandon');
      abandoning = setTimeout(() => this.#end(thread, 'its client has left'), ABANDON_MS);
    };
    signal.addEventListener('abort', abandon, { once: true });
    const answer = thread.calls.call('read', reading);
    try {
      if (await within(answer, timeoutMs)) return await answer;
      this.#end(thread, `it did not answer within ${String(timeoutMs / 1000)} s`);
      throw new RequestError(503, `Reading the messages took longer than ${String(timeoutMs / 1000)} s`);
    } catch (error) {
      this.#busy.delete(thread);
      if (!(error instanceof RequestError) && thread.isEnding) {
        const { reason } = await thread.ended;
        throw new RequestError(503, `The messages could not be read: the thread that read them ended, ${reason}`);
      }
      if (!thread.isEnding) this.#keep(thread);
      throw error;
    } finally {
      signal.removeEventListener('abort', abandon);
      clearTimeout(abandoning);
    }
  }

  #end(thread: Thread<Reading>, reason: string): void {
    this.#busy.delete(thread);
    void thread.end({ kind: 'overdue', reason, error: undefined });
  }
}

function clientLeft(): RequestError {
  return new RequestError(409, 'The client has left');
}
