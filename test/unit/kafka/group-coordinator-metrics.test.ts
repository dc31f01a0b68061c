import assert from 'node:assert/strict';
import { GroupCoordinatorMetrics } from '../../../src/kafka/group/group-coordinator-metrics.ts';
import { METRIC_GROUPS } from '../../../src/observe/metrics/metric-groups.ts';
import { DEFAULT_WINDOW } from '../../../src/observe/metrics/sampled-stats.ts';

describe('metrics of a group coordinator', () => {
  it('count requests, rebalances and failed rebalances under documented names', () => {
    const figures = new GroupCoordinatorMetrics(DEFAULT_WINDOW);
    const before = figures.values();
    assert.deepEqual([before['join-total'], before['join-time-max']], [0, NaN]);
    assert.deepEqual([before['last-heartbeat-seconds-ago'], before['last-rebalance-seconds-ago']], [-1, -1]);
    figures.answered('join', Date.now() - 1000);
    figures.answered('heartbeat', Date.now() - 20_500);
    figures.rebalanced(performance.now() - 300);
    figures.rebalanceFailed();
    const values = figures.values();
    assert.ok((values['join-time-max'] ?? 0) >= 1000);
    assert.ok((values['rebalance-latency-max'] ?? 0) >= 300);
    assert.equal(values['rebalance-latency-avg'], values['rebalance-latency-total']);
    const names = ['join-total', 'sync-total', 'heartbeat-total', 'rebalance-total', 'failed-rebalance-total'];
    assert.deepEqual(
      names.map((name) => values[name]),
      [1, 0, 1, 1, 1],
    );
    assert.ok((values['last-heartbeat-seconds-ago'] ?? 0) >= 20);
    for (const group of ['connect-coordinator-metrics', 'consumer-coordinator-metrics']) {
      for (const name of Object.keys(values)) assert.ok(METRIC_GROUPS[group]?.[name] !== undefined, `${group} ${name}`);
    }
  });
});
