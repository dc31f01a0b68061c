import { connectMetrics, type MetricSet } from '../../observe/metrics/metric-set.ts';
import type { ClusterView } from '../../herder/group/placement.ts';

/** A worker's place in its group. */
export function clusterMetrics(view: ClusterView, workerId: string): readonly MetricSet[] {
  const { protocol, leaderUrl, lastRebalance } = view;
  const rebalance = connectMetrics(
    'connect-worker-rebalance-metrics',
    {},
    {
      // As the constants of Java's enum, by which its gauge names them.
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
