import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Session } from '../../plugins/database/executor/api.ts';
import { DatabaseError } from '../../src/errors.ts';
import { until } from '../support/until.ts';
import { DatabaseFixture } from './database-fixture.ts';

function hasState(sqlstate: string, scope: string): (error: unknown) => boolean {
  return (error) => error instanceof DatabaseError && error.sqlstate === sqlstate && error.scope === scope;
}

describe('a database session', () => {
  let db: DatabaseFixture;

  before(async () => {
    db = await DatabaseFixture.create();
    await db.run('CREATE TABLE numbers AS SELECT generate_series(1, 2500) AS n');
  });
  after(() => db.close());

  it('gives every value as the server’s text, with the fields’ types', async () => {
    const result = await db.executor.query(
      `SELECT 9223372036854775807 AS a, 0.1::float8 AS b, 'NaN'::numeric AS c, timestamptz '2024-05-06 07:08:09.000001+02' AS d,
        true AS e, '\\x00ff'::bytea AS f, null AS g, interval '1 day 2 hours' AS h, array[1,2] AS i, $1::varchar(9) AS j`,
      ['ü'],
    );
    assert.deepEqual(result.rows, [
      [
        '9223372036854775807',
        '0.1',
        'NaN',
        '2024-05-06 05:08:09.000001+00',
        't',
        '\\x00ff',
        null,
        '1 day 02:00:00',
        '{1,2}',
        'ü',
      ],
    ]);
    assert.deepEqual(result.fields.slice(8), [
      { name: 'i', typeOid: 1007, typeModifier: -1 },
      { name: 'j', typeOid: 1043, typeModifier: 13 },
    ]);
    assert.deepEqual([result.command, result.rowCount], ['SELECT', 1]);
  });

  it('refuses several statements in one text, so that none can be smuggled in', async () => {
    await assert.rejects(db.executor.query('SELECT 1; DROP TABLE numbers'), hasState('42601', 'caller'));
  });

  it('refuses a statement with a NUL, which would violate the protocol, and continues', async () => {
    for (const sql of ["SELECT 'a\0b'", 'SELECT 1 AS "\0"']) {
      await assert.rejects(db.executor.query(sql), hasState('22021', 'record'));
      await db.executor.session(async (session) => {
        await assert.rejects(session.query(sql), hasState('22021', 'record'));
        assert.deepEqual((await session.query('SELECT 1')).rows, [['1']]);
      });
    }
  });

  it('starts with the requested settings, on one connection', async () => {
    await db.executor.session(
      async (session) => {
        const shown = await session.query(
          `SELECT current_setting('TimeZone'), current_setting('statement_timeout'), timestamptz 'epoch'::text`,
        );
        assert.deepEqual(shown.rows, [['Asia/Shanghai', '1234ms', '1970-01-01 08:00:00+08']]);
        const pid = async (): Promise<unknown> => (await session.query('SELECT pg_backend_pid()')).rows[0]?.[0];
        assert.equal(await pid(), await pid());
        await assert.rejects(session.query('CREATE TABLE x (a int)'), hasState('25006', 'caller'));
      },
      { timeZone: 'Asia/Shanghai', statementTimeoutMs: 1234, readOnly: true },
    );
  });

  it('says that a setting is wrong before any work is done', async () => {
    await assert.rejects(
      db.executor.session(() => assert.fail('must not run'), { timeZone: 'Mars/Olympus' }),
      hasState('22023', 'caller'),
    );
  });

  it('leaves nothing behind: settings, roles, transactions, temporary tables, locks, cursors', async () => {
    const executor = db.open({ poolSize: 1 }, '?ApplicationName=left');
    const backend = async (session: Session): Promise<unknown> =>
      (await session.query('SELECT pg_backend_pid()')).rows[0]?.[0];
    const first = await executor.session(async (session) => {
      for (const statement of [
        `SET TimeZone = 'Asia/Tokyo'`,
        'SET ROLE pg_read_all_data',
        'RESET ROLE',
        `SET search_path = pg_catalog`,
        'CREATE TEMP TABLE mine (a int)',
        'SELECT pg_advisory_lock(7)',
        'LISTEN news',
        'BEGIN',
        'CREATE TABLE public.half_done (a int)',
        'DECLARE c CURSOR FOR SELECT 1',
        'SET ROLE pg_monitor',
      ]) {
        await session.query(statement);
      }
      return backend(session);
    });
    await executor.session(async (session) => {
      assert.equal(await backend(session), first);
      const { rows } = await session.query(
        `SELECT current_setting('TimeZone'), current_setting('search_path'), current_user = session_user,
          to_regclass('pg_temp.mine'), to_regclass('public.half_done'),
          (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()),
          (SELECT count(*) FROM pg_cursors WHERE name = 'c'), (SELECT count(*) FROM pg_listening_channels())`,
      );
      assert.deepEqual(rows, [['UTC', '"$user", public', 't', null, null, '0', '0', '0']]);
    });
    await executor.close();
  });

  it('closes a connection with state that cannot be reset', async () => {
    const executor = db.open({ poolSize: 1 }, '?ApplicationName=worn');
    await executor.query('PREPARE mine AS SELECT 1');
    await executor.query('PREPARE mine AS SELECT 2');
    await executor.close();
  });

  it('commits a transaction when its work resolves and rolls back when it rejects', async () => {
    await db.run('CREATE TABLE ledger (a int)');
    await db.executor.session(async (session) => {
      await session.transaction(() => session.query('INSERT INTO ledger VALUES (1)'));
      const failing = session.transaction(async () => {
        await session.query('INSERT INTO ledger VALUES (2)');
        throw new Error('changed my mind');
      });
      await assert.rejects(failing, /changed my mind/);
      const swallowing = session.transaction(async () => {
        await session.query('INSERT INTO ledger VALUES (3)');
        await session.query('SELECT 1 / 0').catch(() => undefined);
      });
      await assert.rejects(swallowing, hasState('25P02', 'caller'));
      await assert.rejects(
        session.transaction(() => session.transaction(() => Promise.resolve())),
        /do not nest/,
      );
    });
    assert.deepEqual(await db.rows('SELECT a FROM ledger'), [['1']]);
  });

  it('refuses calls after its end', async () => {
    let escaped: Session | undefined;
    await db.executor.session((session) => {
      escaped = session;
      return Promise.resolve();
    });
    await assert.rejects(escaped?.query('SELECT 1') ?? assert.fail(), /the session has ended/);
  });

  describe('that streams a result', () => {
    async function sizes(sql: string, chunkRows: number): Promise<number[]> {
      return db.executor.session(async (session) => {
        const seen: number[] = [];
        for await (const chunk of session.stream(sql, [], { chunkRows })) {
          assert.deepEqual(
            chunk.fields.map((field) => field.name),
            ['n'],
          );
          assert.equal(chunk.rowCount, chunk.rows.length);
          seen.push(chunk.rows.length);
        }
        return seen;
      });
    }

    it('returns it in chunks, with the fields even if it is empty', async () => {
      assert.deepEqual(await sizes('SELECT n FROM numbers', 1000), [1000, 1000, 500]);
      assert.deepEqual(await sizes('SELECT n FROM numbers LIMIT 1000', 1000), [1000]);
      assert.deepEqual(await sizes('SELECT n FROM numbers WHERE false', 1000), [0]);
    });

    it('fetches a chunk only when it is requested, and stops without requests', async () => {
      await db.executor.session(async (session) => {
        const generated = 'SELECT generate_series(1, 1000000000) AS n';
        for await (const chunk of session.stream(generated, [], { chunkRows: 10 })) {
          assert.equal(chunk.rows.length, 10);
          break;
        }
        assert.deepEqual((await session.query('SELECT $1::int', ['5'])).rows, [['5']]);
      });
    });

    it('accepts parameters, reports late errors, and remains usable', async () => {
      await db.executor.session(async (session) => {
        const seen: (string | null)[] = [];
        const failing = async (): Promise<void> => {
          const sql = 'SELECT 10 / (n - $1::int) AS n FROM generate_series(1, 9) AS n';
          for await (const chunk of session.stream(sql, ['5'], { chunkRows: 2 })) seen.push(chunk.rows[0]?.[0] ?? null);
        };
        await assert.rejects(failing(), hasState('22012', 'record'));
        assert.deepEqual(seen, ['-2', '-5']);
        assert.equal((await session.query('SELECT 1')).rowCount, 1);
      });
      await assert.rejects(sizes('SELECT nope', 10), hasState('42703', 'table'));
    });

    it('fails if another statement is executed in between', async () => {
      await db.executor.session(async (session) => {
        for await (const chunk of session.stream('SELECT n FROM numbers', [], { chunkRows: 10 })) {
          assert.equal(chunk.rows.length, 10);
          await assert.rejects(session.query('SELECT 1'), /a result is still being read/);
          break;
        }
      });
    });

    it('stops on the server when aborted', async () => {
      const abort = new AbortController();
      const reading = db.executor.session(async (session) => {
        const options = { chunkRows: 10, signal: abort.signal };
        for await (const chunk of session.stream('SELECT n, pg_sleep(n - 1) AS s FROM numbers', [], options)) {
          assert.fail(`got ${String(chunk.rows.length)} rows`);
        }
      });
      await until(async () => (await runningSleeps()) > 0, 'the statement runs');
      abort.abort();
      await assert.rejects(reading, hasState('57014', 'caller'));
      await until(async () => (await runningSleeps()) === 0, 'the statement is gone');
    });
  });

  async function runningSleeps(): Promise<number> {
    const [row] = await db.rows(
      `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'
        AND query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()`,
    );
    return Number(row?.[0]);
  }

  it('cancels a statement on the server when aborted, and at once when aborted before', async () => {
    const abort = new AbortController();
    const sleeping = db.executor.query('SELECT pg_sleep(60)', [], { signal: abort.signal });
    await until(async () => (await runningSleeps()) > 0, 'the statement runs');
    abort.abort();
    await assert.rejects(sleeping, hasState('57014', 'caller'));
    await until(async () => (await runningSleeps()) === 0, 'the statement is gone');
    await assert.rejects(db.executor.query('SELECT 1', [], { signal: abort.signal }), hasState('57014', 'caller'));
  });

  it('cancels a statement that takes longer than it may', async () => {
    const started = performance.now();
    await assert.rejects(
      db.executor.query('SELECT pg_sleep(60)', [], { timeoutMs: 50 }),
      (error: unknown) =>
        hasState('57014', 'infrastructure')(error) && (error as Error).message.includes('after 50 ms'),
    );
    assert.ok(performance.now() - started < 30_000);
  });

  it('continues after one of its statements was cancelled', async () => {
    await db.executor.session(async (session) => {
      await assert.rejects(session.query('SELECT pg_sleep(60)', [], { timeoutMs: 20 }));
      assert.deepEqual((await session.query('SELECT 7')).rows, [['7']]);
    });
  });

  it('continues to read after a refusal that arrives in an earlier packet than the transaction status', async () => {
    await using proxy = await lateStatus(db.access);
    const url = new URL(db.access.url);
    url.port = String(proxy.port);
    const executor = db.openAt(url.href);
    for (let round = 0; round < 3; round++) {
      await executor.session(
        async (session) => {
          for (let refused = 0; refused < 2; refused++) {
            await assert.rejects(session.query('SELECT missing'), /"missing" does not exist/);
            assert.deepEqual((await session.query('SELECT 7')).rows, [['7']]);
          }
        },
        { readTransaction: true, timeZone: 'Europe/Berlin' },
      );
    }
    await executor.close();
  });
});

const READY_BYTES = 6;
const READY = 'Z'.charCodeAt(0);

/** A proxy that passes on ReadyForQuery, which has the transaction status, some turns after what precedes it. */
async function lateStatus(target: { readonly host: string; readonly port: number }) {
  const server = createServer((client) => {
    const upstream = connect(target);
    client.pipe(upstream);
    for (const socket of [client, upstream])
      socket.on('error', () => [client, upstream].forEach((each) => each.destroy()));
    const passOn = async (): Promise<void> => {
      for await (const piece of upstream as AsyncIterable<Buffer>) {
        const isReady = piece.length > READY_BYTES && piece.at(-READY_BYTES) === READY;
        if (isReady) {
          client.write(piece.subarray(0, -READY_BYTES));
          for (let turn = 0; turn < 20; turn++) await nextTurn();
        }
        client.write(isReady ? piece.subarray(-READY_BYTES) : piece);
      }
      client.end();
    };
    passOn().catch(() => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async [Symbol.asyncDispose](): Promise<void> {
      server.close();
      await once(server, 'close');
    },
  };
}
