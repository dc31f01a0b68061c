import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { Logger } from '../../observe/logger.ts';

/**
 * The internals of kafkajs (pinned to 2.2.4) that this client uses: a TCP connection (SASL, request queue, throttling), the
 * encoder, request encoders, api keys, error codes, and the logger (docs/decisions/0001-kafka-client.md).
 */
const load = createRequire(import.meta.url);

export interface LibraryLogEntry {
  readonly namespace: string;
  /** 1 is error, 2 warn, 4 info, 5 debug. */
  readonly level: number;
  readonly log: Readonly<Record<string, unknown>> & { readonly message: string };
}
export type LibraryLogCreator = (level: number) => (entry: LibraryLogEntry) => void;
export interface LibraryLogger {
  namespace(name: string): LibraryLogger;
}

export interface SaslOptions {
  mechanism: string;
  username?: string;
  password?: string;
  oauthBearerProvider?: () => Promise<{ value: string }>;
}

export interface SocketRequest {
  readonly host: string;
  readonly port: number;
  readonly ssl: ConnectionOptions | undefined;
  readonly onConnect: () => void;
}

export interface ConnectionParameters {
  readonly host: string;
  readonly port: number;
  readonly clientId: string;
  readonly logger: LibraryLogger;
  readonly socketFactory: (request: SocketRequest) => Socket;
  readonly ssl: ConnectionOptions | null;
  readonly sasl: SaslOptions | null;
  readonly connectionTimeout: number;
  readonly reauthenticationThreshold: number;
  readonly requestTimeout: number;
  readonly enforceRequestTimeout: boolean;
}

export interface LibraryConnection {
  connect(): Promise<unknown>;
  disconnect(): Promise<unknown>;
  isConnected(): boolean;
  setVersions(versions: ApiRanges): void;
  setSupportAuthenticationProtocol(supported: boolean): void;
  authenticate(): Promise<void>;
  send<A>(call: LibraryCall<A>): Promise<A>;
}

/**
 * An encoded request with the decoder of its response. `parse` of kafkajs would turn error codes into exceptions, but this
 * client handles error codes itself.
 */
export interface LibraryCall<A> {
  readonly request: {
    readonly apiKey: number;
    readonly apiName: string;
    readonly apiVersion: number;
    readonly encode: () => Promise<EncodedBytes>;
    /** The same body in pieces, which are sent without copying. */
    readonly pieces?: readonly Buffer[] | undefined;
    readonly expectResponse?: () => boolean;
  };
  readonly response: {
    readonly decode: (payload: Buffer) => Promise<A> | A;
    readonly parse: (response: A) => Promise<A> | A;
  };
  readonly requestTimeout?: number;
  readonly logResponseError?: boolean;
}

/** Supported versions of a broker by api key. */
export type ApiRanges = Readonly<Record<number, { readonly minVersion: number; readonly maxVersion: number }>>;

/** The part of kafkajs' Encoder that `createRequest` uses. */
export interface EncodedBytes {
  readonly buf: Buffer;
  readonly buffer: Buffer;
}

export interface LibraryEncoder extends EncodedBytes {
  writeInt8(value: number): LibraryEncoder;
  writeInt16(value: number): LibraryEncoder;
  writeInt32(value: number): LibraryEncoder;
  writeInt64(value: number): LibraryEncoder;
  writeBoolean(value: boolean): LibraryEncoder;
  writeString(value: string | null): LibraryEncoder;
  writeBytes(value: Buffer | null): LibraryEncoder;
  /** Writes raw bytes without a length. */
  writeBuffer(value: Buffer): LibraryEncoder;
  writeUVarInt(value: number): LibraryEncoder;
  /** Writes a compact string: its length plus one as a varint, then the bytes. */
  writeUVarIntString(value: string | null): LibraryEncoder;
  writeArray(values: readonly string[] | readonly number[] | readonly EncodedBytes[]): LibraryEncoder;
}

export interface RequestDefinition {
  readonly protocol: (options: { version: number }) => (parameters: never) => LibraryCall<unknown>;
}

/** A request in the queue of kafkajs. */
export interface QueuedRequest {
  readonly entry: {
    readonly apiKey: number;
    readonly apiName: string;
    readonly apiVersion: number;
    readonly correlationId: number;
    readonly resolve: (response: { readonly payload: Buffer }) => void;
    readonly reject: (error: Error) => void;
  };
  readonly expectResponse: boolean;
  readonly requestTimeout: number | null;
  readonly sendRequest: () => void;
}

export interface RequestQueue {
  readonly pending: readonly unknown[];
  /** Milliseconds since the epoch. If in the past, the connection is not throttled. */
  readonly throttledUntil: number;
  /** Requests in flight by correlation id, oldest first. */
  readonly inflight: ReadonlyMap<number, { readonly entry: { readonly apiName: string } }>;
  scheduleCheckPendingRequests: () => void;
  fulfillRequest(response: { size: number; correlationId: number; payload: Buffer }): void;
  push(request: QueuedRequest): void;
  maybeThrottle(throttleMs: number | undefined): void;
}

interface ConnectionInsides extends LibraryConnection {
  readonly socket: Socket;
  readonly clientId: string;
  /** Set while an authentication response without SaslAuthenticate is pending. */
  readonly authHandlers: object | null;
  readonly requestQueue: RequestQueue;
  isAuthenticated(): boolean;
  failIfNotConnected(): void;
  nextCorrelationId(): number;
  processData(bytes: Buffer): void;
}

export const Connection = load('kafkajs/src/network/connection') as new (
  parameters: ConnectionParameters,
) => ConnectionInsides;

export const Encoder = load('kafkajs/src/protocol/encoder') as new () => LibraryEncoder;

export const { requests } = load('kafkajs/src/protocol/requests') as {
  readonly requests: Readonly<Record<string, RequestDefinition>>;
};

export const apiKeys = load('kafkajs/src/protocol/requests/apiKeys') as Readonly<Record<string, number>>;

const { createLogger } = load('kafkajs/src/loggers') as {
  readonly createLogger: (options: { level: number; logCreator: LibraryLogCreator }) => LibraryLogger;
};

const DEBUG = 5;

function createLibraryLogger(logCreator: LibraryLogCreator): LibraryLogger {
  return createLogger({ level: DEBUG, logCreator });
}

export const { errorCodes: protocolErrors } = load('kafkajs/src/protocol/error') as {
  readonly errorCodes: readonly {
    readonly type: string;
    readonly code: number;
    readonly retriable: boolean;
    readonly message: string;
  }[];
};

/**
 * Logs the lines of kafkajs at trace, without message bodies, which may contain credentials. kafkajs reports every attempt that
 * was refused or returned REBALANCE_IN_PROGRESS as an error, but this client logs each outage once itself (see cluster.ts).
 */
export function libraryLogger(logger: Logger): LibraryLogger {
  return createLibraryLogger(() => (entry: LibraryLogEntry) => {
    if (!logger.isLevelEnabled('trace')) return;
    const { message, error, broker, correlationId, size } = entry.log;
    logger.trace({ library: entry.namespace, broker, correlationId, size, error }, message);
  });
}
