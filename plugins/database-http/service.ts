import { isIP } from 'node:net';
import {
  addressGroup,
  ConfigError,
  listenFailure,
  Password,
  plainAddress,
  PortListener,
  watchService,
  type Logger,
  type Service,
  type ServiceContext,
  type PortTimeouts,
} from '../../src/index.ts';
import { parseConnectionUrl } from '../database/index.ts';
import { SECOND_VERSION_FAILURE } from './aliases/influx-v2.ts';
import { Access } from './access/access.ts';
import { TrustedProxies } from './access/client-address.ts';
import { ApiServer, refuseConnection } from './transport/api-server.ts';
import { CertificateWatch, developmentCertificate, fingerprint, readCertificate } from './transport/certificate.ts';
import type { CertificateFiles } from './transport/certificate.ts';
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
const CERTIFICATE_CHECK_MS = 5_000;
/** How often the users of requests that run are looked at, see password-check.ts. */
const REVIEW_MS = 5_000;

/** Clock and intervals that tests set. */
export interface ServiceTiming {
  /** Milliseconds since the epoch; tokens age by it. */
  readonly nowMs?: () => number;
  readonly certificateCheckMs?: number;
  /** How long a password that was right is believed; see password-check.ts. */
  readonly believedMs?: number;
}

/**
 * The database HTTP API: new -> start -> answering -> stop.
 */
export class DatabaseHttpService implements Service {
  readonly #settings: ServiceSettings;
  readonly #logger: Logger;
  readonly #earlierAddress: string | undefined;
  readonly #moreRoutes: readonly Route[];
  readonly #timing: ServiceTiming;
  readonly #databases: UserDatabases;
  readonly #sessions: SessionStore;
  readonly #passwords: PasswordCheck;
  readonly #access: Access;
  readonly #proxies: TrustedProxies;
  readonly #server: ApiServer;
  readonly #serverSettings: ServerSettings;
  readonly #listeners: PortListener[] = [];
  readonly #slots: ConnectionSlots;
  readonly #room: HeldRoom;
  #unwatch: (() => void) | undefined;
  #watch: CertificateWatch | undefined;
  #sweep: NodeJS.Timeout | undefined;
  #review: NodeJS.Timeout | undefined;
  #address: string | undefined;
  #loading: Promise<void> = Promise.resolve();

  /** `routes`: routes beside those for SQL and sessions. */
  constructor(
    settings: ServiceSettings,
    { logger, earlierAddress }: ServiceContext,
    routes: readonly Route[] = [],
    timing: ServiceTiming = {},
  ) {
    const defaultDatabase = settings['default.database'];
    const nowMs = timing.nowMs ?? Date.now;
    // Complains about the URL now; the users come with the requests.
    parseConnectionUrl(settings['connection.url'], { user: 'nobody', database: defaultDatabase });
    this.#settings = settings;
    this.#logger = logger;
    this.#earlierAddress = earlierAddress;
    this.#moreRoutes = routes;
    this.#timing = timing;
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
    this.#proxies = new TrustedProxies(settings['trusted.proxies']);
    const trust = settings['trust.authentication'] === 'warn' ? 'warn' : 'refuse';
    this.#passwords = new PasswordCheck(
      this.#databases,
      { defaultDatabase, trust, believedMs: timing.believedMs },
      (identity) => this.#access.revoke(identity),
      logger,
    );
    this.#serverSettings = new ServerSettings(logger, () => this.#databases.service);
    this.#sessions = new SessionStore(nowMs, () => this.#serverSettings.timeoutMs);
    this.#access = new Access(this.#sessions, this.#passwords, this.#databases, this.#proxies, {
      defaultDatabase,
      tokenConnections: settings['token.connections'],
    });
    const probe = new DatabaseProbe(() => this.#databases.answers(), Date.now);
    this.#server = new ApiServer(
      {
        routes: this.#allRoutes(defaultDatabase),
        access: this.#access,
        serverSettings: this.#serverSettings,
        requestLog: new RequestLog(logger, settings['access.log'] as AccessLog),
        proxies: this.#proxies,
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

  /** `https://host:port` of the first listener. */
  get address(): string | undefined {
    return this.#address;
  }

  async start(): Promise<void> {
    const files = this.#settings.tls === 'off' ? undefined : await this.#certificateFiles();
    const seen = files === undefined ? '' : await fingerprint(files);
    const certificate = files === undefined ? undefined : await readCertificate(files);
    const maxConnections = this.#settings['max.connections'];
    for (const url of this.#settings.listeners) {
      const { host, port } = parseAddress(url);
      const listener = new PortListener(
        {
          host,
          port: port === 0 && this.#address === undefined ? this.#earlierPort() : port,
          tls: certificate,
          maxConnections,
          maxPerAddress: this.#settings['address.connections'] ?? maxConnections,
          groupOf: (address) => this.#groupOf(address),
          timeouts: this.#timeouts(),
        },
        (request, response) => this.#server.handle(request, response),
        refuseConnection(maxConnections, this.#settings['client.timeout.ms']),
      );
      const bound = await listener.listen().catch((error: unknown) => {
        throw listenFailure(error, 'database.http.listeners', url);
      });
      this.#listeners.push(listener);
      this.#address ??= `${files === undefined ? 'http' : 'https'}://${host === '' ? 'localhost' : host}:${bound}`;
    }
    if (files !== undefined) {
      const settings = {
        seen,
        everyMs: this.#timing.certificateCheckMs ?? CERTIFICATE_CHECK_MS,
        logger: this.#logger,
      };
      this.#watch = new CertificateWatch(files, settings, (renewed) => {
        for (const listener of this.#listeners) listener.useCertificate(renewed);
      });
    }
    this.#sweep = setInterval(() => {
      this.#sessions.sweep();
      this.#databases.sweep().catch((error: unknown) => this.#logger.warn({ err: error }, 'closing idle pools failed'));
    }, SWEEP_EVERY_MS).unref();
    this.#review = setInterval(
      () => void this.#access.review(),
      Math.min(REVIEW_MS, this.#timing.believedMs ?? REVIEW_MS),
    ).unref();
    this.#unwatch = watchService(() =>
      serviceGauges({
        connections: this.#listeners.reduce((sum, { connections }) => sum + connections, 0),
        running: this.#server.running,
        sessions: this.#sessions.size,
        slots: this.#slots.counts,
        heldBytes: this.#room.bytes,
      }),
    );
    // The database need not be there yet.
    this.#loading = this.#loadSettings().catch((error: unknown) =>
      this.#logger.error({ err: error }, 'database HTTP API: its own account cannot be used'),
    );
    this.#logger.info(`database HTTP API listening at ${this.#address ?? 'nowhere'}`);
  }

  /** Running requests may end within `shutdown.grace.ms`; then their statements are cancelled. */
  async stop(): Promise<void> {
    clearInterval(this.#sweep);
    clearInterval(this.#review);
    this.#watch?.stop();
    this.#unwatch?.();
    const grace = setTimeout(() => this.#server.abort(), this.#settings['shutdown.grace.ms']);
    const cut = setTimeout(() => {
      for (const listener of this.#listeners) listener.cut();
    }, this.#settings['shutdown.grace.ms'] + CUT_AFTER_MS);
    await Promise.all(this.#listeners.map((listener) => listener.close()));
    clearTimeout(grace);
    clearTimeout(cut);
    this.#sessions.clear();
    await this.#loading;
    await this.#databases.close();
  }

  #earlierPort(): number {
    return this.#earlierAddress === undefined ? 0 : parseAddress(this.#earlierAddress).port;
  }

  /** The connections of a proxy are those of many clients. */
  #groupOf(address: string): string | undefined {
    const plain = plainAddress(address);
    return isIP(plain) !== 0 && this.#proxies.has(plain) ? undefined : addressGroup(plain);
  }

  #timeouts(): Partial<PortTimeouts> {
    const headersTimeout = this.#settings['client.headers.timeout.ms'];
    return {
      headersTimeout,
      requestTimeout: Math.max(headersTimeout, this.#settings['client.request.timeout.ms']),
      connectionsCheckingInterval: Math.min(2_000, Math.ceil(headersTimeout / 4)),
    };
  }

  #allRoutes(defaultDatabase: string): readonly Route[] {
    const routes = [...this.#routes(defaultDatabase), ...this.#moreRoutes];
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

  async #certificateFiles(): Promise<CertificateFiles> {
    const { 'tls.certificate': certificatePath, 'tls.key': keyPath } = this.#settings;
    if (certificatePath === null && keyPath === null) {
      const files = await developmentCertificate(this.#settings['tls.directory']);
      this.#logger.info(
        `database HTTP API: a development certificate is used; its authority is ${files.authorityPath}`,
      );
      return files;
    }
    if (certificatePath === null || keyPath === null) {
      throw new ConfigError(
        'database.http.tls.certificate and database.http.tls.key go together: one of them is missing',
      );
    }
    return { certificatePath, keyPath, keyPassword: this.#settings['tls.key.password'] ?? undefined };
  }

  /** With an account of its own the service knows its settings before the first login; without, from then on. */
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

/** After their statements were cancelled requests have this long to say so. */
const CUT_AFTER_MS = 2_000;

/** `https://host:port`; the scheme is a matter of `tls`. */
function parseAddress(url: string): { readonly host: string; readonly port: number } {
  const parts = /^https?:\/\/(\[[0-9a-f:.]+\]|[^:/[\]]*):(\d{1,5})\/?$/i.exec(url);
  const port = Number(parts?.[2] ?? Number.NaN);
  if (parts === null || !(port <= 65_535)) {
    throw new ConfigError(`database.http.listeners: ${url} is not of the form https://host:port`);
  }
  return { host: (parts[1] ?? '').replace(/^\[|\]$/g, ''), port };
}
