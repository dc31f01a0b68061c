import assert from 'node:assert/strict';
import type { WriteReport } from '../../src/data/row-batch.ts';
import type { Executor } from '../../plugins/database/executor/api.ts';
import { openExecutor, parseConnectionUrl } from '../../plugins/database/executor/open-executor.ts';
import { DatabaseError } from '../../src/errors.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { TcpProxy } from '../support/proxy.ts';
import { batch, DatabaseFixture, OVERRIDE, upTo } from '../integration/database-fixture.ts';

const SILENCE_MS = 300;

describe('a database that does not respond', () => {
  let fixture: DatabaseFixture;
  let proxy: TcpProxy;
  let executor: Executor;

  before(async () => {
    fixture = await DatabaseFixture.create();
    await fixture.run('CREATE TABLE t (id int4 PRIMARY KEY, n int8)');
  });

  after(() => fixture.close());

  beforeEach(async () => {
    proxy = await TcpProxy.start(fixture.access);
    const url = new URL(fixture.access.url);
    url.port = String(proxy.port);
    const settings = parseConnectionUrl(`${url.href}?connectTimeout=1&ApplicationName=silent`);
    executor = openExecutor(settings, { logger: silentLogger, silenceMs: SILENCE_MS });
    await fixture.run('TRUNCATE t');
  });

  afterEach(async () => {
    proxy.cut();
    await executor.close();
    await proxy.close();
  });

  const gaveUp = (reason: RegExp) => (error: unknown) =>
    error instanceof DatabaseError &&
    error.scope === 'infrastructure' &&
    /^no data from the server for \d+ s: /.test(error.message) &&
    reason.test(error.message);

  it('because it works on a statement is left alone, however long that takes', async () => {
    const { rows } = await executor.query('SELECT pg_sleep($1)::text', [String((SILENCE_MS * 8) / 1000)]);
    assert.deepEqual(rows, [['']]);
  });

  it('because it waits for a lock is left alone as well, and writes when it gets it', async () => {
    const rows = batch('t', { 'id:int': [1], 'n:int': [2] });
    let writing: Promise<WriteReport> | undefined;
    await fixture.executor.session((session) =>
      session.transaction(async () => {
        await session.query('INSERT INTO t VALUES (1, 1)');
        writing = executor.write(rows, OVERRIDE);
        await session.query('SELECT pg_sleep($1)', [String((SILENCE_MS * 5) / 1000)]);
      }),
    );
    assert.equal((await writing)?.stored, 1);
    assert.deepEqual(await fixture.rows('SELECT n FROM t'), [['2']]);
  });

  it('because the network lost a connection is detected, and the write succeeds after a retry', async () => {
    const rows = batch('t', { 'id:int': upTo(100), 'n:int': upTo(100) });
    await executor.write(rows, OVERRIDE);
    proxy.forget();
    await assert.rejects(executor.write(rows, OVERRIDE), gaveUp(/the server and this process wait for each other/));
    assert.equal((await executor.write(rows, OVERRIDE)).stored, 100);
  });

  it('because the network is down is detected, and its message is the reason', async () => {
    const cutOff = executor.session(async (session) => {
      await session.query('SELECT 1');
      proxy.stall();
      await session.query('SELECT 1');
    });
    await assert.rejects(cutOff, gaveUp(/no response within 1000 ms/));
  });

  it('does not keep others waiting for locks of a lost connection', async () => {
    const rows = batch('t', { 'id:int': [1], 'n:int': [7] });
    await executor.write(rows, OVERRIDE);
    const lost = executor.session((session) =>
      session.transaction(async () => {
        await session.query('UPDATE t SET n = 0');
        proxy.forget();
        await session.query('SELECT 1');
      }),
    );
    await assert.rejects(lost, gaveUp(/wait for each other/));
    // The server still holds the transaction open: nothing has notified it.
    assert.equal((await executor.write(rows, OVERRIDE)).stored, 1);
    assert.deepEqual(await fixture.rows('SELECT n FROM t'), [['7']]);
  });
});
