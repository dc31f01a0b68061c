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

/** What a thread is given when it is started; plain data and shared memory. */
export interface ThreadData {
  /** Its number, from 1. */
  readonly thread: number;
  /** Of the worker, with the values of config providers. */
  readonly properties: Readonly<Record<string, string>>;
  readonly mode: 'distributed' | 'standalone';
  /** `group.id` where sources deliver exactly once. */
  readonly exactlyOnceGroup: string | undefined;
  readonly board: SharedArrayBuffer;
  readonly places: SharedArrayBuffer;
  readonly logLevels: readonly (readonly [logger: string, level: LogLevel])[];
  readonly connectorLogLevels: readonly (readonly [connector: string, level: LogLevel])[];
  /** What config providers gave so far. */
  readonly secrets: readonly string[];
}

/** What every thread answers. */
export interface ThreadFunctions {
  figures(): ThreadFigures;
  setLogLevel(logger: string, level: LogLevel): void;
  setConnectorLogLevel(connector: string, level: LogLevel | undefined): void;
  addSecret(value: string): void;
}

/** What the main thread answers to every thread. */
export interface ControlFunctions {
  /** The thread is up. */
  ready(): void;
  /** The thread cannot come up. */
  failed(error: PackedError): void;
  /** A line of its log, as JSON. */
  log(line: string): void;
  /** A logger that the thread has and that was not known before. */
  loggerKnown(name: string): void;
}

/** What a thread with tasks answers. */
export interface TaskThreadFunctions extends ThreadFunctions {
  start(assignment: TaskAssignment): Promise<void>;
  setTargetState(id: TaskId, state: TargetState): Promise<void>;
  /** Another task of its connector has ended its thread. */
  setCare(id: TaskId, care: TaskCare): Promise<void>;
  setRateLimit(id: TaskId, limit: RateLimit): Promise<void>;
  /** The tasks that did not stop in time. */
  stop(ids: readonly TaskId[], timeoutMs: number, handsOver: boolean): Promise<readonly TaskId[]>;
  reports(): Promise<readonly TaskReport[]>;
  faults(id: TaskId): Promise<readonly RecentFault[]>;
}

/** Where services answer, by their names. */
export type ServiceAddresses = Readonly<Record<string, string>>;

/** What the thread of the services answers. */
export interface ServiceThreadFunctions extends ThreadFunctions {
  /** `earlier`: where they answered in the thread before, for those that let the system choose a port. */
  start(earlier: ServiceAddresses): Promise<ServiceAddresses>;
  stop(): Promise<void>;
}

/** Answers of a thread that reads messages for people, one request at a time. */
export interface ReaderThreadFunctions<Reading> extends ThreadFunctions {
  /** Resolves with a JSON text. */
  read(reading: Reading): Promise<string>;
  /** The client of the current request has left. */
  abandon(): void;
}

/** Answers of the main thread to a thread that reads messages for people. */
export interface ReaderControlFunctions extends ControlFunctions {
  /** A value of a config provider that no log line may show. */
  secretKnown(value: string): void;
}

/** Offsets of one connector that a thread has opened. */
export interface OpenedOffsets {
  readonly handle: number;
  /** The topic they are in; `undefined` where they are in none. */
  readonly topic: string | undefined;
}

/** What the main thread answers to a thread with tasks. */
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
