import { setTimeout as delay } from 'node:timers/promises';
import { ConnectError, RetriableError, toError, type SourceTaskContext } from '../../src/index.ts';
import {
  beginWithAttempts,
  DatabaseError,
  isRollback,
  isUnavailable as mayRecover,
  isUnreachableOrFull,
  type Executor,
} from '../database/index.ts';
import type { SourceSettings } from './source-settings.ts';
import type { SourceWaits } from './source-waits.ts';

/**
 * The connection of a task to its database.
 *
 * new -> (attempts) open -> (the database becomes unavailable) waiting -> (attempts) open …
 */
export class SourceConnection {
  readonly #executor: Executor;
  readonly #settings: SourceSettings;
  readonly #context: SourceTaskContext;
  readonly #waits: SourceWaits;
  #wasOpen = false;

  constructor(executor: Executor, settings: SourceSettings, context: SourceTaskContext, waits: SourceWaits) {
    this.#executor = executor;
    this.#settings = settings;
    this.#context = context;
    this.#waits = waits;
  }

  /** Connects and runs `begin`, with the configured number of attempts. */
  async open<T>(begin: () => Promise<T>): Promise<T> {
    const result = await this.#attempt(begin);
    this.#wasOpen = true;
    return result;
  }

  /**
   * Connects again after the failure `cause`, with the configured number of attempts. Rejects with RetriableError if
   * the database is still unavailable.
   */
  async reopen(cause: unknown): Promise<void> {
    this.#waits.unavailable(cause);
    this.#context.logger.warn(`Lost the connection to the source database; reconnecting: ${toError(cause).message}`);
    await this.#attempt(() => Promise.resolve());
    if (isLost(cause)) this.#waits.available();
  }

  async #attempt<T>(begin: () => Promise<T>): Promise<T> {
    const { attempts, backoffMs } = this.#settings;
    const { signal } = this.#context;
    let isConnected = false;
    try {
      const onFailure = (error: unknown): void => {
        this.#waits.unavailable(error);
      };
      return await beginWithAttempts(this.#executor, { attempts, backoffMs, signal, onFailure }, () => {
        isConnected = true;
        return begin();
      });
    } catch (error) {
      if (isConnected && !isUnavailable(error)) throw error;
      const message = `The source database cannot be reached: ${toError(error).message}`;
      // If the database was reachable before, it is expected to recover. Otherwise the configuration is assumed to be wrong.
      if (!this.#wasOpen || !isUnavailable(error)) throw new ConnectError(message, { cause: error });
      this.#waits.unavailable(error);
      await delay(backoffMs, undefined, { signal });
      throw new RetriableError(message, { cause: error });
    }
  }
}

/**
 * Returns true if the same request may succeed later, also if the server rolled it back because of other transactions. A
 * standby does so when the primary removes rows that a query still reads (40001).
 */
export function isUnavailable(error: unknown): boolean {
  return error instanceof DatabaseError && (mayRecover(error) || isRollback(error));
}

/** Returns true if the server cannot be reached or accepts no connections. Then a successful connection proves that it has recovered. */
export function isLost(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && isUnreachableOrFull(error);
}
