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
  DamagedAnswerError,
  DroppedError,
  KafkaError,
} from '../errors.ts';
import {
  apiKeys,
  type ApiRanges,
  type LibraryCall,
  type LibraryConnection,
  type LibraryLogger,
  type SocketRequest,
} from '../library/kafkajs-internals.ts';
import type { NetworkFigures } from '../metrics/network-figures.ts';
import { FramedConnection } from './framed-connection.ts';
import { Apis, libraryCall, unsupportedReason, type Call } from '../protocol/protocol.ts';

/**
 * One TCP connection to one broker, opened at the first call and again after it broke.
 *
 *   idle --call--> opening --handshake done--> open
 *   opening, open --failure--> idle (the next attempt waits out the back-off)
 *   any --close--> closed
 *
 * A broker works on one request per connection at a time, so whoever sends requests that wait at the broker (fetch,
 * join group) has a connection of its own.
 */
export class BrokerConnection {
  readonly address: BrokerAddress;
  readonly #config: ConnectionConfig;
  readonly #libraryLogger: LibraryLogger;
  readonly #meter: ConnectionMeter | undefined;
  #opening: Promise<OpenConnection> | undefined;
  #open: OpenConnection | undefined;
  #socket: Socket | undefined;
  /** Given up by this side; what waited on it says nothing about the broker. */
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

  /** As metrics name the other side. */
  get node(): string {
    return this.#meter?.node ?? '';
  }

  isOpen(): boolean {
    return this.#open?.connection.isConnected() ?? false;
  }

  /**
   * Rejects with BrokerUnreachableError when no answer came, with AuthenticationError when the broker refused us, with
   * DamagedAnswerError when the answer cannot be read.
   */
  async call<A>(asked: Call<A>): Promise<A> {
    const open = await this.#ready();
    const call = typeof asked === 'function' ? asked(open.ranges) : asked;
    const unsupported = unsupportedReason(call, open.ranges);
    if (unsupported !== undefined) throw new KafkaError(35, unsupported);
    // The library's own check is a timer of 100 ms per connection. A late answer would block what is sent after it, so
    // the connection goes with the request.
    const timeoutMs = Math.max(this.#config.requestTimeoutMs, call.requestTimeout ?? 0);
    const timer = setTimeout(() => {
      this.#discard(open, `Request ${call.request.apiName} timed out after ${String(timeoutMs)} ms`);
    }, timeoutMs);
    this.#meter?.figures.sent();
    const sentAt = performance.now();
    try {
      const answer = await open.connection.send(call);
      this.#measure(open, sentAt);
      return answer;
    } catch (error) {
      if (error instanceof DamagedAnswerError) throw this.#damaged(open, call, error);
      if (!isConnectionFailure(error)) throw toError(error);
      this.#discard(open, 'The connection was given up');
      if (this.#closed) throw new ClosedError(`The connection to ${addressText(this.address)}`);
      const failure = this.#unreachable(error);
      throw this.#dropped.has(open) ? new DroppedError(failure.message, { cause: error }) : failure;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Breaks the connection; requests under way are rejected. The next call opens a new one. */
  drop(): void {
    if (this.#open === undefined) return;
    this.#dropped.add(this.#open);
    this.#discard(this.#open, 'The connection was given up');
  }

  /** Resolves when nothing of the connection is left, sockets and timers included. */
  async close(): Promise<void> {
    this.#closed = true;
    const connection = this.#open?.connection;
    const socket = this.#socket;
    this.drop();
    socket?.destroy(new Error('The connection was closed by this client'));
    // Whoever is opening it ends with the socket.
    await this.#opening?.catch(() => undefined);
    await connection?.disconnect();
    if (socket !== undefined && !socket.closed) await new Promise((resolve) => socket.once('close', resolve));
    // The operating system's handle goes a turn after its event.
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
      if (refusal instanceof AuthenticationError) this.#meter?.figures.authenticated(false);
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
    const timer = setTimeout(() => this.#socket?.destroy(new Error('The broker does not answer')), connectTimeoutMs);
    try {
      await connection.connect();
      const { apiVersions } = await connection.send(libraryCall(Apis.apiVersions, undefined));
      const ranges: ApiRanges = Object.fromEntries(apiVersions.map((range) => [range.apiKey, range]));
      connection.setVersions(ranges);
      // Without it the answers to authentication have no frame; brokers have it since Kafka 1.0.
      const hasAuthenticate = ranges[apiKeys.SaslAuthenticate ?? -1] !== undefined;
      if (sasl !== null && !hasAuthenticate) throw new Error('The broker does not take request SaslAuthenticate');
      connection.setSupportAuthenticationProtocol(hasAuthenticate);
      await connection.authenticate();
      return { connection, ranges, socket: this.#socket, read: 0, written: 0 };
    } finally {
      clearTimeout(timer);
    }
  }

  #noteOpened({ socket }: OpenConnection): void {
    const { figures } = this.#meter ?? {};
    if (figures === undefined) return;
    figures.opened();
    if (this.#config.sasl !== null || this.#config.tls !== null) figures.authenticated(true);
    socket?.once('close', () => {
      figures.closed();
    });
  }

  /** Bytes are those since the answer before. */
  #measure(open: OpenConnection, sentAt: number): void {
    if (this.#meter === undefined || open.socket === undefined) return;
    const { bytesRead, bytesWritten } = open.socket;
    this.#meter.figures.answered(this.#meter.node, bytesWritten - open.written, bytesRead - open.read, sentAt);
    open.read = bytesRead;
    open.written = bytesWritten;
  }

  /** What follows on the connection may be damaged too. */
  #damaged(
    open: OpenConnection,
    { request }: Pick<LibraryCall<unknown>, 'request'>,
    error: DamagedAnswerError,
  ): DamagedAnswerError {
    const what = `the answer to ${request.apiName} (version ${String(request.apiVersion)})`;
    this.#discard(open, `${what} was damaged`);
    return new DamagedAnswerError(`Broker ${addressText(this.address)}: ${what} is damaged: ${error.message}`, {
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
      const said = withoutOpenssl(toError(error).message.replace(LIBRARY_PREFIX, '').trim());
      const reason = CERTIFICATE_ALERT.test(code)
        ? `the broker does not accept the client certificate (${said})`
        : said;
      return new AuthenticationError('ssl', `${where}: TLS handshake failed: ${reason}`, { cause: error });
    }
    return this.#unreachable(error);
  }
}

interface OpenConnection {
  readonly connection: LibraryConnection;
  readonly ranges: ApiRanges;
  readonly socket: Socket | undefined;
  /** Bytes that are counted already. */
  read: number;
  written: number;
}

/** Where a connection is counted, and as one to which node. */
export interface ConnectionMeter {
  readonly figures: NetworkFigures;
  readonly node: string;
}

/**
 * How long before its end a SASL session is renewed. The library's 10 s would be more than the whole of a short session
 * (`connections.max.reauth.ms`), and brokers refuse to renew twice within a second.
 */
const REAUTHENTICATE_BEFORE_MS = 2000;

/** Certificates that do not verify, and handshakes that the other side refused; not what a broken network gives. */
const TLS_REFUSAL = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL|ERR_OSSL/;

/** The certificate of this side is missing, or the other side does not accept it. */
const CERTIFICATE_ALERT = /^ERR_SSL_\w+_ALERT_(?:\w*CERTIFICATE\w*|UNKNOWN_CA)$/;

/** Prefix that kafkajs adds to the messages of sockets. */
const LIBRARY_PREFIX = /^Connection error: /;

const CONNECTION_FAILURES = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
]);

function isConnectionFailure(error: unknown): boolean {
  return CONNECTION_FAILURES.has((error as { name?: string }).name ?? '');
}

/** All sockets read into the same memory: what was read has been copied when the callback returns. */
const READ_BUFFER = Buffer.allocUnsafeSlow(256 * 1024);

function passOn(this: Socket, bytesRead: number): boolean {
  this.emit('data', READ_BUFFER.subarray(0, bytesRead));
  return true;
}

function openSocket({ host, port, ssl, onConnect }: SocketRequest): Socket {
  const socket = ssl
    ? connectTls({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}), ...ssl }, onConnect)
    : connectPlain({ host, port, onread: { buffer: READ_BUFFER, callback: passOn } }, onConnect);
  // Requests are written whole; waiting to join them costs up to 40 ms each.
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 60_000);
  return socket;
}
