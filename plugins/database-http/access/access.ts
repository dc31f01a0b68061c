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
 * Superusers and members of the role `admin`, directly or through other roles. The user who logged in
 * counts: a setting of the role may have made another one the current user.
 */
const IS_ADMINISTRATOR = ownStatement(
  'access: is the user an administrator',
  `SELECT r.rolsuper OR EXISTS (SELECT 1 FROM pg_catalog.pg_roles a
  WHERE a.rolname = 'admin' AND pg_has_role(r.oid, a.oid, 'MEMBER'))
  FROM pg_catalog.pg_roles r WHERE r.rolname = session_user`,
);

/** The user of one request and the resources that it borrows, which `end` returns. */
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

  /** The user may not log in any more: what he still does is cancelled. */
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

/** The visit that the login of a request with credentials represents. */
export function visitOf(login: Login): Visit {
  if (!(login instanceof Visit)) throw new TypeError('the request came without credentials');
  return login;
}

export interface AccessSettings {
  readonly defaultDatabase: string;
  /** Limit of the requests with one token at a time. */
  readonly tokenConnections: number;
}

/** Authenticates requests. Tokens are looked up; passwords are checked by the database, and checked again from time to time. */
export class Access {
  readonly #sessions: SessionStore;
  readonly #passwords: PasswordCheck;
  readonly #databases: UserDatabases;
  readonly #proxies: TrustedProxies;
  readonly #settings: AccessSettings;
  /** Requests under way. */
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

  /** ApiFailure 401 for malformed or unknown credentials, 503 when they cannot be checked or the token is used too often at once. */
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

  /** The users of requests under way are looked up again. Never rejects. */
  async review(): Promise<void> {
    const identities = new Map([...this.#visits].map(({ identity }) => [identity.key, identity]));
    await Promise.all([...identities.values()].map((identity) => this.#passwords.review(identity)));
  }

  /** A user may not log in any more as before: tokens, connections and requests of that user and password end. */
  revoke(identity: Identity): void {
    const sessions = this.#sessions;
    for (const session of sessions.list()) if (session.identity.key === identity.key) sessions.delete(session);
    for (const visit of this.#visits) if (visit.identity.key === identity.key) visit.revoke();
    this.#databases.evict(identity);
  }

  /** The request was carried out: the validity of its token starts again, regardless of the result. */
  refresh({ session }: Visit): void {
    if (session !== undefined) this.#sessions.refresh(session);
  }

  /** The answer is sent. */
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
