import type { TaskMetric } from '../../src/index.ts';
import type { LogStream } from './log-stream.ts';
import type { LogSettings } from './settings.ts';

const OPERATIONS = { INSERT: 'Create', UPDATE: 'Update', DELETE: 'Delete', TRUNCATE: 'Truncate' } as const;

export type LoggedOperation = keyof typeof OPERATIONS;

/** Metrics of one task, with the names of Debezium's MBeans `streaming` and `snapshot`. */
export class LogMetrics {
  readonly #settings: LogSettings;
  readonly #seen: Record<LoggedOperation, number> = { INSERT: 0, UPDATE: 0, DELETE: 0, TRUNCATE: 0 };
  #filtered = 0;
  #transactions = 0;
  #lastXid = 0;
  #behindMs = -1;
  /** Time at which changes were last read, on the clock of `performance.now()`. */
  #lastEventAt: number | undefined;
  #snapshot: { readonly begunAt: number; readonly tables: number; endedAt: number | undefined } | undefined;
  readonly #scanned = new Map<string, { rows: number; isDone: boolean }>();

  constructor(settings: LogSettings) {
    this.#settings = settings;
  }

  /** Counts a change. */
  seen(operation: LoggedOperation): void {
    this.#seen[operation] += 1;
  }

  /**
   * Notes that changes were read.
   * @param commitMicros commit time of the last of these changes, in microseconds since 1970
   */
  read(commitMicros: bigint): void {
    this.#behindMs = Math.max(0, Date.now() - Number(commitMicros / 1000n));
    this.#lastEventAt = performance.now();
  }

  /** Counts a change that has no record. */
  filtered(): void {
    this.#filtered += 1;
  }

  committed(xid: number): void {
    this.#transactions += 1;
    this.#lastXid = xid;
  }

  snapshotBegan(tables: number): void {
    this.#scanned.clear();
    this.#snapshot = { begunAt: performance.now(), tables, endedAt: undefined };
  }

  scanned(table: string, rows: number, isDone: boolean): void {
    this.#scanned.set(table, { rows, isDone });
  }

  snapshotEnded(): void {
    if (this.#snapshot !== undefined) this.#snapshot.endedAt = performance.now();
  }

  /** @param stream the open stream; `undefined` if no stream is open */
  values(stream: LogStream | undefined): readonly TaskMetric[] {
    return [...this.#streaming(stream), ...this.#ofSnapshot()];
  }

  #streaming(stream: LogStream | undefined): readonly TaskMetric[] {
    const { queue } = this.#settings;
    const total = Object.values(this.#seen).reduce((sum, count) => sum + count, 0);
    const byOperation = Object.entries(OPERATIONS).map(([operation, name]) => {
      return [`TotalNumberOf${name}EventsSeen`, this.#seen[operation as LoggedOperation]] as const;
    });
    const { messages = 0, bytes = 0 } = stream?.queued ?? {};
    const sinceMs = this.#lastEventAt === undefined ? -1 : Math.round(performance.now() - this.#lastEventAt);
    return this.#named('streaming', [
      ['Connected', Number(stream !== undefined)],
      ['MilliSecondsBehindSource', this.#behindMs],
      ['MilliSecondsSinceLastEvent', sinceMs],
      ['TotalNumberOfEventsSeen', total],
      ...byOperation,
      ['NumberOfEventsFiltered', this.#filtered],
      ['NumberOfCommittedTransactions', this.#transactions],
      ['LastTransactionId', this.#lastXid],
      ['QueueTotalCapacity', queue.size],
      ['QueueRemainingCapacity', Math.max(0, queue.size - messages)],
      ['MaxQueueSizeInBytes', queue.bytes],
      ['CurrentQueueSizeInBytes', bytes],
    ]);
  }

  #ofSnapshot(): readonly TaskMetric[] {
    const snapshot = this.#snapshot;
    const done = [...this.#scanned.values()].filter(({ isDone }) => isDone).length;
    const endedAt = snapshot?.endedAt ?? performance.now();
    const seconds = snapshot === undefined ? 0 : Math.round((endedAt - snapshot.begunAt) / 1000);
    const values = this.#named('snapshot', [
      ['SnapshotRunning', Number(snapshot !== undefined && snapshot.endedAt === undefined)],
      ['SnapshotCompleted', Number(snapshot?.endedAt !== undefined)],
      ['SnapshotDurationInSeconds', seconds],
      ['TotalTableCount', snapshot?.tables ?? 0],
      ['RemainingTableCount', (snapshot?.tables ?? 0) - done],
    ]);
    const rows = [...this.#scanned].map(([table, scanned]) =>
      this.#metric('snapshot', 'RowsScanned', scanned.rows, { table }),
    );
    return [...values, ...rows];
  }

  #named(context: string, values: readonly (readonly [name: string, value: number])[]): readonly TaskMetric[] {
    return values.map(([name, value]) => this.#metric(context, name, value));
  }

  #metric(context: string, name: string, value: number, labels: Readonly<Record<string, string>> = {}): TaskMetric {
    return {
      name: `debezium_metrics_${name}`,
      help: `${name} of Debezium's MBeans`,
      labels: { plugin: 'postgres', name: this.#settings.prefix, context, ...labels },
      value,
    };
  }
}
