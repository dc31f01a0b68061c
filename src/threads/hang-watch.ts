import { ConnectError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';
import { OWNER_EXPRESSION } from './owner-expression.ts';
import { placeText } from './place-text.ts';
import { threadStack } from './thread-stack.ts';
import type { RunningThread } from './running-thread.ts';

interface Seen {
  beats: number;
  atMs: number;
  isEnding: boolean;
}

const MAX_CHECK_MS = 1000;
const STACK_MS = 2000;

/** Terminates threads whose event loop has been blocked for too long, and logs their stack. */
export class HangWatch {
  readonly #timeoutMs: number;
  readonly #threads: () => readonly RunningThread[];
  readonly #logger: Logger;
  readonly #seen = new WeakMap<RunningThread, Seen>();
  readonly #timer: NodeJS.Timeout;
  readonly #checkMs: number;
  #checkedAtMs = performance.now();

  constructor(timeoutMs: number, threads: () => readonly RunningThread[], logger: Logger) {
    this.#timeoutMs = timeoutMs;
    this.#threads = threads;
    this.#logger = logger;
    this.#checkMs = Math.min(MAX_CHECK_MS, Math.max(1, timeoutMs / 10));
    this.#timer = setInterval(() => {
      this.#check();
    }, this.#checkMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const now = performance.now();
    // The time during which the whole process was suspended does not count: no thread could report that its event loop runs.
    const wasSuspended = now - this.#checkedAtMs > 2 * this.#checkMs + MAX_CHECK_MS;
    this.#checkedAtMs = now;
    for (const thread of this.#threads()) {
      if (!thread.isUp) continue;
      const { beats } = thread.board;
      const seen = this.#seen.get(thread);
      if (seen === undefined || seen.beats !== beats || (wasSuspended && !seen.isEnding)) {
        this.#seen.set(thread, { beats, atMs: now, isEnding: false });
      } else if (!seen.isEnding && now - seen.atMs >= this.#timeoutMs) {
        seen.isEnding = true;
        void this.#end(thread, now - seen.atMs, beats).finally(() => (seen.isEnding = false));
      }
    }
  }

  async #end(thread: RunningThread, silentMs: number, beats: number): Promise<void> {
    // A thread that is paused by a debugger does not hang.
    if ((await import('node:inspector')).url() !== undefined) return;
    const stack = await threadStack(thread.worker, { timeoutMs: STACK_MS, ask: OWNER_EXPRESSION });
    if (thread.board.beats !== beats) return;
    const task = /^task (.*)$/s.exec(stack?.answer ?? '')?.[1];
    const place = thread.place(task);
    const culprit = task ?? place?.task;
    const reason = `its event loop was blocked for ${(silentMs / 1000).toFixed(1)} s${place === undefined ? '' : `, ${placeText(place)}`}`;
    const error = new ConnectError(`Thread ${String(thread.thread)} hangs`);
    error.stack = [
      `${error.name}: ${error.message}`,
      ...(stack?.frames ?? ['at (the stack of the thread is unavailable)']).map((frame) => `    ${frame}`),
    ].join('\n');
    this.#logger.error(
      { err: error },
      `Thread ${String(thread.thread)} (${thread.purpose}) hangs${culprit === undefined ? '' : ` in task ${culprit}`}; terminating it: ${reason}`,
    );
    await thread.end({ kind: 'hang', reason, error, culprit, place });
  }
}
