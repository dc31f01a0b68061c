import type { Logger } from '../../../src/index.ts';
import { isUnreachable, type DatabaseError } from '../../database/index.ts';

/** Minimum time between two warnings about an unstable database. */
const MIN_SILENCE_MS = 60_000;

/**
 * Logs when the database becomes unreachable and when it is reachable again, at most once a minute. Only attempts to
 * open a connection count. While the database is unreachable, requests get 503; this is not logged for each request.
 *
 * reachable -> (opening a connection fails) unreachable -> (opening a connection succeeds) reachable.
 */
export class DatabaseWatch {
  readonly #logger: Logger;
  readonly #nowMs: () => number;
  #awaySinceMs: number | undefined;
  #toldAtMs = -Infinity;

  constructor(logger: Logger, nowMs: () => number) {
    this.#logger = logger;
    this.#nowMs = nowMs;
  }

  /** Called with the result of an attempt to connect. */
  note(failure: DatabaseError | undefined): void {
    if (failure === undefined) this.#back();
    else if (isUnreachable(failure) && this.#awaySinceMs === undefined) this.#away(failure);
  }

  #away({ message }: DatabaseError): void {
    const now = this.#nowMs();
    this.#awaySinceMs = now;
    if (now - this.#toldAtMs < MIN_SILENCE_MS) return;
    this.#toldAtMs = now;
    this.#logger.warn(`database HTTP API: the database is unreachable, requests are answered 503: ${message}`);
  }

  #back(): void {
    const since = this.#awaySinceMs;
    if (since === undefined) return;
    this.#awaySinceMs = undefined;
    if (since !== this.#toldAtMs) return;
    const seconds = Math.round((this.#nowMs() - since) / 1000);
    this.#logger.info(`database HTTP API: the database is reachable again after ${String(seconds)} s`);
  }
}
