import { Backoff } from '../../async/backoff.ts';
import { sleep } from '../../async/sleep.ts';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { toError, withoutOpenssl } from '../../errors.ts';
import { addressText, type BrokerAddress, type ConnectionConfig } from '../config/connection-config.ts';
import {
  AuthenticationError,
  BrokerUnreachableError,
  ClosedError,
  MalformedResponseError,
  DroppedError,
  KafkaError,
} from '../errors/kafka-errors.ts';
import {
  apiKeys,
  type ApiRanges,
  type LibraryCall,
  type LibraryConnection,
  type LibraryLogger,
  type SocketRequest,
} from '../library/kafkajs-internals.ts';
import type { NetworkMetrics } from '../metrics/network-metrics.ts';
import { FramedConnection } from './framed-connection.ts';
import { Apis, libraryCall, unsupportedReason, type Call } from '../protocol/protocol.ts';

/**
 * One TCP connection to one broker, opened on the first call and reopened after a failure.
 *
 *   idle --call--> opening --handshake completed--> open
 *   opening, open --failure--> idle (the next attempt waits for the back-off)
 *   any --close--> closed
 *
 * A broker processes the requests of a connection one at a time, so requests that wait at the broker (fetch, join group) use
 * connections of their own.
 */
export class BrokerConnection {
  readonly address: BrokerAddress;
  readonly #config: ConnectionConfig;
  readonly #libraryLogger: LibraryLogger;
  readonly #meter: ConnectionMeter | undefined;
  #opening: Promise<OpenConnection> | undefined;
  #open: OpenConnection | undefined;
  #socket: Socket | undefined;
  /** Connections that this client dropped. Failed requests on them do not mean that the broker is unreachable. */
  readonly #dropped = new WeakSet<OpenConnection>();
  readonly #backoff: Backoff;
  #earliestAttemptAt = 0;
  #closed = false;

  constructor(address: BrokerAddress, config: ConnectionConfig, logger: LibraryLogger, meter?: ConnectionMeter) {
    this.address = address;
    this.#config = config;
    this.#backoff = new Backoff(config.reconnectBackoffMs, config.reconnectBackoffMaxMs);
    this.#libraryLogger = logger;
    this.#meter = meter;
  }

  /** Node id as used in metrics. */
  get node(): string {
    return this.#meter?.node ?? '';
  }

  isOpen(): boolean {
    return this.#open?.connection.isConnected() ?? false;
  }

  /**
   * Rejects with BrokerUnreachableError if the broker did not respond, with AuthenticationError if it rejected this
   * client, with KafkaError (UNSUPPORTED_VERSION) if it does not support the request, and with MalformedResponseError
   * if the response cannot be parsed.
   */
  async call<A>(requested: Call<A>): Promise<A> {
    const open = await this.#ready();
    const call = typeof requested === 'function' ? requested(open.ranges) : requested;
    const unsupported = unsupportedReason(call, open.ranges);
    if (unsupported !== undefined) throw new KafkaError(35, unsupported);
    // The timeout is implemented here, because kafkajs would check timeouts with a 100 ms timer per connection. A timeout
    // closes the connection, because a late response would block later requests.
    const timeoutMs = Math.max(this.#config.requestTimeoutMs, call.requestTimeout ?? 0);
    const timer = setTimeout(() => {
      this.#discard(open, `Request ${call.request.apiName} timed out after ${String(timeoutMs)} ms`);
    }, timeoutMs);
    this.#meter?.metrics.sent();
    const sentAt = performance.now();
    try {
      const response = await open.connection.send(call);
      this.#measure(open, sentAt);
      return response;
    } catch (error) {
      if (error instanceof MalformedResponseError) throw this.#damaged(open, call, error);
      if (!isConnectionFailure(error)) throw toError(error);
      this.#discard(open, 'The connection was dropped');
      if (this.#closed) throw new ClosedError(`The connection to ${addressText(this.address)}`);
      const failure = this.#unreachable(error);
      throw this.#dropped.has(open) ? new DroppedError(failure.message, { cause: error }) : failure;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Closes the connection and rejects requests in flight. The next call opens a new one. */
  drop(): void {
    if (this.#open === undefined) return;
    this.#dropped.add(this.#open);
    this.#discard(this.#open, 'The connection was dropped');
  }

  /** Resolves when all sockets and timers are closed. */
  async close(): Promise<void> {
    this.#closed = true;
    const connection = this.#open?.connection;
    const socket = this.#socket;
    this.drop();
    socket?.destroy(new Error('The connection was closed by this client'));
    // A pending connection attempt fails when the socket is destroyed.
    await this.#opening?.catch(() => undefined);
    await connection?.disconnect();
    if (socket !== undefined && !socket.closed) await new Promise((resolve) => socket.once('close', resolve));
    // The handle of the socket is closed one event loop turn after its `close` event.
    await nextTurn();
  }

  #ready(): Promise<OpenConnection> {
    if (this.#closed) return Promise.reject(new ClosedError(`The connection to ${addressText(this.address)}`));
    if (this.#open?.connection.isConnected() === true) return Promise.resolve(this.#open);
    this.#open = undefined;
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #connect(): Promise<OpenConnection> {
    const waitMs = this.#earliestAttemptAt - Date.now();
    if (waitMs > 0) await sleep(waitMs);
    if (this.#closed) throw new ClosedError(`The connection to ${addressText(this.address)}`);
    try {
      const open = await this.#handshake();
      this.#noteOpened(open);
      this.#backoff.reset();
      this.#open = open;
      return open;
    } catch (error) {
      this.#earliestAttemptAt = Date.now() + this.#backoff.nextMs();
      this.#socket?.destroy();
      if (this.#closed) throw new ClosedError(`The connection to ${addressText(this.address)}`);
      const refusal = this.#refusal(error);
      if (refusal instanceof AuthenticationError) this.#meter?.metrics.authenticated(false);
      throw refusal;
    }
  }

  async #handshake(): Promise<OpenConnection> {
    const { clientId, tls, sasl, connectTimeoutMs, requestTimeoutMs } = this.#config;
    const connection = new FramedConnection({
      ...this.address,
      clientId,
      ssl: tls,
      sasl: sasl === null ? null : sasl(),
      logger: this.#libraryLogger,
      socketFactory: (request) => (this.#socket = openSocket(request)),
      connectionTimeout: connectTimeoutMs,
      reauthenticationThreshold: REAUTHENTICATE_BEFORE_MS,
      requestTimeout: requestTimeoutMs,
      enforceRequestTimeout: false,
    });
    const timer = setTimeout(
      () => this.#socket?.destroy(new Error(`The broker did not respond within ${String(connectTimeoutMs)} ms`)),
      connectTimeoutMs,
    );
    try {
      await connection.connect();
      const { apiVersions } = await connection.send(libraryCall(Apis.apiVersions, undefined));
      const ranges: ApiRanges = Object.fromEntries(apiVersions.map((range) => [range.apiKey, range]));
      connection.setVersions(ranges);
      // Without SaslAuthenticate (before Kafka 1.0), authentication responses are not framed.
      const hasAuthenticate = ranges[apiKeys.SaslAuthenticate ?? -1] !== undefined;
      if (sasl !== null && !hasAuthenticate)
        throw new Error('The broker does not support SaslAuthenticate; Kafka 1.0 or later is required');
      connection.setSupportAuthenticationProtocol(hasAuthenticate);
      await connection.authenticate();
      return { connection, ranges, socket: this.#socket, read: 0, written: 0 };
    } finally {
      clearTimeout(timer);
    }
  }

  #noteOpened({ socket }: OpenConnection): void {
    const { metrics } = this.#meter ?? {};
    if (metrics === undefined) return;
    metrics.opened();
    if (this.#config.sasl !== null || this.#config.tls !== null) metrics.authenticated(true);
    socket?.once('close', () => {
      metrics.closed();
    });
  }

  /** Measures the bytes that were sent and received since the previous response. */
  #measure(open: OpenConnection, sentAt: number): void {
    if (this.#meter === undefined || open.socket === undefined) return;
    const { bytesRead, bytesWritten } = open.socket;
    this.#meter.metrics.answered(this.#meter.node, bytesWritten - open.written, bytesRead - open.read, sentAt);
    open.read = bytesRead;
    open.written = bytesWritten;
  }

  /** Closes the connection, because the bytes after a malformed response cannot be trusted. */
  #damaged(
    open: OpenConnection,
    { request }: Pick<LibraryCall<unknown>, 'request'>,
    error: MalformedResponseError,
  ): MalformedResponseError {
    const what = `the response to ${request.apiName} (version ${String(request.apiVersion)})`;
    this.#discard(open, `${what} was malformed`);
    return new MalformedResponseError(`Broker ${addressText(this.address)}: ${what} is malformed: ${error.message}`, {
      cause: error,
    });
  }

  #discard(open: OpenConnection, reason: string): void {
    if (this.#open !== open) return;
    this.#open = undefined;
    this.#socket?.destroy(new Error(reason));
  }

  #unreachable(error: unknown): BrokerUnreachableError {
    return new BrokerUnreachableError(`Broker ${addressText(this.address)}: ${toError(error).message}`, {
      cause: error,
    });
  }

  #refusal(error: unknown): Error {
    const { name, code } = error as { name?: string; code?: unknown };
    const where = `Broker ${addressText(this.address)}`;
    if (name === 'KafkaJSSASLAuthenticationError' || error instanceof AuthenticationError) {
      return new AuthenticationError('sasl', `${where}: ${toError(error).message}`, { cause: error });
    }
    if (typeof code === 'string' && TLS_REFUSAL.test(code)) {
      const message = withoutOpenssl(toError(error).message.replace(LIBRARY_PREFIX, '').trim());
      const reason = CERTIFICATE_ALERT.test(code)
        ? `the broker does not accept the client certificate (${message})`
        : message;
      return new AuthenticationError('ssl', `${where}: TLS handshake failed: ${reason}`, { cause: error });
    }
    return this.#unreachable(error);
  }
}

interface OpenConnection {
  readonly connection: LibraryConnection;
  readonly ranges: ApiRanges;
  readonly socket: Socket | undefined;
  /** Number of bytes that the metrics already include. */
  read: number;
  written: number;
}

export interface ConnectionMeter {
  readonly metrics: NetworkMetrics;
  readonly node: string;
}

/**
 * How long before the expiry of a SASL session this client re-authenticates. The default of kafkajs (10 s) could exceed a short
 * session (`connections.max.reauth.ms`), and brokers reject re-authentication less than a second after the previous one.
 */
const REAUTHENTICATE_BEFORE_MS = 2000;

/** Errors of certificate verification and rejected handshakes, as opposed to network failures. */
const TLS_REFUSAL = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL|ERR_OSSL/;

/** Matches alerts of a broker that requires a client certificate or does not accept the one it received. */
const CERTIFICATE_ALERT = /^ERR_SSL_\w+_ALERT_(?:\w*CERTIFICATE\w*|UNKNOWN_CA)$/;

const LIBRARY_PREFIX = /^Connection error: /;

const CONNECTION_FAILURES = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
]);

function isConnectionFailure(error: unknown): boolean {
  return CONNECTION_FAILURES.has((error as { name?: string }).name ?? '');
}

/** All sockets without TLS share one read buffer; the callback copies the bytes before it returns. */
const READ_BUFFER = Buffer.allocUnsafeSlow(256 * 1024);

function emitData(this: Socket, bytesRead: number): boolean {
  this.emit('data', READ_BUFFER.subarray(0, bytesRead));
  return true;
}

function openSocket({ host, port, ssl, onConnect }: SocketRequest): Socket {
  const socket = ssl
    ? connectTls({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}), ...ssl }, onConnect)
    : connectPlain({ host, port, onread: { buffer: READ_BUFFER, callback: emitData } }, onConnect);
  // Each request is written at once, so Nagle's algorithm has no benefit and would delay requests by up to 40 ms.
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 60_000);
  return socket;
}
