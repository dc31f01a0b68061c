import type { IncomingMessage } from 'node:http';
import { addressGroup } from '../../../src/index.ts';
import { ownStatement, type Executor } from '../../database/index.ts';
import { type Presented, readCredentials } from './credentials.ts';
import { type Identity, identityOf } from './identity.ts';
import type { TrustedProxies } from './client-address.ts';
import type { PasswordCheck } from './password-check.ts';
import { ApiFailure, type Login, type MethodRoute } from '../route.ts';
import type { ApiSession, SessionStore } from './session-store.ts';
import { TEXTS } from '../texts.ts';
import type { Loan, UserDatabases } from './user-databases.ts';

/**
 * Administrators are superusers and direct or indirect members of the role `admin`. The query checks the session user, because a
 * setting of the role may have changed the current user.
 */
const IS_ADMINISTRATOR = ownStatement(
  'access: is the user an administrator',
  `SELECT r.rolsuper OR EXISTS (SELECT 1 FROM pg_catalog.pg_roles a
  WHERE a.rolname = 'admin' AND pg_has_role(r.oid, a.oid, 'MEMBER'))
  FROM pg_catalog.pg_roles r WHERE r.rolname = session_user`,
);

/** The user of one request, and the database executors that the request has borrowed. `end` gives them back. */
export class Visit implements Login {
  readonly identity: Identity;
  /** Absent if the request has a password. */
  readonly session: ApiSession | undefined;
  readonly #databases: UserDatabases;
  readonly #defaultDatabase: string;
  readonly #loans = new Map<string, Loan>();
  readonly #onRevoked: () => void;

  /** `onRevoked` ends the request. */
  constructor(
    identity: Identity,
    session: ApiSession | undefined,
    databases: UserDatabases,
    defaultDatabase: string,
    onRevoked: () => void,
  ) {
    this.identity = identity;
    this.session = session;
    this.#databases = databases;
    this.#defaultDatabase = defaultDatabase;
    this.#onRevoked = onRevoked;
  }

  /** Cancels the request because the user may no longer log in. */
  revoke(): void {
    this.#onRevoked();
  }

  get user(): string {
    return this.identity.user;
  }

  executorOn(database: string): Executor {
    const loan = this.#loans.get(database) ?? this.#databases.borrow(this.identity, database);
    this.#loans.set(database, loan);
    return loan.executor;
  }

  async isAdministrator(): Promise<boolean> {
    const { rows } = await this.executorOn(this.#defaultDatabase).ask(IS_ADMINISTRATOR);
    return rows[0]?.[0] === 't';
  }

  end(): void {
    for (const loan of this.#loans.values()) loan.giveBack();
    this.#loans.clear();
  }
}

/** Returns the login of a request as a Visit. Throws a TypeError for a request without credentials. */
export function visitOf(login: Login): Visit {
  if (!(login instanceof Visit)) throw new TypeError('the request came without credentials');
  return login;
}

export interface AccessSettings {
  readonly defaultDatabase: string;
  /** Maximum number of concurrent requests with one token. */
  readonly tokenConnections: number;
}

/**
 * Authenticates requests. A token is looked up; it represents the user and password of its login. A password is checked
 * by connecting to the database. The check is repeated after some seconds, also for tokens and while a request is running.
 */
export class Access {
  readonly #sessions: SessionStore;
  readonly #passwords: PasswordCheck;
  readonly #databases: UserDatabases;
  readonly #proxies: TrustedProxies;
  readonly #settings: AccessSettings;
  /** Running requests. */
  readonly #visits = new Set<Visit>();

  constructor(
    sessions: SessionStore,
    passwords: PasswordCheck,
    databases: UserDatabases,
    proxies: TrustedProxies,
    settings: AccessSettings,
  ) {
    this.#sessions = sessions;
    this.#passwords = passwords;
    this.#databases = databases;
    this.#proxies = proxies;
    this.#settings = settings;
  }

  /**
   * Authenticates a request. Throws an ApiFailure with status 401 for malformed or unknown credentials, and with status 503 if they
   * cannot be checked or if too many requests use the token at the same time.
   */
  async enter(
    request: IncomingMessage,
    query: URLSearchParams,
    route: MethodRoute,
    onRevoked: () => void,
  ): Promise<Visit> {
    const presented = readCredentials(request.headers, query, route.credentials ?? 'basic');
    const isLogin = route.isLogin === true;
    const onSessions = route.path === '/restapi/session';
    const refused = isLogin ? TEXTS.noMatch : onSessions ? TEXTS.unknownTokenOnSessions : TEXTS.unknownToken;
    const visit =
      presented.kind === 'token' && !isLogin
        ? await this.#byToken(presented.token, refused, onRevoked)
        : await this.#byPassword(presented, request, { refused, isLogin, onRevoked });
    this.#visits.add(visit);
    return visit;
  }

  /** Checks the users of running requests again. Never rejects. */
  async review(): Promise<void> {
    const identities = new Map([...this.#visits].map(({ identity }) => [identity.key, identity]));
    await Promise.all([...identities.values()].map((identity) => this.#passwords.review(identity)));
  }

  /** Called when a password is no longer valid: ends the tokens, connections and requests with that user and password. */
  revoke(identity: Identity): void {
    const sessions = this.#sessions;
    for (const session of sessions.list()) if (session.identity.key === identity.key) sessions.delete(session);
    for (const visit of this.#visits) if (visit.identity.key === identity.key) visit.revoke();
    this.#databases.evict(identity);
  }

  /** Restarts the validity period of the request's token. Called after the request has run, regardless of its result. */
  refresh({ session }: Visit): void {
    if (session !== undefined) this.#sessions.refresh(session);
  }

  /** Called when the request has ended. Gives back the executors that it has borrowed. */
  leave(visit: Visit): void {
    visit.end();
    this.#visits.delete(visit);
    if (visit.session !== undefined) visit.session.running -= 1;
  }

  async #byToken(token: string, unknown: string, onRevoked: () => void): Promise<Visit> {
    const session = this.#sessions.find(token);
    if (session === undefined) throw new ApiFailure(401, unknown);
    const limit = this.#settings.tokenConnections;
    if (session.running >= limit) {
      throw new ApiFailure(503, TEXTS.tooManyForToken(limit), { retryAfterSeconds: 1 });
    }
    session.running += 1;
    try {
      if (!(await this.#passwords.isStillRight(session.identity))) throw new ApiFailure(401, unknown);
    } catch (error) {
      session.running -= 1;
      throw error;
    }
    this.#sessions.refresh(session);
    return this.#visit(session.identity, session, onRevoked);
  }

  async #byPassword(
    presented: Presented,
    request: IncomingMessage,
    { refused, isLogin, onRevoked }: { refused: string; isLogin: boolean; onRevoked: () => void },
  ): Promise<Visit> {
    if (presented.kind === 'none') throw new ApiFailure(401, presented.reason);
    if (presented.kind === 'token') throw new ApiFailure(401, TEXTS.malformedCredentials);
    const identity = identityOf(presented.user, presented.password);
    const address = addressGroup(this.#proxies.clientOf(request));
    if (!(await this.#passwords.isRight(identity, address, isLogin))) throw new ApiFailure(401, refused);
    return this.#visit(identity, undefined, onRevoked);
  }

  #visit(identity: Identity, session: ApiSession | undefined, onRevoked: () => void): Visit {
    return new Visit(identity, session, this.#databases, this.#settings.defaultDatabase, onRevoked);
  }
}
