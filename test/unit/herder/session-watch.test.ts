import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { SessionWatch, type WatchedMember } from '../../../src/herder/group/session-watch.ts';
import { until } from '../../support/until.ts';

const SESSION_MS = 60;

describe('the watch over a worker’s membership', () => {
  let member: WatchedMember;
  let reasons: string[];
  let watch: SessionWatch;

  beforeEach(() => {
    member = { lastContactAt: 0, unanswered: false, state: 'stable' };
    reasons = [];
    watch = new SessionWatch(
      SESSION_MS,
      () => member,
      (reason) => reasons.push(reason),
    );
    watch.start();
  });
  afterEach(() => {
    watch.stop();
  });
  /** Other things in the process may hold it up: that is the watch's other reason. */
  const silences = () => reasons.filter((reason) => reason.includes('has not answered'));

  it('says that it is lost when the coordinator has not answered for longer than the session', async () => {
    member = { lastContactAt: Date.now(), unanswered: true, state: 'stable' };
    assert.deepEqual([watch.isOverdue, watch.mayWork], [false, true]);
    await until(() => silences().length > 0, 'it is told', { everyMs: 5 });
    assert.deepEqual([watch.isOverdue, watch.mayWork], [true, false]);
  });

  it('waits for a group that lets the member wait, and for one that has not answered it yet', async () => {
    member = { lastContactAt: Date.now() - 10_000, unanswered: false, state: 'joining' };
    await delay(3 * SESSION_MS);
    member = { lastContactAt: 0, unanswered: true, state: 'joining' };
    await delay(3 * SESSION_MS);
    assert.deepEqual(silences(), []);
  });

  it('lets nothing be written once the process did not run for longer than the session, and says so', async () => {
    member = { lastContactAt: Date.now() + 10_000, unanswered: false, state: 'stable' };
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * SESSION_MS);
    assert.equal(watch.mayWork, false);
    await until(() => reasons.some((reason) => reason.startsWith('this process did not run for')), 'it is told');
    assert.equal(watch.mayWork, true);
  });
});
