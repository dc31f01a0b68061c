import { within } from '../../../src/async/within.ts';
import type { Executor } from './api.ts';
import { lockHolder } from './lock-holders.ts';

/** Shorter waits are not investigated. */
const ASK_AFTER_MS = 1000;
const ASK_MS = 5000;
const MAX_TABLES = 100;

/** Determines why statements on some tables take long. The server is queried in the background, one query at a time. */
export class WaitCause {
  readonly #executor: Pick<Executor, 'ask'>;
  readonly #signal: AbortSignal;
  #asking = false;
  #cause: string | undefined;

  constructor(executor: Pick<Executor, 'ask'>, signal: AbortSignal) {
    this.#executor = executor;
    this.#signal = signal;
  }

  /**
   * Returns the cause of the wait as part of a sentence; `undefined` if it is unknown. `operation` is a noun: `the
   * write`.
   */
  of(waitedMs: number, operation: string, tables: () => readonly string[]): string | undefined {
    if (waitedMs < ASK_AFTER_MS) {
      this.#cause = undefined;
      return undefined;
    }
    if (!this.#asking) void this.#ask(operation, tables().slice(0, MAX_TABLES));
    return this.#cause;
  }

  /** Never rejects. */
  async #ask(operation: string, tables: readonly string[]): Promise<void> {
    this.#asking = true;
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(ASK_MS)]);
    const asked = lockHolder(this.#executor, tables, signal).then(
      (holder) => (this.#cause = holder ?? `the database has not finished ${operation}`),
      () => (this.#cause = 'the database does not respond'),
    );
    await within(asked, ASK_MS);
    this.#asking = false;
  }
}
