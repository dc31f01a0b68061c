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

  it('counts the turns of the event loop of the thread', () => {
    assert.equal(control.beats, 0);
    thread.beat();
    thread.beat();
    assert.equal(control.beats, 2);
  });

  it('lets the thread write from when it is told until then', () => {
    assert.equal(thread.mayWork, false);
    control.mayWorkUntil = Date.now() + 60_000;
    assert.equal(thread.mayWork, true);
    control.mayWorkUntil = Date.now() - 1;
    assert.equal(thread.mayWork, false);
    control.mayWorkUntil = Infinity;
    assert.equal(thread.mayWork, true);
  });

  it('lets the thread never write again once the right was taken from it', () => {
    control.withdraw();
    control.mayWorkUntil = Date.now() + 60_000;
    assert.equal(thread.mayWork, false);
  });

  it('shows the longest turn that the thread told', () => {
    assert.equal(control.loopDelaySeconds, 0);
    thread.beat(60);
    assert.equal(control.loopDelaySeconds, 60);
    thread.beat(30);
    assert.equal(control.loopDelaySeconds, 30);
  });

  it('shows the turn that goes on while the thread tells nothing', async () => {
    thread.beat(0.001);
    await until(() => control.loopDelaySeconds > 0.05, 'it is longer than what was told');
  });
});
