import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseOptions, silentLogger, type Logger } from '../../src/index.ts';
import { serviceOptions } from '../../plugins/database-http/options.ts';
import type { Route } from '../../plugins/database-http/route.ts';
import { DatabaseHttpService, type ServiceTiming } from '../../plugins/database-http/service.ts';
import { ApiProcess } from '../support/api-process.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly trailers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Buffer;
  readonly text: string;
  /** The parsed body; whatever the test knows of it. */
  readonly body: Record<string, unknown>;
}

export interface Call {
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

interface ServiceParts extends ServiceTiming {
  readonly routes?: readonly Route[];
}

/** The database HTTP API on a port of its own, before a database and roles of its own. */
export class HttpFixture {
  readonly access: TestDatabase;
  readonly sql: SqlClient;
  readonly #directory: string;
  readonly #roles: string[] = [];
  readonly #services: DatabaseHttpService[] = [];
  service: DatabaseHttpService;
  #authority: Buffer | undefined;

  private constructor(access: TestDatabase, directory: string, service: DatabaseHttpService) {
    this.access = access;
    this.sql = new SqlClient(access);
    this.#directory = directory;
    this.service = service;
  }

  static async start(
    options: Record<string, string> = {},
    parts: ServiceParts = {},
    logger: Logger = silentLogger,
  ): Promise<HttpFixture> {
    const access = await database('http');
    const directory = await mkdtemp(join(tmpdir(), 'sluice-http-'));
    const fixture = new HttpFixture(access, directory, create(access, directory, options, parts, logger));
    await fixture.#started(fixture.service);
    return fixture;
  }

  /** Another service on the same database, as after a restart. */
  async another(options: Record<string, string> = {}, parts: ServiceParts = {}): Promise<DatabaseHttpService> {
    const service = create(this.access, this.#directory, options, parts);
    await this.#started(service);
    return service;
  }

  /** A service on the same database in a process of its own, without TLS. */
  async separate(options: Record<string, string> = {}): Promise<ApiProcess> {
    return ApiProcess.start({
      ...configuration(this.access, this.#directory),
      listeners: 'http://127.0.0.1:0',
      tls: 'off',
      ...options,
    });
  }

  get url(): string {
    return this.service.address ?? '';
  }

  get directory(): string {
    return this.#directory;
  }

  /** `Basic …` of the superuser. */
  get admin(): string {
    return basic(this.access.user, this.access.password);
  }

  /** A role that may log in, and its `Basic …`. */
  async role(attributes = '', password = 'se:cret'): Promise<{ name: string; authorization: string }> {
    const name = uniqueName('u').replaceAll('-', '_');
    await this.sql.run(`CREATE ROLE ${name} LOGIN PASSWORD '${password}' ${attributes}`);
    this.#roles.push(name);
    return { name, authorization: basic(name, password) };
  }

  async call(method: string, path: string, authorization: string | undefined, call: Call = {}): Promise<Reply> {
    return send(`${this.url}${path}`, method, { authorization, ca: this.#authority, ...call });
  }

  async post(path: string, body: string | Buffer, authorization = this.admin): Promise<Reply> {
    return this.call('POST', path, authorization, { body });
  }

  async query(sql: string, authorization = this.admin, parameters = ''): Promise<Reply> {
    return this.post(`/restapi/query${parameters}`, sql, authorization);
  }

  /** `Basic <token>` of a fresh login. */
  async login(authorization = this.admin): Promise<string> {
    const reply = await this.call('GET', '/restapi/login', authorization);
    return `Basic ${String(reply.body['token'])}`;
  }

  async close(): Promise<void> {
    await Promise.all(this.#services.map((service) => service.stop()));
    for (const role of this.#roles) await this.sql.run(`DROP OWNED BY ${role} CASCADE`, `DROP ROLE ${role}`);
    await this.sql.close();
    await rm(this.#directory, { recursive: true });
  }

  async #started(service: DatabaseHttpService): Promise<void> {
    this.#services.push(service);
    await service.start();
    this.#authority = await readFile(join(this.#directory, 'ca.pem')).catch(() => undefined);
  }
}

function create(
  access: TestDatabase,
  directory: string,
  options: Record<string, string>,
  { routes, ...timing }: ServiceParts,
  logger: Logger = silentLogger,
): DatabaseHttpService {
  const config = { ...configuration(access, directory), ...options };
  return new DatabaseHttpService(parseOptions(serviceOptions, config), { logger }, routes, timing);
}

function configuration(access: TestDatabase, directory: string): Record<string, string> {
  return {
    listeners: 'https://127.0.0.1:0',
    'connection.url': access.url,
    'default.database': access.database,
    'tls.directory': directory,
  };
}

export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

export async function send(
  url: string,
  method: string,
  {
    authorization,
    ca,
    body,
    headers = {},
    signal,
  }: Call & { readonly authorization?: string | undefined; readonly ca?: Buffer | undefined },
): Promise<Reply> {
  const request = url.startsWith('https') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method,
        agent: false,
        headers: {
          // Without it a DELETE would be sent as if it had no body.
          ...(body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
          ...(authorization === undefined ? {} : { Authorization: authorization }),
          ...headers,
        },
        ...(ca === undefined ? {} : { ca }),
        ...(signal === undefined ? {} : { signal }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const text = bytes.toString();
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            trailers: response.trailers,
            bytes,
            text,
            body:
              text.startsWith('{') && response.headers['content-type'] === 'application/json'
                ? (JSON.parse(text) as Record<string, unknown>)
                : {},
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
