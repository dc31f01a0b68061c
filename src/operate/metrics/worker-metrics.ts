import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TaskReport } from '../../connect/hosting/task-hosting.ts';
import type { NamingName } from '../../observe/metrics/metric-names.ts';
import { mergedSets } from '../../observe/metrics/merged-sets.ts';
import { connectMetrics, type MetricSet } from '../../observe/metrics/metric-set.ts';
import { MetricsPage } from '../../observe/metrics/metrics-page.ts';
import { addProcess } from '../../observe/metrics/process-metrics.ts';
import type { WorkerThreads } from '../../observe/thread-figures.ts';
import { connectorMetrics } from './connector-metrics.ts';
import { addRestarts } from '../restarts/restart-counts.ts';
import { VERDICTS, type Verdict } from '../health/verdicts.ts';
import type { MetricsSource } from './metrics-source.ts';
import { addVirtualMachine } from './virtual-machine.ts';
import { addThreads } from './thread-metrics.ts';
import type { ClusterView } from '../../herder/group/placement.ts';

export interface MetricsOptions {
  /** `metrics.naming` */
  readonly namings: readonly NamingName[];
  /** The version that this worker reports. */
  readonly version: string;
  readonly commitId: string;
}

/**
 * The worker's metrics for Prometheus: Connect's in the namings that dashboards use, Sluice's own, and those of the
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
    addOwn(page, report);
    addThrottled(page, report);
  }
  addRestarts(page, source.restarts(), new Set(reports.map(({ id }) => id.connector)));
  source.replays.figures.addTo(page);
  for (const { name, verdict } of await source.verdicts(reports)) addVerdict(page, name, verdict);
  addLags(page, reports, source);
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

/** A task that has not waited for a rate limit reports 0, so that Prometheus sees its first wait as an increase. */
function addThrottled(page: MetricsPage, { id, details }: TaskReport): void {
  if (details === undefined) return;
  page.counter(
    'sluice_task_throttled_seconds_total',
    'Seconds for which rate.limit.records or rate.limit.bytes have held the task back',
    { connector: id.connector, task: String(id.task) },
    details.progress.throttledTotalMs / 1000,
  );
}

/**
 * A worker reports the lags of the sinks that read on this worker, and of its own sinks that do not read on any worker,
 * so that sums over the workers are correct.
 */
function addLags(page: MetricsPage, reports: readonly TaskReport[], { committedLags }: MetricsSource): void {
  const lags = new Map(committedLags.all().map(({ connector, lag }) => [connector, lag]));
  const read = new Map<string, number>();
  for (const { id, details } of reports) {
    for (const { lag } of details?.partitions ?? []) read.set(id.connector, (read.get(id.connector) ?? 0) + (lag ?? 0));
  }
  for (const [connector, lag] of new Map([...lags, ...read])) {
    page.gauge('sluice_connector_lag', 'Records of the sink that are not delivered', { connector }, lag);
  }
}

function addVerdict(page: MetricsPage, connector: string, verdict: Verdict): void {
  for (const each of VERDICTS) {
    page.gauge(
      'sluice_connector_verdict',
      'Verdict on the connector by its tasks on this worker: 1 for the one that applies',
      { connector, verdict: each },
      Number(each === verdict),
    );
  }
}

/** The metrics of many tasks are collected in turns that block the event loop for about this long. */
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

/** Parts of a task (tables, missing topics), which Connect does not have. */
function addParts(page: MetricsPage, { id, type, details }: TaskReport): void {
  const group = `kafka_connect_${type}_task_part`;
  for (const part of details?.parts ?? []) {
    const where = { connector: id.connector, task: String(id.task), part: part.name };
    const status = part.state.toLowerCase();
    page.gauge(`${group}_status`, 'State of a part of the task (a table, a missing topic)', { ...where, status }, 1);
    for (const [name, value] of Object.entries(part.counts)) {
      page.counter(`${group}_${snakeCase(name)}_total`, 'Counted by the task', where, value);
    }
  }
}

/** Metrics that the task itself defines. */
function addOwn(page: MetricsPage, { id, details }: TaskReport): void {
  for (const { name, help, labels, value } of details?.metrics ?? []) {
    const all: Record<string, string> = {};
    for (const [label, text] of Object.entries(labels)) all[metricName(label)] = text;
    Object.assign(all, { connector: id.connector, task: String(id.task) });
    page.gauge(metricName(name), help, all, value);
  }
}

/** Replaces characters that a name must not have, because plugins may use any. */
function metricName(text: string): string {
  return text.replace(/\W/g, '_').replace(/^(?=\d)/, '_');
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/\W/g, '_');
}

/** Metrics of this worker as a member of its group. */
function clusterMetrics(view: ClusterView, workerId: string): readonly MetricSet[] {
  const { protocol, leaderUrl, lastRebalance } = view;
  const rebalance = connectMetrics(
    'connect-worker-rebalance-metrics',
    {},
    {
      // Java shows the upper-case name of the enum constant.
      'connect-protocol': protocol === undefined ? 'unknown' : protocol.toUpperCase(),
      'leader-name': leaderUrl ?? 'null',
      epoch: view.generation,
      'completed-rebalances-total': view.completedRebalances,
      rebalancing: view.rebalancing ? 1 : 0,
      'rebalance-avg-time-ms': view.rebalanceAverageMs,
      'rebalance-max-time-ms': view.rebalanceMaxMs,
      'time-since-last-rebalance-ms': lastRebalance === undefined ? NaN : Date.now() - lastRebalance.completedAtMs,
    },
  );
  const coordinator = {
    'assigned-connectors': view.connectors.length,
    'assigned-tasks': view.tasks.length,
    ...view.requests?.values(),
  };
  const tags = { 'client-id': `connect-${workerId}` };
  return [rebalance, connectMetrics('connect-coordinator-metrics', tags, coordinator)];
}
