import assert from 'node:assert/strict';
import { ThreadBoard } from '../../../src/threads/thread-board.ts';
import { until } from '../../support/until.ts';

describe('the board of a thread', () => {
  let control: ThreadBoard;
  let thread: ThreadBoard;

  beforeEach(() => {
    control = new ThreadBoard();
    thread = new ThreadBoard(control.buffer);
  });

  it("counts the turns of the thread's event loop", () => {
    assert.equal(control.beats, 0);
    thread.beat();
    thread.beat();
    assert.equal(control.beats, 2);
  });

  it('lets the thread write until the deadline', () => {
    assert.equal(thread.mayWork, false);
    control.mayWorkUntil = Date.now() + 60_000;
    assert.equal(thread.mayWork, true);
    control.mayWorkUntil = Date.now() - 1;
    assert.equal(thread.mayWork, false);
    control.mayWorkUntil = Infinity;
    assert.equal(thread.mayWork, true);
  });

  it('permanently forbids the thread to write once withdrawn', () => {
    control.withdraw();
    control.mayWorkUntil = Date.now() + 60_000;
    assert.equal(thread.mayWork, false);
  });

  it('shows the longest turn that the thread reported', () => {
    assert.equal(control.loopDelaySeconds, 0);
    thread.beat(60);
    assert.equal(control.loopDelaySeconds, 60);
    thread.beat(30);
    assert.equal(control.loopDelaySeconds, 30);
  });

  it('shows the duration of the current turn while the thread does not beat', async () => {
    thread.beat(0.001);
    await until(() => control.loopDelaySeconds > 0.05, 'it is longer than the reported one');
  });
});
