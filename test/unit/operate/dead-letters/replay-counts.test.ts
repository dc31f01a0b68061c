import assert from 'node:assert/strict';
import type { ReplayProgress } from '../../../../src/connect/dead-letters/replay-assignment.ts';
import { ReplayCounts } from '../../../../src/operate/dead-letters/replay-counts.ts';

describe('the counts of a replay', () => {
  const END = 1_000;
  let reports: ReplayProgress[];
  let counts: ReplayCounts;

  beforeEach(() => {
    reports = [];
    const part = { partition: 0, from: 0, end: END, counted: 0 };
    counts = new ReplayCounts([part], (progress) => reports.push(progress));
  });

  const last = () => {
    const { read, selected, failed, positions } = reports.at(-1) ?? assert.fail('nothing was reported');
    return { read, selected, failed, next: positions[0]?.next };
  };

  it('wait at the first selected letter that is not stored, with all that were read after it', () => {
    for (let offset = 0; offset < 500; offset++) counts.read({ partition: 0, offset }, offset === 10 || offset === 400);
    counts.committed([{ topic: 'letters', partition: 0, offset: 10 }]);
    assert.deepEqual(last(), { read: 10, selected: 0, failed: 0, next: 10 });
    counts.failed({ partition: 0, offset: 400 });
    counts.committed([{ topic: 'letters', partition: 0, offset: 11 }]);
    assert.deepEqual(last(), { read: 400, selected: 1, failed: 0, next: 400 });
    counts.committed([{ topic: 'letters', partition: 0, offset: 401 }]);
    assert.deepEqual(last(), { read: 500, selected: 2, failed: 1, next: 500 });
  });

  it('have each letter once, also those that are read again, and are complete at the end', () => {
    for (let offset = 0; offset < 20; offset++) counts.read({ partition: 0, offset }, offset % 5 === 0);
    for (let offset = 0; offset < END; offset++) counts.read({ partition: 0, offset }, offset % 5 === 0);
    assert.equal(counts.isComplete, false);
    counts.committed([{ topic: 'letters', partition: 0, offset: END }]);
    assert.deepEqual([last(), counts.isComplete], [{ read: END, selected: 200, failed: 0, next: END }, true]);
  });
});
