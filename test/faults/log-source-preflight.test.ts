import assert from 'node:assert/strict';
import { dbSource } from '../../plugins/db-source/plugin.ts';
import { postgresLogSource } from '../../plugins/log-source/plugin.ts';
import { LocalPostgres } from '../../src/dev/postgres.ts';
import { silentLogger, type SourceConnectorPlugin } from '../../src/index.ts';
import { sourceConfig } from '../support/connectors.ts';
import { logSourceConfig } from '../support/log-source.ts';
import { LogSourceRun } from '../support/log-source-run.ts';
import { hasPooler, Pooler } from '../support/pooler.ts';
import { onServer, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';

const READER = 'reader';

describe('the checks of the log source before its start', function () {
  let server: LocalPostgres;
  let db: TestDatabase;
  let reader: TestDatabase;
  let sql: SqlClient;

  before(async () => {
    const settings = { wal_level: 'logical', max_replication_slots: '2', max_wal_senders: '2' };
    server = await LocalPostgres.start({ settings });
    db = onServer(server, 'postgres');
    reader = { ...db, user: READER, password: READER };
    sql = new SqlClient(db);
    await sql.run(
      `create role ${READER} login replication password '${READER}'`,
      'create table orders (id int primary key)',
      'create table lines (n int)',
      'create unlogged table scratch (id int primary key)',
      'create extension if not exists postgres_fdw',
      'create server elsewhere foreign data wrapper postgres_fdw',
      'create foreign table remote (id int) server elsewhere',
      `grant select on orders, lines to ${READER}`,
      'create publication orders_only for table orders',
    );
  });
  after(async () => {
    await sql.close();
    await server.discard();
  });

  async function check(more: Readonly<Record<string, string>>, from = reader) {
    const config = logSourceConfig(from, { 'publication.name': 'orders_only', 'slot.name': 'checked', ...more });
    return checkWith(postgresLogSource, config);
  }

  /** The same checks of DbSource with `read.method=log`. */
  async function checkDbSource(more: Readonly<Record<string, string>>, from = reader) {
    const log = { 'read.method': 'log', 'log.publication.name': 'orders_only', 'log.slot.name': 'checked' };
    const { 'poll.interval.ms': _, ...config } = sourceConfig(from, { name: 'x', ...log, ...more });
    return checkWith(dbSource, config);
  }

  async function checkWith(plugin: SourceConnectorPlugin, config: Readonly<Record<string, string>>) {
    const topics: string[] = [];
    const findings = await plugin.diagnose?.(config, {
      logger: silentLogger,
      signal: new AbortController().signal,
      writesTo: (names) => topics.push(...names),
    });
    const results = (await plugin.validate?.(config)) ?? [];
    const told = (findings ?? []).map(({ level, about, message, remedy }) =>
      [level, about, message, remedy].join(' | '),
    );
    return { told, topics, errors: results.map(({ name, errors }) => `${name}: ${errors.join(' ')}`) };
  }

  it('has nothing to say against a server that is set up', async () => {
    const { told, topics, errors } = await check({ 'table.include.list': 'public.orders', 'topic.prefix': 'p' });
    assert.deepEqual(errors, []);
    for (const line of [
      'ok | wal_level | logical | ',
      'ok | replication | user reader may replicate | ',
      'ok | slot checked | is created at the first start | ',
      'ok | publication orders_only | has all captured tables | ',
      'ok | tables | 1 are captured | ',
      'ok | replication connection | is accepted | ',
    ])
      assert.ok(told.includes(line), `${line}\n${told.join('\n')}`);
    assert.deepEqual(topics, ['p.public.orders']);
  });

  it('warns of what loses changes or the slot, with the SQL that helps', async () => {
    const { told, errors } = await check({ 'snapshot.mode': 'no_data' });
    assert.deepEqual(errors, []);
    for (const line of [
      `warn | max_slot_wal_keep_size | the slot of a stopped connector keeps the log until the disk is full | ALTER SYSTEM SET max_slot_wal_keep_size = '50GB'; SELECT pg_reload_conf();`,
      'warn | table public.lines | is not in publication orders_only: its changes are not sent | ALTER PUBLICATION "orders_only" ADD TABLE "public"."lines";',
      'warn | table public.lines | has no replica identity: the server refuses UPDATE and DELETE of a published table without one | ALTER TABLE "public"."lines" REPLICA IDENTITY FULL;',
      'warn | table public.scratch | is unlogged: its changes are not in the log | ALTER TABLE "public"."scratch" SET LOGGED;',
      'warn | table public.remote | is a foreign table: its changes are in the log of another server | read it with the polling source',
    ])
      assert.ok(told.includes(line), `${line}\n${told.join('\n')}`);
  });

  it('refuses a user who lacks a privilege, at the option of the user', async () => {
    await sql.run('create table secret (id int primary key)', 'alter publication orders_only add table secret');
    await sql.run(`alter role ${READER} noreplication`);
    try {
      const { told, errors } = await check({ 'table.include.list': 'public.secret' });
      assert.deepEqual(errors, [
        'database.user: replication: user reader lacks the attribute REPLICATION. To fix it: ALTER ROLE "reader" REPLICATION;',
        'database.user: table public.secret: the user lacks SELECT, which a snapshot needs. To fix it: GRANT USAGE ON SCHEMA "public" TO "reader"; GRANT SELECT ON "public"."secret" TO "reader";',
      ]);
      assert.equal(told.filter((line) => line.startsWith('fail')).length, 2);
    } finally {
      await sql.run(`alter role ${READER} replication`);
    }
  });

  it('refuses a publication that is missing and cannot be created', async () => {
    const orders = { 'table.include.list': 'public.orders', 'publication.name': 'missing' };
    assert.deepEqual((await check(orders)).errors, [
      'publication.name: publication missing: does not exist, and only a superuser may create one for all tables. To fix it: as superuser: CREATE PUBLICATION "missing" FOR ALL TABLES;',
    ]);
    const disabled = await check({ ...orders, 'publication.autocreate.mode': 'disabled' });
    assert.deepEqual(disabled.errors, []);
    assert.ok(
      disabled.told.some((line) => line.includes('autocreate.mode=disabled: tasks fail until it is created')),
      disabled.told.join('\n'),
    );
    await sql.run(`grant create on database postgres to ${READER}`);
    assert.deepEqual((await check({ ...orders, 'publication.autocreate.mode': 'filtered' })).errors, [
      'publication.autocreate.mode: table public.orders: only its owner may add it to publication missing. To fix it: ALTER TABLE "public"."orders" OWNER TO "reader";',
    ]);
    assert.deepEqual((await check(orders, db)).errors, []);
  });

  it('refuses to begin when all slots are in use, and a slot of another kind', async () => {
    const orders = { 'table.include.list': 'public.orders' };
    await sql.run(
      `select pg_create_physical_replication_slot('one')`,
      `select pg_create_logical_replication_slot('two', 'pgoutput')`,
    );
    try {
      assert.deepEqual((await check(orders)).errors, [
        'slot.name: slot checked: cannot be created: all 2 slots of the server are in use. To fix it: ALTER SYSTEM SET max_replication_slots = 7; then restart the server',
      ]);
      assert.deepEqual((await check({ ...orders, 'slot.name': 'one' })).errors, [
        'slot.name: slot one: Slot one has the output plugin of a physical slot, not pgoutput. To fix it: name another slot in slot.name',
      ]);
      assert.deepEqual((await check({ ...orders, 'slot.name': 'two' })).errors, []);
    } finally {
      await sql.run(`select pg_drop_replication_slot(slot_name) from pg_replication_slots`);
    }
  });

  it('refuses a server that does not log what decoding needs', async () => {
    const other = await LocalPostgres.start({ settings: { wal_level: 'replica' } });
    try {
      const { errors } = await check({ 'publication.name': 'p' }, onServer(other, 'postgres'));
      assert.deepEqual(errors, [
        'database.hostname: wal_level: is replica, so that changes cannot be decoded. To fix it: ALTER SYSTEM SET wal_level = logical; then restart the server',
      ]);
    } finally {
      await other.discard();
    }
  });

  it('checks DbSource with read.method=log too, each problem at its own option', async () => {
    const orders = { 'table.include': 'orders', 'topic.prefix': 'p' };
    const { told, topics, errors } = await checkDbSource(orders, db);
    assert.deepEqual(errors, []);
    for (const line of [
      'ok | slot checked | is created at the first start | ',
      'ok | publication orders_only | gets the captured tables | ',
      'ok | replication connection | is accepted | ',
    ])
      assert.ok(told.includes(line), `${line}\n${told.join('\n')}`);
    assert.deepEqual(topics, ['p-postgres-orders-json_db']);
    assert.deepEqual((await checkDbSource(orders)).errors, [
      'log.publication.name: publication orders_only: only its owner may add tables to it. To fix it: ALTER PUBLICATION "orders_only" OWNER TO "reader";',
      'log.publication.name: table public.orders: only its owner may add it to publication orders_only. To fix it: ALTER TABLE "public"."orders" OWNER TO "reader";',
    ]);
    await sql.run(`select pg_create_physical_replication_slot('one')`);
    try {
      assert.deepEqual((await checkDbSource({ ...orders, 'log.slot.name': 'one' }, db)).errors, [
        'log.slot.name: slot one: Slot one has the output plugin of a physical slot, not pgoutput. To fix it: name another slot in log.slot.name',
      ]);
    } finally {
      await sql.run(`select pg_drop_replication_slot('one')`);
    }
  });

  for (const [what, ignored] of [
    ['refuses ordinary connections', []],
    ['passes on ordinary connections', ['options']],
    ['ignores that a connection is one for replication', ['options', 'replication']],
  ] as const) {
    it(`says in one sentence that the port is that of a pooler, which ${what}, and what to do`, async function () {
      if (!hasPooler) this.skip();
      const pooler = await Pooler.start(db, ignored);
      try {
        const sentence = `127.0.0.1:${String(pooler.db.port)} is a pooler, such as pgbouncer, which does not pass on replication connections: set`;
        const own = `${sentence} database.hostname and database.port to the address of the PostgreSQL server itself`;
        const [error = '', ...others] = (await check({}, pooler.db)).errors;
        assert.deepEqual(others, []);
        assert.match(error, /^database\.hostname: /);
        assert.ok(error.endsWith(own), error);
        const [second = ''] = (await checkDbSource({}, pooler.db)).errors;
        assert.ok(second.endsWith(`${sentence} connection.url to the address of the PostgreSQL server itself`), second);
        const run = new LogSourceRun();
        await assert.rejects(run.start(logSourceConfig(pooler.db)), { message: own });
        await run.stop();
      } finally {
        await pooler.discard();
      }
    });
  }

  it('warns with log.ddl of a publication that lacks tables which are created later, with the SQL that helps', async () => {
    await sql.run('create publication orders_with_ddl for table orders');
    const ddl = {
      'out.format': 'cdc_db',
      'log.ddl': 'true',
      'topic.per.stable': 'false',
      'table.include': 'orders',
      'log.publication.name': 'orders_with_ddl',
    };
    const about = 'warn | publication orders_with_ddl | ';
    const message =
      'is not FOR ALL TABLES and lacks sluice_ddl.tables: tables that are created later are not sent, and neither are changes of the structure of the others';
    const before = await checkDbSource(ddl, db);
    assert.deepEqual(before.errors, []);
    const [found = ''] = before.told.filter((line) => line.startsWith(about));
    assert.ok(found.startsWith(`${about}${message} | as superuser: `), found);
    await sql.run(...found.slice(found.indexOf('BEGIN')).split('; '));
    const { told, errors } = await checkDbSource(ddl, db);
    assert.deepEqual(errors, []);
    assert.ok(told.includes('ok | publication orders_with_ddl | has all captured tables | '), told.join('\n'));
    assert.ok(told.includes('ok | event triggers | exist, or are created at the first start | '), told.join('\n'));
  });
});
