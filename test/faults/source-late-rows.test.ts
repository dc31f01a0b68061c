import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { coordinatesKey } from '../../src/connect/source/offset-tracker.ts';
import type { SourceCoordinates } from '../../src/data/record.ts';
import { until } from '../support/until.ts';
import { assertOnce, SourceFixture, type RunningSource } from '../integration/source-fixture.ts';

describe('a row that is committed late', function () {
  let fixture: SourceFixture;

  before(async () => {
    fixture = await SourceFixture.create();
  });
  afterEach(() => fixture.stopAll());
  after(() => fixture.close());

  it('with a time further back than the delay is not read, but logged and estimated (M10)', async () => {
    await fixture.sql.run('create table far_back (ts timestamptz, n int8, primary key (ts, n))');
    const flush = 'select pg_stat_force_next_flush()';
    await fixture.sql.run(`insert into far_back values (now() - interval '1 day', 0), (now(), 1)`, flush);
    const source = await fixture.start('far_back', { 'timestamp.delay.ms': '500' });
    await source.untilRows(2);
    const passedOver = () => source.part('far_back')?.counts['passedOver'] ?? 0;
    await delay(300);
    assert.equal(passedOver(), 0);
    await fixture.sql.run('insert into far_back values (now(), 1)');
    // Rows of the first 12 seconds do not count, since the statistics of the table may be older.
    let n = 2;
    await until(async () => {
      await fixture.sql.run(`insert into far_back values (now() - interval '1 hour', ${String(n++)})`, flush);
      return passedOver() > 0;
    }, 'rows are missed');
    assert.deepEqual(source.numbers(), [0, 1, 1]);
    assert.ok(
      source.log.some((line) => /^warn: About \d+ rows of table far_back were inserted but not read/.test(line)),
    );
    assert.equal(source.part('far_back')?.counts['lateRows'], 0);
  });

  /** Rows with numbers 0, 1, 2 …, some of them in transactions that stay open for a while, until it is stopped. */
  function writeRows(table: string, time: string): { stop(): Promise<number> } {
    let isWriting = true;
    let n = 0;
    const writing = (async () => {
      while (isWriting) {
        await fixture.other.run('begin', `insert into ${table} values (${time}, ${String(n++)})`);
        for (let step = 0; step < 10; step++) {
          const rows = `select ${time}, g from generate_series(${String(n)}, ${String((n += 20) - 1)}) g`;
          await fixture.sql.run(`insert into ${table} ${rows}`);
          const nested = `insert into ${table} values (${time}, ${String(n++)})`;
          if (step % 3 === 0) await fixture.other.run('savepoint a', nested, 'release a');
          else await fixture.sql.run(nested);
          await delay(5);
        }
        await fixture.other.run('commit');
      }
    })();
    return {
      stop: async () => {
        isWriting = false;
        await writing;
        return n;
      },
    };
  }

  const KILLED = { 'poll.interval.ms': '20', 'timestamp.delay.ms': '5000' };

  /** Kills a task twenty times while rows are written; `kept` tells how many of its records and how many offsets remain. */
  async function killTwentyTimes(
    table: string,
    time: string,
    kept: (source: RunningSource) => { records: number; offsets: number },
  ): Promise<{ rows: number; seen: unknown[] }> {
    const writer = writeRows(table, time);
    const seen: unknown[] = [];
    const offsets = new Map<string, SourceCoordinates>();
    for (let life = 0; life < 20; life++) {
      const config = { ...KILLED, 'fetch.max.rows': String(5 + life * 10), 'fetch.max.rows.auto': 'false' };
      const source = await fixture.start(table, config, { offsets: new Map(offsets) });
      await delay(30 + Math.random() * 120);
      await source.stop();
      const { records, offsets: stored } = kept(source);
      for (const { sourcePartition, sourceOffset } of source.records.slice(0, stored)) {
        offsets.set(coordinatesKey(sourcePartition), sourceOffset);
      }
      seen.push(...source.numbers().slice(0, records));
    }
    const rows = await writer.stop();
    const source = await fixture.start(table, KILLED, { offsets });
    const all = () => new Set([...seen, ...source.numbers()]).size;
    await until(() => all() === rows, 'all rows are there', { timeoutMs: 30_000 });
    await delay(300);
    return { rows, seen: [...seen, ...source.numbers()] };
  }

  it('arrives at least once, as all others do, when the task is killed twenty times at random points', async () => {
    await fixture.sql.run('create table killed (ts timestamptz, n int8, primary key (ts, n))');
    // The acknowledged records, and those with a stored offset, are any prefix of the records that were sent.
    const { rows, seen } = await killTwentyTimes('killed', 'clock_timestamp()', ({ records }) => {
      return { records: records.length, offsets: Math.floor(Math.random() * (records.length + 1)) };
    });
    console.log(`      ${String(rows)} rows, ${String(seen.length)} records over 20 kills`);
  });

  for (const [what, key, time] of [
    ['with a key', ', primary key (ts, n)', 'clock_timestamp()'],
    ['without a key, many rows of one time', '', `date_trunc('second', clock_timestamp())`],
  ] as const) {
    it(`arrives once, as all others do, when whole polls are stored together with their offsets (table ${what})`, async () => {
      const table = `once_${String(key.length)}`;
      await fixture.sql.run(`create table ${table} (ts timestamptz, n int8${key})`);
      const { rows, seen } = await killTwentyTimes(table, time, ({ polls }) => {
        const whole = polls.slice(0, Math.floor(Math.random() * (polls.length + 1)));
        const records = whole.reduce((sum, count) => sum + count, 0);
        return { records, offsets: records };
      });
      console.log(`      ${String(rows)} rows, ${String(seen.length)} records over 20 kills`);
      assertOnce(
        seen,
        Array.from({ length: rows }, (_, index) => index),
      );
    });
  }
});
