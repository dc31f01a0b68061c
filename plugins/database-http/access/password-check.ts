import { setTimeout as delay } from 'node:timers/promises';
import { BoundedMap, Password, toError, type Logger } from '../../../src/index.ts';
import { DatabaseError, isDatabaseRefused, isUnavailable, ownStatement } from '../../database/index.ts';
import { ConnectionSlots } from '../transport/connection-slots.ts';
import type { Identity } from './identity.ts';
import { LoginThrottle, type Attempt } from './login-throttle.ts';
import { ApiFailure } from '../route.ts';
import { databaseFailure } from '../database-failure.ts';
import { TEXTS } from '../texts.ts';
import type { UserDatabases } from './user-databases.ts';

/**
 * How long a correct password is accepted without another check, so that further requests need no new connection. A
 * revoked user must lose access within 30 seconds, so this time plus the review interval of running requests (REVIEW_MS
 * in service.ts) must be shorter than 30 seconds.
 */
const BELIEVED_MS = 20_000;
const MAX_BELIEVED = 10_000;
/** The existence of a role is checked again after this time, unless the role has logged in. */
const ROLES_KNOWN_MS = 60_000;
/**
 * Maximum number of concurrent checks, so that clients with wrong passwords cannot use up the connections of the
 * database. The same number again is reserved for users who have logged in before.
 */
const MAX_CHECKS = 8;
const MAX_QUEUE_MS = 10_000;

const FIND_ROLE = ownStatement('access: look for a role', 'SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = $1');

/** Handling of users whom the database accepts without a password. */
export type Trust = 'refuse' | 'warn';

export interface PasswordCheckSettings {
  readonly defaultDatabase: string;
  readonly trust: Trust;
  /** Default: 20 seconds. */
  readonly believedMs?: number | undefined;
}

/**
 * Checks passwords by connecting to the database as the role. This also verifies that the role exists, may log in and
 * has a valid password, with each authentication method of the server that requests a password.
 */
export class PasswordCheck {
  readonly #databases: UserDatabases;
  readonly #defaultDatabase: string;
  readonly #logger: Logger;
  readonly #trust: Trust;
  readonly #throttle: LoginThrottle;
  readonly #believedMs: number;
  readonly #onRevoked: (identity: Identity) => void;
  /** For each identity whose last check succeeded, the time until which it is not checked again, in milliseconds since 1970. */
  readonly #believed = new BoundedMap<string, number>(MAX_BELIEVED);
  readonly #roles = new BoundedMap<string, { readonly exists: boolean; readonly untilMs: number }>(MAX_BELIEVED);
  /** Running checks by identity; concurrent requests share one. */
  readonly #asking = new Map<string, Promise<boolean>>();
  readonly #slots = new ConnectionSlots(MAX_CHECKS);
  /**
   * Slots for users who have logged in from the same address, and for identities whose last check succeeded. The
   * guesses of other clients do not delay them.
   */
  readonly #knownSlots = new ConnectionSlots(MAX_CHECKS);
  #hasWarned = false;

  /** `onRevoked` is called with an identity whose password is no longer valid, or whose user may no longer log in. */
  constructor(
    databases: UserDatabases,
    { defaultDatabase, trust, believedMs = BELIEVED_MS }: PasswordCheckSettings,
    onRevoked: (identity: Identity) => void,
    logger: Logger,
  ) {
    this.#databases = databases;
    this.#believedMs = believedMs;
    this.#onRevoked = onRevoked;
    this.#defaultDatabase = defaultDatabase;
    this.#trust = trust;
    this.#logger = logger;
    this.#throttle = new LoginThrottle(Date.now);
  }

  /** Logs a warning if the database accepts this user without a password. Never rejects. */
  async probe(identity: Identity): Promise<void> {
    await this.#ask(identity).catch((error: unknown) =>
      this.#logger.debug({ err: error }, 'database HTTP API: password probe failed'),
    );
  }

  /**
   * Checks the password. `address` is the address of the client, for the login throttle. A login (`isLogin`) is always
   * checked by the database. Rejects with an ApiFailure 503 if the database is unavailable or if there are too many
   * attempts, and 401 if the database requires no password and `trust.authentication` does not allow that.
   */
  async isRight(identity: Identity, address: string, isLogin: boolean): Promise<boolean> {
    if (!isLogin && this.#isBelieved(identity)) return true;
    return this.#once(identity, () => this.#check(identity, address));
  }

  /** Checks that the identity of a token is still valid. Rejects like `isRight`. */
  async isStillRight(identity: Identity): Promise<boolean> {
    if (this.#isBelieved(identity)) return true;
    return this.#once(identity, () => this.#askKnown(identity));
  }

  /** Checks an identity with running requests again. Never rejects. */
  async review(identity: Identity): Promise<void> {
    await this.isStillRight(identity).catch((error: unknown) =>
      this.#logger.debug({ err: toError(error) }, 'database HTTP API: failed to check a user again'),
    );
  }

  #isBelieved({ key }: Identity): boolean {
    return (this.#believed.get(key) ?? 0) > Date.now();
  }

  async #once({ key }: Identity, check: () => Promise<boolean>): Promise<boolean> {
    const asking = this.#asking.get(key) ?? check();
    this.#asking.set(key, asking);
    try {
      return await asking;
    } finally {
      this.#asking.delete(key);
    }
  }

  /** Checks a password. The check continues if the client disconnects, because other requests may wait for its result. */
  async #check(identity: Identity, address: string): Promise<boolean> {
    // The same password was correct at its last check, so this is not an attempt to guess it.
    if (this.#believed.get(identity.key) !== undefined) return this.#askKnown(identity, address);
    const attempt = { user: identity.user, address, isReal: await this.#isReal(identity.user, address) };
    const waitMs = this.#throttle.waitMs(attempt);
    if (waitMs === undefined) throw new ApiFailure(503, TEXTS.tooManyAttempts, { retryAfterSeconds: 10 });
    if (waitMs > 0) await delay(waitMs);
    const slots = this.#throttle.isKnown(attempt) ? this.#knownSlots : this.#slots;
    const isRight = await this.#inSlot(slots, () => this.#ask(identity));
    if (isRight) this.#succeeded(identity, address);
    else this.#failed(attempt);
    return isRight;
  }

  /** Checks an identity whose earlier check succeeded. `address` is present if the request has a password. */
  async #askKnown(identity: Identity, address?: string): Promise<boolean> {
    const isRight = await this.#inSlot(this.#knownSlots, () => this.#ask(identity));
    if (isRight) {
      this.#succeeded(identity, address);
      return true;
    }
    this.#believed.delete(identity.key);
    this.#logger.info({ user: identity.user }, 'database HTTP API: a user may no longer log in');
    this.#onRevoked(identity);
    if (address !== undefined) this.#failed({ user: identity.user, address, isReal: true });
    return false;
  }

  async #inSlot<T>(slots: ConnectionSlots, work: () => Promise<T>): Promise<T> {
    const giveBack = await slots.take(this, AbortSignal.timeout(MAX_QUEUE_MS)).catch((cause: unknown) => {
      throw new ApiFailure(503, TEXTS.tooManyAttempts, { retryAfterSeconds: 10, cause });
    });
    return work().finally(giveBack);
  }

  #succeeded({ user, key }: Identity, address: string | undefined): void {
    this.#believed.set(key, Date.now() + this.#believedMs);
    this.#roles.set(user, { exists: true, untilMs: Infinity });
    if (address !== undefined) this.#throttle.succeeded({ user, address });
  }

  #failed(attempt: Attempt): void {
    const { user, address } = attempt;
    this.#throttle.failed(attempt);
    this.#logger.info({ user, address }, 'database HTTP API: refused a login');
  }

  /** Whether the user exists. Without an account of the service, only users who have logged in are known to exist. */
  async #isReal(user: string, address: string): Promise<boolean> {
    if (this.#throttle.isKnown({ user, address })) return true;
    const known = this.#roles.get(user);
    if (known !== undefined && known.untilMs > Date.now()) return known.exists;
    const { service } = this.#databases;
    if (service === undefined) return false;
    try {
      const { rows } = await service.ask(FIND_ROLE, [user], { timeoutMs: MAX_QUEUE_MS });
      this.#roles.set(user, { exists: rows.length > 0, untilMs: Date.now() + ROLES_KNOWN_MS });
      return rows.length > 0;
    } catch (error) {
      this.#logger.debug({ err: toError(error) }, 'database HTTP API: failed to look up a role');
      return false;
    }
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
      // If the database itself refused the connection, the server had already accepted the password.
      if (!isDatabaseRefused(error)) return false;
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
        `database HTTP API: the database admits user "${user}" without requesting a password (pg_hba.conf: trust, peer or cert); ` +
          (isRefused
            ? 'such users are refused here unless database.http.trust.authentication=warn'
            : 'any password is accepted'),
      );
    }
    if (isRefused) throw new ApiFailure(401, TEXTS.noPasswordAsked);
  }
}

/** A password that counts how often it was revealed, which shows whether the database requested it. */
class WatchedPassword extends Password {
  timesRevealed = 0;

  override reveal(): string {
    this.timesRevealed += 1;
    return super.reveal();
  }
}
