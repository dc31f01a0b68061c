import assert from 'node:assert/strict';
import type { FleetRow } from '../../../../src/herder/fleet/fleet.ts';
import { FleetFeed, type FleetNews } from '../../../../src/rest/console/fleet-feed.ts';
import { until } from '../../../support/until.ts';

const row = (name: string, sentence = 'runs'): FleetRow => ({
  name,
  type: 'sink',
  className: 'Any',
  verdict: 'RUNNING',
  sentence,
  since: '2026-01-01T00:00:00.000Z',
  tasks: { RUNNING: 1 },
  workers: ['w:1'],
  topics: 't',
  rate: 1,
  lag: 0,
  deadLettersPerMinute: 0,
  spark: [],
});

describe('the feed of the console', () => {
  it('tells what has changed and what is gone, once for all consoles, and looks no more when none is open', async () => {
    let looks = 0;
    const states = [[row('a'), row('b')], [row('a', 'waits'), row('b')], [row('a', 'waits')]];
    const feed = new FleetFeed(async () => states[Math.min(looks++, 2)] ?? [], 1);
    const told: FleetNews[] = [];
    const ends = [1, 2].map(() =>
      feed.listen((event, data) => {
        assert.equal(event, 'rows');
        told.push(data as FleetNews);
      }),
    );
    await until(() => told.length >= 6, 'three looks are told to two consoles');
    for (const end of ends) end();
    const first = told.filter((_, index) => index % 2 === 0).slice(0, 3);
    assert.deepEqual(
      first.map(({ rows, gone, total }) => [rows.map(({ name, sentence }) => `${name} ${sentence}`), gone, total]),
      [
        [['a runs', 'b runs'], [], 2],
        [['a waits'], [], 2],
        [[], ['b'], 1],
      ],
    );
    assert.equal(feed.listeners, 0);
  });

  it('tells of a failure, and goes on', async () => {
    let looks = 0;
    const feed = new FleetFeed(async () => {
      looks += 1;
      if (looks === 1) throw new Error('no answer');
      return [row('a')];
    }, 1);
    const told: string[] = [];
    const end = feed.listen((event, data) =>
      told.push(`${event} ${'message' in data ? data.message : String(data.total)}`),
    );
    await until(() => told.length >= 2, 'both are told');
    end();
    assert.deepEqual(told.slice(0, 2), ['failure no answer', 'rows 1']);
  });
});
