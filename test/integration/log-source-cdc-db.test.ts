import assert from 'node:assert/strict';
import { openExecutor, parseConnectionUrl } from '../../plugins/database/index.ts';
import { installDdlTriggers } from '../../plugins/log-source/ddl-triggers.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { DatabaseCopy } from '../support/database-copy.ts';
import { onServer, uniqueName } from '../support/services.ts';
import { WorkerProcess } from '../support/worker-process.ts';

describe('cdc_db from the log to the sink', function () {
  let copy: DatabaseCopy;
  let sluice: WorkerProcess;

  before(async () => {
    [copy, sluice] = await Promise.all([
      DatabaseCopy.create(),
      WorkerProcess.start({
        properties: { 'exactly.once.source.support': 'enabled', 'offset.flush.interval.ms': '200' },
      }),
    ]);
    await copy.from.run(
      `create table orders (id int primary key, item text, price numeric(10, 2), at timestamptz default now(), note jsonb,
        done bool, weight float8, raw bytea, tags text[])`,
      `insert into orders (id, item, price, note, done, weight, raw, tags)
        select n, 'item ' || n, n / 3.0, (case n % 3 when 0 then 'null' else '{"a": 1.50}' end)::jsonb, n % 2 = 0, n / 7.0,
          decode('00ff', 'hex'), array['x', null, 'y"']
        from generate_series(1, 50) n`,
      'create table empty (id bigint generated always as identity primary key, at timestamp(3) not null)',
      'create table unkeyed (a int, b json, c float4)',
      'alter table unkeyed replica identity full',
      `insert into unkeyed values (1, '{"b" :  1}', 0.1), (1, '{"b" :  1}', 0.1), (null, null, 'NaN')`,
      'create schema plant',
      'create table plant.meters (site text, n int, twice int generated always as (n * 2) stored, primary key (site, n))',
    );
    await copy.start(sluice, sluice);
    await copy.untilCopied();
  });
  after(async () => {
    await sluice.discard();
    await copy.close();
  });

  async function isCopied(...statements: string[]): Promise<void> {
    await copy.from.run(...statements);
    await copy.untilCopied();
    await copy.assertEqual();
  }

  it('creates the tables of the snapshot, with their rows', async () => {
    await copy.assertEqual();
  });

  it('copies inserted, updated and deleted rows, with values that text formats lose', async () => {
    await isCopied(
      `insert into orders (id, item, at, weight) values
        (100, E'it''s \\\\ "x"\\n', '2024-02-29 12:00:00.123456+00', 'Infinity'), (101, null, 'infinity', '-0.1'),
        (102, '', '0044-03-15 10:00:00 BC', 'NaN')`,
      `update orders set item = item || '!', price = null where id between 10 and 20`,
      'delete from orders where id between 1 and 5',
      `insert into empty (at) values ('2024-01-01 00:00:00.5'), ('infinity')`,
      `insert into plant.meters (site, n) values ('oslo', 1), ('oslo', 2)`,
      `update plant.meters set n = 20 where n = 2`,
      'update unkeyed set c = 2 where ctid = (select ctid from unkeyed where a = 1 limit 1)',
      'delete from unkeyed where a is null',
    );
  });

  it('copies changed keys, and large values that a change did not touch', async () => {
    await isCopied(
      `create table docs (id int primary key, body text, n int)`,
      `alter table docs alter body set storage external`,
      `insert into docs select n, repeat(md5(n::text), 500), 0 from generate_series(1, 5) n`,
      'update docs set n = 1 where id = 1',
      'update docs set id = 20 where id = 2',
      'update orders set id = id + 1000 where id between 30 and 40',
      'begin',
      'update docs set id = 30 where id = 3',
      'update docs set id = 3 where id = 4',
      'commit',
    );
  });

  it('empties tables that were truncated', async () => {
    await isCopied(
      'create table emptied (id int primary key)',
      'insert into emptied select generate_series(1, 100)',
      'truncate emptied',
      'insert into emptied values (7)',
    );
  });

  it('executes no statement that a user has written to the log as a message', async () => {
    const drop = '{"before": {"schema": "public", "name": "orders", "columns": [], "key": null}, "after": null}';
    await isCopied(
      `select pg_logical_emit_message(true, 'sluice.ddl', '${drop}')`,
      `insert into orders (id, item) values (1001, 'after the message')`,
    );
  });

  it('creates, changes and drops tables between their rows, in the order of the commits', async () => {
    await isCopied(
      'create table changing (id serial primary key, a int, b text)',
      'insert into changing (a, b) select n, n::text from generate_series(1, 10) n',
      `alter table changing add column c timestamptz not null default now(), add column d text default 'd'`,
      'insert into changing (a) values (11)',
      'alter table changing rename column a to first',
      'update changing set first = 0 where id < 3',
      'alter table changing alter b type int using b::int',
      'insert into changing (first, b) values (12, 12)',
      'alter table changing drop column d, alter column c drop not null, alter column c drop default',
      'insert into changing (first, c) values (13, null)',
      'alter table changing drop constraint changing_pkey',
      'alter table changing add primary key (id)',
      'alter table changing rename to changed',
      'insert into changed (first) values (14)',
      'create table dropped (id int primary key)',
      'insert into dropped values (1)',
      'drop table dropped',
      'create table dropped (id int primary key, again text)',
      `insert into dropped values (1, 'again')`,
      'create table selected as select id, item from orders',
      'begin',
      'create table rolled_back (id int primary key)',
      'alter table changed add column lost int',
      'rollback',
      `do $$ begin execute 'create schema late'; execute 'create table late.made (id int primary key, v text)';
        insert into late.made values (1, 'x'); execute 'alter table late.made set schema public'; end $$`,
      `create table one (id int primary key); insert into one values (1); alter table one add column v int default 5`,
    );
  });

  it('is not set up in a schema that a user without the rights of a superuser has created', async () => {
    const role = uniqueName('forger').replaceAll('-', '_');
    const database = `${role}_db`;
    await copy.from.run(`create role ${role}`, `create database ${database}`);
    const { url } = onServer(copy.server, database);
    const executor = openExecutor(parseConnectionUrl(url), { logger: silentLogger, poolSize: 1 });
    try {
      await executor.query(`create schema sluice_ddl authorization ${role}`);
      await assert.rejects(installDdlTriggers(executor), /belongs to a user who is not a superuser; drop it/);
      await executor.query('drop schema sluice_ddl');
      await installDdlTriggers(executor);
    } finally {
      await executor.close();
    }
  });
});
