import { DatabaseError, type Session } from '../../database/index.ts';
import { databaseFailure } from '../database-failure.ts';
import { ApiFailure, type ApiRequest } from '../route.ts';
import { TEXTS } from '../texts.ts';
import { badTimeZone, isInvalidValue } from '../time-zone.ts';
import type { ConnectionSlots, SlotHolder } from '../transport/connection-slots.ts';

/** Provides the connections on which statements of requests run. */
export class StatementConnections {
  readonly #slots: ConnectionSlots;
  readonly #waitMs: number;

  /** A request waits at most `waitMs` for a connection. */
  constructor(slots: ConnectionSlots, waitMs: number) {
    this.#slots = slots;
    this.#waitMs = waitMs;
  }

  /**
   * Calls `work` with a pinned connection to `database` in the request's time zone. If no connection is available, rejects with an
   * ApiFailure: 503 if none was free in time or the database is unreachable, 400 if the database or time zone does not exist.
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
      // A read transaction sets the time zone with its first statement, so an invalid zone may be reported as late as that.
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
