import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs, toError, type Logger, type SinkTaskContext } from '../../src/index.ts';
import {
  connectWithAttempts,
  DatabaseError,
  isUnreachableOrFull,
  unavailableReason,
  type Executor,
} from '../database/index.ts';

export interface RetryOptions {
  readonly maxRetries: number;
  readonly retryBackoffMs: number;
  readonly connectionAttempts: number;
  readonly connectionBackoffMs: number;
}

/** An operation, described for the message "<what><from> could not be <done>". */
export interface Attempted {
  readonly what: string;
  readonly from: string;
  readonly done: 'written' | 'claimed';
}

const MAY_WRITE_CHECK_MS = 50;

export class Retries {
  readonly #executor: Executor;
  readonly #options: RetryOptions;
  readonly #signal: AbortSignal;
  readonly #logger: Logger;
  readonly #mayWrite: () => boolean;
  #unavailable: string | undefined;

  /** An abort of `signal` ends the wait for an unavailable database. While `mayWrite` returns false, no work is run. */
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

  /** True from a failure of the database until it responds again. */
  get isUnavailable(): boolean {
    return this.#unavailable !== undefined;
  }

  /** The reason why the database is unavailable, as a phrase that follows its name; `undefined` if it is available. */
  get unavailableCause(): string | undefined {
    return this.#unavailable;
  }

  /**
   * Runs `work` and returns its result. After an infrastructure failure, `work` is retried up to `max.retries` times;
   * before each retry, up to `connection.attempts` attempts to connect are made. Rejects with the error of `work` if all
   * retries have failed, and at once for any other error. An abort ends the retries.
   */
  async run<T>(attempted: Attempted, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    for (let retry = 0; ; retry++) {
      // After a suspension of the process, this line may run before the timer that detects the lost membership.
      if (!this.#mayWrite()) await this.#untilMayWrite(signal);
      try {
        const result = await work();
        this.#unavailable = undefined;
        return result;
      } catch (error) {
        if (!(error instanceof DatabaseError) || signal.aborted) throw error;
        if (error.scope !== 'infrastructure') {
          this.#unavailable = undefined;
          throw error;
        }
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
    this.#unavailable = unavailableText(error, `retry ${String(retry + 1)}`);
    if (retry >= maxRetries || this.#signal.aborted) {
      throw withMessage(error, `${what}${from} could not be ${done} after ${String(retry)} retries: ${error.message}`);
    }
    this.#logger.warn(
      `${what} could not be ${done} (retry ${String(retry + 1)} of ${String(maxRetries)}): ${error.message}`,
    );
    const signal = AbortSignal.any([this.#signal, given]);
    // The wait is between one and one and a half times `retry.backoff.ms`.
    const waitMs = backoffMs(0, { firstMs: retryBackoffMs, maxMs: retryBackoffMs, jitter: [1, 1.5] });
    await delay(waitMs, undefined, { signal });
    try {
      await connectWithAttempts(this.#executor, {
        attempts: connectionAttempts,
        backoffMs: connectionBackoffMs,
        signal,
      });
    } catch (failure) {
      if (signal.aborted) throw failure;
      this.#unavailable = unavailableText(failure, `retry ${String(retry + 1)}`);
      this.#logger.warn(`The database is still unavailable: ${toError(failure).message}`);
    }
  }
}

/** Returns a phrase that follows the name of the database; `tried` describes the attempts. */
export function unavailableText(error: unknown, tried: string): string {
  const status = error instanceof DatabaseError && isUnreachableOrFull(error) ? 'cannot be reached' : 'cannot be used';
  return `${status} (${tried}): ${unavailableReason(error)}`;
}

export function withMessage(error: DatabaseError, message: string): DatabaseError {
  return new DatabaseError(message, { scope: error.scope, sqlstate: error.sqlstate, cause: error });
}
