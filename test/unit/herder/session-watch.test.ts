import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { SessionWatch, type WatchedMember } from '../../../src/herder/group/session-watch.ts';

const SESSION_MS = 60;
const PULSE_MS = SESSION_MS / 4;

describe('the watch over a worker’s membership', () => {
  let member: WatchedMember;
  let reasons: string[];
  let watch: SessionWatch;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval', 'Date'], now: 1_000_000 });
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
    mock.timers.reset();
  });
  const pass = (ms: number): void => {
    for (let passed = 0; passed < ms; passed += PULSE_MS) mock.timers.tick(PULSE_MS);
  };

  it('says that it is lost when the coordinator has not answered for longer than the session', () => {
    member = { lastContactAt: Date.now(), unanswered: true, state: 'stable' };
    pass(SESSION_MS);
    assert.deepEqual([watch.isOverdue, watch.mayWork, reasons], [false, true, []]);
    pass(PULSE_MS);
    assert.deepEqual([watch.isOverdue, watch.mayWork], [true, false]);
    assert.deepEqual(reasons, ["the group's coordinator has not answered for more than 60 ms"]);
  });

  it('waits for a group that lets the member wait, and for one that has not answered it yet', () => {
    member = { lastContactAt: Date.now() - 10_000, unanswered: false, state: 'joining' };
    pass(3 * SESSION_MS);
    member = { lastContactAt: 0, unanswered: true, state: 'joining' };
    pass(3 * SESSION_MS);
    assert.deepEqual(reasons, []);
  });

  it('lets nothing be written once the process did not run for longer than the session, and says so', () => {
    member = { lastContactAt: Date.now() + 10_000, unanswered: false, state: 'stable' };
    const realNow = Date.now;
    const wakesAt = Date.now() + 2 * SESSION_MS;
    Date.now = () => wakesAt;
    try {
      assert.equal(watch.mayWork, false);
      mock.timers.tick(PULSE_MS);
      assert.deepEqual([watch.mayWork, reasons], [true, ['this process did not run for 120 ms']]);
    } finally {
      Date.now = realNow;
    }
  });
});
