import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { coordinatesKey } from '../../src/connect/offset-tracker.ts';
import type { SourceCoordinates } from '../../src/data/record.ts';
import { until } from '../support/until.ts';
import { assertOnce, SourceFixture, type RunningSource } from './source-fixture.ts';

const numbers = (source: RunningSource) => source.rows().map(({ n }) => n);

describe('a row that is committed late', function () {
  let fixture: SourceFixture;

  before(async () => {
    fixture = await SourceFixture.create();
  });
  afterEach(() => fixture.stopAll());
  after(() => fixture.close());

  for (const [what, key] of [
    ['with a key', ', primary key (ts, n)'],
    ['without a key', ''],
  ] as const) {
    it(`is sent once, and counted (table ${what})`, async () => {
      const table = `late_${what.replaceAll(' ', '_')}`;
      await fixture.sql.run(`create table ${table} (ts timestamptz, n int8${key})`);
      await fixture.other.run('begin', `insert into ${table} values (now() - interval '1 s', 1), (now(), 2)`);
      await fixture.sql.run(`insert into ${table} values (now(), 3)`);
      const source = await fixture.start(table, { 'timestamp.delay.ms': '5000' });
      await source.untilRows(1);
      await fixture.sql.run(`insert into ${table} values (now(), 4)`);
      await source.untilRows(2);
      assert.deepEqual(numbers(source), [3, 4]);
      await fixture.other.run('commit');
      await source.untilRows(4);
      await fixture.sql.run(`insert into ${table} values (now(), 5)`);
      await source.untilRows(5);
      await delay(500);
      assert.deepEqual(numbers(source), [3, 4, 1, 2, 5]);
      assert.equal(source.part(table)?.counts['lateRows'], 2);
      assert.ok(source.log.some((line) => line.startsWith(`warn: 2 rows of table ${table} were committed behind`)));
    });
  }

  it('is sent when it was written in a subtransaction', async () => {
    await fixture.sql.run('create table nested (ts timestamptz, n int8, primary key (ts, n))');
    await fixture.other.run('begin', 'savepoint a', `insert into nested values (now(), 1)`, 'release a', 'savepoint b');
    await fixture.other.run(`insert into nested values (now(), 2)`);
    await fixture.sql.run(`insert into nested values (now(), 3)`);
    const source = await fixture.start('nested');
    await source.untilRows(1);
    await delay(300);
    await fixture.other.run('commit');
    await source.untilRows(3);
    await delay(400);
    assert.deepEqual(numbers(source), [3, 1, 2]);
  });

  it('is sent once also when many transactions run at the same time for seconds', async () => {
    await fixture.sql.run('create table busy (ts timestamptz, n int8, primary key (ts, n))');
    const source = await fixture.start('busy', { 'fetch.max.rows': '20' });
    let n = 0;
    const expected: number[] = [];
    for (let round = 0; round < 12; round++) {
      await fixture.other.run('begin');
      for (let step = 0; step < 8; step++) {
        const [early, late] = [n++, n++];
        expected.push(early, late);
        await fixture.other.run(`insert into busy values (clock_timestamp(), ${String(late)})`);
        await fixture.sql.run(`insert into busy values (clock_timestamp(), ${String(early)})`);
        await delay(20);
      }
      await fixture.other.run('commit');
    }
    await source.untilRows(expected.length);
    await delay(400);
    assertOnce(numbers(source), expected);
  });

  it('is only counted with late.rows=count, and not looked for with timestamp.delay.ms=0', async () => {
    await fixture.sql.run('create table counted (ts timestamptz primary key, n int8)');
    await fixture.other.run('begin', `insert into counted values (now() - interval '1 s', 1)`);
    await fixture.sql.run(`insert into counted values (now(), 2)`);
    const counting = await fixture.start('counted', { 'late.rows': 'count' });
    const blind = await fixture.start('counted', { 'timestamp.delay.ms': '0' });
    await Promise.all([counting.untilRows(1), blind.untilRows(1)]);
    await fixture.other.run('commit');
    await delay(500);
    assert.deepEqual([numbers(counting), numbers(blind)], [[2], [2]]);
    assert.equal(counting.part('counted')?.counts['lateRows'], 1);
    assert.equal(blind.part('counted')?.counts['lateRows'], 0);
  });

  it('is sent when it was committed while no task ran, and those sent before are not sent again', async () => {
    await fixture.sql.run('create table away (ts timestamptz, n int8, primary key (ts, n))');
    await fixture.sql.run(`insert into away values (now(), 1)`);
    const source = await fixture.start('away', { 'timestamp.delay.ms': '2000' });
    await source.untilRows(1);
    await fixture.other.run('begin', `insert into away values (now(), 2)`);
    await fixture.sql.run(`insert into away values (clock_timestamp(), 3)`);
    await source.untilRows(2);
    await source.stop();
    await delay(2_500);
    await fixture.other.run('commit');
    const again = await fixture.start('away', { 'timestamp.delay.ms': '2000' }, { offsets: source.offsets });
    await again.untilRows(1);
    await delay(300);
    assertOnce([...numbers(source), ...numbers(again)].slice(0, 2), [1, 3]);
    assert.ok(numbers(again).includes(2));
    assert.ok(!numbers(again).includes(1));
  });

  it('is sent again when it changes within the delay', async () => {
    await fixture.sql.run('create table changing (ts timestamptz primary key, n int8)');
    await fixture.sql.run(`insert into changing values (now(), 1)`);
    const source = await fixture.start('changing');
    await source.untilRows(1);
    await fixture.sql.run(`update changing set n = 2`);
    assert.deepEqual(
      (await source.untilRows(2)).map(({ n }) => n),
      [1, 2],
    );
  });

  it('waits in the result of a query, as long as timestamp.delay.ms says', async () => {
    await fixture.sql.run('create table base (ts timestamptz primary key, n int8)');
    await fixture.other.run('begin', `insert into base values (now() - interval '1 ms', 1)`);
    await fixture.sql.run(`insert into base values (now(), 2)`);
    const config = { query: 'select * from base', 'table.include': '', 'timestamp.delay.ms': '1500' };
    const source = await fixture.start('', config);
    await delay(500);
    await fixture.other.run('commit');
    assert.equal(source.records.length, 0);
    assert.deepEqual(
      (await source.untilRows(2)).map(({ n }) => n),
      [1, 2],
    );
  });

  it('arrives at least once, as all others do, when the task is killed twenty times at random points', async () => {
    await fixture.sql.run('create table killed (ts timestamptz, n int8, primary key (ts, n))');
    let writing = true;
    let n = 0;
    const writer = (async () => {
      while (writing) {
        await fixture.other.run('begin', `insert into killed values (clock_timestamp(), ${String(n++)})`);
        for (let step = 0; step < 10; step++) {
          const rows = `select clock_timestamp(), g from generate_series(${String(n)}, ${String((n += 20) - 1)}) g`;
          await fixture.sql.run(`insert into killed ${rows}`);
          await delay(5);
        }
        await fixture.other.run('commit');
      }
    })();
    const seen = new Set<unknown>();
    let offsets = new Map<string, SourceCoordinates>();
    let sent = 0;
    for (let life = 0; life <= 20; life++) {
      const source = await fixture.start(
        'killed',
        { 'poll.interval.ms': '20', 'timestamp.delay.ms': '3000' },
        { offsets },
      );
      if (life === 20) {
        writing = false;
        await writer;
        await until(() => new Set([...seen, ...numbers(source)]).size === n, 'all rows are there');
        sent += numbers(source).length;
        break;
      }
      await delay(30 + Math.random() * 120);
      await source.stop();
      // What was acknowledged, and its offset stored, is any beginning of what was sent.
      const stored = source.records.slice(0, Math.floor(Math.random() * (source.records.length + 1)));
      offsets = new Map(offsets);
      for (const { sourcePartition, sourceOffset } of stored)
        offsets.set(coordinatesKey(sourcePartition), sourceOffset);
      for (const row of numbers(source)) seen.add(row);
      sent += source.records.length;
    }
    console.log(`      ${String(n)} rows, ${String(sent)} records over 20 kills`);
    await delay(200);
  });
});
