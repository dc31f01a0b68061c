import { BoundedMap } from '../../../../src/data/bounded-map.ts';
import type { Fault } from '../../../../src/data/fault.ts';
import type { WriteReport } from '../../../../src/data/row-batch.ts';
import type { DecodedRows } from '../format.ts';
import {
  metricSplits,
  resolveMetric,
  retarget,
  type MetricTable,
  type MetricTarget,
  type Retargeted,
} from './metric-target.ts';

/**
 * Maximum age of a cached target. Without the cache, a request with many metrics would need two lookups for each.
 */
const MAX_TARGET_AGE_MS = 2_000;
const MAX_TARGETS = 20_000;

interface KnownTarget {
  readonly target: MetricTarget;
  readonly readAt: number;
}

type FindTable = (name: string) => Promise<MetricTable | undefined>;
/** Looks up several tables. The result is in the order of the names. */
type FindTables = (names: readonly string[]) => Promise<readonly (MetricTable | undefined)[]>;
type Settled = PromiseSettledResult<WriteReport>;

/** Determines and caches where the points of metrics are stored in one database. */
export class MetricTargets {
  readonly #findTable: FindTable;
  readonly #targets = new BoundedMap<string, KnownTarget>(MAX_TARGETS);

  constructor(findTable: FindTable) {
    this.#findTable = findTable;
  }

  /** Determines the target of the rows' metric, if they have one, and writes them with `store`. */
  async write(
    rows: DecodedRows,
    store: (rows: DecodedRows) => Promise<WriteReport>,
    findTable = this.#findTable,
  ): Promise<WriteReport> {
    const { metric } = rows;
    if (metric === undefined) return store(rows);
    const { rows: retargeted, faults } = retarget(rows, this.#known(metric) ?? (await this.#find(metric, findTable)));
    let report: WriteReport;
    try {
      report = await store(retargeted);
    } catch (error) {
      this.#targets.delete(metric);
      throw error;
    }
    return this.#settle(metric, faults, report);
  }

  /**
   * Like `write`, for many metrics, whose tables are looked up together. If a batch may create a table that a later
   * metric refers to, that metric is looked up after the batch was written.
   */
  async writeAll(
    all: readonly DecodedRows[],
    store: (rows: readonly DecodedRows[]) => Promise<readonly Settled[]>,
    findTables: FindTables,
  ): Promise<readonly Settled[]> {
    const settled: Settled[] = [];
    for (const section of this.#sections(all)) {
      const found = await this.#tablesOf(section, findTables);
      const retargeted: Retargeted[] = [];
      for (const rows of section) {
        const { metric } = rows;
        const target =
          metric === undefined ? undefined : (this.#known(metric) ?? (await this.#find(metric, findIn(found))));
        retargeted.push(target === undefined ? { rows, faults: [] } : retarget(rows, target));
      }
      const reports = await store(retargeted.map(({ rows }) => rows));
      for (const [at, report] of reports.entries()) {
        settled.push(this.#settleOne(section[at]?.metric, retargeted[at]?.faults ?? [], report));
      }
    }
    return settled;
  }

  /**
   * Divides the batches into sections that are written one after another. A new section begins before a batch whose
   * target is unknown and may be a table that the current section creates.
   */
  #sections(all: readonly DecodedRows[]): readonly DecodedRows[][] {
    let section: DecodedRows[] = [];
    const sections = [section];
    let metrics = new Set<string>();
    for (const rows of all) {
      const { metric } = rows;
      if (metric !== undefined) {
        if (this.#known(metric) === undefined && metricSplits(metric).some(({ table }) => metrics.has(table))) {
          sections.push((section = []));
          metrics = new Set();
        }
        metrics.add(metric);
      }
      section.push(rows);
    }
    return sections;
  }

  async #tablesOf(all: readonly DecodedRows[], findTables: FindTables): Promise<ReadonlyMap<string, MetricTable>> {
    const names = new Set<string>();
    for (const { metric } of all) {
      if (metric === undefined || this.#known(metric) !== undefined) continue;
      for (const { table } of metricSplits(metric)) names.add(table);
      names.add(metric);
    }
    const found = new Map<string, MetricTable>();
    if (names.size === 0) return found;
    const asked = [...names];
    for (const [at, table] of (await findTables(asked)).entries()) {
      if (table !== undefined) found.set(asked[at] ?? '', table);
    }
    return found;
  }

  #settleOne(metric: string | undefined, faults: readonly Fault[], settled: Settled): Settled {
    if (metric === undefined) return settled;
    if (settled.status === 'fulfilled') {
      return { status: 'fulfilled', value: this.#settle(metric, faults, settled.value) };
    }
    this.#targets.delete(metric);
    return settled;
  }

  /**
   * Completes the report of a write. If rows were refused, the table may have changed, so the target of the metric is
   * determined again for the next rows.
   */
  #settle(metric: string, faults: readonly Fault[], report: WriteReport): WriteReport {
    if (faults.length + report.faults.length > 0) this.#targets.delete(metric);
    return faults.length === 0 ? report : { ...report, faults: [...faults, ...report.faults] };
  }

  #known(metric: string): MetricTarget | undefined {
    const known = this.#targets.get(metric);
    return known !== undefined && performance.now() - known.readAt < MAX_TARGET_AGE_MS ? known.target : undefined;
  }

  async #find(metric: string, findTable: FindTable): Promise<MetricTarget> {
    const target = await resolveMetric(metric, findTable);
    this.#targets.set(metric, { target, readAt: performance.now() });
    return target;
  }
}

function findIn(tables: ReadonlyMap<string, MetricTable>): FindTable {
  return (name) => Promise.resolve(tables.get(name));
}
