import { Password, watchService, type Logger, type Service, type ServiceContext } from '../../src/index.ts';
import { parseConnectionUrl } from '../database/index.ts';
import { SECOND_VERSION_FAILURE } from './aliases/influx-v2.ts';
import { Access } from './access/access.ts';
import { TrustedProxies } from './access/client-address.ts';
import { ApiListeners } from './transport/api-listeners.ts';
import { ApiServer } from './transport/api-server.ts';
import { CrossOrigin } from './transport/cross-origin.ts';
import { ConnectionSlots, SPARE_CONNECTIONS } from './transport/connection-slots.ts';
import { DatabaseProbe } from './access/database-probe.ts';
import { identityOf } from './access/identity.ts';
import { loginRoute } from './access/login-route.ts';
import type { ServiceSettings } from './options.ts';
import { openApiRoute } from './open-api/open-api-route.ts';
import { PasswordCheck } from './access/password-check.ts';
import { claimBytes } from './statements/held-answer.ts';
import { HeldRoom } from './statements/held-room.ts';
import { ClusterSettings } from './statements/cluster-settings.ts';
import { queryRoutes } from './statements/query-routes.ts';
import { StatementConnections } from './statements/statement-connections.ts';
import { RequestStatements } from './statements/statement-runner.ts';
import type { Route } from './route.ts';
import { ServerSettings } from './server-settings.ts';
import { serviceGauges } from './service-gauges.ts';
import { sessionRoutes } from './access/session-routes.ts';
import { signinRoutes } from './access/signin-routes.ts';
import { RequestLog, type AccessLog } from './transport/request-log.ts';
import { SessionStore } from './access/session-store.ts';
import { UserDatabases } from './access/user-databases.ts';
import { ddlRoute, insertRoute } from './statements/write-routes.ts';

const SWEEP_EVERY_MS = 60_000;
/** Interval in which the users of running requests are checked again; see password-check.ts. */
const REVIEW_MS = 5_000;
/** Time for requests to answer after their statements were cancelled. */
const CUT_AFTER_MS = 2_000;

/** Clock and intervals that tests set. */
export interface ServiceTiming {
  /** Clock of the sessions, in milliseconds since 1970. */
  readonly nowMs?: () => number;
  readonly certificateCheckMs?: number;
  /** How long a correct password is accepted without another check; see password-check.ts. */
  readonly believedMs?: number;
}

/**
 * The database HTTP API: new -> (`start`) answering -> (`stop`) stopped.
 */
export class DatabaseHttpService implements Service {
  readonly #settings: ServiceSettings;
  readonly #logger: Logger;
  readonly #earlierAddress: string | undefined;
  readonly #reviewMs: number;
  readonly #databases: UserDatabases;
  readonly #sessions: SessionStore;
  readonly #passwords: PasswordCheck;
  readonly #access: Access;
  readonly #server: ApiServer;
  readonly #serverSettings: ServerSettings;
  readonly #listeners: ApiListeners;
  readonly #slots: ConnectionSlots;
  readonly #room: HeldRoom;
  #stopUpkeep: (() => void) | undefined;
  #loading: Promise<void> = Promise.resolve();

  /** `routes` are added to the routes for SQL and sessions. */
  constructor(
    settings: ServiceSettings,
    { logger, earlierAddress }: ServiceContext,
    routes: readonly Route[] = [],
    timing: ServiceTiming = {},
  ) {
    const defaultDatabase = settings['default.database'];
    const nowMs = timing.nowMs ?? Date.now;
    // The URL is validated at start with a placeholder for the user, because each request has its own user.
    parseConnectionUrl(settings['connection.url'], { user: 'nobody', database: defaultDatabase });
    this.#settings = settings;
    this.#logger = logger;
    this.#earlierAddress = earlierAddress;
    this.#reviewMs = Math.min(REVIEW_MS, timing.believedMs ?? REVIEW_MS);
    this.#databases = new UserDatabases(
      {
        url: settings['connection.url'],
        defaultDatabase,
        servicePassword: settings['connection.password'],
        connectionsPerUser: settings['user.connections'] + SPARE_CONNECTIONS,
      },
      logger,
      nowMs,
    );
    this.#slots = new ConnectionSlots(settings['user.connections']);
    this.#room = new HeldRoom({
      totalBytes: Number(settings['query.held.bytes']),
      claimBytes: claimBytes(settings['query.max.bytes']),
      waitMs: settings['connection.wait.ms'],
    });
    const proxies = new TrustedProxies(settings['trusted.proxies']);
    this.#listeners = new ApiListeners(settings, proxies, logger, timing.certificateCheckMs);
    const trust = settings['trust.authentication'] === 'warn' ? 'warn' : 'refuse';
    this.#passwords = new PasswordCheck(
      this.#databases,
      { defaultDatabase, trust, believedMs: timing.believedMs },
      (identity) => this.#access.revoke(identity),
      logger,
    );
    this.#serverSettings = new ServerSettings(logger, () => this.#databases.service);
    this.#sessions = new SessionStore(nowMs, () => this.#serverSettings.timeoutMs);
    this.#access = new Access(this.#sessions, this.#passwords, this.#databases, proxies, {
      defaultDatabase,
      tokenConnections: settings['token.connections'],
    });
    const probe = new DatabaseProbe(() => this.#databases.answers(), Date.now);
    this.#server = new ApiServer(
      {
        routes: this.#allRoutes(defaultDatabase, routes),
        access: this.#access,
        serverSettings: this.#serverSettings,
        requestLog: new RequestLog(logger, settings['access.log'] as AccessLog),
        proxies,
        crossOrigin: new CrossOrigin(settings['cors.allow.origins']),
        databaseAnswers: () => probe.answers(),
        logger,
      },
      {
        defaultDatabase,
        maxBodyBytes: Number(settings['max.body.bytes']),
        clientTimeoutMs: settings['client.timeout.ms'],
        takeTimeoutMs: settings['client.request.timeout.ms'],
        statementTimeoutMs: Number(settings['statement.timeout.ms']) || undefined,
      },
    );
  }

  /** URL of the first listener, for example `https://localhost:8080`. */
  get address(): string | undefined {
    return this.#listeners.address;
  }

  async start(): Promise<void> {
    await this.#listeners.open((request, response) => this.#server.handle(request, response), this.#earlierAddress);
    const sweep = setInterval(() => {
      this.#sessions.sweep();
      this.#databases.sweep().catch((error: unknown) => this.#logger.warn({ err: error }, 'closing idle pools failed'));
    }, SWEEP_EVERY_MS).unref();
    const review = setInterval(() => void this.#access.review(), this.#reviewMs).unref();
    const unwatch = watchService(() =>
      serviceGauges({
        connections: this.#listeners.connections,
        running: this.#server.running,
        sessions: this.#sessions.size,
        slots: this.#slots.counts,
        heldBytes: this.#room.bytes,
      }),
    );
    this.#stopUpkeep = () => {
      clearInterval(sweep);
      clearInterval(review);
      unwatch();
    };
    // The service starts even if the database is not reachable yet.
    this.#loading = this.#loadSettings().catch((error: unknown) =>
      this.#logger.error({ err: error }, 'database HTTP API: its own account cannot be used'),
    );
    this.#logger.info(`database HTTP API listening at ${this.address ?? 'nowhere'}`);
  }

  /** Stops the service. Statements of requests that are still running after `shutdown.grace.ms` are cancelled. */
  async stop(): Promise<void> {
    this.#stopUpkeep?.();
    const graceMs = this.#settings['shutdown.grace.ms'];
    const grace = setTimeout(() => this.#server.abort(), graceMs);
    const cut = setTimeout(() => this.#listeners.cut(), graceMs + CUT_AFTER_MS);
    await this.#listeners.close();
    clearTimeout(grace);
    clearTimeout(cut);
    this.#sessions.clear();
    await this.#loading;
    await this.#databases.close();
  }

  #allRoutes(defaultDatabase: string, more: readonly Route[]): readonly Route[] {
    const routes = [...this.#routes(defaultDatabase), ...more];
    return [...routes, openApiRoute(routes)];
  }

  #routes(defaultDatabase: string): readonly Route[] {
    const settings = this.#serverSettings;
    const sessions = this.#sessions;
    const maxLength = this.#settings['max.statement.length'];
    const connections = new StatementConnections(this.#slots, this.#settings['connection.wait.ms']);
    const clusterSettings = new ClusterSettings(settings, defaultDatabase);
    const statements = new RequestStatements(connections, clusterSettings, maxLength);
    return [
      loginRoute(sessions, settings, defaultDatabase),
      ...sessionRoutes(sessions, settings),
      ...signinRoutes(sessions, this.#settings.tls !== 'off', SECOND_VERSION_FAILURE),
      ddlRoute(statements),
      insertRoute(statements),
      ...queryRoutes(connections, clusterSettings, this.#room, {
        maxLength,
        maxBytes: this.#settings['query.max.bytes'],
        stallMs: this.#settings['client.timeout.ms'],
      }),
    ];
  }

  /**
   * Loads the cluster settings if the service has an account of its own, and checks whether the database asks this
   * account for a password. Without an account, the settings are loaded when an administrator logs in.
   */
  async #loadSettings(): Promise<void> {
    if (this.#settings.tls === 'off') {
      this.#logger.warn('database HTTP API: tls=off, passwords and data travel in plain text');
    }
    if (this.#databases.service === undefined) return;
    await this.#serverSettings.load(() => Promise.resolve(undefined));
    const { user, password } = parseConnectionUrl(this.#settings['connection.url'], {
      password: this.#settings['connection.password'],
      database: this.#settings['default.database'],
    });
    await this.#passwords.probe(identityOf(user, password ?? new Password('')));
  }
}
