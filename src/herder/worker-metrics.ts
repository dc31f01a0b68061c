import { Registry, collectDefaultMetrics } from 'prom-client';
import type { ThreadName, WorkerThreads } from '../observe/thread-figures.ts';
import type { TaskReport } from '../connect/tasks/task-hosting.ts';
import type { GroupFigures } from '../kafka/group/group-membership.ts';
import type { ClusterView } from './placement.ts';
import type { ConnectorDirectory, ConnectorStatusInfo } from './connector-directory.ts';
import { MetricsPage } from './metrics-page.ts';
import { addThreads } from './thread-metrics.ts';

/** What metrics are made of, asked anew for each page. */
export interface MetricsSource {
  readonly directory: ConnectorDirectory;
  taskReports(): Promise<readonly TaskReport[]>;
  taskPlaces(): ReadonlyMap<string, ThreadName>;
  /** `undefined`: a standalone worker. */
  cluster(): ClusterView | undefined;
}

/** Metrics of the process itself: CPU, memory, event loop, collector. */
const processMetrics = new Registry();
let hasProcessMetrics = false;

/**
 * The worker's metrics as Prometheus reads them, in the names that dashboards of Connect use: Java's JMX names as
 * jmx_exporter and Strimzi's example rules turn them (docs/compatibility.md#metrics).
 */
export async function metricsText(source: MetricsSource, workerThreads: WorkerThreads): Promise<string> {
  if (!hasProcessMetrics) collectDefaultMetrics({ register: processMetrics });
  hasProcessMetrics = true;
  const page = new MetricsPage();
  const [reports, threads] = await Promise.all([source.taskReports(), workerThreads.measure()]);
  addConnectors(page, source.directory);
  page.gauge('kafka_connect_worker_task_count', 'Tasks that run on this worker', {}, reports.length);
  for (const report of reports) addTask(page, report);
  addThreads(page, threads, source.taskPlaces());
  const cluster = source.cluster();
  if (cluster !== undefined) addCluster(page, cluster);
  page.collapsed(threads.counts.collapsed);
  return (await page.text()) + (await processMetrics.metrics());
}

function addConnectors(page: MetricsPage, directory: ConnectorDirectory): void {
  const names = directory.names();
  page.gauge('kafka_connect_worker_connector_count', 'Connectors of the cluster', {}, names.length);
  for (const name of names) {
    const status = statusOf(directory, name);
    if (status === undefined) continue;
    const labels = { connector: name };
    page.state('kafka_connect_connector_status', 'State of the connector', labels, status.connector.state);
    const states = status.tasks.map(([, { state }]) => state);
    page.gauge('kafka_connect_worker_connector_total_task_count', 'Tasks of the connector', labels, states.length);
    for (const state of ['RUNNING', 'PAUSED', 'FAILED', 'UNASSIGNED', 'RESTARTING'] as const) {
      const count = states.filter((other) => other === state).length;
      const of = state.toLowerCase();
      page.gauge(`kafka_connect_worker_connector_${of}_task_count`, `Tasks that are ${of}`, labels, count);
    }
    for (const [task, { state }] of status.tasks) {
      page.state('kafka_connect_connector_task_status', 'State of the task', { ...labels, task }, state);
    }
  }
}

/** `undefined`: created or deleted a moment ago. */
function statusOf(directory: ConnectorDirectory, name: string): ConnectorStatusInfo | undefined {
  try {
    return directory.status(name);
  } catch {
    return undefined;
  }
}

function addTask(page: MetricsPage, { id, type, counts, errors, details }: TaskReport): void {
  const labels = { connector: id.connector, task: id.task };
  const isSink = type === 'sink';
  const group = isSink ? 'kafka_connect_sink_task' : 'kafka_connect_source_task';
  const [taken, given] = isSink
    ? ['sink_record_read', 'sink_record_send']
    : ['source_record_poll', 'source_record_write'];
  const batch = isSink ? 'put_batch' : 'poll_batch';
  page.counter(`${group}_${taken}_total`, 'Records that came in', labels, counts.records);
  page.counter(`${group}_${given}_total`, 'Records that went on', labels, counts.delivered);
  const averageMs = counts.batches === 0 ? 0 : counts.batchTotalMs / counts.batches;
  page.gauge(`${group}_${batch}_avg_time_ms`, 'Time of a batch, in the mean', labels, averageMs);
  page.gauge(`${group}_${batch}_max_time_ms`, 'Time of the longest batch', labels, counts.batchMaxMs);
  if (isSink) {
    page.counter(`${group}_offset_commit_completion_total`, 'Offset commits that succeeded', labels, counts.commits);
    page.counter(`${group}_offset_commit_failure_total`, 'Offset commits that failed', labels, counts.commitFailures);
  }
  const { partitions = [], parts = [] } = details ?? {};
  if (isSink) {
    const lags = partitions.flatMap(({ lag }) => lag ?? []);
    page.gauge(`${group}_partition_count`, 'Partitions of the task', labels, partitions.length);
    page.gauge(
      `${group}_sink_record_lag_max`,
      'Records not read yet of the partition that has most',
      labels,
      Math.max(0, ...lags),
    );
  }
  for (const { topic, partition, lag } of partitions) {
    if (lag === undefined) continue;
    const where = { ...labels, topic, partition };
    page.gauge('kafka_consumer_fetch_manager_records_lag', 'Records of the partition not read yet', where, lag);
  }
  for (const part of parts) {
    const where = { ...labels, part: part.name };
    page.state(`${group}_part_status`, 'State of a part of the task (a table, a missing topic)', where, part.state);
    for (const [name, value] of Object.entries(part.counts)) {
      page.counter(`${group}_part_${snakeCase(name)}_total`, 'Counted by the task', where, value);
    }
  }
  if (errors === undefined) return;
  const failures = 'kafka_connect_task_error_total';
  page.counter(`${failures}_record_failures`, 'Failures of records, retries included', labels, errors.failures);
  page.counter(`${failures}_record_errors`, 'Records that failed', labels, errors.errors);
  page.counter(`${failures}_records_skipped`, 'Records that were left out', labels, errors.skipped);
  page.counter(`${failures}_retries`, 'Retries of records', labels, errors.retries);
  page.counter(`${failures}_errors_logged`, 'Failures that were logged', labels, errors.logged);
  page.gauge(
    'kafka_connect_task_error_last_error_timestamp',
    'When a record failed last',
    labels,
    errors.lastErrorAtMs,
  );
}

function addCluster(page: MetricsPage, view: ClusterView): void {
  const { protocol = '', leaderUrl = '', lastRebalance } = view;
  const rebalance = 'kafka_connect_worker_rebalance';
  page.gauge(`${rebalance}_connect_protocol`, 'Protocol of the group', { connect_protocol: protocol }, 1);
  page.gauge(`${rebalance}_leader_name`, 'Leader of the group', { leader_name: leaderUrl }, 1);
  page.gauge(`${rebalance}_epoch`, 'Generation of the group', {}, view.generation);
  page.counter(`${rebalance}_completed_rebalances_total`, 'Rebalances', {}, view.completedRebalances);
  page.gauge(`${rebalance}_rebalancing`, '1 while a rebalance is going on', {}, view.rebalancing ? 1 : 0);
  page.gauge(`${rebalance}_rebalance_avg_time_ms`, 'Time of a rebalance, in the mean', {}, view.rebalanceAverageMs);
  page.gauge(`${rebalance}_rebalance_max_time_ms`, 'Time of the longest rebalance', {}, view.rebalanceMaxMs);
  if (lastRebalance !== undefined) {
    const sinceMs = Date.now() - lastRebalance.completedAtMs;
    page.gauge(`${rebalance}_time_since_last_rebalance_ms`, 'Time since the last rebalance', {}, sinceMs);
  }
  const coordinator = 'kafka_connect_coordinator';
  page.gauge(`${coordinator}_assigned_connectors`, 'Connectors of this worker', {}, view.connectors.length);
  page.gauge(`${coordinator}_assigned_tasks`, 'Tasks of this worker', {}, view.tasks.length);
  if (view.requests !== undefined) addRequests(page, coordinator, view.requests);
}

/** Connect has rates beside these totals; Prometheus makes them of the totals. */
function addRequests(page: MetricsPage, coordinator: string, requests: GroupFigures): void {
  for (const request of ['join', 'sync'] as const) {
    const { count, totalMs, maxMs } = requests.of(request);
    page.counter(`${coordinator}_${request}_total`, `${request} requests`, {}, count);
    page.gauge(
      `${coordinator}_${request}_time_avg`,
      `Milliseconds of a ${request}, in the mean`,
      {},
      totalMs / (count || 1),
    );
    page.gauge(`${coordinator}_${request}_time_max`, `Milliseconds of the longest ${request}`, {}, maxMs);
  }
  const { count, maxMs } = requests.of('heartbeat');
  page.counter(`${coordinator}_heartbeat_total`, 'Heartbeats', {}, count);
  page.gauge(`${coordinator}_heartbeat_response_time_max`, 'Milliseconds of the slowest heartbeat', {}, maxMs);
  page.counter(`${coordinator}_failed_rebalance_total`, 'Rounds that had to begin anew', {}, requests.failedRounds);
  if (requests.lastHeartbeatAt !== undefined) {
    const seconds = (Date.now() - requests.lastHeartbeatAt) / 1000;
    page.gauge(`${coordinator}_last_heartbeat_seconds_ago`, 'Seconds since the last heartbeat', {}, seconds);
  }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/\W/g, '_');
}
