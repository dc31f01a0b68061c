import assert from 'node:assert/strict';
import { catchUp, chartEvents, isFlat, within } from '../../src/connector/chart-events.ts';

/** A lag every five seconds. */
function lag(of: (second: number) => number | null, count = 60) {
  const at = Array.from({ length: count }, (_, index) => index * 5);
  return [at, at.map(of)] as const;
}

describe('the charts of a connector', () => {
  it('estimate when nothing waits, from the trend of the last five minutes', () => {
    const falling = catchUp(lag((second) => 10_000 - 20 * second));
    assert.ok(typeof falling === 'number');
    assert.equal(Math.round(falling / 1000), Math.round((10_000 - 20 * 295) / 20));
    assert.equal(catchUp(lag((second) => 10_000 + 3 * second)), 'never');
    assert.equal(catchUp(lag(() => 10_000)), 'never');
  });

  it('estimate nothing from a small lag or from few points', () => {
    assert.equal(catchUp(lag(() => 50)), undefined);
    assert.equal(catchUp(lag((second) => 10_000 - second, 3)), undefined);
    assert.equal(catchUp(lag(() => null)), undefined);
  });

  it('mark changes, and verdicts after the first one, by time', () => {
    const changes = [{ at: '1970-01-01T00:00:30.000Z', what: 'changed' as const }];
    assert.deepEqual(
      chartEvents(changes, [
        ['RUNNING', 1000],
        ['FAILED', 20_000],
        ['RUNNING', 40_000],
      ]),
      [
        { at: 20, text: 'became FAILED', isBad: true },
        { at: 30, text: 'configuration changed', isBad: false },
        { at: 40, text: 'became RUNNING', isBad: false },
      ],
    );
  });

  it('show a part of the time, and leave out what is always zero', () => {
    const [at, values] = within(
      lag((second) => second),
      1,
    );
    assert.deepEqual([at[0], values.at(-1), at.length], [235, 295, 13]);
    assert.equal(
      isFlat([
        [0, 5],
        [0, null],
      ]),
      true,
    );
    assert.equal(
      isFlat([
        [0, 5],
        [0, 1],
      ]),
      false,
    );
  });
});
