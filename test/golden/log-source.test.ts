import assert from 'node:assert/strict';
import { replayLogSource } from './log-source-replay.ts';

/** One scenario of each area that takes no more than a few seconds; `test/faults/log-source-golden.test.ts` replays all. */
const SHORT = ['crud-primary-key', 'toast-default'];

describe('the log source, against scenarios of each area that Debezium has recorded', () => {
  it('writes the same records, schemas, headers and offsets', async function () {
    const results = await replayLogSource(SHORT);
    assert.equal(Object.keys(results).length, SHORT.length);
    for (const [id, { failures, records, equal }] of Object.entries(results)) {
      assert.deepEqual(failures, [], id);
      assert.equal(equal, records, id);
    }
  });
});
