import assert from 'node:assert/strict';
import { openExecutor, parseConnectionUrl } from '../../plugins/database/executor/open-executor.ts';
import { ChangeRunner } from '../../plugins/db-sink/change-runner.ts';
import { ReplicationConnection } from '../../plugins/database/executor/replication.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { sourceConfig } from '../support/connectors.ts';
import { PgBouncer, pgBouncerPath } from '../support/pgbouncer.ts';
import { database, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { HttpFixture } from '../integration/http-fixture.ts';
import { SinkFixture } from '../integration/sink-fixture.ts';
import { RunningSource } from '../integration/source-fixture.ts';

/** Rows before pgbouncer is killed, and as many after it. */
const ROWS = 1_000;
const AT_MS = 1_700_000_000_000;
const PATIENT = { 'connection.attempts': '1000', 'connection.backoff.ms': '50' };

/** Formats of a server that is not ours: a session that inherits them reads and writes other values. */
const formatsOf = ({ database: name }: TestDatabase): string[] => [
  `alter database ${name} set TimeZone = 'Asia/Tokyo'`,
  `alter database ${name} set DateStyle = 'German'`,
];

for (const mode of ['transaction', 'session'] as const) {
  describe(`behind pgbouncer in ${mode} mode`, function () {
    let program: string;
    let bouncer: PgBouncer | undefined;

    before(function () {
      const path = pgBouncerPath();
      if (path === undefined) {
        process.stdout.write('    (skipped: there is no pgbouncer)\n');
        this.skip();
      }
      program = path;
    });
    afterEach(async () => {
      await bouncer?.discard();
      bouncer = undefined;
    });

    /** In transaction mode, the connections of a client share fewer backends than there are. */
    async function started(target: TestDatabase, settings: Record<string, string> = {}): Promise<PgBouncer> {
      const default_pool_size = mode === 'transaction' ? '2' : '30';
      bouncer = await PgBouncer.start(program, target, { mode, settings: { default_pool_size, ...settings } });
      return bouncer;
    }

    it('a sink stores every row, and with exactly-once delivery once, across a kill of pgbouncer', async () => {
      const fixture = await SinkFixture.create('bounced');
      try {
        await fixture.sql.run(...formatsOf(fixture.db));
        const { database: bounced } = await started(fixture.db);
        const sinks = [];
        for (const delivery of ['exactly-once', 'at-least-once']) {
          const table = delivery.replaceAll('-', '_');
          await fixture.sql.run(`create table ${table} (ts timestamptz(3), n int8)`);
          const line = (n: number) => ({ value: `${table} n=${String(n)}i ${String(AT_MS + n)}` });
          const topic = await fixture.topicOf(Array.from({ length: ROWS }, (_, n) => line(n)));
          const options = { 'protocol.type': 'line_lp', 'timestamp.precision': 'ms', 'batch.size': '100', delivery };
          const retries = { 'max.retries': '1000', 'retry.backoff.ms': '50', ...PATIENT };
          const name = await fixture.start(topic, { ...options, ...retries }, { db: bounced });
          sinks.push({ table, topic, line, name });
        }
        for (const { table } of sinks) {
          await until(async () => (await fixture.sql.number(`select count(*) from ${table}`)) > 0, `${table} has rows`);
        }
        await bouncer?.kill();
        for (const { topic, line } of sinks) {
          await fixture.send(
            topic,
            Array.from({ length: ROWS }, (_, n) => line(ROWS + n)),
          );
        }
        await bouncer?.start();
        for (const { name } of sinks) await fixture.done(name, 2 * ROWS);
        const counts = (table: string) =>
          fixture.sql
            .rows(`select count(*), count(distinct n), bool_and(extract(epoch from ts) * 1000 = ${String(AT_MS)} + n)
            from ${table}`);
        assert.deepEqual(await counts('exactly_once'), [[String(2 * ROWS), String(2 * ROWS), 't']]);
        assert.deepEqual((await counts('at_least_once'))[0]?.slice(1), [String(2 * ROWS), 't']);
        assert.deepEqual(
          await fixture.sql.rows(
            'select name from pg_prepared_statements union all select mode from pg_locks where locktype = $1',
            ['advisory'],
          ),
          [],
        );
      } finally {
        await fixture.close();
      }
    });

    it('a source sends every row once, across a kill of pgbouncer', async () => {
      const db = await database('bounced');
      const sql = new SqlClient(db);
      let source: RunningSource | undefined;
      try {
        await sql.run(...formatsOf(db));
        await sql.close();
        await sql.run('create table t (ts timestamptz default clock_timestamp(), n int8 primary key)');
        const { database: bounced } = await started(db);
        const insert = (from: number) =>
          sql.run(`insert into t (n) select * from generate_series(${String(from)}, ${String(from + ROWS - 1)})`);
        await insert(0);
        source = await RunningSource.start(
          sourceConfig(bounced, { 'table.include': 't', 'topic.prefix': 'p', notify: 'true', ...PATIENT }),
        );
        await source.untilRows(ROWS);
        await bouncer?.kill();
        await insert(ROWS);
        await bouncer?.start();
        await source.untilRows(2 * ROWS);
        const times = await sql.rows('select floor(extract(epoch from ts) * 1000)::int8, n from t');
        const stored = new Map(times.map(([at, n]) => [Number(n), Number(at)]));
        assert.deepEqual(new Map(source.rows().map(({ ts, n }) => [Number(n), Number(ts)])), stored);
        assert.equal(source.rows().length, 2 * ROWS);
        const isSilent = source.log.some((line) => line.startsWith('warn: Notifications of the database server'));
        assert.equal(isSilent, mode === 'transaction');
      } finally {
        await source?.stop();
        await sql.close();
      }
    });

    it('the HTTP API stores, reads and keeps the time zone of each request, across a kill of pgbouncer', async () => {
      const target = await database('bounced');
      const { database: bounced } = await started(target);
      const url = `postgresql://${bounced.host}:${String(bounced.port)}`;
      const api = await HttpFixture.start({ 'connection.url': url });
      try {
        await api.sql.run(...formatsOf(api.access));
        await api.sql.close();
        const ddl = await api.post('/restapi/ddl', 'create table h (n int8, ts timestamptz)');
        assert.equal(ddl.status, 200, ddl.text);
        const insert = (n: number, zone: string) =>
          api.post(`/restapi/insert?tz=${zone}`, `insert into h values (${String(n)}, '2026-01-01 12:00:00')`);
        const numbers = Array.from({ length: 40 }, (_, n) => n);
        const zoneOf = (n: number): string => (n % 2 === 0 ? 'UTC' : 'Europe/Oslo');
        const replies = await Promise.all(numbers.map((n) => insert(n, zoneOf(n))));
        assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]), replies[0]?.text);
        await bouncer?.kill();
        assert.equal((await insert(99, 'UTC')).status, 503);
        await bouncer?.start();
        await until(async () => (await insert(40, 'UTC')).status === 200, 'the HTTP API stores again');
        const hours = await api.query(
          `select extract(hour from ts at time zone 'UTC')::int8 as hour, count(*) from h group by 1 order by 1`,
        );
        assert.deepEqual(hours.body['data'], [
          [11, 20],
          [12, 21],
        ]);
        const shown = await api.query('select ts::text from h where n = 0', api.admin, '?tz=Asia/Kolkata');
        assert.deepEqual(shown.body['data'], [['2026-01-01 17:30:00+05:30']]);
      } finally {
        await api.close();
      }
    });

    it('a statement that cannot run in a transaction leaves no search path to other clients', async () => {
      const db = await database('bounced');
      const sql = new SqlClient(db);
      const { database: bounced } = await started(db, { default_pool_size: '1' });
      const executor = openExecutor(parseConnectionUrl(bounced.url), { logger: silentLogger });
      const other = new SqlClient(bounced);
      try {
        await sql.run('create schema plant', 'create table plant.t (n int8)', 'create table t (n int8)');
        const index = { sql: 'CREATE INDEX CONCURRENTLY i ON t (n)', kind: 'create', schema: 'plant' } as const;
        const statement = { ...index, table: 't', origin: { kind: 'line', line: 1 } as const };
        const runner = new ChangeRunner(executor, db.database, silentLogger);
        const [fault] = await runner.run(statement, new AbortController().signal);
        assert.match(fault?.message ?? '', /the schema "plant" of the message cannot be set/);
        await executor.close();
        assert.deepEqual(await other.rows('show search_path'), [['"$user", public']]);
        assert.deepEqual(await sql.rows(`select from pg_class where relname = 'i'`), []);
      } finally {
        await executor.close();
        await Promise.all([sql.close(), other.close()]);
      }
    });

    it('the log cannot be read, because pgbouncer does not pass on replication connections', async () => {
      const { database: bounced } = await started(await database('bounced'));
      await assert.rejects(
        ReplicationConnection.open(parseConnectionUrl(bounced.url)),
        /unsupported startup parameter: replication/,
      );
    });

    it('a setting that pgbouncer drops is named, with the statement that replaces it', async () => {
      const db = await database('bounced');
      const sql = new SqlClient(db);
      try {
        await sql.run(`alter database ${db.database} set bytea_output = 'escape'`);
        for (const settings of [{}, { ignore_startup_parameters: 'options' }]) {
          const { database: bounced } = await started(db, settings);
          const executor = openExecutor(parseConnectionUrl(bounced.url), { logger: silentLogger });
          await assert.rejects(executor.query('SELECT 1'), {
            scope: 'caller',
            message: new RegExp(
              `a connection pooler does not pass on the setting bytea_output=hex; run ALTER ROLE "${db.user}" IN DATABASE "${db.database}" SET bytea_output = 'hex'$`,
            ),
          });
          await executor.close();
          await bouncer?.discard();
        }
      } finally {
        await sql.close();
      }
    });
  });
}
