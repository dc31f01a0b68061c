import type { WaitingInTask } from '../../src/index.ts';
import { DatabaseError, isUnreachable, WaitCause, whyAway, type Executor } from '../database/index.ts';

/** A read of a table that has not ended. */
interface OpenRead {
  /** As messages call it. */
  readonly name: string;
  /** As the database calls it; `undefined`: it is a query. */
  readonly table: string | undefined;
  readonly readMs: number;
}

/** What the task waits for: a database that is away, or one that does not answer. Times are by `performance.now()`. */
export class SourceWaits {
  readonly #database: string;
  readonly #cause: WaitCause;
  #away: { readonly since: number; text: string } | undefined;
  #lookingSince: number | undefined;

  /** `database`: its name and address. */
  constructor(executor: Executor, signal: AbortSignal, database: string) {
    this.#database = database;
    this.#cause = new WaitCause(executor, signal);
  }

  /** The database cannot be used, as the error says. */
  away(error: unknown): void {
    const how = error instanceof DatabaseError && !isUnreachable(error) ? 'cannot be used' : 'cannot be reached';
    const text = `${this.#database} ${how}: ${whyAway(error)}`;
    if (this.#away === undefined) this.#away = { since: performance.now(), text };
    else this.#away.text = text;
  }

  /** Looks at the database: what comes of it is what is known of it. Rejects as `look` does. */
  async looking<T>(look: () => Promise<T>): Promise<T> {
    this.#lookingSince = performance.now();
    try {
      const found = await look();
      this.back();
      return found;
    } finally {
      this.#lookingSince = undefined;
    }
  }

  /** The database answers. */
  back(): void {
    this.#away = undefined;
  }

  /** `oldest`: the read that has taken the longest. */
  values(oldest: OpenRead | undefined): WaitingInTask | undefined {
    const now = performance.now();
    if (this.#away !== undefined) return { records: 0, waitedMs: now - this.#away.since, cause: this.#away.text };
    const lookedMs = this.#lookingSince === undefined ? 0 : now - this.#lookingSince;
    const waitedMs = Math.max(lookedMs, oldest?.readMs ?? 0);
    if (waitedMs === 0) return undefined;
    const isLooking = oldest === undefined || lookedMs > oldest.readMs;
    const what = isLooking ? 'the look at its tables' : `the query of table ${oldest.name}`;
    const tables = isLooking || oldest.table === undefined ? [] : [oldest.table];
    return { records: 0, waitedMs, cause: this.#cause.of(waitedMs, what, () => tables) };
  }
}
