import type { GroupFigures } from '../kafka/group/group-membership.ts';
import { connectMetrics, type MetricSet } from '../observe/metrics/metric-set.ts';
import type { ClusterView } from './placement.ts';

/** A worker's place in its group. */
export function clusterMetrics(view: ClusterView, workerId: string): readonly MetricSet[] {
  const { protocol, leaderUrl, lastRebalance } = view;
  const sinceMs = lastRebalance === undefined ? {} : { sinceMs: Date.now() - lastRebalance.completedAtMs };
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
      'time-since-last-rebalance-ms': sinceMs.sinceMs ?? NaN,
    },
  );
  const coordinator = {
    'assigned-connectors': view.connectors.length,
    'assigned-tasks': view.tasks.length,
    ...(view.requests === undefined ? {} : requestValues(view.requests)),
  };
  const tags = { 'client-id': `connect-${workerId}` };
  return [rebalance, connectMetrics('connect-coordinator-metrics', tags, coordinator)];
}

function requestValues(requests: GroupFigures): Record<string, number> {
  const values: Record<string, number> = {};
  for (const request of ['join', 'sync'] as const) {
    const { count, totalMs, maxMs } = requests.of(request);
    values[`${request}-total`] = count;
    values[`${request}-time-avg`] = totalMs / (count || 1);
    values[`${request}-time-max`] = maxMs;
  }
  const { count, maxMs } = requests.of('heartbeat');
  values['heartbeat-total'] = count;
  values['heartbeat-response-time-max'] = maxMs;
  values['failed-rebalance-total'] = requests.failedRounds;
  if (requests.lastHeartbeatAt !== undefined) {
    values['last-heartbeat-seconds-ago'] = (Date.now() - requests.lastHeartbeatAt) / 1000;
  }
  return values;
}
