import type { Session } from 'node:inspector';
import type { Worker } from 'node:worker_threads';
import { SerialQueue } from '../async/serial-queue.ts';

export interface ThreadStack {
  /** Lines as in an Error's stack, innermost first, such as `at poll (/plugins/slow.js:7:3)`. Empty if the thread is idle. */
  readonly frames: readonly string[];
  /** Result of the expression; `undefined` if it was not a string or was not available in time. */
  readonly answer: string | undefined;
}

interface ThreadStackOptions {
  readonly timeoutMs: number;
  /** An expression that the thread evaluates in its global scope, in the asynchronous context of the running code. */
  readonly ask?: string;
}

const MAX_FRAMES = 50;
const MAX_FRAME_LENGTH = 1_000;
const MAX_ANSWER_LENGTH = 1_000;
/**
 * Maximum number of evaluations of the expression. They are repeated because the owner of the code is briefly unknown between
 * two callbacks and in the hooks around them.
 */
const MAX_ASKED = 10;

/** Number of frames that belong to the expression itself. */
const OWN_FRAMES = 2;

const STACK = `(() => {
  const { stackTraceLimit } = Error;
  const prepare = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  delete Error.prepareStackTrace;
  Error.stackTraceLimit = ${String(MAX_FRAMES + OWN_FRAMES)};
  try {
    return new Error().stack.slice(0, ${String(MAX_FRAMES * MAX_FRAME_LENGTH)});
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    if (prepare !== undefined) Object.defineProperty(Error, 'prepareStackTrace', prepare);
  }
})()`;

const queue = new SerialQueue();

/**
 * Returns the stack of a worker thread and the result of an expression, even if the thread is in an endless loop. The thread is
 * interrupted and then continues. When this resolves, no inspector is attached to it, so it may be terminated. Returns
 * `undefined` if the thread does not respond within `timeoutMs` because it has ended or is in a native call that V8 cannot
 * interrupt (`execSync`). Never rejects. Calls are serialized, and `timeoutMs` counts from the moment at which it is the call's
 * turn.
 */
export async function threadStack(worker: Worker, options: ThreadStackOptions): Promise<ThreadStack | undefined> {
  return queue.run(async () => {
    try {
      return await askThread(worker, options);
    } catch {
      // The inspector may be unavailable in this Node, and the thread may end at any moment.
      return undefined;
    }
  });
}

async function askThread(worker: Worker, { timeoutMs, ask }: ThreadStackOptions): Promise<ThreadStack | undefined> {
  const inspector = await import('node:inspector');
  const thread = new InspectedThread(new inspector.Session());
  const timer = setTimeout(() => {
    thread.cancel();
  }, timeoutMs);
  let stack: ThreadStack | undefined;
  try {
    if (!thread.attach(worker.threadId)) return undefined;
    for (let asked = 0; asked < MAX_ASKED; asked++) {
      // Both expressions are sent together, so that the thread is interrupted only once.
      const texts = [
        thread.evaluate(STACK),
        ask === undefined ? undefined : thread.evaluate(ask, timeoutMs / MAX_ASKED / 2),
      ];
      const trace = await texts[0];
      if (trace === undefined) break;
      stack = { frames: framesOf(trace), answer: undefined };
      const answer = (await texts[1])?.slice(0, MAX_ANSWER_LENGTH);
      if (answer !== undefined) return { ...stack, answer };
      if (ask === undefined || stack.frames.length === 0) break;
    }
    return stack;
  } finally {
    clearTimeout(timer);
    thread.detach();
  }
}

function framesOf(trace: string): string[] {
  const lines = trace.split('\n').filter((line) => line.startsWith('    at '));
  return lines.slice(OWN_FRAMES).map((line) =>
    line
      .trim()
      .replace(/\p{Cc}/gu, ' ')
      .slice(0, MAX_FRAME_LENGTH),
  );
}

interface EvaluateAnswer {
  readonly id?: number;
  readonly result?: { readonly result?: { readonly value?: unknown } };
}

/**
 * Accesses another thread through the inspector of this thread. A thread in an endless loop responds at V8's next interrupt
 * check.
 */
class InspectedThread {
  readonly #session: Session;
  /** Set while the thread is attached. */
  #sessionId: string | undefined;
  readonly #waiting = new Map<number, (value: unknown) => void>();
  #lastId = 0;
  #isCancelled = false;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Returns false if the thread does not exist. */
  attach(threadId: number): boolean {
    this.#session.connect();
    this.#session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
      // Named threads have the title `[worker 3] NAME`.
      if (/^\[worker (\d+)\]/.exec(workerInfo.title)?.[1] === String(threadId)) this.#sessionId = sessionId;
      else this.#session.post('NodeWorker.detach', { sessionId });
    });
    this.#session.on('NodeWorker.detachedFromWorker', ({ params: { sessionId } }) => {
      if (sessionId === this.#sessionId) this.cancel();
    });
    this.#session.on('NodeWorker.receivedMessageFromWorker', ({ params: { sessionId, message } }) => {
      if (sessionId !== this.#sessionId) return;
      const { id, result } = JSON.parse(message) as EvaluateAnswer;
      if (id === undefined) return;
      this.#waiting.get(id)?.(result?.result?.value);
      this.#waiting.delete(id);
    });
    // Attaches to all threads synchronously, by calling the listener above.
    this.#session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
    return this.#sessionId !== undefined;
  }

  /**
   * Evaluates an expression and resolves with its result if that is a string, otherwise with `undefined`. An expression that
   * may not terminate needs a timeout. Without one, terminating the thread would only end the expression, and the endless loop
   * around it would continue.
   */
  async evaluate(expression: string, timeout?: number): Promise<string | undefined> {
    const sessionId = this.#sessionId;
    if (sessionId === undefined || this.#isCancelled) return undefined;
    const id = ++this.#lastId;
    const answered = new Promise<unknown>((resolve) => {
      this.#waiting.set(id, resolve);
    });
    const params = { expression, returnByValue: true, silent: true, timeout };
    const message = JSON.stringify({ id, method: 'Runtime.evaluate', params });
    this.#session.post('NodeWorker.sendMessageToWorker', { sessionId, message });
    const value = await answered;
    return typeof value === 'string' ? value : undefined;
  }

  /** Resolves all pending evaluations with `undefined`. */
  cancel(): void {
    this.#isCancelled = true;
    for (const answer of this.#waiting.values()) answer(undefined);
    this.#waiting.clear();
  }

  detach(): void {
    this.#session.disconnect();
  }
}
