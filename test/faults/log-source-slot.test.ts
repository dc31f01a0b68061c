import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseConnectionUrl, ReplicationConnection } from '../../plugins/database/index.ts';
import { LogStream } from '../../plugins/log-source/log-stream.ts';
import { Password, RetriableError } from '../../src/index.ts';
import { logicalPostgres, logSourceConfig } from '../support/log-source.ts';
import type { LogSourceRun } from '../support/log-source-run.ts';
import { logStage } from '../support/log-source-stage.ts';
import { TcpProxy } from '../support/proxy.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);

describe('the log source and the slot of the server', function () {
  const stage = logStage();

  /** A task that has sent a row of a table of its own, and was stopped. */
  async function stoppedRun() {
    const table = uniqueName('t').replaceAll('-', '_');
    await stage.sql.run(`create table ${table} (n int primary key)`);
    const config = logSourceConfig(stage.db, {
      'table.include.list': `public.${table}`,
      'snapshot.mode': 'no_data',
      'status.update.interval.ms': '100',
    });
    const source = stage.newRun();
    await source.start(config);
    await source.poll();
    await stage.sql.run(`insert into ${table} values (1)`);
    await source.pollUntil(() => source.records.length === 1, 'the row is sent');
    await source.stop();
    return { source, config, table, slot: config['slot.name'] ?? '' };
  }

  async function failsWith(source: LogSourceRun, config: Readonly<Record<string, string>>, message: RegExp) {
    await assert.rejects(source.start(config), (error: Error) => {
      assert.match(error.message, message);
      assert.match(error.message, /To read all tables again, set snapshot\.mode=when_needed, or stop the connector/);
      return true;
    });
    await source.stop();
  }

  /** Stops the server, changes its files, and starts it again; the client connects again. */
  async function restarted(change: (dataDir: string) => Promise<void>): Promise<void> {
    await stage.sql.close();
    await stage.server.stop();
    await change(stage.server.dataDir);
    await stage.server.start();
    await until(() => stage.sql.number('select 1'), 'the server accepts connections');
  }

  it('continues where the slot is as it was left', async () => {
    const { source, config, table } = await stoppedRun();
    await stage.sql.run(`insert into ${table} values (2)`);
    await source.start(config);
    await source.pollUntil(() => source.records.length === 2, 'the next row is sent');
  });

  it('fails when the slot was advanced by hand', async () => {
    const { source, config, table, slot } = await stoppedRun();
    await stage.sql.run(
      `insert into ${table} values (2)`,
      `select pg_replication_slot_advance('${slot}', pg_current_wal_lsn())`,
    );
    await failsWith(source, config, /^Slot \w+ is at \w+\/\w+, ahead of the stored position \w+\/\w+: it was advanced/);
  });

  it('fails when the slot was dropped and created again, and reads all again with when_needed', async () => {
    const { source, config, table, slot } = await stoppedRun();
    await stage.sql.run(
      `insert into ${table} values (2)`,
      `select pg_drop_replication_slot('${slot}')`,
      `select pg_create_logical_replication_slot('${slot}', 'pgoutput')`,
    );
    await failsWith(source, config, /ahead of the stored position .* dropped and created again/);
    await source.start({ ...config, 'snapshot.mode': 'when_needed' });
    await source.pollUntil(() => source.records.length === 3, 'both rows are read');
    await stage.sql.run(`insert into ${table} values (3)`);
    await source.pollUntil(() => source.records.length === 4, 'the next change follows');
  });

  it('fails when the slot is dropped while the stream is open', async () => {
    const { source, config, slot } = await stoppedRun();
    await source.start(config);
    await source.poll();
    await stage.sql.run(
      `select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = '${slot}'`,
    );
    await until(async () => {
      const dropping = stage.sql.run(`select pg_drop_replication_slot('${slot}')`);
      return dropping.then(
        () => true,
        () => false,
      );
    }, 'the slot is dropped');
    await assert.rejects(async () => {
      for (;;) await source.poll().catch(failUnlessRetriable);
    }, /Slot \w+ is no longer available on the server, so that changes after the stored position/);
  });

  it('fails when the slot is one of another database, or of another plugin', async () => {
    const { source, config, slot } = await stoppedRun();
    await stage.sql.run('create database elsewhere');
    await assert.rejects(
      source.start({ ...config, 'database.dbname': 'elsewhere' }),
      /Slot \w+ belongs to database postgres, not to elsewhere/,
    );
    await source.stop();
    await stage.sql.run(
      `select pg_drop_replication_slot('${slot}')`,
      `select pg_create_physical_replication_slot('${slot}')`,
    );
    await assert.rejects(source.start(config), /Slot \w+ has the output plugin of a physical slot, not pgoutput/);
    await source.stop();
    await stage.sql.run(`select pg_drop_replication_slot('${slot}')`);
  });

  it('fails when the slot was invalidated, and replaces it with when_needed', async () => {
    const { source, config, slot } = await stoppedRun();
    await stage.sql.run(`alter system set max_slot_wal_keep_size = '1MB'`, 'select pg_reload_conf()');
    try {
      for (let segment = 0; segment < 3; segment++)
        await stage.sql.run(`select pg_logical_emit_message(false, 'x', 'x')`, 'select pg_switch_wal()');
      await stage.sql.run('checkpoint');
    } finally {
      await stage.sql.run('alter system reset max_slot_wal_keep_size', 'select pg_reload_conf()');
    }
    await failsWith(source, config, /^Slot \w+ was invalidated \(wal_removed\), so that changes after/);
    await source.start({ ...config, 'snapshot.mode': 'when_needed' });
    await source.pollUntil(() => source.records.length === 2, 'the row is read again');
    const status = await stage.sql.rows(`select wal_status from pg_replication_slots where slot_name = '${slot}'`);
    assert.deepEqual(status, [['reserved']]);
  });

  it('fails on another server', async () => {
    const { source, config } = await stoppedRun();
    const other = await logicalPostgres();
    try {
      const there = logSourceConfig(other.db);
      const moved = { ...config, 'database.port': there['database.port'] ?? '' };
      await failsWith(source, moved, /belongs to the server with system identifier \d+, but this server has \d+/);
    } finally {
      await other.server.discard();
    }
  });

  it('continues on a new timeline that has everything that was read', async () => {
    const { source, config, table } = await stoppedRun();
    await restarted((dataDir) => writeFile(join(dataDir, 'standby.signal'), ''));
    await stage.sql.run('select pg_promote()', `insert into ${table} values (2)`);
    await source.start(config);
    await source.pollUntil(() => source.records.length === 2, 'the row of the new timeline is sent');
    assert.equal(source.offset?.['server_timeline'], 2n);
  });

  it('fails on a server that was restored from a backup, promoted or not', async () => {
    const { source, config, table } = await stoppedRun();
    const backup = `${stage.server.dataDir}.backup`;
    await restarted((dataDir) => run('cp', ['-a', dataDir, backup]).then(() => undefined));
    await source.start(config);
    await source.poll();
    await stage.sql.run(`insert into ${table} select generate_series(2, 20000)`);
    await source.pollUntil(() => source.records.length === 20_000, 'the rows are sent');
    await source.stop();
    const restore = async (dataDir: string): Promise<void> => {
      await rm(dataDir, { recursive: true });
      await run('mv', [backup, dataDir]);
    };
    await restarted(restore);
    await failsWith(source, config, /The log of the server ends at .*, before the stored position .* restored/);
    await restarted((dataDir) => writeFile(join(dataDir, 'standby.signal'), ''));
    await stage.sql.run('select pg_promote()');
    await failsWith(
      source,
      config,
      /The server was promoted: its timeline \d departed from timeline \d at .* never happened on this server/,
    );
  });

  it('lets the server forget the log while only other tables change', async () => {
    const { source, config, slot } = await stoppedRun();
    await stage.sql.run('create table busy (n int)');
    await source.start(config);
    await source.poll();
    await stage.sql.run('insert into busy select generate_series(1, 1000)');
    const end = (await stage.sql.rows('select pg_current_wal_lsn()'))[0]?.[0] ?? '';
    const isBehind = `select count(*) from pg_replication_slots where slot_name = '${slot}' and confirmed_flush_lsn < '${end}'`;
    await source.pollUntil(async () => (await stage.sql.number(isBehind)) === 0, 'the slot has moved');
    assert.equal(source.records.length, 1, 'no record was sent for it');
    await source.stop();
    await source.start(config);
    await source.poll();
  });

  it('opens the connection again when the network drops packets', async () => {
    const { slot, config } = await stoppedRun();
    const proxy = await TcpProxy.start(stage.db);
    const url = `postgresql://${stage.db.host}:${String(proxy.port)}/`;
    const connection = await ReplicationConnection.open(
      parseConnectionUrl(url, {
        user: stage.db.user,
        password: new Password(stage.db.password),
        database: stage.db.database,
      }),
    );
    const command = `START_REPLICATION SLOT ${slot} LOGICAL 0/0 (proto_version '1', publication_names '${config['publication.name'] ?? ''}')`;
    const limits = { messages: 100, bytes: 1_000_000 };
    const options = { limits, statusIntervalMs: 10_000, silenceMs: 300 };
    const stream = await LogStream.open(connection, command, options, new AbortController().signal);
    try {
      // Longer than the limit: a server that has nothing to send replies.
      const openUntil = performance.now() + 900;
      await until(() => {
        assert.equal(stream.take(), undefined);
        return performance.now() > openUntil;
      }, 'the stream stays open while the server is idle');
      proxy.stall();
      await until(() => {
        try {
          stream.take();
          return false;
        } catch (error) {
          assert.match((error as Error).message, /^no data from the server for \d+ s, although it was asked to reply/);
          return true;
        }
      }, 'the stream has ended');
    } finally {
      stream.close();
      await proxy.close();
    }
  });
});

function failUnlessRetriable(error: Error): void {
  if (!(error instanceof RetriableError)) throw error;
}
