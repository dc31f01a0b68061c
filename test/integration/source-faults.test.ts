import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { TcpProxy } from '../support/proxy.ts';
import { until } from '../support/until.ts';
import { SourceFixture } from './source-fixture.ts';

describe('a source continues with its other tables when one', function () {
  let fixture: SourceFixture;
  let role: string;

  before(async () => {
    fixture = await SourceFixture.create();
    role = `reader_${fixture.db.database}`;
    await fixture.sql.run(`create role ${role} login password 'x'`);
  });
  afterEach(() => fixture.stopAll());
  after(async () => {
    await fixture.sql.run(`drop owned by ${role}`, `drop role ${role}`);
    await fixture.close();
  });

  /** Two tables with a row each. */
  async function pair(name: string): Promise<void> {
    for (const table of [`${name}_bad`, `${name}_good`]) {
      await fixture.sql.run(
        `create table ${table} (ts timestamptz primary key, n int8)`,
        `insert into ${table} values ('2026-01-01', 1)`,
        `grant select on ${table} to ${role}`,
      );
    }
  }
  const asRole = { 'connection.password': 'x' };

  it('may not be read: it is logged once, is FAILED, and is read once permitted', async () => {
    await pair('denied');
    await fixture.sql.run(`revoke select on denied_bad from ${role}`);
    const source = await fixture.start('denied_.*', { ...asRole, 'connection.user': role });
    await source.untilRows(1, 'denied_good');
    await until(() => source.part('denied_bad')?.state === 'FAILED', 'it shows as FAILED');
    assert.match(source.part('denied_bad')?.error ?? '', /permission denied for table denied_bad/);
    await fixture.sql.run(`insert into denied_good values ('2026-01-02', 2)`);
    await source.untilRows(2, 'denied_good');
    await until(() => (source.part('denied_bad')?.counts['failures'] ?? 0) > 3, 'it is tried again and again');
    assert.equal(source.log.filter((line) => line.startsWith('error: Failed to read table denied_bad')).length, 1);
    assert.equal(source.part('denied_good')?.state, 'RUNNING');
    await fixture.sql.run(`grant select on denied_bad to ${role}`);
    await source.untilRows(1, 'denied_bad');
    assert.equal(source.part('denied_bad')?.state, 'RUNNING');
    assert.equal(source.failure, undefined);
  });

  it('and another have the same topic: both are logged once and are FAILED (M5)', async () => {
    for (const table of ['"same t"', 'same_t', 'same_good']) {
      await fixture.sql.run(
        `create table ${table} (ts timestamptz primary key, n int8)`,
        `insert into ${table} values ('2026-01-01', 1)`,
      );
    }
    const source = await fixture.start('same.*');
    await source.untilRows(1, 'same_good');
    for (const table of ['same t', 'same_t']) {
      assert.equal(source.part(table)?.state, 'FAILED');
      assert.match(source.part(table)?.error ?? '', /same t, same_t would all be written to topic p-.*-same_t-json_db/);
    }
    assert.equal(source.log.filter((line) => line.startsWith('warn: Skipped tables')).length, 1);
    await fixture.sql.run(`insert into same_good values ('2026-01-02', 2)`);
    await source.untilRows(2, 'same_good');
    assert.deepEqual(source.rows().length, 2);
    await fixture.sql.run('drop table "same t"');
    await until(() => source.reconfigurations > 0, 'the connector asks for another deal');
    await fixture.stopAll();
    const again = await fixture.start('same.*');
    await again.untilRows(1, 'same_t');
  });

  it('takes longer than the statement timeout', async () => {
    await pair('slow');
    await fixture.sql.run(
      'alter table slow_bad enable row level security',
      'create policy slowly on slow_bad using (pg_sleep(0.5) is not null)',
      `alter role ${role} set statement_timeout = '200ms'`,
    );
    const source = await fixture.start('slow_.*', { ...asRole, 'connection.user': role });
    await source.untilRows(1, 'slow_good');
    await until(() => source.part('slow_bad')?.state === 'FAILED', 'it shows as FAILED');
    assert.match(source.part('slow_bad')?.error ?? '', /statement timeout/);
    await fixture.sql.run(`insert into slow_good values ('2026-01-02', 2)`);
    await source.untilRows(2, 'slow_good');
    await fixture.sql.run('drop policy slowly on slow_bad', 'alter table slow_bad disable row level security');
    await source.untilRows(1, 'slow_bad');
    await fixture.sql.run(`alter role ${role} reset statement_timeout`);
  });

  it('is locked, and reads it once it is unlocked', async () => {
    await pair('locked');
    const source = await fixture.start('locked_.*');
    await source.untilRows(2);
    await fixture.other.run('begin', 'lock table locked_bad in access exclusive mode');
    for (let n = 2; n < 6; n++) {
      await fixture.sql.run(`insert into locked_good values ('2026-01-0${String(n)}', ${String(n)})`);
      const startedAt = Date.now();
      await source.untilRows(n, 'locked_good');
      assert.ok(Date.now() - startedAt < 10_000);
    }
    await fixture.other.run(`insert into locked_bad values ('2026-01-02', 2)`, 'commit');
    await source.untilRows(2, 'locked_bad');
  });

  it('is dropped, and no longer lists it', async () => {
    await pair('dropped');
    const source = await fixture.start('dropped_.*');
    await source.untilRows(2);
    await fixture.sql.run('drop table dropped_bad', `insert into dropped_good values ('2026-01-02', 2)`);
    await source.untilRows(2, 'dropped_good');
    await until(() => source.part('dropped_bad') === undefined, 'it is forgotten');
    assert.deepEqual(
      source.log.filter((line) => line.startsWith('error')),
      [],
    );
  });

  it('has a row that the format cannot represent: the task names it and fails, or skips it', async () => {
    await fixture.sql.run(
      'create table unspelled (ts timestamptz primary key, n int8, site text)',
      `comment on column unspelled.site is 'sluice:tag'`,
      `insert into unspelled values ('2026-01-01', 1, 'a'), ('2026-01-02', 2, 'b c'), ('2026-01-03', 3, 'd')`,
    );
    const failing = await fixture.start('unspelled', { 'out.format': 'line_tsd' });
    await until(() => failing.failure, 'the task fails');
    assert.match(
      failing.failure?.message ?? '',
      /table unspelled, row ts=2026-01-02 00:00:00\+00: line_tsd cannot represent .*"b c"/,
    );
    const tolerant = await fixture.start('unspelled', { 'out.format': 'line_tsd', 'errors.tolerance': 'all' });
    await until(() => tolerant.records.length === 2, 'the others are there');
    assert.deepEqual(tolerant.texts(), ['unspelled.n 1767225600000 1 site=a', 'unspelled.n 1767398400000 3 site=d']);
    assert.equal(tolerant.part('unspelled')?.counts['skippedRows'], 1);
  });

  it('loses its connection while being read', async () => {
    await fixture.sql.run(
      'create table cut_bad (ts timestamptz, n int8)',
      `insert into cut_bad select timestamptz '2026-01-01' + i * interval '1 s', i from generate_series(0, 19999) i`,
    );
    const source = await fixture.start('cut_.*', {
      'fetch.max.rows': '50',
      'fetch.max.rows.auto': 'false',
      'connection.backoff.ms': '50',
    });
    for (const rows of [1_000, 5_000, 9_000]) {
      await source.untilRows(rows);
      await fixture.sql.rows(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and query like '%cut_bad%'`,
      );
    }
    const rows = await source.untilRows(20_000);
    assert.deepEqual(
      rows.map(({ n }) => n),
      Array.from({ length: 20_000 }, (_, n) => n),
    );
  });
});

describe('a source with notifications', function () {
  let fixture: SourceFixture;

  before(async () => {
    fixture = await SourceFixture.create();
  });
  afterEach(() => fixture.stopAll());
  after(() => fixture.close());

  it('reads a new row within 100 ms regardless of poll.interval.ms', async () => {
    await fixture.sql.run('create table announced (ts timestamptz primary key, n int8)');
    const source = await fixture.start('announced', { notify: 'true', 'poll.interval.ms': '60000' });
    const isThere = `select count(*) from pg_trigger where tgname = 'sluice_notify'`;
    await until(async () => (await fixture.sql.number(isThere)) === 1, 'the trigger is there');
    const taken: number[] = [];
    for (let n = 0; n < 20; n++) {
      const startedAt = performance.now();
      await fixture.sql.run(`insert into announced values (clock_timestamp(), ${String(n)})`);
      await until(() => source.records.length > n, 'the row is there', { everyMs: 1 });
      taken.push(performance.now() - startedAt);
      await delay(10);
    }
    const sorted = taken.toSorted((a, b) => a - b);
    console.log(`      notified rows were read after ${sorted[10]?.toFixed(0) ?? ''} ms (median)`);
    assert.ok((sorted[10] ?? Infinity) < 100, `${sorted.join(' ')} ms`);
  });

  it('listens again after losing its connection, and polls if it may not create a trigger', async () => {
    const role = `told_${fixture.db.database}`;
    await fixture.sql.run(
      `create role ${role} login password 'x'`,
      'create table untold (ts timestamptz primary key, n int8)',
      `grant select on untold to ${role}`,
    );
    const config = { notify: 'true', 'connection.user': role, 'connection.password': 'x' };
    const source = await fixture.start('untold', config);
    await until(() => source.log.some((line) => line.includes('cannot be created')), 'it says so');
    await fixture.sql.run(`insert into untold values (now(), 1)`);
    await source.untilRows(1);
    await source.stop();
    await fixture.sql.run(`drop owned by ${role}`, `drop role ${role}`);
    const own = await fixture.start('untold', { notify: 'true', 'poll.interval.ms': '60000' });
    const listener = `select pid from pg_stat_activity where datname = current_database() and query = 'LISTEN "sluice_rows"'`;
    const [pid] = await until(async () => (await fixture.sql.rows(listener))[0], 'it listens');
    await fixture.sql.rows('select pg_terminate_backend($1::int4)', [pid]);
    await until(async () => {
      const [now] = (await fixture.sql.rows(listener))[0] ?? [];
      return now !== undefined && now !== pid;
    }, 'it listens again');
    await fixture.sql.run(`insert into untold values (now(), 2)`);
    await own.untilRows(2, undefined, 5_000);
  });
});

describe('a source that starts while its database becomes unavailable', () => {
  let fixture: SourceFixture;

  before(async () => {
    fixture = await SourceFixture.create();
  });
  after(() => fixture.close());

  it('makes connection.attempts attempts, also after it had a connection', async () => {
    await fixture.sql.run('create table t (ts timestamptz primary key, n int8)', `insert into t values (now(), 1)`);
    const proxy = await TcpProxy.start(fixture.db);
    try {
      const away = proxy.refuseAt('pg_current_snapshot');
      const patience = { 'connection.attempts': '100', 'connection.backoff.ms': '50' };
      const url = `jdbc:db://127.0.0.1:${String(proxy.port)}/${fixture.db.database}`;
      // The connector does not look for tables meanwhile.
      const starting = fixture.start('t', { 'connection.url': url, 'poll.interval.ms': '5000', ...patience });
      await away;
      proxy.pass();
      const source = await starting;
      await source.untilRows(1);
      assert.equal(source.failure, undefined);
    } finally {
      await fixture.stopAll();
      await proxy.close();
    }
  });
});
