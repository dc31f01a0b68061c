import { setMaxListeners } from 'node:events';
import { DatabaseError } from '../../../src/errors.ts';
import type { Logger } from '../../../src/observe/logger.ts';
import { qualifiedStatement } from '../sql/own-statement.ts';
import { AbandonedBackends } from './abandoned-backends.ts';
import { cancelled, type Connection } from './connection.ts';
import type { ServerAddress } from './connection-url.ts';
import { SilenceWatch } from './silence-watch.ts';

export interface PoolSettings {
  readonly limit: number;
  readonly idleTimeoutMs: number;
  readonly logger: Logger;
  /** A statement without data from the server for this long is checked (silence-watch.ts). */
  readonly silenceMs: number;
  /** Connects to the first server that accepts, or to the given one. */
  readonly connect: (signal: AbortSignal, server?: ServerAddress) => Promise<Connection>;
}

/** State on release: `clean`, `used` with possible session state, or `read` after a read-only transaction. */
export type Condition = 'clean' | 'used' | 'read';

/**
 * Resets a session like DISCARD ALL, but keeps the prepared statements (no DEALLOCATE) and can run in a multi-statement
 * query, which takes one round trip.
 */
const CLEANING = qualifiedStatement(
  'pool: clean a session',
  'CLOSE ALL; SET SESSION AUTHORIZATION DEFAULT; RESET ALL; UNLISTEN *; SELECT pg_catalog.pg_advisory_unlock_all(); ' +
    'DISCARD TEMP; DISCARD SEQUENCES',
);
/** A rollback reverts settings and closes cursors, but session-level locks remain. */
const READ_CLEANING = qualifiedStatement(
  'pool: clean a read transaction',
  'ROLLBACK; SELECT pg_catalog.pg_advisory_unlock_all()',
);
const CLEANING_TIMEOUT_MS = 5_000;
/** Statements that still run this long after closing the pool are aborted. */
const CLOSING_GRACE_MS = 10_000;

interface Waiter {
  readonly resolve: (connection: Connection) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Connections with the same settings. A connection is opening -> lent -> (cleaning ->) idle -> lent … It leaves the
 * pool when it breaks, is no longer reusable, cannot be cleaned, or was idle for too long. Behind a pooler, a `used`
 * connection leaves the pool instead of being cleaned. Waiters are served in order. Closing waits for lent connections.
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
  /** Called with each connection before it is lent. If it rejects, the connection is dropped. */
  inspect: ((connection: Connection) => Promise<unknown>) | undefined;

  constructor(settings: PoolSettings) {
    this.#settings = settings;
    // Each connection being opened adds a listener, so there is no limit for the number of listeners.
    setMaxListeners(0, this.#stopped.signal);
    this.#limit = settings.limit;
    this.#abandoned = new AbandonedBackends(settings.logger);
    this.#silence = new SilenceWatch(this.#all, {
      ...settings,
      connect: (server, signal) => settings.connect(signal, server),
    });
  }

  /** Number of connections that are open or being opened. */
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

  /** Lends a connection, waiting until one is available. Rejects as `connect` does, and with 57014 when aborted. */
  async acquire(signal?: AbortSignal): Promise<Connection> {
    const connection = await this.#next(signal);
    try {
      await this.inspect?.(connection);
      return connection;
    } catch (error) {
      this.#drop(connection);
      throw error;
    }
  }

  async #next(signal: AbortSignal | undefined): Promise<Connection> {
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

  /** Lends a connection for `work`, which leaves it in `condition`. */
  async lend<T>(work: (connection: Connection) => Promise<T>, condition: Condition, signal?: AbortSignal): Promise<T> {
    const connection = await this.acquire(signal);
    try {
      return await work(connection);
    } finally {
      this.release(connection, condition);
    }
  }

  /** Takes back a lent connection. A used connection is cleaned in the background. */
  release(connection: Connection, condition: Condition): void {
    if (!connection.reusable || this.#stopped.signal.aborted) {
      this.#drop(connection);
    } else if (condition === 'clean' && connection.client.getTransactionStatus() === 'I') {
      this.#park(connection);
    } else if (condition !== 'read' && connection.hasSharedBackends) {
      // RESET ALL might run in another backend, and would also reset the settings that were sent at startup.
      this.#drop(connection);
    } else {
      void this.#clean(connection, condition);
    }
  }

  /** Opens another connection to a server, beyond the limit of the pool. The caller must close it. */
  async openAnother(server: ServerAddress): Promise<Connection> {
    return this.#settings.connect(this.#stopped.signal, server);
  }

  get logger(): Logger {
    return this.#settings.logger;
  }

  /** Terminates the backends that dropped connections may have left on the server. Never rejects. */
  async endAbandoned(signal: AbortSignal): Promise<void> {
    try {
      await this.lend((connection) => this.#abandoned.end(connection), 'clean', signal);
    } catch (error) {
      this.#settings.logger.debug({ err: error }, 'Server processes of broken connections could not be terminated');
    }
  }

  /** Rejects new callers, waits for lent connections up to a time limit, and closes all connections. */
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
      this.#settings.logger.debug({ err: error }, 'A database connection could not be reset and was closed');
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
      .catch((error: unknown) => this.#settings.logger.debug({ err: error }, 'Closing a database connection failed'))
      .finally(() => {
        this.#all.delete(connection);
        if (this.#all.size === 0) this.#silence.rest();
        this.#settle();
      });
  }

  /** Lends idle connections to waiters, and opens more while the limit allows. */
  #serve(): void {
    while (this.#waiters.length > 0) {
      // The connection that was used last is the least likely to have been closed by the server. Preferring it lets the
      // other connections expire.
      const parked = this.#idle.pop();
      if (parked === undefined) break;
      if (parked.connection.reusable) this.#waiters.shift()?.resolve(parked.connection);
      else this.#drop(parked.connection);
    }
    // Connections being cleaned will be available sooner than new ones, so none are opened in their place.
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
      // A failure rejects only one waiter: the next one gets its own attempt and reason.
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
