import type { WaitingInTask } from '../../src/index.ts';
import { DatabaseError, isUnreachableOrFull, WaitCause, unavailableReason, type Executor } from '../database/index.ts';
import type { TableFeed } from './table-feed.ts';

/** A read of a table that is in progress. */
interface OpenRead {
  readonly feed: Pick<TableFeed, 'name' | 'table'>;
  readonly readMs: number;
}

/** Determines why the task waits: the database is unavailable, or it does not respond. */
export class SourceWaits {
  readonly #database: string;
  readonly #cause: WaitCause;
  #unavailable: { readonly since: number; text: string } | undefined;
  #refreshingSince: number | undefined;

  /** `database` is the name and address of the database for messages. */
  constructor(executor: Executor, signal: AbortSignal, database: string) {
    this.#database = database;
    this.#cause = new WaitCause(executor, signal);
  }

  unavailable(error: unknown): void {
    const status =
      error instanceof DatabaseError && !isUnreachableOrFull(error) ? 'cannot be used' : 'cannot be reached';
    const text = `${this.#database} ${status}: ${unavailableReason(error)}`;
    if (this.#unavailable === undefined) this.#unavailable = { since: performance.now(), text };
    else this.#unavailable.text = text;
  }

  /**
   * Runs a refresh of the table list, or reads a snapshot of the database. If it succeeds, the database is available.
   */
  async refreshing<T>(refresh: () => Promise<T>): Promise<T> {
    this.#refreshingSince = performance.now();
    try {
      const result = await refresh();
      this.available();
      return result;
    } finally {
      this.#refreshingSince = undefined;
    }
  }

  available(): void {
    this.#unavailable = undefined;
  }

  /** Returns how long the task has been waiting and why; `undefined` if it is not waiting. `oldest` is the longest running read. */
  values(oldest: OpenRead | undefined): WaitingInTask | undefined {
    const now = performance.now();
    if (this.#unavailable !== undefined) {
      return { records: 0, waitedMs: now - this.#unavailable.since, cause: this.#unavailable.text };
    }
    const refreshMs = this.#refreshingSince === undefined ? 0 : now - this.#refreshingSince;
    const waitedMs = Math.max(refreshMs, oldest?.readMs ?? 0);
    if (waitedMs === 0) return undefined;
    const isRefreshing = oldest === undefined || refreshMs > oldest.readMs;
    const operation = isRefreshing ? 'the refresh of the table list' : `the query of table ${oldest.feed.name}`;
    // The result of a query has no table.
    const tables = isRefreshing || oldest.feed.table.oid === undefined ? [] : [oldest.feed.table.name.name];
    return { records: 0, waitedMs, cause: this.#cause.of(waitedMs, operation, () => tables) };
  }
}
