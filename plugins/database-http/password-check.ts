import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseError, type Logger } from '../../src/index.ts';
import type { Identity } from './identity.ts';
import { LoginThrottle } from './login-throttle.ts';
import { ApiFailure } from './route.ts';
import { databaseFailure, isUnavailable } from './database-failure.ts';
import { TEXTS } from './texts.ts';
import type { UserDatabases } from './user-databases.ts';

/** A password that was right is believed for this long: a request that follows costs no new connection. */
const BELIEVED_MS = 30_000;
const MAX_BELIEVED = 10_000;

/** Refusals that come after the password was checked: the database is missing, or closed to this role. */
const AFTER_PASSWORD: ReadonlySet<string> = new Set(['3D000', '42501', '55000']);

/** Passwords are checked by the database itself: by a new connection as that role. */
export class PasswordCheck {
  readonly #databases: UserDatabases;
  readonly #defaultDatabase: string;
  readonly #logger: Logger;
  readonly #nowMs: () => number;
  readonly #throttle: LoginThrottle;
  /** Keys of identities, and until when each is believed. */
  readonly #believed = new Map<string, number>();

  constructor(databases: UserDatabases, defaultDatabase: string, logger: Logger, nowMs: () => number) {
    this.#databases = databases;
    this.#defaultDatabase = defaultDatabase;
    this.#logger = logger;
    this.#nowMs = nowMs;
    this.#throttle = new LoginThrottle(nowMs);
  }

  /**
   * Whether the password is right. `address` is the client's, for the brake on guessing. ApiFailure 503 when the database
   * cannot say, or when there were too many failures to be checked now.
   */
  async isRight(identity: Identity, address: string, signal: AbortSignal): Promise<boolean> {
    const until = this.#believed.get(identity.key);
    if (until !== undefined && until > this.#nowMs()) return true;
    this.#believed.delete(identity.key);
    const waitMs = this.#throttle.waitMs(identity.user, address);
    if (waitMs === undefined) throw new ApiFailure(503, TEXTS.tooManyAttempts, { retryAfterSeconds: 10 });
    if (waitMs > 0) await delay(waitMs, undefined, { signal });
    const isRight = await this.#ask(identity);
    if (isRight) {
      this.#throttle.succeeded(identity.user, address);
      this.#believe(identity.key);
    } else {
      this.#throttle.failed(identity.user, address);
      this.#logger.info({ user: identity.user, address }, 'database HTTP API: a login was refused');
    }
    return isRight;
  }

  async #ask(identity: Identity): Promise<boolean> {
    const executor = this.#databases.openFresh(identity, this.#defaultDatabase);
    try {
      await executor.query('SELECT 1');
      return true;
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      if (error.sqlstate !== undefined && AFTER_PASSWORD.has(error.sqlstate)) return true;
      if (isUnavailable(error)) throw databaseFailure(error);
      return false;
    } finally {
      await executor.close();
    }
  }

  #believe(key: string): void {
    this.#believed.set(key, this.#nowMs() + BELIEVED_MS);
    for (const oldest of this.#believed.keys()) {
      if (this.#believed.size <= MAX_BELIEVED) break;
      this.#believed.delete(oldest);
    }
  }
}
