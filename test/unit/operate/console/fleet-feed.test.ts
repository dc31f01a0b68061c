import assert from 'node:assert/strict';
import type { FleetRow } from '../../../../src/operate/fleet/fleet-answers.ts';
import type { FleetLook } from '../../../../src/operate/fleet/fleet.ts';
import type { FleetNews } from '../../../../src/operate/console/console-answers.ts';
import { FleetFeed } from '../../../../src/operate/console/fleet-feed.ts';
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
  tables: '',
  rate: 1,
  lag: 0,
  deadLettersPerMinute: 0,
  spark: [],
});

const of = (rows: readonly FleetRow[] = [], silent: FleetLook['silent'] = []): FleetLook => ({ rows, silent });
const never = () => () => undefined;

/** The name of an event, and its data. */
function parsed(event: Buffer): readonly [string, FleetNews & { readonly message?: string }] {
  const [, name = '', data = ''] = /^event: (\w+)\ndata: (.*)\n\n$/.exec(event.toString()) ?? [];
  return [name, JSON.parse(data) as FleetNews];
}

describe('the feed of the console', () => {
  it('gives all consoles the same bytes, so that many that do not read cost no more memory than one', async () => {
    const feed = new FleetFeed({ look: async () => of([row('a')]), onChange: never }, 1);
    const told: Buffer[][] = [[], []];
    const ends = told.map((events) => feed.listen((event) => events.push(event)));
    await until(() => told.every(({ length }) => length > 0), 'both were notified');
    for (const end of ends) end();
    assert.equal(told[0]?.[0], told[1]?.[0]);
  });

  it('tells what has changed and what is gone, once for all consoles, and looks no more when none is open', async () => {
    let looks = 0;
    const states = [[row('a'), row('b')], [row('a', 'waits'), row('b')], [row('a', 'waits')]];
    const feed = new FleetFeed({ look: async () => of(states[Math.min(looks++, 2)]), onChange: never }, 1);
    const told: FleetNews[] = [];
    const ends = [1, 2].map(() =>
      feed.listen((event) => {
        const [name, data] = parsed(event);
        assert.equal(name, 'rows');
        told.push(data);
      }),
    );
    await until(() => told.length >= 6, 'two consoles receive three looks');
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

  it('reports a failure, and continues', async () => {
    let looks = 0;
    const look = async (): Promise<FleetLook> => {
      looks += 1;
      if (looks === 1) throw new Error('no answer');
      return of([row('a')]);
    };
    const feed = new FleetFeed({ look, onChange: never }, 1);
    const told: string[] = [];
    const end = feed.listen((event) => {
      const [name, { message, total }] = parsed(event);
      told.push(`${name} ${message ?? String(total)}`);
    });
    await until(() => told.length >= 2, 'both are received');
    end();
    assert.deepEqual(told.slice(0, 2), ['failure no answer', 'rows 1']);
  });

  it('looks soon after a console was opened and after changes, and not before the next minute without them', async () => {
    let change: () => void = () => undefined;
    let ends = 0;
    const onChange = (listener: () => void): (() => void) => {
      change = listener;
      return () => (ends += 1);
    };
    const feed = new FleetFeed({ look: async () => of([row('a')]), onChange }, 60_000);
    const told: string[] = [];
    const end = feed.listen((event) => told.push(parsed(event)[0]));
    for (let count = 0; count < 100; count++) change();
    await until(() => told.length > 0, 'the change is received');
    end();
    assert.deepEqual(told, ['rows']);
    assert.equal(ends, 1);
  });

  it('looks again at once while a worker may be lost, and says since when it does not answer', async () => {
    let looks = 0;
    const look = async (): Promise<FleetLook> => {
      looks += 1;
      const silentMs = looks === 1 ? 2 : 1002;
      return of([row('a')], [{ worker: 'w:1', silentMs, isCertain: looks > 1 }]);
    };
    const onChange = (listener: () => void): (() => void) => {
      setImmediate(listener);
      return () => undefined;
    };
    const feed = new FleetFeed({ look, onChange }, 60_000);
    const told: FleetNews[] = [];
    const end = feed.listen((event) => told.push(parsed(event)[1]));
    await until(() => told.length >= 2, 'it has looked again');
    end();
    assert.deepEqual(
      told.map(({ at, silent }) => silent.map(({ worker, since }) => `${worker} ${String(at - since)} ms`)),
      [[], ['w:1 1002 ms']],
    );
  });

  it('tells a console that begins to listen all rows, as they may have changed since its snapshot', async () => {
    const feed = new FleetFeed({ look: async () => of([row('a'), row('b')]), onChange: never }, 1);
    const told: string[][] = [[], []];
    const listen = (console: number) =>
      feed.listen((event) =>
        told[console]?.push(
          parsed(event)[1]
            .rows.map(({ name }) => name)
            .join(),
        ),
      );
    const ends = [listen(0)];
    await until(() => (told[0]?.length ?? 0) >= 2, 'two looks are received');
    ends.push(listen(1));
    await until(() => (told[1]?.length ?? 0) >= 2, 'the other one receives two looks');
    for (const end of ends) end();
    assert.deepEqual(
      told.map((each) => each.slice(0, 2)),
      [
        ['a,b', ''],
        ['a,b', ''],
      ],
    );
  });
});
