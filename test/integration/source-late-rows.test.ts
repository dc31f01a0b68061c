import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { assertOnce, SourceFixture } from './source-fixture.ts';

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
      assert.deepEqual(source.numbers(), [3, 4]);
      await fixture.other.run('commit');
      await source.untilRows(4);
      await fixture.sql.run(`insert into ${table} values (now(), 5)`);
      await source.untilRows(5);
      await delay(500);
      assert.deepEqual(source.numbers(), [3, 4, 1, 2, 5]);
      assert.equal(source.part(table)?.counts['lateRows'], 2);
      assert.ok(source.log.some((line) => line.startsWith(`warn: 2 rows of table ${table} were committed after`)));
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
    assert.deepEqual(source.numbers(), [3, 1, 2]);
  });

  it('is sent once also when many transactions run at the same time for seconds', async () => {
    await fixture.sql.run('create table busy (ts timestamptz, n int8, primary key (ts, n))');
    const source = await fixture.start('busy', { 'fetch.max.rows': '20', 'fetch.max.rows.auto': 'false' });
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
    assertOnce(source.numbers(), expected);
  });

  it('is only counted with late.rows=count, and not detected with timestamp.delay.ms=0', async () => {
    await fixture.sql.run('create table counted (ts timestamptz primary key, n int8)');
    await fixture.other.run('begin', `insert into counted values (now() - interval '1 s', 1)`);
    await fixture.sql.run(`insert into counted values (now(), 2)`);
    const counting = await fixture.start('counted', { 'late.rows': 'count' });
    const blind = await fixture.start('counted', { 'timestamp.delay.ms': '0' });
    await Promise.all([counting.untilRows(1), blind.untilRows(1)]);
    await fixture.other.run('commit');
    await delay(500);
    assert.deepEqual([counting.numbers(), blind.numbers()], [[2], [2]]);
    assert.equal(counting.part('counted')?.counts['lateRows'], 1);
    assert.equal(blind.part('counted')?.counts['lateRows'], 0);
  });

  const TOLD = { notify: 'true', 'timestamp.delay.ms': '500' };

  /** Waits until the database tells the times of rows that are inserted into a table. */
  async function untilTold(table: string): Promise<void> {
    const told = `select count(*) from pg_trigger where tgrelid = '${table}'::regclass and tgnewtable is not null`;
    await until(async () => (await fixture.sql.number(told)) === 1, 'the trigger is there');
  }

  for (const [what, key] of [
    ['with a key', ', primary key (ts, n)'],
    ['without a key', ''],
  ] as const) {
    it(`with a time a year back is sent once with notify=true (M10, table ${what})`, async () => {
      const table = `told_${what.replaceAll(' ', '_')}`;
      await fixture.sql.run(
        `create table ${table} (ts timestamptz, n int8${key})`,
        `insert into ${table} values (now() - interval '1 year', 0), (now(), 1)`,
        'select pg_stat_force_next_flush()',
      );
      const source = await fixture.start(table, TOLD);
      await source.untilRows(2);
      await untilTold(table);
      // Anybody may notify: what is not a transaction's of now has no effect.
      const forged = ['1', '4294967296', '9000000000000000000'].map(
        (xid) =>
          `select pg_notify('sluice_rows', '${table}'::regclass::oid || ' -9000000000000000000 9000000000000000000 ${xid} ts')`,
      );
      await fixture.sql.run(...forged, `notify sluice_rows, 'x'`);
      await fixture.sql.run(`insert into ${table} values (now() - interval '1 year', 2)`);
      await source.untilRows(3);
      // Rows that were read after the position and by looking back, in addition to the earlier ones.
      await fixture.sql.run(
        `insert into ${table} select now() - (10 - n) * interval '40 days', n from generate_series(3, 10) n`,
        `insert into ${table} values (now() - interval '1 year', 11), (now() - interval '100 ms', 12), (now() - interval '2 s', 13)`,
        'begin',
        `insert into ${table} values (now() - interval '2 years', 14)`,
        'savepoint a',
        `insert into ${table} values (now() - interval '3 years', 15)`,
        'release a',
        `insert into ${table} values (now(), 16)`,
        'commit',
      );
      await source.untilRows(17);
      await delay(400);
      assertOnce(
        source.numbers(),
        Array.from({ length: 17 }, (_, n) => n),
      );
      assert.equal(source.part(table)?.counts['passedOver'], 0);
      assert.equal(source.part(table)?.counts['failures'], 0);
    });
  }

  it('with an old time is sent once with notify=true while the source is busy, idle or catching up (M10)', async () => {
    await fixture.sql.run(
      'create table told_busy (ts timestamptz, n int8, primary key (ts, n))',
      `insert into told_busy select now() - interval '1 day' + n * interval '1 ms', n from generate_series(0, 2999) n`,
    );
    const source = await fixture.start('told_busy', {
      ...TOLD,
      'fetch.max.rows': '20',
      'fetch.max.rows.auto': 'false',
    });
    await untilTold('told_busy');
    let n = 3_000;
    for (let round = 0; round < 24; round++) {
      const back = `now() - interval '${String((round % 7) * 11)} hours'`;
      await fixture.other.run(
        'begin',
        `insert into told_busy values (${back}, ${String(n++)}), (now(), ${String(n++)})`,
      );
      const many = `select ${back} + g * interval '1 min', g from generate_series(${String(n)}, ${String((n += 30) - 1)}) g`;
      await fixture.sql.run(`insert into told_busy select least(ts, now()), g from (${many}) rows (ts, g)`);
      await fixture.other.run('commit');
      await delay(round % 10 === 9 ? 700 : 10);
    }
    await source.untilRows(n);
    // At rest: the last row is further back than timestamp.delay.ms, and than a second.
    await delay(1_500);
    const ties = `select max(ts), g from told_busy, generate_series(${String(n++)}, ${String(n++)}) g group by g`;
    await fixture.sql.run(
      `insert into told_busy ${ties}`,
      `insert into told_busy select max(ts), -1 from told_busy`,
      `insert into told_busy select max(ts), g from told_busy, generate_series(-3, -2) g group by g union all select max(ts), ${String(n++)} from told_busy`,
    );
    await source.untilRows(n + 3);
    await delay(400);
    assertOnce(
      source.numbers(),
      Array.from({ length: n + 3 }, (_, index) => index - 3),
    );
    assert.equal(source.part('told_busy')?.counts['failures'], 0);
  });

  it('is notified by a trigger that replaces an older version, for each column that sources order by (M10)', async () => {
    const [name, other] = ['we ird"$', 'seen'];
    const column = (text: string) => `"${text.replaceAll('"', '""')}"`;
    await fixture.sql.run(
      `create table told_old (${column(name)} timestamp, ${other} timestamptz, n int8 primary key)`,
      `create or replace function sluice_notify() returns trigger language plpgsql
        as $$ begin perform pg_notify('sluice_rows', tg_relid::text); return null; end $$`,
      'create trigger sluice_notify after insert or update on told_old for each statement execute function sluice_notify()',
      'insert into told_old values (now(), now(), 0)',
    );
    const first = await fixture.start('told_old', { ...TOLD, 'timestamp.column.name': name });
    await untilTold('told_old');
    const second = await fixture.start('told_old', { ...TOLD, 'timestamp.column.name': other });
    const both = `select count(*) from pg_trigger where tgname = 'sluice_notify' and tgnargs = 2`;
    await until(async () => (await fixture.sql.number(both)) === 1, 'both columns are announced');
    await Promise.all([first.untilRows(1), second.untilRows(1)]);
    await fixture.sql.run(
      `insert into told_old values (now() - interval '1 year', now(), 1), (now(), now() - interval '2 years', 2)`,
      `insert into told_old values ('infinity', '-infinity', 3)`,
    );
    await Promise.all([first.untilRows(3), second.untilRows(3)]);
    assertOnce(first.numbers(), [0, 1, 2]);
    assertOnce(second.numbers(), [0, 1, 2]);
    // A column that goes must not make writing fail.
    await fixture.sql.run(`alter table told_old drop column ${other}`, `insert into told_old values (now(), 4)`);
    await first.untilRows(4);
  });

  it('is only estimated if the trigger cannot see new rows; the table is still notified (M10)', async () => {
    await fixture.sql.run(
      'create table untold (ts timestamptz primary key, n int8)',
      `create function refuse() returns event_trigger language plpgsql as $$ begin
        if current_query() like '%REFERENCING%' then raise 'no such triggers here' using errcode = '0A000'; end if; end $$`,
      'create event trigger refuse on ddl_command_start execute function refuse()',
    );
    const source = await fixture.start('untold', { ...TOLD, 'poll.interval.ms': '60000' });
    const told = `select count(*) from pg_trigger where tgrelid = 'untold'::regclass`;
    await until(async () => (await fixture.sql.number(told)) === 1, 'the trigger is there');
    await fixture.sql.run('drop event trigger refuse', 'insert into untold values (now(), 1)');
    await source.untilRows(1);
    const lines = source.log.filter((line) => line.startsWith('info: Rows of table untold'));
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /are not read, because .* no such triggers here/);
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
    assertOnce([...source.numbers(), ...again.numbers()].slice(0, 2), [1, 3]);
    assert.ok(again.numbers().includes(2));
    assert.ok(!again.numbers().includes(1));
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

  it('in the result of a query is delayed by timestamp.delay.ms', async () => {
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

  it('is sent even if it has the same time as the last row sent, in a table without a key', async () => {
    await fixture.sql.run('create table tied (ts timestamptz, n int8)');
    const [[at] = []] = await fixture.sql.rows(`select date_trunc('second', now())::text`);
    const row = (n: number) => `insert into tied values ('${String(at)}', ${String(n)})`;
    await fixture.sql.run(row(1), row(5));
    const source = await fixture.start('tied', { 'late.rows': 'count' });
    await source.untilRows(2);
    await fixture.sql.run(row(3));
    await source.untilRows(3);
    await fixture.sql.run('delete from tied where n < 5', row(2), `insert into tied values (now(), 6)`);
    await source.untilRows(5);
    await delay(300);
    assert.deepEqual(source.numbers(), [1, 5, 3, 2, 6]);
    assert.equal(source.part('tied')?.counts['lateRows'], 0);
  });

  it('does not prevent later rows from being sent when rows with the last time are deleted', async () => {
    await fixture.sql.run(
      'create table emptied (ts timestamptz, n int8)',
      `insert into emptied select '2026-01-01', 1 from generate_series(1, 5)`,
    );
    const source = await fixture.start('emptied');
    await source.untilRows(5);
    await fixture.sql.run(
      'delete from emptied',
      `insert into emptied select timestamptz '2026-01-02' + g * interval '1 s', g from generate_series(2, 4) g`,
    );
    await source.untilRows(8);
    assert.deepEqual(source.numbers(), [1, 1, 1, 1, 1, 2, 3, 4]);
  });
});
