import type { IncomingMessage } from 'node:http';
import type { Executor } from '../../../src/index.ts';
import { type Presented, readCredentials } from './credentials.ts';
import { type Identity, identityOf } from './identity.ts';
import type { PasswordCheck } from './password-check.ts';
import { ApiFailure, type Login, type Route } from '../route.ts';
import type { ApiSession, SessionStore } from './session-store.ts';
import { TEXTS } from '../texts.ts';
import type { Loan, UserDatabases } from './user-databases.ts';

/** Superusers and members of the role `admin`, directly or through other roles (decisions.md, "Users"). */
const IS_ADMINISTRATOR = `SELECT r.rolsuper OR EXISTS (SELECT 1 FROM pg_catalog.pg_roles a
  WHERE a.rolname = 'admin' AND pg_catalog.pg_has_role(r.oid, a.oid, 'MEMBER'))
  FROM pg_catalog.pg_roles r WHERE r.rolname = current_user`;

/** The user of one request, with what it borrowed; `end` gives all back. */
export class Visit implements Login {
  readonly identity: Identity;
  /** Absent when the request came with a password. */
  readonly session: ApiSession | undefined;
  readonly #databases: UserDatabases;
  readonly #defaultDatabase: string;
  readonly #loans = new Map<string, Loan>();

  constructor(identity: Identity, session: ApiSession | undefined, databases: UserDatabases, defaultDatabase: string) {
    this.identity = identity;
    this.session = session;
    this.#databases = databases;
    this.#defaultDatabase = defaultDatabase;
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
    const { rows } = await this.executorOn(this.#defaultDatabase).query(IS_ADMINISTRATOR);
    return rows[0]?.[0] === 't';
  }

  end(): void {
    for (const loan of this.#loans.values()) loan.giveBack();
    this.#loans.clear();
  }
}

/** The visit behind the login of a request that came with credentials. */
export function visitOf(login: Login): Visit {
  if (!(login instanceof Visit)) throw new TypeError('the request came without credentials');
  return login;
}

export interface AccessParts {
  readonly sessions: SessionStore;
  readonly passwords: PasswordCheck;
  readonly databases: UserDatabases;
  readonly defaultDatabase: string;
  readonly tokenConnections: number;
}

/** Who may come in: tokens are looked up, passwords are asked of the database. */
export class Access {
  readonly #parts: AccessParts;

  constructor(parts: AccessParts) {
    this.#parts = parts;
  }

  /** ApiFailure 401 for credentials that are none, 503 when they cannot be checked or the token is used too often at once. */
  async enter(request: IncomingMessage, query: URLSearchParams, route: Route): Promise<Visit> {
    const presented = readCredentials(request.headers, query, route.credentials ?? 'basic');
    if (route.path === '/restapi/login') return this.#byPassword(presented, request, TEXTS.noMatch);
    const unknown = route.path === '/restapi/session' ? TEXTS.unknownTokenOnSessions : TEXTS.unknownToken;
    if (presented.kind === 'token') return this.#byToken(presented.token, unknown);
    return this.#byPassword(presented, request, unknown);
  }

  /** The request was carried out: the validity of its token starts anew, whatever came of it. */
  refresh({ session }: Visit): void {
    if (session !== undefined) this.#parts.sessions.refresh(session);
  }

  /** The answer is sent. */
  leave(visit: Visit): void {
    visit.end();
    if (visit.session !== undefined) visit.session.running -= 1;
  }

  #byToken(token: string, unknown: string): Visit {
    const session = this.#parts.sessions.find(token);
    if (session === undefined) throw new ApiFailure(401, unknown);
    const limit = this.#parts.tokenConnections;
    if (session.running >= limit) {
      throw new ApiFailure(503, TEXTS.tooManyForToken(limit), { retryAfterSeconds: 1 });
    }
    session.running += 1;
    this.#parts.sessions.refresh(session);
    return this.#visit(session.identity, session);
  }

  async #byPassword(presented: Presented, request: IncomingMessage, refused: string): Promise<Visit> {
    if (presented.kind === 'none') throw new ApiFailure(401, presented.reason);
    if (presented.kind === 'token') throw new ApiFailure(401, TEXTS.malformedCredentials);
    const identity = identityOf(presented.user, presented.password);
    const address = request.socket.remoteAddress ?? '';
    if (!(await this.#parts.passwords.isRight(identity, address))) throw new ApiFailure(401, refused);
    return this.#visit(identity, undefined);
  }

  #visit(identity: Identity, session: ApiSession | undefined): Visit {
    return new Visit(identity, session, this.#parts.databases, this.#parts.defaultDatabase);
  }
}
