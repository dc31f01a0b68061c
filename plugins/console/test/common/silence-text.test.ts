import assert from 'node:assert/strict';
import type { TaskFigures } from '../../src/common/answers.ts';
import { silenceText } from '../../src/common/silence-text.ts';
import { shownVerdict } from '../../src/connector/health.ts';

describe('a worker that does not answer, in the console', () => {
  it('is shown with the time by which its tasks run on other workers, if it is lost', () => {
    const text = (now: number) => silenceText({ worker: 'w:8083', since: 10_000 }, now, 310_000);
    assert.equal(
      text(22_000),
      'Worker w:8083 has not answered for 0:12. If it is lost, its tasks run elsewhere within 4:58.',
    );
    assert.equal(
      text(330_000),
      'Worker w:8083 has not answered for 5:20. Its tasks have not moved: its group still counts it, or no other worker could take them.',
    );
  });

  it('makes a connector SILENT that seems to run, after more than one request', () => {
    const verdict = (silentMs: number, own: 'RUNNING' | 'FAILED' = 'RUNNING') =>
      shownVerdict({ verdict: own, tasks: [{ silentMs } as TaskFigures] });
    assert.deepEqual([verdict(900), verdict(1000), verdict(1000, 'FAILED')], ['RUNNING', 'SILENT', 'FAILED']);
  });
});
