import assert from 'node:assert/strict';
import type { FleetRow } from '../../src/common/answers.ts';
import { fleetSummary, inOrder, matching, sorted } from '../../src/common/fleet-row.ts';
import { rateText, short } from '../../src/common/format.ts';

const NO_FILTERS = { text: '', verdict: '', type: '', className: '', worker: '', sort: '' };

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
    tables: '',
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

  it('are sorted by a column, in both directions, with unknown values last', () => {
    const rows = [row('a', { lag: 5 }), row('b', { lag: null }), row('c', { lag: 70 }), row('d', { lag: 5 })];
    const names = (sort: string) => sorted(rows, sort).map(({ name }) => name);
    assert.deepEqual(names('-lag'), ['c', 'a', 'd', 'b']);
    assert.deepEqual(names('lag'), ['a', 'd', 'c', 'b']);
    assert.deepEqual(names('-name'), ['d', 'c', 'b', 'a']);
    assert.deepEqual(names(''), ['a', 'b', 'c', 'd']);
    assert.deepEqual(names('no-such-column'), ['a', 'b', 'c', 'd']);
  });

  it('are summarised: those that need attention, since when, and the records that wait', () => {
    const rows = [
      row('a', { verdict: 'FAILED', since: '2026-01-01T10:00:00.000Z', lag: null }),
      row('b', { verdict: 'LAGGING', since: '2026-01-01T11:00:00.000Z', lag: 400 }),
      row('c', { verdict: 'STOPPED', since: '2026-01-01T12:00:00.000Z', lag: 100 }),
    ];
    assert.deepEqual(fleetSummary(rows), { all: 3, bad: 2, lastSince: '2026-01-01T11:00:00.000Z', lag: 500 });
    assert.equal(fleetSummary([row('a')]).lastSince, undefined);
  });

  it('are filtered by text, verdict, type, class and worker', () => {
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
    assert.deepEqual(names({ text: 'PAY' }), ['three']);
    assert.deepEqual(names({ text: 'o', type: 'sink', verdict: 'RUNNING' }), ['one']);
  });

  it('have short numbers', () => {
    assert.deepEqual([null, 0, 2.25, 12.4, 999, 1234, 99_949, 417_100, 999_700, 4_500_000].map(short), [
      ...['–', '0', '2.3', '12', '999', '1.2k', '99.9k', '417k', '1.0M', '4.5M'],
    ]);
    assert.deepEqual([null, 0, 0.01, 1, 0.84, 12.4].map(rateText), ['–', '0', '< 0.1', '1.0', '0.8', '12']);
  });
});
