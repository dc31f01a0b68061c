import { DatabaseError, type Session } from '../../database/index.ts';
import { databaseFailure } from '../database-failure.ts';
import { ApiFailure, type ApiRequest } from '../route.ts';
import { TEXTS } from '../texts.ts';
import { badTimeZone, isInvalidValue } from '../time-zone.ts';
import type { ConnectionSlots, SlotHolder } from '../transport/connection-slots.ts';

/** The connections on which statements of requests run. */
export class StatementConnections {
  readonly #slots: ConnectionSlots;
  readonly #waitMs: number;

  /** A request waits `waitMs` for a connection at most. */
  constructor(slots: ConnectionSlots, waitMs: number) {
    this.#slots = slots;
    this.#waitMs = waitMs;
  }

  /**
   * A pinned connection to `database` in the request's zone. Rejects with an ApiFailure when there is none: 503 when none was free in
   * time and when the database is unreachable, 400 for a database or zone that does not exist.
   */
  async pinned<T>(
    request: ApiRequest,
    database: string,
    options: { readonly readTransaction?: boolean; readonly holder?: SlotHolder },
    work: (session: Session) => Promise<T>,
  ): Promise<T> {
    const executor = request.executorOn(database);
    const { holder, ...sessionOptions } = options;
    const wait = new AbortController();
    const onAbort = (): void => wait.abort(request.signal.reason);
    const timer = setTimeout(() => wait.abort(new Error(TEXTS.noConnection)), this.#waitMs);
    request.signal.addEventListener('abort', onAbort, { once: true });
    let isPinned = false;
    let giveBack: (() => void) | undefined;
    try {
      giveBack = await this.#slots.take(executor, wait.signal, holder);
      return await executor.session(
        async (session) => {
          isPinned = true;
          clearTimeout(timer);
          return work(session);
        },
        { ...sessionOptions, timeZone: request.timeZone, signal: wait.signal },
      );
    } catch (error) {
      if (request.signal.aborted) throw error;
      // In a read transaction the zone is set with the first statement; other statements never fail like this.
      if (error instanceof DatabaseError && isInvalidValue(error))
        throw new ApiFailure(400, badTimeZone(request.timeZone), { cause: error });
      if (isPinned) throw error;
      if (wait.signal.aborted) throw new ApiFailure(503, TEXTS.noConnection, { retryAfterSeconds: 1, cause: error });
      if (!(error instanceof DatabaseError)) throw error;
      throw databaseFailure(error);
    } finally {
      clearTimeout(timer);
      request.signal.removeEventListener('abort', onAbort);
      giveBack?.();
    }
  }
}
