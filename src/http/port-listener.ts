import { constants } from 'node:crypto';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { createServer, type AddressInfo, type Server as NetServer, type Socket } from 'node:net';
import type { SecureContextOptions, TlsOptions, TLSSocket } from 'node:tls';
import { OpenConnections } from './open-connections.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A TLS handshake begins with a record of this type (RFC 8446, 5.1). */
const HANDSHAKE_RECORD = 0x16;
/** At least this many connections beyond the limit get a refusal as their answer; more are closed at once. */
const MIN_REFUSED_AT_ONCE = 50;

export interface PortTimeouts {
  /** Limit for the headers; the first byte before them and the TLS handshake have the same limit each. */
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
  /** Limit of connections of one address; default: none but `maxConnections`. */
  readonly maxPerAddress?: number | undefined;
  /** Addresses that count as one; `undefined`: a proxy's, which has the connections of many. */
  readonly groupOf?: ((address: string) => string | undefined) | undefined;
  /** Milliseconds each. */
  readonly timeouts?: Partial<PortTimeouts>;
}

/**
 * One port with a limit on its connections. It speaks plain HTTP, or TLS; then it sends plain HTTP to https with 307 (RFC 9110: method
 * and body stay) or closes it. A connection is new -> (first byte) -> TLS or plain, and belongs to the HTTP server of that kind from then on.
 */
export class PortListener {
  readonly #settings: ListenerSettings;
  readonly #greetingTimeoutMs: number;
  readonly #door: NetServer;
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
          // A client could have the handshake, which costs the server more than the client, repeated on one connection.
          secureOptions: (settings.tls.secureOptions ?? 0) | constants.SSL_OP_NO_RENEGOTIATION,
        },
        guarded,
      );
      this.#https.on('tlsClientError', (_error, socket) => socket.destroy());
      // A certificate that is only requested need not be shown; one that is shown must be valid, as in Java.
      this.#https.prependListener('secureConnection', (socket: TLSSocket) => {
        const isShown = Object.keys(socket.getPeerCertificate()).length > 0;
        if (settings.tls?.requestCert === true && isShown && !socket.authorized) socket.destroy();
      });
    }
    for (const server of [this.#http, this.#https]) {
      // A server that does not listen itself starts its checks of slow requests at this event.
      server?.emit('listening');
    }
    this.#door = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 }, (socket) => {
      this.#greet(socket);
    });
  }

  /** Resolves with the port. */
  async listen(): Promise<number> {
    const { host, port } = this.#settings;
    await new Promise<void>((resolve, reject) => {
      this.#door.once('error', reject);
      this.#door.listen(port, host === '' ? undefined : host, () => {
        this.#door.off('error', reject);
        resolve();
      });
    });
    return (this.#door.address() as AddressInfo).port;
  }

  /** HTTP connections that are open. */
  get connections(): number {
    return this.#open.taken;
  }

  useCertificate(certificate: SecureContextOptions): void {
    this.#https?.setSecureContext({ ...certificate, secureOptions: constants.SSL_OP_NO_RENEGOTIATION });
  }

  /** Takes no new connections and lets running requests end; `cut` is for those that do not. */
  async close(): Promise<void> {
    this.#stopping = true;
    const closed = new Promise<void>((resolve) => this.#door.close(() => resolve()));
    for (const server of [this.#http, this.#https]) {
      server?.closeIdleConnections();
      // Ends the checks of slow requests. The server never listened, so it passes an error, which is ignored.
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
   * Whether there is room for a connection. If there is none, an idle connection is closed: one of the same address if that has too
   * many, else one of the address with the most. When none is idle, the client gets a 503; when too many get one already, its socket is closed.
   */
  #admit(socket: Socket): boolean {
    const { maxConnections, maxPerAddress = maxConnections } = this.#settings;
    const groupOf = this.#settings.groupOf ?? String;
    const group = groupOf(socket.remoteAddress ?? '');
    const isCrowd = group !== undefined && this.#open.countOf(group) >= maxPerAddress;
    const isFull = this.#open.taken >= maxConnections;
    const wanted = { from: isCrowd ? group : undefined, for: group, share: maxConnections / 2 };
    const isRefused = (isCrowd || isFull) && !this.#open.giveWay(wanted);
    if (isRefused && this.#open.refused >= Math.max(MIN_REFUSED_AT_ONCE, maxConnections)) return false;
    this.#open.add(socket, group, isRefused);
    return true;
  }
}

/** Redirects to https at the same host, port, path and query. The Authorization header is not examined. */
function redirect(request: IncomingMessage, response: ServerResponse): void {
  const host = request.headers.host ?? localAddress(request);
  // A header with characters that no host name has would become part of the answer.
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
