import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';

/**
 * The only door to kafkajs' insides: one TCP connection (framing, SASL, throttling, request timeouts) and the message
 * codecs. What lies above them in kafkajs (cluster, consumer, producer, admin) is not used: its consumer rejoins the
 * group on every leader change and its metadata fails as a whole when one topic does. kafkajs is pinned to 2.2.4.
 */
const load = createRequire(import.meta.url);

export interface LibraryLogEntry {
  readonly namespace: string;
  /** 1 error, 2 warn, 4 info, 5 debug. */
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

/** A built request with the decoder of its answer. `parse` turns error codes into exceptions; we decide on codes. */
export interface LibraryCall<A> {
  readonly request: {
    readonly apiKey: number;
    readonly apiName: string;
    readonly apiVersion: number;
    readonly encode: () => Promise<EncodedBytes>;
    readonly expectResponse?: () => boolean;
  };
  readonly response: {
    readonly decode: (payload: Buffer) => Promise<A> | A;
    readonly parse: (answer: A) => Promise<A> | A;
  };
  readonly requestTimeout?: number;
  readonly logResponseError?: boolean;
}

/** Versions that a broker takes, by api key. */
export type ApiRanges = Readonly<Record<number, { readonly minVersion: number; readonly maxVersion: number }>>;

/** As much of kafkajs' Encoder as `createRequest` asks for. */
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
  writeArray(values: readonly string[] | readonly number[] | readonly EncodedBytes[]): LibraryEncoder;
}

export interface RequestDefinition {
  readonly protocol: (options: { version: number }) => (parameters: never) => LibraryCall<unknown>;
}

interface RequestQueueClass {
  readonly prototype: RequestQueueInsides;
}

/** What the timer patch touches, see request-queue-patch.ts. */
export interface RequestQueueInsides {
  readonly pending: readonly unknown[];
  readonly throttledUntil: number;
  scheduleCheckPendingRequests: (this: RequestQueueInsides) => void;
}

export const libraryVersion = (load('kafkajs/package.json') as { version: string }).version;

/** What the reader of answers touches, see framed-connection.ts. */
interface ConnectionInsides extends LibraryConnection {
  readonly socket: Socket;
  /** While an answer to authentication without SaslAuthenticate is waited for. */
  readonly authHandlers: object | null;
  readonly requestQueue: {
    fulfillRequest(answer: { size: number; correlationId: number; payload: Buffer }): void;
  };
  processData(bytes: Buffer): void;
}

export const Connection = load('kafkajs/src/network/connection') as new (
  parameters: ConnectionParameters,
) => ConnectionInsides;

export const RequestQueue = load('kafkajs/src/network/requestQueue') as RequestQueueClass;

export const Encoder = load('kafkajs/src/protocol/encoder') as new () => LibraryEncoder;

export const { requests } = load('kafkajs/src/protocol/requests') as {
  readonly requests: Readonly<Record<string, RequestDefinition>>;
};

export const apiKeys = load('kafkajs/src/protocol/requests/apiKeys') as Readonly<Record<string, number>>;

const { createLogger } = load('kafkajs/src/loggers') as {
  readonly createLogger: (options: { level: number; logCreator: LibraryLogCreator }) => LibraryLogger;
};

const DEBUG = 5;

export function createLibraryLogger(logCreator: LibraryLogCreator): LibraryLogger {
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
