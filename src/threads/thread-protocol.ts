import type { RecentFault } from '../connect/pipeline/recent-faults.ts';
import type { SourceCoordinates } from '../data/record.ts';
import type { ConnectorConfig } from '../connect/api.ts';
import type { OffsetRecord, StoredOffset } from '../connect/source/offset-storage.ts';
import type {
  RateLimit,
  TargetState,
  TaskAssignment,
  TaskCare,
  TaskEvent,
  TaskId,
} from '../connect/task-assignment.ts';
import type { TaskReport } from '../connect/hosting/task-hosting.ts';
import type { LogLevel } from '../observe/log-levels.ts';
import type { ThreadFigures } from '../observe/thread-figures.ts';
import type { PackedError } from './thread-calls.ts';

/** Initial data of a thread. It consists of plain data and shared memory. */
export interface ThreadData {
  /** Number of the thread, starting at 1. */
  readonly thread: number;
  /** Worker properties with resolved variables. */
  readonly properties: Readonly<Record<string, string>>;
  readonly mode: 'distributed' | 'standalone';
  /** `group.id` if exactly-once source support is enabled. */
  readonly exactlyOnceGroup: string | undefined;
  readonly board: SharedArrayBuffer;
  readonly places: SharedArrayBuffer;
  readonly logLevels: readonly (readonly [logger: string, level: LogLevel])[];
  readonly connectorLogLevels: readonly (readonly [connector: string, level: LogLevel])[];
  /** Secrets from config providers that are known so far. */
  readonly secrets: readonly string[];
}

/** Functions of every worker thread. */
export interface ThreadFunctions {
  figures(): ThreadFigures;
  setLogLevel(logger: string, level: LogLevel): void;
  setConnectorLogLevel(connector: string, level: LogLevel | undefined): void;
  addSecret(value: string): void;
}

/** Functions of the main thread for every worker thread. */
export interface ControlFunctions {
  /** Called when the thread has started. */
  ready(): void;
  /** Called when the thread failed to start. */
  failed(error: PackedError): void;
  /** Logs a line, which is JSON. */
  log(line: string): void;
  /** Called when the thread has created a logger. */
  loggerKnown(name: string): void;
}

/** Functions of a task thread. */
export interface TaskThreadFunctions extends ThreadFunctions {
  start(assignment: TaskAssignment): Promise<void>;
  setTargetState(id: TaskId, state: TargetState): Promise<void>;
  /** Called when another task of the connector has ended its thread. */
  setCare(id: TaskId, care: TaskCare): Promise<void>;
  setRateLimit(id: TaskId, limit: RateLimit): Promise<void>;
  /** Stops tasks. Resolves with the tasks that did not stop in time. */
  stop(ids: readonly TaskId[], timeoutMs: number, handsOver: boolean): Promise<readonly TaskId[]>;
  reports(): Promise<readonly TaskReport[]>;
  faults(id: TaskId): Promise<readonly RecentFault[]>;
}

/** Addresses of services, by name. */
export type ServiceAddresses = Readonly<Record<string, string>>;

/** Functions of the service thread. */
export interface ServiceThreadFunctions extends ThreadFunctions {
  /**
   * Starts the services. `earlier` contains their addresses in the previous thread, for services whose port the system assigns.
   */
  start(earlier: ServiceAddresses): Promise<ServiceAddresses>;
  stop(): Promise<void>;
}

/** Functions of a thread that reads messages for users, one request at a time. */
export interface ReaderThreadFunctions<Reading> extends ThreadFunctions {
  /** Resolves with JSON text. */
  read(reading: Reading): Promise<string>;
  /** Called when the client of the current request has disconnected. */
  abandon(): void;
}

/** Functions of the main thread for a thread that reads messages. */
export interface ReaderControlFunctions extends ControlFunctions {
  /** Called with a secret that must not be logged. */
  secretKnown(value: string): void;
}

/** Offsets of one connector that a thread has opened. */
export interface OpenedOffsets {
  readonly handle: number;
  /** The offsets topic; `undefined` if the offsets are not stored in a topic. */
  readonly topic: string | undefined;
}

/** Functions of the main thread for a task thread. */
export interface TaskControlFunctions extends ControlFunctions {
  event(event: TaskEvent): void;
  taskOwner(): Promise<string>;
  fenceZombies(connector: string): Promise<void>;
  openOffsets(connector: string, config: ConnectorConfig): Promise<OpenedOffsets>;
  readOffset(handle: number, connector: string, partition: SourceCoordinates): Promise<SourceCoordinates | null>;
  writeOffsets(handle: number, connector: string, offsets: readonly StoredOffset[]): Promise<void>;
  listOffsets(handle: number, connector: string): Promise<readonly StoredOffset[]>;
  encodeOffsets(handle: number, connector: string, offsets: readonly StoredOffset[]): Promise<readonly OffsetRecord[]>;
  offsetsCommitted(handle: number, offsets: readonly StoredOffset[]): Promise<void>;
  closeOffsets(handle: number): Promise<void>;
}
