import { setMaxListeners } from 'node:events';
import { DatabaseError } from '../../../src/errors.ts';
import type { Logger } from '../../../src/observe/logger.ts';
import { qualifiedStatement } from '../sql/own-statement.ts';
import { AbandonedBackends } from './abandoned-backends.ts';
import { cancelled, type Connection } from './connection.ts';
import type { ServerAddress } from './connection-url.ts';
import { SilenceWatch } from './silence-watch.ts';

export interface PoolSettings {
  /** Connections open at the same time, at most. */
  readonly limit: number;
  /** An idle connection is closed after this time. */
  readonly idleTimeoutMs: number;
  readonly logger: Logger;
  /** A statement that has run this long without a byte from the server is asked after (silence-watch.ts). */
  readonly silenceMs: number;
  /** To the first server that takes it, or to the one that is named. */
  readonly connect: (signal: AbortSignal, server?: ServerAddress) => Promise<Connection>;
}

/**
 * How a connection comes back: `clean` as it was lent, `used` with whatever a session left in it, `read` with nothing but a
 * read-only transaction.
 */
export type Condition = 'clean' | 'used' | 'read';

/**
 * Removes what a session may leave: DISCARD ALL without DEALLOCATE, which would take the prepared inserts away, and
 * without its ban on transaction blocks, so that it is one round trip.
 */
const CLEANING = qualifiedStatement(
  'pool: clean a session',
  'CLOSE ALL; SET SESSION AUTHORIZATION DEFAULT; RESET ALL; UNLISTEN *; SELECT pg_catalog.pg_advisory_unlock_all(); ' +
    'DISCARD TEMP; DISCARD SEQUENCES',
);
/** Rolling back undoes settings and closes cursors; locks of the session stay. */
const READ_CLEANING = qualifiedStatement(
  'pool: clean a read transaction',
  'ROLLBACK; SELECT pg_catalog.pg_advisory_unlock_all()',
);
const CLEANING_TIMEOUT_MS = 5_000;
/** What still runs this long after the pool was closed is cut off. */
const CLOSING_GRACE_MS = 10_000;

interface Waiter {
  readonly resolve: (connection: Connection) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Connections to one (server, database, user).
 *
 * A connection is opening -> lent -> (cleaning ->) idle -> lent … and leaves when it breaks, is worn, cannot be
 * cleaned, or was idle for too long. Waiters are served first come, first served. Closing waits for lent connections.
 */
export class Pool {
  readonly #settings: PoolSettings;
  readonly #idle: { connection: Connection; since: number }[] = [];
  readonly #waiters: Waiter[] = [];
  readonly #all = new Set<Connection>();
  readonly #stopped = new AbortController();
  readonly #silence: SilenceWatch;
  readonly #abandoned: AbandonedBackends;
  #opening = 0;
  #cleaning = 0;
  #limit: number;
  #sweep: NodeJS.Timeout | undefined;
  #emptied: (() => void) | undefined;

  constructor(settings: PoolSettings) {
    this.#settings = settings;
    // Each connection being opened listens to it.
    setMaxListeners(0, this.#stopped.signal);
    this.#limit = settings.limit;
    this.#abandoned = new AbandonedBackends(settings.logger);
    this.#silence = new SilenceWatch(this.#all, {
      ...settings,
      connect: (server, signal) => settings.connect(signal, server),
    });
  }

  /** Open connections and those being opened. */
  get size(): number {
    return this.#all.size + this.#opening;
  }

  get limit(): number {
    return this.#limit;
  }

  set limit(limit: number) {
    this.#limit = limit;
    this.#serve();
  }

  /** Lends a connection; waits while all are lent. Rejects as `connect` does, and with 57014 when aborted. */
  async acquire(signal?: AbortSignal): Promise<Connection> {
    if (signal?.aborted === true) throw cancelled(signal);
    if (this.#stopped.signal.aborted) throw closed();
    return new Promise((resolve, reject) => {
      const stopWaiting = (): void => signal?.removeEventListener('abort', onAbort);
      const waiter: Waiter = {
        resolve: (connection) => {
          stopWaiting();
          resolve(connection);
        },
        reject: (error) => {
          stopWaiting();
          reject(error);
        },
      };
      const onAbort = (): void => {
        const index = this.#waiters.indexOf(waiter);
        if (index >= 0) this.#waiters.splice(index, 1);
        if (signal !== undefined) waiter.reject(cancelled(signal));
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiters.push(waiter);
      this.#serve();
    });
  }

  /** Lends a connection for `work`; it comes back in `condition`. */
  async lend<T>(work: (connection: Connection) => Promise<T>, condition: Condition, signal?: AbortSignal): Promise<T> {
    const connection = await this.acquire(signal);
    try {
      return await work(connection);
    } finally {
      this.release(connection, condition);
    }
  }

  /** Takes a lent connection back. A used one is cleaned first; the caller does not wait for that. */
  release(connection: Connection, condition: Condition): void {
    if (!connection.reusable || this.#stopped.signal.aborted) {
      this.#drop(connection);
    } else if (condition === 'clean' && connection.client.getTransactionStatus() === 'I') {
      this.#park(connection);
    } else {
      void this.#clean(connection, condition);
    }
  }

  /** Ends what dropped connections may still run on the server. Never rejects. */
  async endAbandoned(signal: AbortSignal): Promise<void> {
    try {
      await this.lend((connection) => this.#abandoned.end(connection), 'clean', signal);
    } catch (error) {
      this.#settings.logger.debug({ err: error }, 'server processes of broken connections could not be ended');
    }
  }

  /** Refuses new callers, waits for lent connections, not for ever, and closes all. */
  async close(): Promise<void> {
    this.#stopped.abort(closed());
    for (const waiter of this.#waiters.splice(0)) waiter.reject(closed());
    for (const { connection } of this.#idle.splice(0)) this.#drop(connection);
    clearInterval(this.#sweep);
    this.#sweep = undefined;
    if (this.size === 0) {
      this.#silence.stop();
      return;
    }
    const cut = setTimeout(() => {
      for (const connection of this.#all) connection.cut();
    }, CLOSING_GRACE_MS);
    await new Promise<void>((resolve) => (this.#emptied = resolve));
    clearTimeout(cut);
    this.#silence.stop();
  }

  async #clean(connection: Connection, condition: Condition): Promise<void> {
    this.#cleaning += 1;
    try {
      const inTransaction = connection.client.getTransactionStatus() !== 'I';
      const script = condition === 'read' ? READ_CLEANING : inTransaction ? `ROLLBACK; ${CLEANING}` : CLEANING;
      await connection.script(script, { timeoutMs: CLEANING_TIMEOUT_MS });
      this.#cleaning -= 1;
      this.#park(connection);
    } catch (error) {
      this.#cleaning -= 1;
      this.#settings.logger.debug({ err: error }, 'a database connection could not be cleaned and is dropped');
      this.#drop(connection);
    }
  }

  #park(connection: Connection): void {
    if (!connection.reusable || this.#stopped.signal.aborted) {
      this.#drop(connection);
      return;
    }
    this.#idle.push({ connection, since: performance.now() });
    this.#sweep ??= setInterval(() => this.#closeIdle(), Math.max(50, this.#settings.idleTimeoutMs / 4)).unref();
    this.#serve();
  }

  #drop(connection: Connection): void {
    this.#abandoned.add(connection);
    connection
      .close()
      .catch((error: unknown) => this.#settings.logger.debug({ err: error }, 'closing a database connection failed'))
      .finally(() => {
        this.#all.delete(connection);
        if (this.#all.size === 0) this.#silence.rest();
        this.#settle();
      });
  }

  /** Gives idle connections to waiters and opens further ones while waiters are left and the limit allows. */
  #serve(): void {
    while (this.#waiters.length > 0) {
      // The one used last: it is the least likely to have been closed by the other side, and others can age.
      const parked = this.#idle.pop();
      if (parked === undefined) break;
      if (parked.connection.reusable) this.#waiters.shift()?.resolve(parked.connection);
      else this.#drop(parked.connection);
    }
    // Those being cleaned are back sooner than a new one is made.
    while (this.#opening + this.#cleaning < this.#waiters.length && this.size < this.#limit) void this.#open();
  }

  async #open(): Promise<void> {
    this.#opening += 1;
    try {
      const connection = await this.#settings.connect(this.#stopped.signal);
      await this.#abandoned.end(connection);
      this.#opening -= 1;
      this.#all.add(connection);
      this.#silence.start();
      this.#park(connection);
    } catch (error) {
      this.#opening -= 1;
      // One failure answers one waiter: the next one gets its own attempt, and its own reason.
      this.#waiters.shift()?.reject(error as Error);
      this.#settle();
    }
  }

  #settle(): void {
    if (this.#stopped.signal.aborted) {
      if (this.size === 0) this.#emptied?.();
    } else {
      this.#serve();
    }
  }

  #closeIdle(): void {
    const oldest = performance.now() - this.#settings.idleTimeoutMs;
    for (let index = this.#idle.length - 1; index >= 0; index--) {
      const parked = this.#idle[index];
      if (parked === undefined || (parked.since > oldest && parked.connection.reusable)) continue;
      this.#idle.splice(index, 1);
      this.#drop(parked.connection);
    }
    if (this.#idle.length === 0) {
      clearInterval(this.#sweep);
      this.#sweep = undefined;
    }
  }
}

function closed(): DatabaseError {
  return new DatabaseError('the executor was closed', { scope: 'caller' });
}
