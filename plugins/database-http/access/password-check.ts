import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseError, Password, type Logger } from '../../../src/index.ts';
import { ConnectionSlots } from '../transport/connection-slots.ts';
import type { Identity } from './identity.ts';
import { LoginThrottle } from './login-throttle.ts';
import { ApiFailure } from '../route.ts';
import { databaseFailure, isUnavailable } from '../database-failure.ts';
import { TEXTS } from '../texts.ts';
import type { UserDatabases } from './user-databases.ts';

/** A password that was right is believed for this long: a request that follows costs no new connection. */
const BELIEVED_MS = 30_000;
const MAX_BELIEVED = 10_000;
/** Passwords checked at the same time: whoever knows none must not use up the database's connections. */
const MAX_CHECKS = 8;
const MAX_QUEUE_MS = 10_000;

/** Refusals that come after the password was checked: the database is missing, or closed to this role. */
const AFTER_PASSWORD: ReadonlySet<string> = new Set(['3D000', '42501', '55000']);

/** What becomes of users whom the database asks for no password. */
export type Trust = 'refuse' | 'warn';

export interface PasswordCheckParts {
  readonly databases: UserDatabases;
  readonly defaultDatabase: string;
  readonly trust: Trust;
  readonly logger: Logger;
  readonly nowMs: () => number;
}

/** Passwords are checked by the database itself: by a new connection as that role. */
export class PasswordCheck {
  readonly #databases: UserDatabases;
  readonly #defaultDatabase: string;
  readonly #logger: Logger;
  readonly #nowMs: () => number;
  readonly #trust: Trust;
  readonly #throttle: LoginThrottle;
  /** Keys of identities, and until when each is believed. */
  readonly #believed = new Map<string, number>();
  /** Checks under way, by identity: requests that come together are answered by one. */
  readonly #asking = new Map<string, Promise<boolean>>();
  readonly #slots = new ConnectionSlots(MAX_CHECKS);
  #hasWarned = false;

  constructor({ databases, defaultDatabase, trust, logger, nowMs }: PasswordCheckParts) {
    this.#databases = databases;
    this.#defaultDatabase = defaultDatabase;
    this.#trust = trust;
    this.#logger = logger;
    this.#nowMs = nowMs;
    this.#throttle = new LoginThrottle(nowMs);
  }

  /** Says in the log when the database does not ask this user for the password. Never rejects. */
  async probe(identity: Identity): Promise<void> {
    await this.#ask(identity).catch((error: unknown) => this.#logger.debug({ err: error }, 'no probe for passwords'));
  }

  /**
   * Whether the password is right. `address` is the client's, for the brake on guessing. ApiFailure 503 when the database
   * cannot say, or when there were too many failures to be checked now; 401 when it asks for no password and may not.
   */
  async isRight(identity: Identity, address: string): Promise<boolean> {
    const until = this.#believed.get(identity.key);
    if (until !== undefined && until > this.#nowMs()) return true;
    this.#believed.delete(identity.key);
    const asking = this.#asking.get(identity.key) ?? this.#check(identity, address);
    this.#asking.set(identity.key, asking);
    try {
      return await asking;
    } finally {
      this.#asking.delete(identity.key);
    }
  }

  /** Goes on when the client is gone: others may wait for the same answer. */
  async #check(identity: Identity, address: string): Promise<boolean> {
    const waitMs = this.#throttle.waitMs(identity.user, address);
    if (waitMs === undefined) throw new ApiFailure(503, TEXTS.tooManyAttempts, { retryAfterSeconds: 10 });
    if (waitMs > 0) await delay(waitMs);
    const giveBack = await this.#slots.take(this, AbortSignal.timeout(MAX_QUEUE_MS)).catch((cause: unknown) => {
      throw new ApiFailure(503, TEXTS.tooManyAttempts, { retryAfterSeconds: 10, cause });
    });
    const isRight = await this.#ask(identity).finally(giveBack);
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
    const password = new WatchedPassword(identity.password.reveal());
    const executor = this.#databases.openFresh({ ...identity, password }, this.#defaultDatabase);
    const before = password.timesRevealed;
    try {
      await executor.query('SELECT 1');
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      if (isUnavailable(error)) throw databaseFailure(error);
      if (error.sqlstate === undefined || !AFTER_PASSWORD.has(error.sqlstate)) return false;
    } finally {
      await executor.close();
    }
    if (password.timesRevealed === before) this.#onTrust(identity.user);
    return true;
  }

  #onTrust(user: string): void {
    const isRefused = this.#trust === 'refuse';
    if (!this.#hasWarned) {
      this.#hasWarned = true;
      this.#logger.warn(
        `database HTTP API: the database lets user "${user}" in without asking for a password (pg_hba.conf: trust, peer or cert); ` +
          (isRefused
            ? 'such users are refused here unless database.http.trust.authentication=warn'
            : 'any password will do'),
      );
    }
    if (isRefused) throw new ApiFailure(401, TEXTS.noPasswordAsked);
  }

  #believe(key: string): void {
    this.#believed.set(key, this.#nowMs() + BELIEVED_MS);
    for (const oldest of this.#believed.keys()) {
      if (this.#believed.size <= MAX_BELIEVED) break;
      this.#believed.delete(oldest);
    }
  }
}

/** Tells whether the database asked for it. */
class WatchedPassword extends Password {
  timesRevealed = 0;

  override reveal(): string {
    this.timesRevealed += 1;
    return super.reveal();
  }
}
