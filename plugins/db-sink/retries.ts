import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs, toError, type Logger, type SinkTaskContext } from '../../src/index.ts';
import { connectWithAttempts, DatabaseError, isUnreachable, whyAway, type Executor } from '../database/index.ts';

export interface RetryOptions {
  readonly maxRetries: number;
  readonly retryBackoffMs: number;
  readonly connectionAttempts: number;
  readonly connectionBackoffMs: number;
}

/** What was tried, as messages speak of it: `what` and where it begins, `from`, could not be `done`. */
export interface Attempted {
  readonly what: string;
  readonly from: string;
  readonly done: 'written' | 'claimed';
}

const MAY_WRITE_CHECK_MS = 50;

/** Tries again while the database is away. */
export class Retries {
  readonly #executor: Executor;
  readonly #options: RetryOptions;
  readonly #signal: AbortSignal;
  readonly #logger: Logger;
  readonly #mayWrite: () => boolean;
  #away: string | undefined;

  /**
   * `signal` ends waiting for a database that is away; what the database does at that moment may come to its end. Nothing is
   * tried while `mayWrite` says no.
   */
  constructor(
    executor: Executor,
    options: RetryOptions,
    { signal, logger, mayWrite }: Pick<SinkTaskContext, 'signal' | 'logger' | 'mayWrite'>,
  ) {
    this.#executor = executor;
    this.#options = options;
    this.#signal = signal;
    this.#logger = logger;
    this.#mayWrite = mayWrite;
  }

  /** Whether the last that is known of the database is that it could not be used. */
  get isAway(): boolean {
    return this.#away !== undefined;
  }

  /** While the database is away: why, as what follows the name of the database in a sentence. */
  get awayCause(): string | undefined {
    return this.#away;
  }

  /**
   * Rejects as `work` does, but for failures of the database's infrastructure: then only when it stayed away for
   * `max.retries` retries, each with `connection.attempts` attempts to connect, and after an abort.
   */
  async run<T>(attempted: Attempted, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    for (let retry = 0; ; retry++) {
      // Right before each try: a process that was suspended goes on in here, before any timer can tell.
      if (!this.#mayWrite()) await this.#untilMayWrite(signal);
      try {
        const result = await work();
        this.#away = undefined;
        return result;
      } catch (error) {
        if (!(error instanceof DatabaseError) || error.scope !== 'infrastructure' || signal.aborted) throw error;
        await this.#wait(error, retry, attempted, signal);
      }
    }
  }

  async #untilMayWrite(given: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([this.#signal, given]);
    do await delay(MAY_WRITE_CHECK_MS, undefined, { signal });
    while (!this.#mayWrite());
  }

  async #wait(error: DatabaseError, retry: number, attempted: Attempted, given: AbortSignal): Promise<void> {
    const { maxRetries, retryBackoffMs, connectionAttempts, connectionBackoffMs } = this.#options;
    const { what, from, done } = attempted;
    this.#away = awayText(error, `retry ${String(retry + 1)}`);
    if (retry >= maxRetries || this.#signal.aborted) {
      throw withMessage(error, `${what}${from} could not be ${done} after ${String(retry)} retries: ${error.message}`);
    }
    this.#logger.warn(
      `${what} could not be ${done} (retry ${String(retry + 1)} of ${String(maxRetries)}): ${error.message}`,
    );
    const signal = AbortSignal.any([this.#signal, given]);
    // Between the documented wait and one and a half of it.
    const waitMs = backoffMs(0, { firstMs: retryBackoffMs, maxMs: retryBackoffMs, jitter: [1, 1.5] });
    await delay(waitMs, undefined, { signal });
    try {
      await connectWithAttempts(this.#executor, {
        attempts: connectionAttempts,
        backoffMs: connectionBackoffMs,
        signal,
      });
    } catch (away) {
      if (signal.aborted) throw away;
      this.#away = awayText(away, `retry ${String(retry + 1)}`);
      this.#logger.warn(`The database is still away: ${toError(away).message}`);
    }
  }
}

/** What follows the name of the database in a sentence; `tried`: how often it was tried. */
export function awayText(error: unknown, tried: string): string {
  const how = error instanceof DatabaseError && isUnreachable(error) ? 'cannot be reached' : 'cannot be used';
  return `${how} (${tried}): ${whyAway(error)}`;
}

/** The same failure in other words. */
export function withMessage(error: DatabaseError, message: string): DatabaseError {
  return new DatabaseError(message, { scope: error.scope, sqlstate: error.sqlstate, cause: error });
}
