import assert from 'node:assert/strict';
import { uniqueName } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { SinkFixture } from '../integration/sink-fixture.ts';

const ROWS = 200;

/** A sink of a role, on which a limit takes effect while rows are written. */
interface Limited {
  readonly role: string;
  readonly table: string;
  readonly sql: SqlClient;
  readonly other: SqlClient;
  /** Sends more rows. */
  readonly send: () => Promise<void>;
  readonly logged: (text: string) => Promise<unknown>;
}

describe('an exactly-once sink of a role with limits', function () {
  let fixture: SinkFixture;
  let other: SqlClient;

  before(async () => {
    fixture = await SinkFixture.create('limits');
    other = new SqlClient(fixture.db);
  });
  after(async () => {
    await other.close();
    await fixture.close();
  });

  /** Writes rows before, during and after the limit; every row is stored once. */
  async function storesAll(setting: string, underLimit: (sink: Limited) => Promise<void>): Promise<void> {
    const role = uniqueName('limited').replaceAll('-', '_');
    const table = `t_${role}`;
    await fixture.sql.run(
      `create role ${role} login password 'x'`,
      `grant create on schema public to ${role}`,
      `create table ${table} (ts timestamptz(3), n int8)`,
      `grant all on ${table} to ${role}`,
      ...(setting === '' ? [] : [`alter role ${role} set ${setting}`]),
    );
    const topic = await fixture.topicOf([]);
    let sent = 0;
    const send = async (): Promise<void> => {
      const lines = Array.from({ length: ROWS }, (_, index) => `${table} n=${String(sent + index)}i`);
      sent += ROWS;
      await fixture.send(topic, lines);
    };
    const name = await fixture.start(topic, {
      'protocol.type': 'line_lp',
      delivery: 'exactly-once',
      'offsets.table': `o_${role}`,
      'connection.user': role,
      'connection.password': 'x',
      'connection.attempts': '1000',
      'connection.backoff.ms': '50',
      'max.retries': '1000',
      'retry.backoff.ms': '50',
    });
    await send();
    await fixture.done(name, sent);
    const logged = (text: string): Promise<unknown> =>
      until(() => fixture.sluice.log.includes(text), `the log says "${text}"`);
    await underLimit({ role, table, sql: fixture.sql, other, send, logged });
    await send();
    await fixture.done(name, sent);
    assert.deepEqual(await fixture.sql.rows(`select count(*), count(distinct n) from ${table}`), [
      [String(3 * ROWS), String(3 * ROWS)],
    ]);
    await fixture.sluice.rest.delete(`/connectors/${name}`);
    await until(
      async () => (await fixture.sql.number(`select count(*) from pg_stat_activity where usename = '${role}'`)) === 0,
      'the sink has left',
    );
    await fixture.sql.run(`drop owned by ${role}`, `drop role ${role}`);
  }

  for (const [setting, message] of [
    ['statement_timeout', 'canceling statement due to statement timeout'],
    ['lock_timeout', 'canceling statement due to lock timeout'],
  ] as const) {
    it(`stores every row once although ${setting} cancels its writes`, () =>
      storesAll(`${setting} = '200ms'`, async (sink) => {
        await sink.other.run('begin', `lock table ${sink.table} in access exclusive mode`);
        await sink.send();
        await sink.logged(message);
        await sink.other.run('commit');
      }));
  }

  it('stores every row once although idle_in_transaction_session_timeout ends its transaction', () =>
    storesAll(
      `idle_in_transaction_session_timeout = '200ms'`,
      async ({ role, table, sql, other: locker, send, logged }) => {
        await locker.run('begin', `lock table ${table} in access exclusive mode`);
        await send();
        const blocked = await until(async () => {
          const waiting = `select pid from pg_stat_activity where usename = '${role}' and wait_event_type = 'Lock'`;
          return (await sql.rows(waiting))[0]?.[0];
        }, 'the sink waits for the lock in its transaction');
        const pid = fixture.sluice.pid ?? assert.fail('the worker has ended');
        process.kill(pid, 'SIGSTOP');
        try {
          await locker.run('commit');
          const alive = `select count(*) from pg_stat_activity where pid = ${blocked}`;
          await until(async () => (await sql.number(alive)) === 0, 'the server has ended the transaction');
        } finally {
          process.kill(pid, 'SIGCONT');
        }
        await logged('idle-in-transaction timeout');
      },
    ));

  it('stores every row once although its sessions become read-only for a while', () =>
    storesAll('', async ({ role, sql, send, logged }) => {
      await sql.run(`alter role ${role} set default_transaction_read_only = on`, endSessions(role));
      await send();
      await logged('in a read-only transaction');
      await sql.run(`alter role ${role} reset default_transaction_read_only`);
    }));

  it('stores every row once although no connection is left for a while', () =>
    storesAll('', async ({ role, sql, send, logged }) => {
      await sql.run(`alter role ${role} connection limit 0`, endSessions(role));
      await send();
      await logged('too many connections for role');
      await sql.run(`alter role ${role} connection limit -1`);
    }));

  const endSessions = (role: string): string =>
    `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`;
});
