import assert from 'node:assert/strict';
import { sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database, onServer, ownBroker, ownPostgres, uniqueName, type TestDatabase } from '../support/services.ts';
import { assertEachOnce, createTable, killSinks, line, SHORT_SESSION } from '../support/sink-kills.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const EXACTLY_ONCE = {
  'protocol.type': 'line_lp',
  'timestamp.precision': 'ms',
  delivery: 'exactly-once',
  ...SHORT_SESSION,
};

describe('each row once, whatever fails', function () {
  this.timeout(400_000);
  /** They wait more than they work, and so run at the same time. */
  let scenarios: Readonly<Record<'killed' | 'woken' | 'restarted', Promise<void>>>;

  before(() => {
    scenarios = { killed: killSinks({ kills: 3, random: Math.random }), woken: woken(), restarted: restarted() };
    for (const scenario of Object.values(scenarios)) scenario.catch(() => undefined);
  });

  after(async () => {
    await Promise.allSettled(Object.values(scenarios));
  });

  const arrived = (sql: SqlClient, rows: number) =>
    until(async () => (await sql.number('select count(*) from rows')) >= rows, `${String(rows)} rows`, {
      timeoutMs: 60_000,
    });

  async function produce(kafka: KafkaTraffic, topic: string, from: number, to: number): Promise<void> {
    const ids = Array.from({ length: to - from }, (_, index) => from + index);
    await kafka.produce(
      topic,
      ids.map((id) => line('rows', id)),
    );
  }

  async function woken(): Promise<void> {
    const [db, kafka, first, second] = await Promise.all([
      database('woken'),
      KafkaTraffic.shared(),
      WorkerProcess.start(),
      WorkerProcess.start(),
    ]);
    const sql = new SqlClient(db);
    const locker = new SqlClient(db);
    try {
      await createTable(sql, 'rows', false);
      const topic = uniqueName('woken');
      await kafka.createTopic(topic, 4);
      const group = { 'consumer.override.group.id': uniqueName('group') };
      const config = sinkConfig(db, { topics: topic, ...EXACTLY_ONCE, ...group });
      await first.rest.create('stopped', config);
      await produce(kafka, topic, 0, 2000);
      await arrived(sql, 2000);
      // It is stopped in the middle of a transaction, which then holds its locks.
      await locker.run('begin', 'lock table rows in share mode');
      await produce(kafka, topic, 2000, 3000);
      await until(async () => (await blocked(sql)) > 0, 'a write waits');
      signal(first, 'SIGSTOP');
      await locker.run('commit');
      await second.rest.create('successor', config);
      await arrived(sql, 3000);
      await produce(kafka, topic, 3000, 4000);
      await arrived(sql, 4000);
      signal(first, 'SIGCONT');
      const owners = 'select count(distinct substring(owner from $$of (\\w+)$$)) from sluice_offsets';
      await until(async () => (await sql.number(owners)) === 2, 'the two share the partitions', { timeoutMs: 40_000 });
      await produce(kafka, topic, 4000, 6000);
      await arrived(sql, 6000);
      await until(
        async () => (await kafka.committed(group['consumer.override.group.id'])) === 6000,
        'all is committed',
      );
      await assertEachOnce(sql, 'rows', 6000);
      await first.rest.untilState('stopped', 'RUNNING', 1);
      await second.rest.untilState('successor', 'RUNNING', 1);
    } finally {
      signal(first, 'SIGCONT');
      await Promise.all([first.discard(), second.discard(), sql.close(), locker.close()]);
    }
  }

  const blocked = (sql: SqlClient) =>
    sql.number(`select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);

  function signal(worker: WorkerProcess, name: NodeJS.Signals): void {
    if (worker.pid !== undefined) process.kill(worker.pid, name);
  }

  async function restarted(): Promise<void> {
    const [kafkaServer, postgres] = await Promise.all([ownBroker(), ownPostgres()]);
    const db = onServer(postgres, 'postgres');
    const sluice = await WorkerProcess.start({ properties: { 'bootstrap.servers': kafkaServer.bootstrapServers } });
    const kafka = new KafkaTraffic(kafkaServer.bootstrapServers);
    try {
      await kafka.createTopic('restarted', 4);
      const patience = {
        'connection.attempts': '200',
        'connection.backoff.ms': '100',
        'batch.size': '3000',
        'batch.size.auto': 'false',
      };
      await withSql(db, async (sql) => {
        await createTable(sql, 'rows', false);
        // Copying 3,000 rows takes three seconds as long as the table `slow` is there.
        await sql.run(
          'create table slow ()',
          `create function slow() returns trigger language plpgsql as
            $$begin if to_regclass('slow') is not null then perform pg_sleep(0.001); end if; return new; end$$`,
          'create trigger slow before insert on rows for each row execute function slow()',
        );
        await produce(kafka, 'restarted', 0, 12_000);
        await sluice.rest.create('sink', sinkConfig(db, { topics: 'restarted', ...EXACTLY_ONCE, ...patience }));
        const copying = `select count(*) from pg_stat_activity where query like '%COPY%FROM STDIN%' and state = 'active'
          and pid <> pg_backend_pid()`;
        await until(async () => (await sql.number(copying)) > 0, 'rows are being copied');
      });
      await postgres.kill();
      await postgres.start();
      await withSql(db, async (sql) => {
        assert.equal(await sql.number('select count(*) from rows'), 0);
        await sql.run('drop table slow');
        await arrived(sql, 12_000);
        await kafkaServer.stop();
        await kafkaServer.start();
        await produce(kafka, 'restarted', 12_000, 14_000);
        await arrived(sql, 14_000);
        await until(async () => (await kafka.committed('connect-sink')) === 14_000, 'all is committed');
        await assertEachOnce(sql, 'rows', 14_000);
      });
      await sluice.rest.untilState('sink', 'RUNNING', 1);
    } finally {
      await sluice.discard();
      await Promise.all([kafkaServer.discard(), postgres.discard()]);
    }
  }

  async function withSql(db: TestDatabase, work: (sql: SqlClient) => Promise<void>): Promise<void> {
    const sql = new SqlClient(db);
    try {
      await work(sql);
    } finally {
      await sql.close();
    }
  }

  it('when the worker is killed with -9 three times: at-least-once with a key, exactly-once without one', () =>
    scenarios.killed);
  it('when a worker is stopped for longer than its session, another one takes over, and it wakes up in mid-transaction', () =>
    scenarios.woken);
  it('when the database is killed in the middle of a COPY, and then the broker is restarted', () =>
    scenarios.restarted);
});
