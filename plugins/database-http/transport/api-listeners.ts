import { isIP } from 'node:net';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  addressGroup,
  ConfigError,
  listenFailure,
  plainAddress,
  PortListener,
  type Logger,
} from '../../../src/index.ts';
import type { TrustedProxies } from '../access/client-address.ts';
import type { ServiceSettings } from '../options.ts';
import { refuseConnection } from './api-server.ts';
import { CertificateWatch, developmentCertificate, fingerprint, readCertificate } from './certificate.ts';
import type { CertificateFiles } from './certificate.ts';

const CERTIFICATE_CHECK_MS = 5_000;

/** The listeners of the HTTP API. They share one certificate, which is read again when its files change. */
export class ApiListeners {
  readonly #settings: ServiceSettings;
  readonly #proxies: TrustedProxies;
  readonly #logger: Logger;
  readonly #certificateCheckMs: number;
  readonly #listeners: PortListener[] = [];
  #watch: CertificateWatch | undefined;
  #address: string | undefined;

  constructor(
    settings: ServiceSettings,
    proxies: TrustedProxies,
    logger: Logger,
    certificateCheckMs = CERTIFICATE_CHECK_MS,
  ) {
    this.#settings = settings;
    this.#proxies = proxies;
    this.#logger = logger;
    this.#certificateCheckMs = certificateCheckMs;
  }

  /** URL of the first listener, for example `https://localhost:8080`. */
  get address(): string | undefined {
    return this.#address;
  }

  /** Number of open connections. */
  get connections(): number {
    return this.#listeners.reduce((sum, { connections }) => sum + connections, 0);
  }

  /**
   * Opens the listeners. If the first listener has port 0, it gets the port of `earlierAddress`, at which this service
   * listened before its thread was restarted.
   */
  async open(
    handle: (request: IncomingMessage, response: ServerResponse) => void,
    earlierAddress: string | undefined,
  ): Promise<void> {
    const files = this.#settings.tls === 'off' ? undefined : await this.#certificateFiles();
    const seen = files === undefined ? '' : await fingerprint(files);
    const tls = files === undefined ? undefined : await readCertificate(files);
    for (const url of this.#settings.listeners) {
      const { host, port } = parseAddress(url);
      const usesEarlierPort = port === 0 && this.#address === undefined && earlierAddress !== undefined;
      const listener = new PortListener(
        { ...this.#options(), host, port: usesEarlierPort ? parseAddress(earlierAddress).port : port, tls },
        handle,
        refuseConnection(this.#settings['max.connections'], this.#settings['client.timeout.ms']),
      );
      const bound = await listener.listen().catch((error: unknown) => {
        throw listenFailure(error, 'database.http.listeners', url);
      });
      this.#listeners.push(listener);
      this.#address ??= `${files === undefined ? 'http' : 'https'}://${host === '' ? 'localhost' : host}:${bound}`;
    }
    if (files === undefined) return;
    const settings = { seen, everyMs: this.#certificateCheckMs, logger: this.#logger };
    this.#watch = new CertificateWatch(files, settings, (renewed) => {
      for (const listener of this.#listeners) listener.useCertificate(renewed);
    });
  }

  /** Stops accepting connections. Resolves when all connections have ended; `cut` ends them forcibly. */
  async close(): Promise<void> {
    this.#watch?.stop();
    await Promise.all(this.#listeners.map((listener) => listener.close()));
  }

  cut(): void {
    for (const listener of this.#listeners) listener.cut();
  }

  #options() {
    const settings = this.#settings;
    const maxConnections = settings['max.connections'];
    const headersTimeout = settings['client.headers.timeout.ms'];
    return {
      maxConnections,
      maxPerAddress: settings['address.connections'] ?? maxConnections,
      groupOf: (address: string) => this.#groupOf(address),
      timeouts: {
        headersTimeout,
        requestTimeout: Math.max(headersTimeout, settings['client.request.timeout.ms']),
        connectionsCheckingInterval: Math.min(2_000, Math.ceil(headersTimeout / 4)),
      },
    };
  }

  /** The group for the connection limit per client; `undefined` for a proxy, whose connections belong to many clients. */
  #groupOf(address: string): string | undefined {
    const plain = plainAddress(address);
    return isIP(plain) !== 0 && this.#proxies.has(plain) ? undefined : addressGroup(plain);
  }

  async #certificateFiles(): Promise<CertificateFiles> {
    const { 'tls.certificate': certificatePath, 'tls.key': keyPath } = this.#settings;
    if (certificatePath === null && keyPath === null) {
      const files = await developmentCertificate(this.#settings['tls.directory']);
      this.#logger.info(
        `database HTTP API: a development certificate is used; its CA certificate is ${files.authorityPath}`,
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
}

/** Parses `https://host:port`. The scheme is not checked, because the option `tls` determines it. */
function parseAddress(url: string): { readonly host: string; readonly port: number } {
  const parts = /^https?:\/\/(\[[0-9a-f:.]+\]|[^:/[\]]*):(\d{1,5})\/?$/i.exec(url);
  const port = Number(parts?.[2] ?? Number.NaN);
  if (parts === null || !(port <= 65_535)) {
    throw new ConfigError(`database.http.listeners: ${url} is not of the form https://host:port`);
  }
  return { host: (parts[1] ?? '').replace(/^\[|\]$/g, ''), port };
}
