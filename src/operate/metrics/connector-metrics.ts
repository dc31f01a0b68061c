import type { TaskReport } from '../../connect/hosting/task-hosting.ts';
import { connectMetrics, type MetricSet } from '../../observe/metrics/metric-set.ts';
import type { ConnectorDirectory, ConnectorStatusInfo } from '../../herder/connector-directory.ts';
import type { MetricsSource } from './metrics-source.ts';

const TASK_STATES = ['RUNNING', 'PAUSED', 'FAILED', 'UNASSIGNED', 'DESTROYED', 'RESTARTING'] as const;

/**
 * Metrics of the connectors and tasks of this worker. As in Java, a worker does not report those of other workers, so
 * that sums over the workers of a cluster are correct.
 */
export function connectorMetrics(
  source: Pick<MetricsSource, 'directory' | 'placement' | 'startups'>,
  reports: readonly TaskReport[],
): readonly MetricSet[] {
  const { directory, placement } = source;
  const sets: MetricSet[] = [];
  let connectors = 0;
  for (const name of directory.names()) {
    const status = statusOf(directory, name);
    if (status === undefined) continue;
    const isOwn = placement.ownsConnector(name);
    if (isOwn) {
      connectors++;
      sets.push(aboutConnector(directory, status));
    }
    const tasks = status.tasks.filter(([task]) => placement.ownsTask({ connector: name, task }));
    if (isOwn || tasks.length > 0) sets.push(taskCounts(name, tasks));
    for (const [task, { state }] of tasks) {
      const tags = { connector: name, task: String(task) };
      sets.push(connectMetrics('connector-task-metrics', tags, { status: state.toLowerCase() }));
    }
  }
  const counts = { 'connector-count': connectors, 'task-count': reports.length, ...source.startups() };
  return [connectMetrics('connect-worker-metrics', {}, counts), ...sets];
}

function aboutConnector(directory: ConnectorDirectory, { name, connector, type }: ConnectorStatusInfo): MetricSet {
  const plugin = directory.plugin(name);
  return connectMetrics(
    'connector-metrics',
    { connector: name },
    {
      'connector-type': type,
      'connector-class': plugin?.className ?? directory.config(name)['connector.class'] ?? '',
      'connector-version': plugin?.version ?? 'unknown',
      status: connector.state.toLowerCase(),
    },
  );
}

function taskCounts(connector: string, tasks: ConnectorStatusInfo['tasks']): MetricSet {
  const counts: Record<string, number> = { 'connector-total-task-count': tasks.length };
  for (const state of TASK_STATES) {
    const count = tasks.filter(([, { state: other }]) => other === state).length;
    counts[`connector-${state.toLowerCase()}-task-count`] = count;
  }
  return connectMetrics('connect-worker-metrics', { connector }, counts);
}

/** `undefined`: the connector was created or deleted a moment ago. */
function statusOf(directory: ConnectorDirectory, name: string): ConnectorStatusInfo | undefined {
  try {
    return directory.status(name);
  } catch {
    return undefined;
  }
}
