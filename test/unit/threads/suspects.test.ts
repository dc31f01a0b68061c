import assert from 'node:assert/strict';
import type { TaskAssignment } from '../../../src/connect/task-assignment.ts';
import type { RecordRange } from '../../../src/observe/work-place.ts';
import type { ThreadEnd } from '../../../src/threads/running-thread.ts';
import { Suspects } from '../../../src/threads/suspects.ts';

function task(config: Record<string, string> = {}, index = 0): TaskAssignment {
  const id = { connector: 'c', task: index };
  return { id, type: 'sink', tasks: 1, connectorConfig: config, taskConfig: {}, targetState: 'STARTED' };
}

const range = (from: number, to: number, partition = 0): RecordRange => ({ topic: 't', partition, from, to });

function endAt(stage: string, ranges: readonly RecordRange[], kind: ThreadEnd['kind'] = 'hang'): ThreadEnd {
  const error = new Error('hangs');
  error.stack = 'Error: hangs\n    at loop (x.js:1:1)';
  const place = { task: 'c-0', stage, ranges, record: undefined, sinceMs: 0 };
  return { kind, reason: 'it hangs', error, culprit: 'c-0', place };
}

function endAtRecord(record: RecordRange, kind: ThreadEnd['kind'] = 'hang'): ThreadEnd {
  const end = endAt('conversion', [], kind);
  assert.ok(end.place);
  return { ...end, place: { ...end.place, record } };
}

describe('records at which threads ended', () => {
  it('are poisoned after two ends at one record', () => {
    const suspects = new Suspects();
    assert.equal(suspects.careFor(task()), undefined);
    suspects.add(task(), endAtRecord(range(7, 8)), 'first');
    assert.deepEqual(suspects.careFor(task()), { suspects: [range(7, 8)], poisoned: [] });
    suspects.add(task(), endAtRecord(range(7, 8)), 'second');
    assert.deepEqual(suspects.careFor(task()), {
      suspects: [],
      poisoned: [
        {
          topic: 't',
          partition: 0,
          offset: 7,
          stage: 'conversion',
          message: '2 threads have ended at this record: (1) first; (2) second',
          stack: '    at loop (x.js:1:1)',
        },
      ],
    });
  });

  it('are poisoned if the second end is at one of the records put before the first end', () => {
    const suspects = new Suspects();
    suspects.add(task(), endAt('put of 500 records', [range(0, 500), range(100, 110, 1)]), 'first');
    assert.deepEqual(suspects.careFor(task({}, 1))?.suspects, [range(0, 500), range(100, 110, 1)]);
    suspects.add(task({}, 1), endAt('put of 1 records', [range(105, 106, 1)]), 'second');
    const care = suspects.careFor(task());
    assert.deepEqual(care?.suspects, [], 'nothing else is suspected any more');
    assert.deepEqual(
      care?.poisoned.map(({ partition, offset, stage }) => [partition, offset, stage]),
      [[1, 105, 'put']],
    );
  });

  it('are narrowed down by each end, and not poisoned before the record is known', () => {
    const suspects = new Suspects();
    suspects.add(task(), endAt('put of 3000 records', [range(0, 3000)]), 'first');
    suspects.add(task(), endAt('put of 3 records', [range(300, 303)]), 'second');
    assert.deepEqual(suspects.careFor(task()), { suspects: [range(300, 303)], poisoned: [] });
    suspects.add(task(), endAt('put of 1 records', [range(301, 302)]), 'third');
    assert.deepEqual(
      suspects.careFor(task())?.poisoned.map(({ offset }) => offset),
      [301],
    );
  });

  it('are not poisoned by a single full heap', () => {
    const suspects = new Suspects();
    suspects.add(task(), endAt('put of 500 records', [range(0, 500)], 'memory'), 'first');
    suspects.add(task(), endAt('put of 1 records', [range(30, 31)], 'memory'), 'second');
    assert.deepEqual(suspects.careFor(task()), { suspects: [range(30, 31)], poisoned: [] });
  });

  it('are removed when they are committed, and when the configuration changes', () => {
    const suspects = new Suspects();
    suspects.add(task(), endAtRecord(range(7, 8)), 'first');
    suspects.passed('c', { topic: 't', partition: 0, offset: 7 });
    suspects.passed('c', { topic: 't', partition: 1, offset: 8 });
    assert.deepEqual(suspects.careFor(task())?.suspects, [range(7, 8)]);
    assert.equal(suspects.careFor(task({ fixed: 'true' })), undefined);
    suspects.passed('c', { topic: 't', partition: 0, offset: 8 });
    assert.equal(suspects.careFor(task()), undefined);
  });

  it('are bounded in number', () => {
    const suspects = new Suspects();
    for (let n = 0; n < 1000; n++) suspects.add(task(), endAtRecord(range(n, n + 1)), 'end');
    assert.equal(suspects.careFor(task())?.suspects.length, 200);
    for (let n = 0; n < 1200; n++) {
      const of = { ...task(), id: { connector: `c${String(n)}`, task: 0 } };
      suspects.add(of, endAtRecord(range(1, 2)), 'end');
    }
    assert.equal(suspects.careFor(task()), undefined);
    assert.ok(suspects.careFor({ ...task(), id: { connector: 'c1199', task: 0 } }));
  });
});
