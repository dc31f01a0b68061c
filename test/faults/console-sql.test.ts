import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { consolePage, type ConsolePage } from '../../plugins/console/test/support/console-page.ts';
import { freePort } from '../../src/dev/ports.ts';
import { keepingLetters, sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { assertDescribed } from '../support/open-api-check.ts';
import { TcpProxy } from '../support/proxy.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../unit/tls/tls-fixture.ts';
import { loadWorkerConfig } from '../../src/config/worker-config.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { startWorker, type Worker } from '../../src/worker/worker.ts';

const BASIC_AUTH = 'org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension';
const OPERATOR = { username: 'operator', password: 'the password of the operator' };

/** The database's HTTP API with TLS and a certificate that nobody trusts. */
function apiProperties({ host, port, database: name }: TestDatabase, folder: string): Record<string, string> {
  return {
    services: 'database-http',
    'database.http.connection.url': `jdbc:db://${host}:${String(port)}`,
    'database.http.default.database': name,
    'database.http.listeners': 'https://127.0.0.1:0',
    'database.http.tls.directory': folder,
  };
}

/** Replaces the text of the editor with a statement and runs it. */
async function typed(page: ConsolePage['page'], statement: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Statement' }).press('Control+A');
  await page.keyboard.insertText(statement);
  await page.keyboard.press('Control+Enter');
}

describe('SQL in the console', () => {
  let folder: string;
  let db: TestDatabase;
  let sql: SqlClient;
  const table = uniqueName('sql').replaceAll('-', '_');

  before(async () => {
    [folder, db] = await Promise.all([mkdtemp(join(tmpdir(), 'sluice-sql-')), database('console_sql')]);
    sql = new SqlClient(db);
    await sql.run(
      `create table ${table} (ts timestamptz not null, site text, v int8)`,
      `insert into ${table} select timestamptz '2026-01-01 00:00Z' + n * interval '1 minute', '=site', 9007199254740993 + n from generate_series(1, 1500) n`,
      `insert into ${table} values ('2026-02-01 00:00Z', null, null)`,
    );
  });

  after(async () => {
    await sql?.close();
    await rm(folder, { recursive: true, force: true });
  });

  describe('of a worker with the database’s HTTP API', () => {
    const shown = consolePage(assertDescribed, { permissions: ['clipboard-read', 'clipboard-write'] });
    let worker: WorkerProcess;

    before(async () => {
      worker = await WorkerProcess.start({ properties: apiProperties(db, join(folder, 'tls')) });
    });

    after(async () => {
      await worker?.discard();
    });

    const run = async (statement: string): Promise<void> => {
      await typed(shown.page, statement);
    };
    const logIn = async (password = db.password): Promise<void> => {
      await shown.page.goto(`${worker.url}/ui#/sql`);
      await shown.page.getByLabel('User').fill(db.user);
      await shown.page.getByLabel('Password').fill(password);
      await shown.page.getByRole('button', { name: 'Log in' }).click();
    };

    it('requires the user and password of the database, and stores neither', async () => {
      await logIn('wrong');
      await shown.page.getByRole('alert').waitFor();
      await shown.isAccessible();
      const { page } = shown;
      await page.goto(`${worker.url}/ui#/`);
      await page.getByRole('link', { name: 'SQL', exact: true }).click();
      await page.locator('input[name="user"]:focus').waitFor();
      await page.keyboard.type(db.user);
      await page.keyboard.press('Tab');
      await page.keyboard.type(db.password);
      await page.keyboard.press('Enter');
      await page.getByText(`Logged in as ${db.user}`).waitFor();
      await page.locator('.cm-content:focus').waitFor();
      await page.keyboard.type('select 41 + 1');
      await page.keyboard.press('Control+Enter');
      await page.getByRole('cell', { name: '42' }).waitFor();
      const kept = await shown.page.evaluate<string>(
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
      );
      assert.equal(kept, '[{},{},""]');
      await shown.page.reload();
      await shown.page.getByRole('button', { name: 'Log in' }).waitFor();
    });

    it('shows rows with NULL, every digit and a chart, says that there are more, and gives them as CSV', async () => {
      await logIn();
      await run(`select * from ${table} order by ts desc`);
      const result = shown.page.getByRole('region', { name: 'Result' }).last();
      await shown.page.getByText('The first 1,000 rows are shown; there are more.').waitFor();
      const first = await result.locator('tbody tr').first().locator('td').allTextContents();
      assert.deepEqual(first, ['2026-02-01T00:00:00Z', 'NULL', 'NULL']);
      const second = await result.locator('tbody tr').nth(1).locator('td').allTextContents();
      assert.deepEqual(second.slice(1), ['=site', '9007199254742493']);
      const [download] = await Promise.all([
        shown.page.waitForEvent('download'),
        shown.page.getByRole('button', { name: 'Download CSV' }).click(),
      ]);
      const csv = await readFile(await download.path(), 'utf8');
      assert.deepEqual(csv.split('\r\n').slice(0, 3), [
        '\ufeffts,site,v',
        '2026-02-01T00:00:00Z,,',
        "2026-01-02T01:00:00Z,'=site,9007199254742493",
      ]);
      await shown.page.getByRole('button', { name: 'Copy CSV' }).click();
      await shown.page.getByRole('button', { name: 'Copied' }).waitFor();
      // A clipboard may have the ends of lines of its system.
      const copied = await shown.page.evaluate<string>('navigator.clipboard.readText()');
      assert.deepEqual(copied.split(/\r?\n/), csv.slice(1).split('\r\n'));
      await shown.page.getByRole('button', { name: 'Chart' }).click();
      await shown.page.getByRole('img', { name: 'v over time' }).locator('canvas').waitFor();
      await shown.isAccessible();
    });

    it('marks the error of a refused statement, with its SQLSTATE', async () => {
      await logIn();
      await run(`select ts,\n  nope from ${table}`);
      const alert = shown.page.getByRole('alert');
      await alert.getByText('column "nope" does not exist').waitFor();
      await alert.getByText('SQLSTATE 42703 · line 2, column 3').waitFor();
      assert.equal(await shown.page.locator('.fault').innerText(), 'nope');
      for (const [statement, refused, place, word] of [
        [`-- 😀 new\ninsert into ${table} values (absent)`, 'column "absent"', 'SQLSTATE 42703 · line 2', 'absent'],
        [
          `update ${table} set v = 1;\nupdate ${table} set wrong = 1`,
          'column "wrong"',
          'SQLSTATE 42703 · line 2',
          'wrong',
        ],
        [`create table ${table} (v int8)`, 'already exists', 'SQLSTATE 42P07', ''],
      ] as const) {
        await run(statement);
        await alert.getByText(refused).waitFor();
        await alert.getByText(place).waitFor();
        assert.deepEqual(await shown.page.locator('.fault').allInnerTexts(), word === '' ? [] : [word]);
      }
    });

    it('keeps a statement that has not run when the view is left or the session ends', async () => {
      const { page } = shown;
      await logIn();
      await run('select 1');
      await page.getByText(/^1 row in /).waitFor();
      await page.getByText('Not finished').waitFor({ state: 'detached' });
      const editor = page.getByRole('textbox', { name: 'Statement' });
      await editor.press('Control+End');
      await page.keyboard.insertText(' + 41 as kept');
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByRole('link', { name: 'Connectors' }).click();
      await page.getByRole('link', { name: 'SQL statement' }).click();
      await logIn();
      await editor.getByText('select 1 + 41 as kept').waitFor();
      await page.getByRole('button', { name: 'Run' }).click();
      await page.getByRole('cell', { name: '42' }).waitFor();
      await page.getByText('Not finished').waitFor({ state: 'detached' });
    });

    it('writes if the console may write, and cancels running statements', async () => {
      await logIn();
      await run(`insert into ${table} values ('2026-03-01 00:00Z', 'new', 1)`);
      await shown.page.getByText(/^Done in /).waitFor();
      await run('select pg_sleep(600)');
      const isRunning = async (): Promise<boolean> =>
        (
          await sql.rows(
            `select 1 from pg_stat_activity where state = 'active' and query like '%pg_sleep(600)%' and pid <> pg_backend_pid()`,
          )
        ).length > 0;
      await until(isRunning, 'the statement runs');
      await shown.page.getByRole('button', { name: 'Cancel' }).click();
      await shown.page.getByText('The statement was cancelled.').waitFor();
      await until(async () => !(await isRunning()), 'the statement is cancelled');
    });

    describe('for a connector of another database', () => {
      const name = uniqueName('other').replaceAll('-', '_');
      let other: TestDatabase;
      let kafka: KafkaTraffic;
      let table: SqlClient;

      before(async () => {
        [other, kafka] = await Promise.all([database('console_sql_other'), KafkaTraffic.shared()]);
        table = new SqlClient(other);
        await table.run(`create table ${name} (id int8 primary key, v varchar(3))`);
        await Promise.all([kafka.createTopic(name, 1), kafka.createTopic(`${name}-dead`, 1)]);
      });

      after(async () => {
        await table?.close();
      });

      const create = async (connector: string, port = other.port): Promise<void> => {
        const config = {
          topics: name,
          'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
          'value.converter.schemas.enable': 'false',
          'protocol.type': 'struct',
          'table.name.format': name,
          'stall.after.ms': '1000',
          ...keepingLetters(`${name}-dead`),
        };
        await worker.rest.create(connector, sinkConfig({ ...other, port }, config));
        await worker.rest.untilState(connector, 'RUNNING', 1);
      };
      const send = (id: number, v: string) => kafka.produce(name, [{ value: JSON.stringify({ id, v }) }]);
      const logInHere = async (): Promise<void> => {
        await shown.page.getByLabel('User').fill(db.user);
        await shown.page.getByLabel('Password').fill(db.password);
        await shown.page.getByRole('button', { name: 'Log in' }).click();
      };

      it('runs the statements that the console proposes in the database of the connector', async () => {
        const { page } = shown;
        await create(name);
        await send(1, 'too long');
        await kafka.read(`${name}-dead`, ({ length }) => length === 1);
        await page.goto(`${worker.url}/ui#/connectors/${name}/dead-letters`);
        await page.locator('.group', { hasText: '22001' }).locator('summary').first().click();
        await page.getByRole('link', { name: 'Open it in SQL' }).click();
        await logInHere();
        assert.equal(await page.getByLabel('Database').inputValue(), other.database);
        await page.getByRole('button', { name: 'Run' }).click();
        await page.getByText(/^Done in /).waitFor();
        await page.getByRole('link', { name: `← ${name}` }).click();
        await page.getByRole('heading', { name: 'Dead letters' }).waitFor();
        await send(2, 'no longer too long');
        await until(async () => (await table.number(`select count(*) from ${name}`)) === 1, 'the text fits');

        const holder = new SqlClient(other);
        await holder.run('begin', `lock table ${name} in access exclusive mode`);
        await send(3, 'waits');
        await page.goto(`${worker.url}/ui#/connectors/${name}`);
        const steps = page.getByRole('list', { name: 'Next steps' });
        await steps.getByText(/^End the session with pid \d+: select pg_terminate_backend/).waitFor();
        assert.equal(
          await page.locator('.flow').getByRole('link', { name, exact: true }).last().getAttribute('href'),
          `#/sql?${new URLSearchParams({
            statement: `select * from ${name} limit 100`,
            database: other.database,
            from: `#/connectors/${name}`,
          }).toString()}`,
        );
        await shown.isAccessible();
        await steps.getByRole('link', { name: 'Open it in SQL' }).click();
        await logInHere();
        await page.getByRole('button', { name: 'Run' }).click();
        await page.getByRole('cell', { name: 'true' }).waitFor();
        await until(async () => (await table.number(`select count(*) from ${name}`)) === 2, 'the lock has ended');
        await holder.close();
        await worker.rest.delete(`/connectors/${name}`);
      });

      it('names server and database of a connector whose server is another one, and has no link', async () => {
        const { page } = shown;
        const proxy = await TcpProxy.start(other);
        const connector = uniqueName('elsewhere');
        try {
          await table.run(`alter table ${name} alter column v type varchar(3) using 'x'`);
          await create(connector, proxy.port);
          const { body } = await worker.rest.get(`/ui/connectors/${connector}/database`);
          const server = `localhost:${String(proxy.port)}`;
          assert.deepEqual(body, { place: { server, database: other.database, schema: null }, isOfSql: false });
          await send(4, 'too long');
          await page.goto(`${worker.url}/ui#/connectors/${connector}/dead-letters`);
          await page.locator('.group', { hasText: '22001' }).locator('summary').first().click();
          await page.getByText(`Run it on ${server}, database ${other.database}.`).waitFor();
          await shown.isAccessible();
          assert.equal(await page.getByRole('link', { name: 'Open it in SQL' }).count(), 0);
        } finally {
          await worker.rest.delete(`/connectors/${connector}`);
          await proxy.close();
        }
      });
    });
  });

  describe('of a worker with https and users, read only', () => {
    const shown = consolePage(assertDescribed, { ignoreHTTPSErrors: true, httpCredentials: OPERATOR });
    let worker: Worker;

    before(async () => {
      const [pem, users] = [join(folder, 'server.pem'), join(folder, 'users.properties')];
      await writeFile(pem, PRIVATE_KEY + CERTIFICATE);
      await writeFile(users, `${OPERATOR.username}=${OPERATOR.password}`);
      const plain = await WorkerProcess.start();
      const { properties: shared } = plain;
      // It leaves the group, so that the next one need not wait for its session.
      await plain.terminate();
      await plain.discard();
      const properties = {
        ...shared,
        ...apiProperties(db, join(folder, 'tls')),
        listeners: `https://127.0.0.1:${String(await freePort())}`,
        'ssl.keystore.type': 'PEM',
        'ssl.keystore.location': pem,
        'rest.extension.classes': BASIC_AUTH,
        'rest.basic.auth.credentials.file': users,
        'console.read.only': 'true',
      };
      worker = await startWorker(loadWorkerConfig({ mode: 'distributed', properties }), { logger: silentLogger });
      await worker.started;
    });

    after(async () => {
      await worker?.stop();
    });

    it('reads, and offers nothing that writes', async () => {
      await shown.page.goto(`${worker.url}/ui#/cluster`);
      await shown.page.getByText('Read only').waitFor();
      await shown.page
        .getByText(/ MB of /)
        .first()
        .waitFor();
      assert.equal(await shown.page.getByRole('button', { name: /Drain/ }).count(), 0);
      await shown.page.getByRole('link', { name: 'Loggers' }).click();
      await shown.page.getByRole('rowheader', { name: 'root' }).waitFor();
      assert.equal(await shown.page.getByRole('combobox').count(), 0);

      await shown.page.getByRole('link', { name: 'SQL' }).click();
      await shown.page.getByLabel('User').fill(db.user);
      await shown.page.getByLabel('Password').fill(db.password);
      await shown.page.getByRole('button', { name: 'Log in' }).click();
      await typed(shown.page, 'select 42 as answer');
      await shown.page.getByRole('region', { name: 'Result' }).last().getByRole('cell', { name: '42' }).waitFor();
      await typed(shown.page, `drop table ${table}`);
      await shown.page
        .getByText(/The console is read only/)
        .first()
        .waitFor();
      await shown.page.getByRole('alert').getByText('it runs statements that read').waitFor();
      assert.equal((await sql.rows(`select 1 from ${table} limit 1`)).length, 1);
    });
  });

  describe('of a standalone worker without the database’s HTTP API', () => {
    const shown = consolePage(assertDescribed);
    let worker: WorkerProcess;

    before(async () => {
      worker = await WorkerProcess.start({ standalone: [] });
    });

    after(async () => {
      await worker?.discard();
    });

    it('says how to switch it on', async () => {
      await shown.page.goto(`${worker.url}/ui#/sql`);
      await shown.page.getByText('services=database-http').waitFor();
      await shown.isAccessible();
      const { status } = await worker.rest.post('/ui/sql/login', { user: 'a', password: 'b' });
      assert.equal(status, 404);
    });

    it('shows the worker like a group of one', async () => {
      await shown.page.goto(`${worker.url}/ui#/cluster`);
      await shown.page.getByText('This worker is a standalone one: it has no group.').waitFor();
      await shown.page.getByRole('rowheader', { name: 'main' }).waitFor();
      assert.equal(await shown.page.getByRole('button', { name: /Drain/ }).count(), 0);
    });
  });
});
