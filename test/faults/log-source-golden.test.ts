import assert from 'node:assert/strict';
import { LOG_SOURCE_DIFFERENCES } from '../golden/log-source-differences.ts';
import { replayLogSource } from '../golden/log-source-replay.ts';

describe('the log source, against the 74 scenarios that Debezium has recorded', () => {
  it('writes the same records, schemas, headers and offsets, but for the differences that are listed', async function () {
    const results = await replayLogSource();
    const total = { records: 0, equal: 0, listed: 0, marks: 0, marksEqual: 0 };
    for (const [id, { records, equal, extra, marks, marksEqual, failures }] of Object.entries(results)) {
      const { records: most = 0, isTimed = false } = LOG_SOURCE_DIFFERENCES[id] ?? {};
      const listed = isTimed ? Math.min(most, records - equal) : most;
      assert.equal(records - equal, listed, `${id}: ${failures.slice(0, 5).join('\n')}`);
      assert.equal(extra, 0, id);
      const differing = marks - marksEqual;
      assert.ok(
        differing <= (LOG_SOURCE_DIFFERENCES[id]?.marks ?? 0),
        `${id}: ${failures.filter((each) => each.startsWith('mark')).join('\n')}`,
      );
      total.records += records;
      total.equal += equal;
      total.listed += listed;
      total.marks += marks;
      total.marksEqual += marksEqual;
    }
    const { records, equal, listed, marks, marksEqual } = total;
    console.log(
      `      ${String(equal)} of ${String(records)} records equal, ${String(listed)} listed; ${String(marksEqual)} of ${String(marks)} marks`,
    );
    assert.equal(Object.keys(results).length, 74);
  });
});
