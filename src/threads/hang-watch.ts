import { ConnectError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';
import { OWNER_QUESTION } from './owner-question.ts';
import { placeText } from './place-text.ts';
import { threadStack } from './thread-stack.ts';
import type { RunningThread } from './running-thread.ts';

interface Seen {
  beats: number;
  atMs: number;
  isEnding: boolean;
}

const LONGEST_LOOK_MS = 1000;
const STACK_MS = 2000;

/** Ends threads that have not turned their event loop for a time, with their stack as the reason. */
export class HangWatch {
  readonly #timeoutMs: number;
  readonly #threads: () => readonly RunningThread[];
  readonly #logger: Logger;
  readonly #seen = new WeakMap<RunningThread, Seen>();
  readonly #timer: NodeJS.Timeout;
  readonly #lookMs: number;
  #lookedAtMs = performance.now();

  constructor(timeoutMs: number, threads: () => readonly RunningThread[], logger: Logger) {
    this.#timeoutMs = timeoutMs;
    this.#threads = threads;
    this.#logger = logger;
    this.#lookMs = Math.min(LONGEST_LOOK_MS, Math.max(1, timeoutMs / 10));
    this.#timer = setInterval(() => {
      this.#look();
    }, this.#lookMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    // While the whole process did not run, no thread could beat.
    const didNotRun = now - this.#lookedAtMs > 2 * this.#lookMs + LONGEST_LOOK_MS;
    this.#lookedAtMs = now;
    for (const thread of this.#threads()) {
      if (!thread.isUp) continue;
      const { beats } = thread.board;
      const seen = this.#seen.get(thread);
      if (seen === undefined || seen.beats !== beats || (didNotRun && !seen.isEnding)) {
        this.#seen.set(thread, { beats, atMs: now, isEnding: false });
      } else if (!seen.isEnding && now - seen.atMs >= this.#timeoutMs) {
        seen.isEnding = true;
        void this.#end(thread, now - seen.atMs, beats).finally(() => (seen.isEnding = false));
      }
    }
  }

  async #end(thread: RunningThread, silentMs: number, beats: number): Promise<void> {
    // A thread that a debugger has paused does not hang.
    if ((await import('node:inspector')).url() !== undefined) return;
    const stack = await threadStack(thread.worker, { timeoutMs: STACK_MS, ask: OWNER_QUESTION });
    if (thread.board.beats !== beats) return;
    const task = /^task (.*)$/s.exec(stack?.answer ?? '')?.[1];
    const place = thread.place(task);
    const culprit = task ?? place?.task;
    const reason = `it did not turn its event loop for ${(silentMs / 1000).toFixed(1)} s${place === undefined ? '' : `, ${placeText(place)}`}`;
    const error = new ConnectError(`Thread ${String(thread.thread)} hangs`);
    error.stack = [
      `${error.name}: ${error.message}`,
      ...(stack?.frames ?? ['at (the stack of the thread could not be taken)']).map((frame) => `    ${frame}`),
    ].join('\n');
    this.#logger.error(
      { err: error },
      `Thread ${String(thread.thread)} (${thread.purpose}) hangs${culprit === undefined ? '' : ` in task ${culprit}`}, and is ended: ${reason}`,
    );
    await thread.end({ kind: 'hang', reason, error, culprit, place });
  }
}
