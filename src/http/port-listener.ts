import { constants } from 'node:crypto';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { createServer, type AddressInfo, type Server as NetServer, type Socket } from 'node:net';
import type { SecureContextOptions, TlsOptions, TLSSocket } from 'node:tls';
import { OpenConnections } from './open-connections.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A TLS handshake begins with a record of this type (RFC 8446, 5.1). */
const HANDSHAKE_RECORD = 0x16;
/**
 * A connection beyond the limit is still accepted, so that its requests can be refused with status 503. The number of
 * such connections is limited to `maxConnections`, or to this number if it is larger; further ones are closed
 * immediately.
 */
const MIN_REFUSED_AT_ONCE = 50;

export interface PortTimeouts {
  /** Limit for the headers. The same limit applies to the first byte of a connection, and to the TLS handshake. */
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
  readonly connectionsCheckingInterval: number;
}

const TIMEOUTS: PortTimeouts = {
  headersTimeout: 15_000,
  requestTimeout: 300_000,
  keepAliveTimeout: 60_000,
  connectionsCheckingInterval: 2_000,
};

export interface ListenerSettings {
  readonly host: string;
  readonly port: number;
  /** `undefined`: plain HTTP only. */
  readonly tls: TlsOptions | undefined;
  /** How a TLS port treats plain HTTP: it redirects to https (the default), or closes the connection. */
  readonly plainHttp?: 'redirect' | 'close';
  readonly maxConnections: number;
  /** Maximum number of connections of one group of addresses; default: `maxConnections`. */
  readonly maxPerAddress?: number | undefined;
  /**
   * Returns the group of an address. By default, each address is a group of its own. If the result is `undefined`,
   * `maxPerAddress` does not apply to the address, because it is that of a proxy, which has the connections of many
   * clients.
   */
  readonly groupOf?: ((address: string) => string | undefined) | undefined;
  /** Milliseconds each. */
  readonly timeouts?: Partial<PortTimeouts>;
}

/**
 * Listens on one port for plain HTTP or TLS, with a limit on its connections. If it listens for TLS, it redirects plain
 * HTTP to https with status 307, which keeps method and body (RFC 9110), or closes such a connection. The first byte of
 * a connection shows whether it is TLS or plain HTTP; from then on it belongs to the HTTP server of that kind.
 */
export class PortListener {
  readonly #settings: ListenerSettings;
  readonly #greetingTimeoutMs: number;
  readonly #acceptor: NetServer;
  readonly #http: Server;
  readonly #https: HttpsServer | undefined;
  readonly #open: OpenConnections;
  #stopping = false;

  /** `refuse` answers requests on connections beyond the limit. */
  constructor(settings: ListenerSettings, handle: Handler, refuse: Handler) {
    this.#settings = settings;
    const options = { ...TIMEOUTS, ...settings.timeouts };
    this.#greetingTimeoutMs = options.headersTimeout;
    this.#open = new OpenConnections(options.headersTimeout);
    const guarded: Handler = (request, response) => {
      const connection = this.#open.of(request.socket);
      const isRefused = connection?.isRefused === true;
      if (connection !== undefined) this.#open.busy(connection, request, response);
      if (this.#stopping || isRefused) response.setHeader('Connection', 'close');
      (isRefused ? refuse : handle)(request, response);
    };
    if (settings.tls === undefined) {
      this.#http = createHttpServer(options, guarded);
    } else {
      this.#http = createHttpServer(options, redirect);
      this.#https = createHttpsServer(
        {
          ...{ ...options, ...settings.tls, handshakeTimeout: options.headersTimeout },
          // A handshake costs the server more than the client, so clients must not repeat it on one connection.
          secureOptions: (settings.tls.secureOptions ?? 0) | constants.SSL_OP_NO_RENEGOTIATION,
        },
        guarded,
      );
      this.#https.on('tlsClientError', (_error, socket) => socket.destroy());
      // If client certificates are requested but not required, a client may present none. As in Java, a certificate
      // that it does present must be valid.
      this.#https.prependListener('secureConnection', (socket: TLSSocket) => {
        const isShown = Object.keys(socket.getPeerCertificate()).length > 0;
        if (settings.tls?.requestCert === true && isShown && !socket.authorized) socket.destroy();
      });
    }
    for (const server of [this.#http, this.#https]) {
      // These servers do not listen themselves. They start their checks for slow requests at this event.
      server?.emit('listening');
    }
    this.#acceptor = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 }, (socket) => {
      this.#greet(socket);
    });
  }

  /** Resolves with the port. */
  async listen(): Promise<number> {
    const { host, port } = this.#settings;
    await new Promise<void>((resolve, reject) => {
      this.#acceptor.once('error', reject);
      this.#acceptor.listen(port, host === '' ? undefined : host, () => {
        this.#acceptor.off('error', reject);
        resolve();
      });
    });
    return (this.#acceptor.address() as AddressInfo).port;
  }

  /** Number of open connections, without refused ones. */
  get connections(): number {
    return this.#open.taken;
  }

  useCertificate(certificate: SecureContextOptions): void {
    this.#https?.setSecureContext({ ...certificate, secureOptions: constants.SSL_OP_NO_RENEGOTIATION });
  }

  /**
   * Stops accepting connections, closes idle ones, and resolves when all connections have ended. A connection that has
   * not sent anything may delay this until its time limit. `cut()` ends the wait early.
   */
  async close(): Promise<void> {
    this.#stopping = true;
    const closed = new Promise<void>((resolve) => this.#acceptor.close(() => resolve()));
    for (const server of [this.#http, this.#https]) {
      server?.closeIdleConnections();
      // Stops the checks for slow requests. The server never listened, so it passes an error, which is ignored.
      server?.close(() => undefined);
    }
    await closed;
  }

  cut(): void {
    for (const { socket } of this.#open.all()) socket.destroy();
  }

  #greet(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    if (this.#stopping || !this.#admit(socket)) {
      socket.destroy();
      return;
    }
    if (this.#https === undefined) {
      this.#http.emit('connection', socket);
      return;
    }
    const timer = setTimeout(() => socket.destroy(), this.#greetingTimeoutMs);
    socket.once('close', () => {
      clearTimeout(timer);
    });
    socket.once('readable', () => {
      clearTimeout(timer);
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) {
        socket.destroy();
        return;
      }
      const isTls = chunk[0] === HANDSHAKE_RECORD;
      if (!isTls && this.#settings.plainHttp === 'close') {
        socket.destroy();
        return;
      }
      socket.unshift(chunk);
      (isTls ? this.#https : this.#http)?.emit('connection', socket);
    });
  }

  /**
   * Registers a new connection. At a limit, another connection is closed: one of the same group if that group has too
   * many, otherwise one of any group (see `OpenConnections.giveWay`). If none can be closed, the new connection is open
   * only to answer its requests with status 503. Returns `false` if there are too many such connections; the caller
   * must then close the socket.
   */
  #admit(socket: Socket): boolean {
    const { maxConnections, maxPerAddress = maxConnections } = this.#settings;
    const groupOf = this.#settings.groupOf ?? String;
    const group = groupOf(socket.remoteAddress ?? '');
    const isOverAddressLimit = group !== undefined && this.#open.countOf(group) >= maxPerAddress;
    const isFull = this.#open.taken >= maxConnections;
    const wanted = { from: isOverAddressLimit ? group : undefined, for: group, share: maxConnections / 2 };
    const isRefused = (isOverAddressLimit || isFull) && !this.#open.giveWay(wanted);
    if (isRefused && this.#open.refused >= Math.max(MIN_REFUSED_AT_ONCE, maxConnections)) return false;
    this.#open.add(socket, group, isRefused);
    return true;
  }
}

/** Redirects to https at the same host, port, path and query. The Authorization header is not examined. */
function redirect(request: IncomingMessage, response: ServerResponse): void {
  const host = request.headers.host ?? localAddress(request);
  // A header with characters that are not allowed in a host name must not become part of the answer.
  const isHost = /^[\w.[\]:%-]+$/.test(host);
  const path = request.url?.startsWith('/') === true ? request.url : '/';
  response.writeHead(307, {
    Location: `https://${isHost ? host : localAddress(request)}${path}`,
    'Content-Length': 0,
    Connection: 'close',
  });
  response.end();
}

function localAddress({ socket }: IncomingMessage): string {
  const address = socket.localAddress ?? 'localhost';
  return `${address.includes(':') ? `[${address}]` : address}:${socket.localPort ?? 8080}`;
}
