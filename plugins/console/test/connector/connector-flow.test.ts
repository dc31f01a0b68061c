import assert from 'node:assert/strict';
import type { WorkerFlow } from '../../src/common/answers.ts';
import { addedUp, flowBoxes, timeText } from '../../src/connector/flow.ts';
import { extremes, inFiveMinutes, lonePoints } from '../../src/connector/chart-figures.ts';

describe('the picture of the data flow', () => {
  const stage = (name: string, microseconds: number, passed = 1, errors = 0) => {
    return { name, className: name === 'converter' ? '' : 'a.B', samples: 10, microseconds, passed, errors };
  };
  const flow = (given: Partial<WorkerFlow> = {}): WorkerFlow => ({
    ...{ worker: 'w', type: 'sink', tasks: 1, readRate: 100, sentRate: 50, taskMicroseconds: 20, errors: 3 },
    stages: [stage('converter', 4, 1, 1), stage('drop', 2, 0.5), stage('cast', 1)],
    ...{ topics: [], tables: [], writeMicroseconds: 30, parts: [] },
    ...given,
  });
  const shown = (workers: readonly WorkerFlow[], isSink: boolean) =>
    flowBoxes(workers, isSink).map(({ kind, name, rate, errors, microseconds }) => [
      kind,
      name,
      rate,
      errors,
      microseconds,
    ]);

  it('goes from topics to tables in a sink, with what transforms let pass', () => {
    assert.deepEqual(shown([flow()], true), [
      ['topics', '', 100, 0, null],
      ['converter', 'converter', 100, 1, 4],
      ['transform', 'drop', 100, 0, 2],
      ['transform', 'cast', 50, 0, 1],
      ['task', '', 50, 2, 20],
      ['tables', '', 50, 0, 30],
    ]);
  });

  it('goes from tables to topics in a source', () => {
    assert.deepEqual(
      shown([flow({ type: 'source' })], false).map(([kind, name]) => (name === '' ? kind : name)),
      ['tables', 'task', 'drop', 'cast', 'converter', 'topics'],
    );
  });

  it('adds up workers, and subtracts stages that run within put', () => {
    const boxes = shown(
      [flow({ areStagesInPut: true }), flow({ worker: 'v', stages: [], areStagesInPut: true })],
      true,
    );
    assert.deepEqual(boxes.at(0), ['topics', '', 200, 0, null]);
    assert.deepEqual(boxes.at(4), ['task', '', 100, 5, 13]);
  });

  it('has each topic and table once, the largest first, and times with their units', () => {
    const items = [
      { name: 'a', rows: 1 },
      { name: 'b', rows: 5 },
      { name: 'a', rows: 2 },
    ];
    assert.deepEqual(
      addedUp(items, ({ rows }) => rows),
      [
        { name: 'b', value: 5 },
        { name: 'a', value: 3 },
      ],
    );
    assert.deepEqual([0.5, 4.25, 850, 12_400, 3.1e6].map(timeText), ['< 1 µs', '4.3 µs', '850 µs', '12.4 ms', '3.1 s']);
  });

  it('shows values without neighbours as points', () => {
    assert.deepEqual(lonePoints([1, null, 2, 3, null, null, 4]), [0, 6]);
    assert.deepEqual(lonePoints([]), []);
  });

  it('has charts as text: the last, lowest and highest value, and means of five minutes', () => {
    const points = [
      [0, 60, 300, 360],
      [1, 3, null, 8],
    ] as const;
    assert.deepEqual(extremes(points), { last: 8, min: 1, max: 8 });
    assert.deepEqual(extremes([[], []]), { last: null, min: null, max: null });
    assert.deepEqual(inFiveMinutes([points, [[0], [7]]]), [
      { at: 300, values: [8, null] },
      { at: 0, values: [2, 7] },
    ]);
  });
});
