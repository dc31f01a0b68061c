import { Meter, SampledStat, SuccessRatio, type MetricWindow } from '../../observe/metrics/sampled-stats.ts';

type Values = Readonly<Record<string, number>>;

/** Milliseconds of a monotonic clock. */
export type Clock = () => number;

const monotonic: Clock = () => performance.now();

/** The phases into which the time of a task is divided. A task starts in RUNNING or PAUSED. */
export type MeasuredState = 'RUNNING' | 'PAUSED' | 'FAILED' | 'STOPPED';

/**
 * Metrics of a task (org.apache.kafka.connect.runtime.WorkerTask.TaskMetricsGroup). They are recorded per batch and per commit,
 * never per record. Values have the names of the attributes of Connect's MBeans.
 */
export class TaskMeasures {
  readonly sink: SinkMeasures;
  readonly source: SourceMeasures;
  readonly #clock: Clock;
  readonly #batchSize: SampledStat;
  readonly #commitMs: SampledStat;
  readonly #commits: SuccessRatio;
  readonly #stateMs: Record<MeasuredState, number> = { RUNNING: 0, PAUSED: 0, FAILED: 0, STOPPED: 0 };
  #state: MeasuredState;
  #stateSince: number;

  constructor(window: MetricWindow, state: MeasuredState = 'RUNNING', clock = monotonic) {
    this.#clock = clock;
    this.sink = new SinkMeasures(window, clock);
    this.source = new SourceMeasures(window, clock);
    this.#batchSize = new SampledStat(window);
    this.#commitMs = new SampledStat(window);
    this.#commits = new SuccessRatio(window);
    this.#state = state;
    this.#stateSince = clock();
  }

  /** The current time, which callers later pass to `committed` and other methods as `startedAt`. */
  now(): number {
    return this.#clock();
  }

  is(state: MeasuredState): void {
    const now = this.#clock();
    this.#stateMs[this.#state] += now - this.#stateSince;
    this.#state = state;
    this.#stateSince = now;
  }

  batch(records: number): void {
    this.#batchSize.record(records, this.#clock());
  }

  /** Records a successful offset commit, from `startedAt` until now. */
  committed(startedAt: number): void {
    const now = this.#clock();
    this.#commitMs.record(now - startedAt, now);
    this.#commits.record(true, now);
  }

  commitFailed(): void {
    this.#commits.record(false, this.#clock());
  }

  /** Values of the metric group `connector-task-metrics`. */
  values(): Values {
    const now = this.#clock();
    const of = (state: MeasuredState): number =>
      this.#stateMs[state] + (state === this.#state ? now - this.#stateSince : 0);
    const total = of('RUNNING') + of('PAUSED') + of('FAILED') + of('STOPPED');
    return {
      'running-ratio': total === 0 ? Number(this.#state === 'RUNNING') : of('RUNNING') / total,
      'pause-ratio': total === 0 ? Number(this.#state === 'PAUSED') : of('PAUSED') / total,
      'batch-size-max': this.#batchSize.max(now),
      'batch-size-avg': this.#batchSize.average(now),
      'offset-commit-max-time-ms': this.#commitMs.max(now),
      'offset-commit-avg-time-ms': this.#commitMs.average(now),
      'offset-commit-failure-percentage': this.#commits.failure(now),
      'offset-commit-success-percentage': this.#commits.success(now),
    };
  }
}

/** Counts of a sink task since its start. */
export interface SinkCounts {
  /** Number of records that were read. */
  readonly records: number;
  /** Number of offsets whose records are stored or skipped. */
  readonly delivered: number;
  /** Rate of `delivered` per second, over the metric window. */
  readonly deliveredRate: number;
  /**
   * Milliseconds since the first attempt to commit offsets after the last successful commit. 0 if there was no such attempt, or
   * if all offsets are committed.
   */
  readonly uncommittedMs: number;
}

/** org.apache.kafka.connect.runtime.WorkerSinkTask.SinkTaskMetricsGroup */
class SinkMeasures {
  readonly #clock: Clock;
  readonly #read: Meter;
  readonly #sent: Meter;
  readonly #putMs: SampledStat;
  readonly #completed: Meter;
  readonly #active: SampledStat;
  readonly #delivered: Meter;
  #activeNow = 0;
  #commits = 0;
  #uncommittedSince: number | undefined;

  constructor(window: MetricWindow, clock: Clock) {
    this.#clock = clock;
    this.#read = new Meter(window);
    this.#sent = new Meter(window);
    this.#putMs = new SampledStat(window);
    this.#completed = new Meter(window);
    this.#active = new SampledStat(window);
    this.#delivered = new Meter(window);
  }

  read(records: number): void {
    this.#read.record(records, this.#clock());
  }

  /** Counts offsets whose records are stored or skipped. */
  delivered(offsets: number): void {
    this.#delivered.record(offsets, this.#clock());
  }

  progress(): SinkCounts {
    const now = this.#clock();
    const uncommittedMs = this.#uncommittedSince === undefined ? 0 : now - this.#uncommittedSince;
    const { total: delivered } = this.#delivered;
    return { records: this.#read.total, delivered, deliveredRate: this.#delivered.rate(now), uncommittedMs };
  }

  /** Records a call of `put`, from `startedAt` until now. */
  put(records: number, startedAt: number): void {
    const now = this.#clock();
    this.#sent.record(records, now);
    this.#putMs.record(now - startedAt, now);
  }

  /** Sets the number of records whose offsets are not committed yet. */
  active(records: number): void {
    this.#activeNow = records;
    if (records === 0) this.#uncommittedSince = undefined;
    this.#active.record(records, this.#clock());
  }

  commitBegun(): void {
    this.#commits += 1;
    this.#uncommittedSince ??= this.#clock();
  }

  commitCompleted(): void {
    this.#uncommittedSince = undefined;
    this.#completed.record(1, this.#clock());
  }

  /** Values of the metric group `sink-task-metrics`, without the number of partitions and the lag. */
  values(): Values {
    const now = this.#clock();
    return {
      ...rates('sink-record-read', this.#read, now),
      ...rates('sink-record-send', this.#sent, now),
      'put-batch-max-time-ms': this.#putMs.max(now),
      'put-batch-avg-time-ms': this.#putMs.average(now),
      'sink-record-active-count': this.#activeNow,
      'sink-record-active-count-max': this.#active.max(now),
      'sink-record-active-count-avg': this.#active.average(now),
      'offset-commit-seq-no': this.#commits,
      ...rates('offset-commit-completion', this.#completed, now),
      // Java skips the completion of a commit if a later commit has already started. Here, commits do not overlap.
      'offset-commit-skip-rate': 0,
      'offset-commit-skip-total': 0,
    };
  }
}

/** org.apache.kafka.connect.runtime.AbstractWorkerSourceTask.SourceTaskMetricsGroup */
export class SourceMeasures {
  readonly #clock: Clock;
  readonly #polled: Meter;
  readonly #written: Meter;
  readonly #pollMs: SampledStat;
  readonly #active: SampledStat;
  readonly #transactions: SampledStat;
  #activeNow = 0;
  #hasTransactions = false;
  /** Clock time since which records have been waiting without progress. */
  #waitingSince: number | undefined;
  #doneAtMs: number | undefined;

  constructor(window: MetricWindow, clock: Clock) {
    this.#clock = clock;
    this.#polled = new Meter(window);
    this.#written = new Meter(window);
    this.#pollMs = new SampledStat(window);
    this.#active = new SampledStat(window);
    this.#transactions = new SampledStat(window);
  }

  /** Records a poll that returned records, from `startedAt` until now. */
  polled(records: number, startedAt: number): void {
    const now = this.#clock();
    this.#polled.record(records, now);
    this.#pollMs.record(now - startedAt, now);
    this.#setActive(this.#activeNow + records, now);
  }

  /** Counts polled records as complete: `written` of them were sent to Kafka, and the others were skipped. */
  done(records: number, written: number): void {
    const now = this.#clock();
    this.#written.record(written, now);
    this.#doneAtMs = Date.now();
    this.#waitingSince = undefined;
    this.#setActive(Math.max(0, this.#activeNow - records), now);
  }

  /** Records the commit of a transaction with this number of records. */
  transaction(records: number): void {
    this.#hasTransactions = true;
    this.#transactions.record(records, this.#clock());
  }

  /** Values of the metric group `source-task-metrics`. */
  values(): Values {
    const now = this.#clock();
    const transactions = this.#hasTransactions
      ? {
          'transaction-size-min': this.#transactions.min(now),
          'transaction-size-max': this.#transactions.max(now),
          'transaction-size-avg': this.#transactions.average(now),
        }
      : {};
    return {
      ...rates('source-record-poll', this.#polled, now),
      ...rates('source-record-write', this.#written, now),
      'poll-batch-max-time-ms': this.#pollMs.max(now),
      'poll-batch-avg-time-ms': this.#pollMs.average(now),
      'source-record-active-count': this.#activeNow,
      'source-record-active-count-max': this.#active.max(now),
      'source-record-active-count-avg': this.#active.average(now),
      ...transactions,
    };
  }

  /**
   * Returns the number of polled records that are not complete (see `done`). `waitedMs` is the time for which none of them
   * was completed (0 if there are none). `deliveredAtMs` is when records were last completed, in milliseconds since the epoch.
   */
  waiting(): { readonly waiting: number; readonly waitedMs: number; readonly deliveredAtMs: number | undefined } {
    const waitedMs = this.#waitingSince === undefined ? 0 : this.#clock() - this.#waitingSince;
    return { waiting: this.#activeNow, waitedMs, deliveredAtMs: this.#doneAtMs };
  }

  #setActive(records: number, now: number): void {
    this.#activeNow = records;
    this.#waitingSince = records === 0 ? undefined : (this.#waitingSince ?? now);
    this.#active.record(records, now);
  }
}

function rates(name: string, meter: Meter, now: number): Values {
  return { [`${name}-rate`]: meter.rate(now), [`${name}-total`]: meter.total };
}
