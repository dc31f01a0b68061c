import { within } from '../../src/index.ts';
import { lockHolder, type Executor } from '../../src/index-database.ts';

/** Writes that take less are no reason to ask. */
const ASK_AFTER_MS = 1000;
const ASK_MS = 5000;

/** Why a write takes long. The server is asked in the background, one question at a time. */
export class WaitCause {
  readonly #executor: Executor;
  readonly #signal: AbortSignal;
  #asking = false;
  #cause: string | undefined;

  constructor(executor: Executor, signal: AbortSignal) {
    this.#executor = executor;
    this.#signal = signal;
  }

  /** What is known by now of a write that has taken so long; part of a sentence. */
  of(waitedMs: number, isAway: boolean): string | undefined {
    if (isAway) return 'the database is away';
    if (waitedMs < ASK_AFTER_MS) {
      this.#cause = undefined;
      return undefined;
    }
    if (!this.#asking) void this.#ask();
    return this.#cause;
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(ASK_MS)]);
    const asked = lockHolder(this.#executor, signal).then(
      (holder) => (this.#cause = holder ?? 'the database has not finished the write'),
      () => (this.#cause = 'the database does not answer'),
    );
    await within(asked, ASK_MS);
    this.#asking = false;
  }
}
