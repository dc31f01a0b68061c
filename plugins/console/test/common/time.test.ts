import assert from 'node:assert/strict';
import { clockTime, dateTime, durationText, exactDateTime, shortTime, zone, zoneText } from '../../src/common/time.ts';

describe('times of the console', () => {
  before(() => {
    zone.value = 'utc';
  });
  after(() => {
    zone.value = 'local';
  });

  it('have one style, and no date if they are of today', () => {
    const at = Date.UTC(2026, 10, 24, 16, 18, 59, 42);
    assert.equal(dateTime(at), '2026-11-24 16:18:59');
    assert.equal(exactDateTime(at), '2026-11-24 16:18:59.042');
    assert.equal(clockTime(new Date(at).toISOString()), '16:18:59');
    assert.equal(shortTime(at, Date.UTC(2026, 10, 24, 23)), '16:18:59');
    assert.equal(shortTime(at, Date.UTC(2026, 10, 25, 1)), '2026-11-24 16:18:59');
    assert.equal(zoneText(), 'UTC');
  });

  it('follow the zone that is chosen', () => {
    const at = Date.UTC(2026, 6, 1, 12);
    zone.value = 'local';
    const local = new Date(at).getHours();
    assert.equal(
      clockTime(at),
      `${String(local).padStart(2, '0')}:${String(new Date(at).getMinutes()).padStart(2, '0')}:00`,
    );
    zone.value = 'utc';
    assert.equal(clockTime(at), '12:00:00');
  });

  it('that passed are the largest unit that is at least one', () => {
    assert.deepEqual([-5, 900, 59_400, 60_000, 2_520_000, 7_300_000, 200_000_000].map(durationText), [
      ...['0 s', '1 s', '59 s', '1 min', '42 min', '2 h', '2 d'],
    ]);
  });
});
