import assert from 'node:assert/strict';
import { mergedSets } from '../../../../src/observe/metrics/merged-sets.ts';
import { connectMetrics } from '../../../../src/observe/metrics/metric-set.ts';

describe('Clients of one id', () => {
  it('are one: counts are added, of greatest values the greatest is taken', () => {
    const client = (id: string, count: number, max: number, average: number) =>
      connectMetrics(
        'connect-metrics',
        { 'client-id': id },
        { 'connection-count': count, 'x-max': max, 'x-avg': average },
      );
    const merged = mergedSets([client('a', 1, 5, NaN), client('b', 1, 1, 1), client('a', 2, 7, 3)]);
    assert.deepEqual(merged, [client('a', 3, 7, 3), client('b', 1, 1, 1)]);
  });
});
