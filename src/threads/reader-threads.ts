import { within } from '../async/within.ts';
import { RequestError } from '../errors.ts';
import type { ReaderControlFunctions, ReaderThreadFunctions } from './thread-protocol.ts';
import { WorkerThread, type ThreadContext } from './worker-thread.ts';

type Thread<Reading> = WorkerThread<ReaderThreadFunctions<Reading>, ReaderControlFunctions>;

const PURPOSE = 'reading';
const MAX_THREADS = 2;
const MAX_WAITING = 16;
const HEAP_MB = 512;
/** Time within which a thread must abandon its work after the client has disconnected. */
const ABANDON_MS = 3000;
/** Idle threads are terminated after this time. */
const IDLE_MS = 60_000;

/**
 * Threads that read topics and convert messages for users. If the conversion of a message takes too long or exhausts the
 * heap, only its thread and its request fail, and the main thread stays responsive. Each thread handles one request at a
 * time.
 */
export class ReaderThreads<Reading> {
  readonly #entry: URL;
  readonly #context: ThreadContext;
  readonly #idle = new Map<Thread<Reading>, NodeJS.Timeout>();
  readonly #busy = new Set<Thread<Reading>>();
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(entry: URL, context: ThreadContext) {
    this.#entry = entry;
    this.#context = context;
  }

  /**
   * Resolves with the JSON response of a thread.
   * @throws RequestError of the thread if it rejects the request; 503 if too many requests are waiting, this one timed out, or
   * the thread ended; 409 if the client disconnected while the request was waiting
   */
  async read(
    reading: Reading,
    { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<string> {
    await this.#takeSlot(signal);
    try {
      if (signal.aborted) throw clientLeft();
      const thread = this.#takeThread();
      const answer = await this.#readIn(thread, reading, signal, timeoutMs);
      this.#markIdle(thread);
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
      throw new RequestError(
        503,
        `${String(MAX_WAITING)} other requests are waiting to read messages; try again later`,
      );
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
      if (!thread.isEnding) return this.#markBusy(thread);
    }
    const options = { purpose: PURPOSE, entry: this.#entry, memoryMaxMb: HEAP_MB };
    const secretKnown = (value: string): void => {
      this.#context.secrets.add(value);
    };
    return this.#markBusy(new WorkerThread(options, this.#context, { secretKnown }));
  }

  #markBusy(thread: Thread<Reading>): Thread<Reading> {
    this.#busy.add(thread);
    return thread;
  }

  #markIdle(thread: Thread<Reading>): void {
    this.#busy.delete(thread);
    if (thread.isEnding) return;
    const end = (): void => {
      this.#idle.delete(thread);
      void thread.end({ kind: 'idle', reason: 'it was idle', error: undefined });
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
      this.#end(thread, `it did not respond within ${String(timeoutMs / 1000)} s`);
      throw new RequestError(503, `Reading the messages took longer than ${String(timeoutMs / 1000)} s`);
    } catch (error) {
      this.#busy.delete(thread);
      if (!(error instanceof RequestError) && thread.isEnding) {
        const { reason } = await thread.ended;
        throw new RequestError(503, `Failed to read the messages: the thread ended, ${reason}`);
      }
      if (!thread.isEnding) this.#markIdle(thread);
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
