import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TaskReport } from '../connect/tasks/task-hosting.ts';
import type { NamingName } from '../observe/metrics/metric-names.ts';
import { mergedSets } from '../observe/metrics/merged-sets.ts';
import { connectMetrics, type MetricSet } from '../observe/metrics/metric-set.ts';
import { MetricsPage } from '../observe/metrics/metrics-page.ts';
import { addProcess } from '../observe/metrics/process-metrics.ts';
import type { ThreadName, WorkerThreads } from '../observe/thread-figures.ts';
import { clusterMetrics } from './cluster-metrics.ts';
import type { ConnectorDirectory } from './connector-directory.ts';
import { connectorMetrics } from './connector-metrics.ts';
import type { ClusterView, Placement } from './placement.ts';
import { addParts } from './task-parts.ts';
import { addVirtualMachine } from './virtual-machine.ts';
import { addThreads } from './thread-metrics.ts';

/** What metrics are made of, asked anew for each page. */
export interface MetricsSource {
  readonly directory: ConnectorDirectory;
  /** What is this worker's own. */
  readonly placement: Pick<Placement, 'ownsConnector' | 'ownsTask'>;
  /** Advertised `host:port`. */
  readonly workerId: string;
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  taskReports(): Promise<readonly TaskReport[]>;
  /** Starts of connectors and tasks, by the names of `connect-worker-metrics`. */
  startups(): Readonly<Record<string, number>>;
  taskPlaces(): ReadonlyMap<string, ThreadName>;
  /** `undefined`: a standalone worker. */
  cluster(): ClusterView | undefined;
}

export interface MetricsOptions {
  /** `metrics.naming` */
  readonly namings: readonly NamingName[];
  /** What this worker says it is. */
  readonly version: string;
  readonly commitId: string;
}

/**
 * The worker's metrics as Prometheus reads them: those of Connect in the namings that dashboards use, Sluice's own, those of the
 * process (docs/compatibility.md#metrics).
 */
export async function metricsPage(
  source: MetricsSource,
  workerThreads: WorkerThreads,
  { namings, version, commitId }: MetricsOptions,
): Promise<MetricsPage> {
  const page = new MetricsPage(namings);
  const [reports, threads] = await Promise.all([source.taskReports(), workerThreads.measure()]);
  const own = { version, 'commit-id': commitId, 'start-time-ms': source.startedAtMs };
  page.add(connectMetrics('app-info', { 'client-id': source.workerId }, own));
  await addAll(page, connectorMetrics(source, reports));
  for (const report of reports) {
    await addAll(page, report.metrics);
    addParts(page, report);
  }
  const cluster = source.cluster();
  if (cluster !== undefined) for (const set of clusterMetrics(cluster, source.workerId)) page.add(set);
  const clients = threads.threads.flatMap(({ figures }) => figures?.clients ?? []);
  const versions = { version, 'commit-id': commitId };
  const about = (set: MetricSet): MetricSet =>
    set.group === 'app-info' ? { ...set, values: { ...set.values, ...versions } } : set;
  await addAll(page, mergedSets(clients).map(about));
  addThreads(page, threads, source.taskPlaces());
  addVirtualMachine(page, threads);
  await addProcess(page);
  return page;
}

/** Other work of the thread waits no longer than this for a page of many tasks. */
const TURN_MS = 5;
let turnBeganAt = 0;

async function addAll(page: MetricsPage, sets: readonly MetricSet[]): Promise<void> {
  for (const set of sets) {
    if (performance.now() - turnBeganAt > TURN_MS) {
      await nextTurn();
      turnBeganAt = performance.now();
    }
    page.add(set);
  }
}
