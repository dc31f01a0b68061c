import assert from 'node:assert/strict';
import type { FleetRow } from '../../src/common/answers.ts';
import { inOrder, matching } from '../../src/common/fleet-row.ts';
import { short } from '../../src/common/format.ts';

const NO_FILTERS = { text: '', verdict: '', type: '', className: '', worker: '', topic: '' };

function row(name: string, more: Partial<FleetRow> = {}): FleetRow {
  return {
    name,
    type: 'sink',
    className: 'com.db.kafka.connect.sink.DbSinkConnector',
    verdict: 'RUNNING',
    sentence: '1 task runs.',
    since: '2026-01-01T00:00:00.000Z',
    tasks: { RUNNING: 1 },
    workers: ['w:1'],
    topics: 'orders',
    rate: 1,
    lag: 0,
    deadLettersPerMinute: 0,
    spark: [],
    ...more,
  };
}

describe('rows of the console', () => {
  it('are sorted with the broken connectors first, then by name', () => {
    const rows = [
      row('b'),
      row('a'),
      row('z', { verdict: 'FAILED' }),
      row('y', { verdict: 'LAGGING' }),
      row('x', { verdict: 'STALLED' }),
    ];
    assert.deepEqual(
      inOrder(rows).map(({ name }) => name),
      ['z', 'x', 'y', 'a', 'b'],
    );
  });

  it('are filtered by text, verdict, type, class, worker and topic', () => {
    const rows = [
      row('one', { sentence: 'The topic Later does not exist.' }),
      row('two', { type: 'source', className: 'Other', topics: '', workers: ['w:2'] }),
      row('three', { verdict: 'FAILED', topics: 'payments' }),
    ];
    const names = (filters: Partial<typeof NO_FILTERS>) =>
      matching(rows, { ...NO_FILTERS, ...filters }).map(({ name }) => name);
    assert.deepEqual(names({}), ['one', 'two', 'three']);
    assert.deepEqual(names({ text: ' later ' }), ['one']);
    assert.deepEqual(names({ verdict: 'FAILED,STALLED' }), ['three']);
    assert.deepEqual(names({ type: 'source' }), ['two']);
    assert.deepEqual(names({ className: 'Other' }), ['two']);
    assert.deepEqual(names({ worker: 'w:1' }), ['one', 'three']);
    assert.deepEqual(names({ topic: 'PAY' }), ['three']);
    assert.deepEqual(names({ text: 'o', type: 'sink', verdict: 'RUNNING' }), ['one']);
  });

  it('have short numbers', () => {
    assert.deepEqual([null, 0, 2.25, 12.4, 1234, 12_345, 4_500_000].map(short), [
      '–',
      '0',
      '2.3',
      '12',
      '1,234',
      '12.3k',
      '4.5M',
    ]);
  });
});
