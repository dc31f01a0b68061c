import type { TaskReport } from '../../connect/hosting/task-hosting.ts';
import type { CommittedLag } from '../health/committed-lags.ts';
import type { MetricSet } from '../../observe/metrics/metric-set.ts';
import type { ConnectorHistory } from './fleet-answers.ts';

/**
 * Figures that are kept for each connector, over all its tasks on this worker.
 * @internal
 */
export const HISTORY_SERIES = ['rate', 'lag', 'letters', 'batchMs', 'batchSize', 'retries'] as const;
type HistorySeries = (typeof HISTORY_SERIES)[number];

/** The last point; `null`: no value, for example because no task of the connector runs here. */
export type NewestFigures = Readonly<Record<HistorySeries, number | null>>;

const INTERVAL_MS = 5000;
const POINTS = 720;
/** The ring of a connector takes 17 kB, so 1,150 rings take 20 MB. */
const MAX_CONNECTORS = 1150;
const SPARK_POINTS = 60;

interface Counts {
  records: number;
  letters: number;
  /** `undefined`: no task on this worker has a partition. */
  lag: number | undefined;
  retries: number;
  batchMs: number;
  batchSize: number;
  tasks: number;
}

interface Ring {
  /** `POINTS` values of each series, in the order of `HISTORY_SERIES`. */
  readonly values: Float32Array;
  last: Counts;
  lastSlot: number;
}

/**
 * The last hour of each connector, with a point about every five seconds, from the reports of its tasks on this
 * worker. Each connector has a ring of floats; connectors beyond the maximum number of rings have no history.
 */
export class FleetHistory {
  readonly #rings = new Map<string, Ring>();
  readonly #atMs = new Float64Array(POINTS);
  #samples = 0;
  #lastMs = -Infinity;

  /** Adds a point. `nowMs`: milliseconds since the epoch. A call too soon after the previous point is ignored. */
  add(reports: readonly TaskReport[], nowMs: number, committed: readonly CommittedLag[] = []): void {
    const passedMs = nowMs - this.#lastMs;
    if (passedMs < INTERVAL_MS * 0.9 && passedMs >= 0) return;
    const slot = this.#samples % POINTS;
    this.#samples += 1;
    this.#lastMs = nowMs;
    this.#atMs[slot] = nowMs;
    for (const { values } of this.#rings.values())
      for (let start = 0; start < values.length; start += POINTS) values[start + slot] = NaN;
    for (const [connector, counts] of counted(reports)) this.#record(connector, counts, slot, passedMs / 1000);
    for (const { connector, lag } of committed) this.#recordLag(connector, lag, slot);
    for (const [connector, { lastSlot }] of this.#rings)
      if (this.#samples - lastSlot > POINTS) this.#rings.delete(connector);
  }

  /** The points of a connector; none if this worker has recorded nothing about it within the last hour. */
  series(connector: string): ConnectorHistory {
    const ring = this.#rings.get(connector);
    const order = ring === undefined ? [] : this.#order();
    const values = HISTORY_SERIES.map((name, index) => {
      const start = index * POINTS;
      return [name, order.map((slot) => valueAt(ring, start + slot))] as const;
    });
    return {
      at: order.map((slot) => this.#atMs[slot] ?? 0),
      ...(Object.fromEntries(values) as unknown as Omit<ConnectorHistory, 'at'>),
    };
  }

  newest(connector: string): NewestFigures {
    const slot = (this.#samples - 1) % POINTS;
    const ring = this.#samples === 0 ? undefined : this.#rings.get(connector);
    const values = HISTORY_SERIES.map((name, index) => [name, valueAt(ring, index * POINTS + slot)] as const);
    return Object.fromEntries(values) as unknown as NewestFigures;
  }

  /** The mean rate of each minute of the last hour, the oldest first; shorter if there are fewer points. */
  spark(connector: string): readonly (number | null)[] {
    const order = this.#order();
    const ring = this.#rings.get(connector);
    const perPoint = POINTS / SPARK_POINTS;
    const means: (number | null)[] = [];
    for (let end = order.length; end > 0; end -= perPoint) {
      const known = order.slice(Math.max(0, end - perPoint), end).flatMap((slot) => valueAt(ring, slot) ?? []);
      means.unshift(known.length === 0 ? null : rounded(known.reduce((sum, value) => sum + value, 0) / known.length));
    }
    return means;
  }

  #record(connector: string, counts: Counts, slot: number, seconds: number): void {
    const ring = this.#ringOf(connector, counts);
    if (ring === undefined) return;
    const { values, last } = ring;
    const perSecond = Number.isFinite(seconds) ? Math.max(0, counts.records - last.records) / seconds : 0;
    const figures: Readonly<Record<HistorySeries, number>> = {
      rate: perSecond,
      lag: counts.lag ?? NaN,
      letters: Number.isFinite(seconds) ? (Math.max(0, counts.letters - last.letters) / seconds) * 60 : 0,
      // The means include batches without records, so they say nothing while no records arrive.
      batchMs: perSecond === 0 ? NaN : counts.batchMs / counts.tasks,
      batchSize: perSecond === 0 ? NaN : counts.batchSize / counts.tasks,
      retries: Math.max(0, counts.retries - last.retries),
    };
    HISTORY_SERIES.forEach((name, index) => {
      values[index * POINTS + slot] = figures[name];
    });
    ring.last = counts;
    ring.lastSlot = this.#samples;
  }

  /** Adds the lag of a sink without a reading task. */
  #recordLag(connector: string, lag: number, slot: number): void {
    const ring = this.#ringOf(connector, NOTHING_COUNTED);
    const index = HISTORY_SERIES.indexOf('lag') * POINTS + slot;
    if (ring === undefined || !Number.isNaN(ring.values[index])) return;
    ring.values[index] = lag;
    ring.lastSlot = this.#samples;
  }

  /** `undefined`: there are too many connectors. */
  #ringOf(connector: string, counts: Counts): Ring | undefined {
    const known = this.#rings.get(connector);
    if (known !== undefined || this.#rings.size >= MAX_CONNECTORS) return known;
    const values = new Float32Array(POINTS * HISTORY_SERIES.length).fill(NaN);
    const ring = { values, last: counts, lastSlot: this.#samples };
    this.#rings.set(connector, ring);
    return ring;
  }

  /** Slots of the existing points, the oldest first. */
  #order(): readonly number[] {
    const count = Math.min(this.#samples, POINTS);
    return Array.from({ length: count }, (_, index) => (this.#samples - count + index) % POINTS);
  }
}

function valueAt(ring: Ring | undefined, index: number): number | null {
  const value = ring?.values[index] ?? NaN;
  return Number.isNaN(value) ? null : rounded(value);
}

function rounded(value: number): number {
  return value >= 100 ? Math.round(value) : Math.round(value * 100) / 100;
}

const NOTHING_COUNTED: Counts = {
  records: 0,
  letters: 0,
  lag: undefined,
  retries: 0,
  batchMs: 0,
  batchSize: 0,
  tasks: 0,
};

/** Sums over the tasks of each connector. */
function counted(reports: readonly TaskReport[]): ReadonlyMap<string, Counts> {
  const found = new Map<string, Counts>();
  for (const { id, type, metrics, details } of reports) {
    const counts = found.get(id.connector) ?? { ...NOTHING_COUNTED };
    const isSink = type === 'sink';
    const own = valuesOf(metrics, isSink ? 'sink-task-metrics' : 'source-task-metrics');
    const errors = valuesOf(metrics, 'task-error-metrics');
    counts.records += isSink ? (details?.reading?.delivered ?? 0) : own('source-record-write-total');
    counts.batchMs += own(isSink ? 'put-batch-avg-time-ms' : 'poll-batch-avg-time-ms');
    counts.batchSize += valuesOf(metrics, 'connector-task-metrics')('batch-size-avg');
    counts.letters += Math.max(errors('total-records-skipped'), errors('deadletterqueue-produce-requests'));
    counts.retries += errors('total-retries');
    for (const { lag } of details?.partitions ?? []) counts.lag = (counts.lag ?? 0) + (lag ?? 0);
    counts.tasks += 1;
    found.set(id.connector, counts);
  }
  return found;
}

function valuesOf(metrics: readonly MetricSet[], group: string): (name: string) => number {
  const values = metrics.find((set) => set.group === group)?.values;
  return (name) => {
    const value = Number(values?.[name] ?? 0);
    return Number.isFinite(value) ? value : 0;
  };
}
