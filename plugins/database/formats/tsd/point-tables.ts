import type { Origin } from '../../../../src/data/fault.ts';
import type { DecodedRows } from '../format.ts';
import { ownText } from '../../../../src/data/repeated-texts.ts';
import { MetricShape, type ValueType } from './metric-shape.ts';
import { NANOS_COLUMN } from '../nanoseconds.ts';
import { PointBatch, type Point } from './point-batch.ts';
import { TagSets } from '../tag-sets.ts';
import type { PointPrecision } from './tsd-time.ts';

/** Options of the point decoders (json_tsd, line_tsd). */
export interface PointPolicy {
  /** Unit of the times; default `digits`. */
  readonly precision?: PointPrecision | undefined;
  /** Column names in new tables; default `timestamp` and `value`. Tags must not have these names. */
  readonly timeColumn?: string | undefined;
  readonly valueColumn?: string | undefined;
  /** Type of the value column in new tables; default `VARCHAR`. Tags are always VARCHAR. */
  readonly valueType?: ValueType | undefined;
  /**
   * True if rows get a column `primary_tag` derived from their tags (docs/formats.md#the-primary-tag), unless a tag has
   * that name. Default true; without it, the key of a new table consists of the time and all tags.
   */
  readonly derivesPrimaryTag?: boolean | undefined;
  /** True if rows get a column `k_nanos` with the nanoseconds beyond the microsecond. Tags must not have this name. */
  readonly keepsNanoseconds?: boolean | undefined;
}

interface Metric {
  readonly name: string;
  readonly shape: MetricShape;
  open: PointBatch | undefined;
}

/** Cache size for the shapes of metrics; beyond it, all of them are dropped. */
const MAX_METRICS = 20_000;

/**
 * Collects points as rows. There is one batch per metric, named after it, because only the database can tell whether
 * the metric is a table, or a table and one of its columns (metric-target.ts). The rows of a message can be dropped
 * until the next message begins.
 */
export class PointTables {
  readonly tagSets: TagSets;
  readonly #timeColumn: string;
  readonly #valueColumn: string;
  readonly #valueType: ValueType;
  readonly #keepsNanoseconds: boolean;
  readonly #metrics = new Map<string, Metric>();
  #batches: PointBatch[] = [];
  #rowCount = 0;
  /** Batches that the current message added to, with their previous row counts. */
  readonly #touched = new Map<PointBatch, number>();
  #lastTouched: PointBatch | undefined;

  constructor(policy: PointPolicy) {
    this.#timeColumn = policy.timeColumn ?? 'timestamp';
    this.#valueColumn = policy.valueColumn ?? 'value';
    this.#valueType = policy.valueType ?? 'VARCHAR';
    this.#keepsNanoseconds = policy.keepsNanoseconds ?? false;
    this.tagSets = new TagSets({
      timeColumn: this.#timeColumn,
      valueColumn: this.#valueColumn,
      nanosColumn: this.#keepsNanoseconds ? NANOS_COLUMN : undefined,
      derivesPrimaryTag: policy.derivesPrimaryTag ?? true,
    });
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  beginMessage(): void {
    this.#touched.clear();
    this.#lastTouched = undefined;
  }

  /** Drops the rows of the current message. */
  dropMessage(): void {
    for (const [batch, rowsBefore] of this.#touched) {
      this.#rowCount -= batch.rows.rowCount - rowsBefore;
      batch.rows.truncate(rowsBefore);
    }
    this.beginMessage();
  }

  /** `lines` is the number of preceding lines (or points) of the message. */
  add(point: Point, origin: Origin, lines: number): void {
    const metric = this.#metrics.get(point.metric) ?? this.#newMetric(point.metric);
    let batch = metric.open ?? this.#openBatch(metric);
    this.#touch(batch);
    if (!batch.push(point, origin, lines)) {
      batch = this.#openBatch(metric);
      this.#touch(batch);
      batch.push(point, origin, lines);
    }
    this.#rowCount++;
  }

  take(): DecodedRows[] {
    const rows = this.#batches
      .filter((batch) => batch.rows.rowCount > 0)
      .map((batch): DecodedRows => {
        const metric = batch.rows.table.name;
        const shape = this.#metrics.get(metric)?.shape.with(batch);
        return { batch: batch.rows.build(), shape, metric };
      });
    for (const batch of this.#batches) {
      const metric = this.#metrics.get(batch.rows.table.name);
      if (metric !== undefined) metric.open = undefined;
    }
    this.#batches = [];
    this.#rowCount = 0;
    this.beginMessage();
    if (this.#metrics.size > MAX_METRICS) this.#metrics.clear();
    return rows;
  }

  #touch(batch: PointBatch): void {
    if (batch === this.#lastTouched) return;
    this.#lastTouched = batch;
    if (!this.#touched.has(batch)) this.#touched.set(batch, batch.rows.rowCount);
  }

  #newMetric(name: string): Metric {
    const metric = { name: ownText(name), shape: new MetricShape(this.#valueType), open: undefined };
    this.#metrics.set(metric.name, metric);
    return metric;
  }

  #openBatch(metric: Metric): PointBatch {
    const batch = new PointBatch(metric.name, this.#timeColumn, this.#valueColumn, this.#keepsNanoseconds);
    this.#batches.push(batch);
    metric.open = batch;
    return batch;
  }
}
