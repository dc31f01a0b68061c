import assert from 'node:assert/strict';
import { broker, database, uniqueName } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { AT_MS, behindProxy, line, SinkFaultsFixture, type ProxiedDatabase } from './sink-faults-fixture.ts';

describe('a sink when something fails', function () {
  let fixture: SinkFaultsFixture;

  before(async () => (fixture = await SinkFaultsFixture.create()));
  after(() => fixture.close());

  describe('records', () => {
    it('that fail a task are named at the end of its trace, with the error of the database', async () => {
      await fixture.table('named');
      const topic = await fixture.topicOf([1, 13, 2, 13].map((n) => line('named', n)));
      const trace = await fixture.traceOf(await fixture.startNumbers(topic));
      assert.ok(
        trace.startsWith(
          'org.apache.kafka.connect.errors.ConnectException: Exiting WorkerSinkTask due to unrecoverable exception.\n',
        ),
        trace,
      );
      const causes = trace.split('\n').filter((text) => text.startsWith('Caused by: '));
      const words = 'new row for relation "named" violates check constraint "named_n_check"';
      const place = `TASK_PUT failed for the record at topic ${topic}, partition 0, offset 1: `;
      assert.ok(
        causes.some((cause) => cause.includes(place) && cause.includes(words)),
        trace,
      );
      assert.ok(causes.at(-1)?.includes(words), trace);
      assert.deepEqual(await fixture.numbers('named'), [1]);
    });

    it('with the same key result in the last of them, regardless of records in between', async () => {
      await fixture.table('keyed');
      const at = (n: number, site: string) => ({ value: `keyed,site=${site} n=${String(n)}i ${String(AT_MS)}` });
      const messages = Array.from({ length: 3000 }, (_, n) => at(n + 100, n % 3 === 0 ? 'a' : 'b'));
      await fixture.done(
        await fixture.startNumbers(await fixture.topicOf([...messages, at(7, 'a')]), {
          'batch.size': '100',
          'batch.size.auto': 'false',
        }),
        3001,
      );
      assert.deepEqual(await fixture.sql.rows('select site, n from keyed order by site'), [
        ['a', '7'],
        ['b', '3099'],
      ]);
    });
  });

  describe('conflicts with others', () => {
    it('are retried in place: the victim of a deadlock stores its rows', async () => {
      await fixture.table('locked');
      const topic = await fixture.topicOf([]);
      const name = await fixture.startNumbers(topic, { 'max.retries': '0' });
      await fixture.kafka.produce(topic, [line('locked', 1)]);
      await fixture.done(name, 1);
      // Each write of the sink locks `held` before it waits for its row, and looks for a deadlock long after the other waits too.
      await fixture.sql.run(
        'create table held as select 1 as n',
        `create function hold() returns trigger language plpgsql as $$begin
          set local deadlock_timeout = '3s'; perform from held for update; return new; end$$`,
        'create trigger hold before insert on locked for each row execute function hold()',
      );
      const other = new SqlClient(fixture.db);
      const before = await deadlocks();
      try {
        await other.run(`set deadlock_timeout = '60s'`, 'begin', 'update locked set n = n');
        await fixture.kafka.produce(topic, [{ value: `locked,site=a n=10i ${String(AT_MS + 1)}` }]);
        await until(async () => (await waiting()) === 1, 'the sink waits for the row');
        await other.run('update held set n = 2', 'commit');
      } finally {
        await other.close();
      }
      await fixture.done(name, 2);
      assert.deepEqual(await fixture.numbers('locked'), [10]);
      await until(async () => (await deadlocks()) === before + 1, 'there was a deadlock');
      await fixture.sluice.rest.untilState(name, 'RUNNING', 1);
    });

    it('are retried in place: a write with a serialization failure is stored', async () => {
      const strict = await database('serializable');
      const client = new SqlClient(strict);
      const other = new SqlClient(strict);
      try {
        await client.run(
          `alter database "${strict.database}" set default_transaction_isolation = 'repeatable read'`,
          'create table t (ts timestamptz(3) primary key, n int8)',
        );
        const topic = await fixture.topicOf([]);
        const name = await fixture.startNumbers(topic, { 'max.retries': '0' }, strict);
        const at = (n: number) => ({ value: `t n=${String(n)}i ${String(AT_MS)}` });
        await fixture.kafka.produce(topic, [at(1)]);
        await fixture.done(name, 1);
        await other.run('begin', 'update t set n = 100');
        await fixture.kafka.produce(topic, [at(2)]);
        await until(async () => (await waiting(client)) === 1, 'the sink waits for the row');
        await other.run('commit');
        await fixture.done(name, 2);
        assert.deepEqual(await client.rows('select n from t'), [['2']]);
      } finally {
        await Promise.all([client.close(), other.close()]);
      }
    });

    const deadlocks = () =>
      fixture.sql.number(`select deadlocks from pg_stat_database where datname = current_database()`);
    const waiting = (client = fixture.sql) =>
      client.number(`select count(*) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and application_name not like 'psql%'
          and query like 'INSERT%'`);
  });

  describe('tables', () => {
    it('that others change are used in their current form', async () => {
      await fixture.table('changed');
      const topic = await fixture.topicOf([line('changed', 1)]);
      const name = await fixture.startNumbers(topic);
      await fixture.done(name, 1);
      await fixture.sql.run(
        'alter table changed add column w float8',
        'alter table changed alter column n type numeric',
      );
      await fixture.kafka.produce(topic, [{ value: `changed,site=a n=2i,w=0.5 ${String(AT_MS + 2)}` }]);
      await fixture.done(name, 2);
      assert.deepEqual(await fixture.sql.rows('select n, w from changed order by n'), [
        ['1', null],
        ['2', '0.5'],
      ]);
    });

    it('that were dropped fail the task with the first record and a clear reason', async () => {
      await fixture.table('dropped');
      const topic = await fixture.topicOf([line('dropped', 1)]);
      const name = await fixture.startNumbers(topic);
      await fixture.done(name, 1);
      await fixture.sql.run('drop table dropped');
      await fixture.kafka.produce(topic, [line('dropped', 2)]);
      const trace = await fixture.traceOf(name);
      assert.match(trace, new RegExp(`topic ${topic}, partition 0, offset 1: table "dropped" does not exist`));
      assert.equal(await fixture.kafka.committed(`connect-${name}`), 1);
    });

    it('without write privileges fail the task, and no record is reported', async () => {
      await fixture.table('forbidden');
      const role = `reader_${fixture.db.database.slice(-8)}`;
      await fixture.sql.run(`create role ${role} login password 'r'`, `grant select on forbidden to ${role}`);
      try {
        const topic = await fixture.topicOf([line('forbidden', 1)]);
        const deadLetters = uniqueName('dead');
        const name = await fixture.startNumbers(
          topic,
          {
            'errors.tolerance': 'all',
            'errors.deadletterqueue.topic.name': deadLetters,
            'errors.deadletterqueue.topic.replication.factor': '1',
          },
          { ...fixture.db, user: role, password: 'r' },
        );
        const trace = await fixture.traceOf(name);
        assert.match(
          trace,
          new RegExp(
            `1 row for table forbidden, the first from topic ${topic}, partition 0, offset 0, could not be written: permission denied for table forbidden`,
          ),
        );
        assert.equal(await fixture.kafka.committed(`connect-${name}`), 0);
        await fixture.sluice.rest.delete(`/connectors/${name}`);
      } finally {
        await fixture.sql.run(`drop owned by ${role}`, `drop role ${role}`);
      }
    });

    it('with only the privilege INSERT accept new rows; faults of existing keys name the missing privileges, and discard skips them (L11, M2)', async () => {
      await fixture.table('inserted');
      const role = `inserter_${fixture.db.database.slice(-8)}`;
      await fixture.sql.run(`create role ${role} login password 'r'`, `grant insert on inserted to ${role}`);
      const user = { ...fixture.db, user: role, password: 'r' };
      try {
        const topic = await fixture.topicOf([line('inserted', 1), line('inserted', 2)]);
        const first = await fixture.startNumbers(topic, {}, user);
        await fixture.done(first, 2);
        await fixture.sluice.rest.delete(`/connectors/${first}`);
        const again = await fixture.startNumbers(topic, {}, user);
        assert.match(
          await fixture.traceOf(again),
          /the user needs the rights SELECT and UPDATE on table "public"\."inserted"; with INSERT alone, dedup\.rule=discard/,
        );
        await fixture.kafka.produce(topic, [line('inserted', 3)]);
        const deadLetters = uniqueName('dead');
        const tolerant = {
          'errors.tolerance': 'all',
          'errors.deadletterqueue.topic.name': deadLetters,
          'errors.deadletterqueue.topic.replication.factor': '1',
          'errors.deadletterqueue.context.headers.enable': 'true',
        };
        const third = await fixture.startNumbers(topic, tolerant, user);
        await fixture.done(third, 3);
        await fixture.sluice.rest.delete(`/connectors/${third}`);
        const dead = await fixture.kafka.read(deadLetters, ({ length }) => length >= 2);
        const sqlstate = ({ headers }: (typeof dead)[number]) =>
          headers.find(({ key }) => key === 'sluice.sqlstate')?.value?.toString();
        assert.deepEqual(
          dead.map((record) => [record.value?.toString(), sqlstate(record)]),
          [1, 2].map((n) => [line('inserted', n).value, '42501']),
        );
        await fixture.kafka.produce(topic, [line('inserted', 4)]);
        await fixture.done(await fixture.startNumbers(topic, { 'dedup.rule': 'discard' }, user), 4);
        assert.deepEqual(await fixture.numbers('inserted'), [1, 2, 3, 4]);
        await fixture.sluice.rest.delete(`/connectors/${again}`);
      } finally {
        await fixture.sql.run(`drop owned by ${role}`, `drop role ${role}`);
      }
    });
  });

  describe('an unavailable database', () => {
    let away: ProxiedDatabase;

    before(async () => (away = await behindProxy(fixture.db)));
    after(() => away.proxy.close());
    afterEach(() => {
      away.proxy.pass();
    });

    it('is waited for while polling continues: the task can be paused and rebalanced, and no record is reported', async () => {
      await fixture.table('outage');
      const topic = await fixture.topicOf([line('outage', 0)], 2);
      const deadLetters = uniqueName('dead');
      const name = await fixture.startNumbers(
        topic,
        {
          'batch.size': '100',
          'batch.size.auto': 'false',
          'max.retries': '1000000',
          'connection.backoff.ms': '100',
          'consumer.override.max.poll.interval.ms': '6000',
          'consumer.override.session.timeout.ms': '6000',
          'consumer.override.heartbeat.interval.ms': '500',
          'errors.tolerance': 'all',
          'errors.deadletterqueue.topic.name': deadLetters,
          'errors.deadletterqueue.topic.replication.factor': '1',
        },
        away.access,
      );
      await fixture.done(name, 1);
      away.proxy.refuse();
      const rows = Array.from({ length: 6000 }, (_, index) => ({
        ...line('outage', 100 + index),
        partition: index % 2,
      }));
      await fixture.kafka.produce(topic, rows);
      await until(() => fixture.sluice.log.includes('records are put again in 500 ms'), 'partitions are paused');

      await fixture.sluice.rest.put(`/connectors/${name}/pause`);
      await fixture.sluice.rest.untilState(name, 'PAUSED', 1, { timeoutMs: 20_000 });
      await fixture.sluice.rest.put(`/connectors/${name}/resume`);
      await fixture.sluice.rest.untilState(name, 'RUNNING', 1, { timeoutMs: 20_000 });

      // A second member waits for the first one to give partitions back, at most max.poll.interval.ms.
      const member = createKafkaClient(
        { 'bootstrap.servers': (await broker()).bootstrapServers },
        silentLogger,
      ).consumer({
        'group.id': `connect-${name}`,
        'max.poll.interval.ms': '6000',
      });
      let shared = 0;
      member.subscribe([topic], {
        onAssigned: (partitions) => {
          shared = partitions.length;
          return Promise.resolve();
        },
        onRevoked: () => Promise.resolve(),
        onLost: () => Promise.resolve(),
      });
      await until(
        async () => {
          member.pause(member.assignment());
          await member.poll(50);
          return shared === 1;
        },
        'the partitions are shared',
        { timeoutMs: 10_000 },
      );
      await member.close(5000);

      away.proxy.pass();
      await until(
        async () => (await fixture.sql.number('select count(*) from outage')) === 6001,
        'all rows are stored',
        {
          timeoutMs: 30_000,
        },
      );
      await until(async () => (await fixture.kafka.committed(`connect-${name}`)) === 6001, 'all is committed');
      await fixture.sluice.rest.untilState(name, 'RUNNING', 1);
      const dead = await fixture.kafka.read(deadLetters, () => true);
      assert.equal(dead.length, 0);
    });
  });
});
