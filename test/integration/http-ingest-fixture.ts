import { parseOptions, silentLogger } from '../../src/index.ts';
import { serviceOptions } from '../../plugins/database-http/options.ts';
import { storingRoutes } from '../../plugins/database-http/plugin.ts';
import { DatabaseHttpService } from '../../plugins/database-http/service.ts';
import type { TestDatabase } from '../support/services.ts';
import { DatabaseFixture } from './database-fixture.ts';

export interface IngestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: {
    readonly code: number;
    readonly desc: string | null;
    readonly rows: number | null;
    readonly time: number | null;
  };
}

/** The service in plain HTTP on a port of its own, with an empty database of its own as the default one. */
export class IngestFixture {
  readonly database: DatabaseFixture;
  readonly address: string;
  readonly #service: DatabaseHttpService;

  private constructor(database: DatabaseFixture, service: DatabaseHttpService) {
    this.database = database;
    this.#service = service;
    this.address = service.address ?? '';
  }

  /** `via` returns the server to connect to, for example a proxy before that of the database. */
  static async start(
    options: Readonly<Record<string, string>> = {},
    via = (access: TestDatabase): Promise<TestDatabase> => Promise.resolve(access),
  ): Promise<IngestFixture> {
    const database = await DatabaseFixture.create();
    const { host, port, database: name } = await via(database.access);
    const settings = parseOptions(serviceOptions, {
      listeners: 'http://127.0.0.1:0',
      tls: 'off',
      'connection.url': `postgresql://${host}:${String(port)}`,
      'default.database': name,
      ...options,
    });
    const service = new DatabaseHttpService(settings, { logger: silentLogger }, storingRoutes());
    await service.start();
    return new IngestFixture(database, service);
  }

  get authorization(): string {
    const { user, password } = this.database.access;
    return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  }

  async post(
    pathAndQuery: string,
    body: string | Uint8Array,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<IngestAnswer> {
    const response = await fetch(`${this.address}${pathAndQuery}`, {
      method: 'POST',
      body,
      headers: { Authorization: this.authorization, 'Content-Type': 'text/plain', ...headers },
    });
    const text = await response.text();
    const parsed = text === '' ? {} : (JSON.parse(text) as unknown);
    return { status: response.status, headers: response.headers, text, body: parsed as IngestAnswer['body'] };
  }

  async rows(sql: string): Promise<readonly (readonly (string | null)[])[]> {
    return this.database.rows(sql);
  }

  async close(): Promise<void> {
    await this.#service.stop();
    await this.database.close();
  }
}
