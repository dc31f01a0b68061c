import assert from 'node:assert/strict';
import type { TaskReport } from '../../../../src/connect/hosting/task-hosting.ts';
import { FleetHistory, HISTORY_SERIES } from '../../../../src/operate/fleet/fleet-history.ts';

const START = Date.UTC(2026, 0, 1);

function report(
  connector: string,
  task: number,
  records: number,
  more: { lag?: number; letters?: number } = {},
): TaskReport {
  const set = (group: string, values: Record<string, number>) => ({ group, tags: {}, values });
  return {
    id: { connector, task },
    type: 'sink',
    metrics: [
      set('connector-task-metrics', { 'batch-size-avg': 10 }),
      set('sink-task-metrics', { 'sink-record-send-total': records, 'put-batch-avg-time-ms': 4 }),
      set('task-error-metrics', { 'total-records-skipped': more.letters ?? 0, 'total-retries': 0 }),
    ],
    details: { partitions: [{ topic: 't', partition: task, lag: more.lag ?? 0 }], reading: { delivered: records } },
  } as unknown as TaskReport;
}

describe('the last hour of connectors', () => {
  it('has rates over all tasks of a connector, and nothing of the time in which none ran or nothing came', () => {
    const history = new FleetHistory();
    history.add([report('a', 0, 100)], START);
    history.add([report('a', 0, 150, { lag: 7 }), report('a', 1, 0, { lag: 3, letters: 1 })], START + 5000);
    history.add([], START + 10_000);
    history.add([report('a', 0, 175)], START + 15_000);
    assert.deepEqual(history.series('a'), {
      at: [START, START + 5000, START + 10_000, START + 15_000],
      rate: [0, 10, null, 5],
      lag: [0, 10, null, 0],
      letters: [0, 12, null, 0],
      batchMs: [null, 4, null, 4],
      batchSize: [null, 10, null, 10],
      retries: [0, 0, null, 0],
    });
    assert.equal(history.newest('a').rate, 5);
    assert.equal(history.newest('b').rate, null);
    assert.deepEqual([history.series('b').at, history.series('b').rate], [[], []]);
  });

  it('takes no more than a point in five seconds, and ignores a count that restarts', () => {
    const history = new FleetHistory();
    history.add([report('a', 0, 100)], START);
    history.add([report('a', 0, 200)], START + 1000);
    history.add([report('a', 0, 20)], START + 5000);
    assert.deepEqual(history.series('a').rate, [0, 0]);
  });

  it('has means of minutes, and keeps an hour in a bounded memory', () => {
    const history = new FleetHistory();
    for (let point = 0; point < 1000; point += 1) history.add([report('a', 0, point * 50)], START + point * 5000);
    assert.deepEqual([history.spark('a').length, history.spark('a').at(-1), history.spark('a')[0]], [60, 10, 10]);
    const { at } = history.series('a');
    assert.deepEqual([at.length, at[0], at.at(-1)], [720, START + 280 * 5000, START + 999 * 5000]);
    const many = new FleetHistory();
    many.add(
      Array.from({ length: 2000 }, (_, number) => report(`c${String(number)}`, 0, 1)),
      START,
    );
    const kept = Array.from({ length: 2000 }, (_, number) => many.newest(`c${String(number)}`)).filter(
      ({ rate }) => rate !== null,
    );
    assert.ok(kept.length * 720 * HISTORY_SERIES.length * 4 <= 20_000_000, `${String(kept.length)} connectors`);
    assert.ok(kept.length >= 1000);
  });

  it('forgets connectors of which nothing has run for an hour', () => {
    const history = new FleetHistory();
    history.add([report('gone', 0, 1)], START);
    for (let point = 1; point < 730; point += 1) history.add([report('a', 0, point)], START + point * 5000);
    assert.ok(history.spark('gone').every((value) => value === null));
  });
});
