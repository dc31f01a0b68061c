import type { WriteReport } from '../../data/row-batch.ts';
import type { DecodedRows } from '../format.ts';
import { resolveMetric, retarget, type MetricTable, type MetricTarget } from './metric-target.ts';

/** What a metric names is remembered this long; a body of many metrics would ask twice for each of them otherwise. */
const MAX_TARGET_AGE_MS = 2_000;
const MAX_TARGETS = 20_000;

interface KnownTarget {
  readonly target: MetricTarget;
  readonly readAt: number;
}

type FindTable = (name: string) => Promise<MetricTable | undefined>;

/** Where the points of metrics go in one database, remembered for two seconds. */
export class MetricTargets {
  readonly #findTable: FindTable;
  readonly #targets = new Map<string, KnownTarget>();

  constructor(findTable: FindTable) {
    this.#findTable = findTable;
  }

  /** Finds the table of the rows' metric, if they have one, and writes into it by `store`. */
  async write(
    rows: DecodedRows,
    store: (rows: DecodedRows) => Promise<WriteReport>,
    findTable = this.#findTable,
  ): Promise<WriteReport> {
    const { metric } = rows;
    if (metric === undefined) return store(rows);
    const known = this.#targets.get(metric);
    const isFresh = known !== undefined && performance.now() - known.readAt < MAX_TARGET_AGE_MS;
    const { rows: retargeted, faults } = retarget(rows, isFresh ? known.target : await this.#find(metric, findTable));
    let report: WriteReport;
    try {
      report = await store(retargeted);
    } catch (error) {
      this.#targets.delete(metric);
      throw error;
    }
    // The table may have changed since: the next rows of the metric ask again.
    if (faults.length + report.faults.length > 0) this.#targets.delete(metric);
    return faults.length === 0 ? report : { ...report, faults: [...faults, ...report.faults] };
  }

  async #find(metric: string, findTable: FindTable): Promise<MetricTarget> {
    const target = await resolveMetric(metric, findTable);
    if (this.#targets.size >= MAX_TARGETS) this.#targets.clear();
    this.#targets.set(metric, { target, readAt: performance.now() });
    return target;
  }
}
