import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keepingLetters, sinkConfig, sourceConfig } from '../support/connectors.ts';
import { consolePage, type ConsolePage } from '../../plugins/console/test/support/console-page.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { assertDescribed } from '../support/open-api-check.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const PLUGINS = fileURLToPath(new URL('../support/stuck-plugins', import.meta.url));
/** A folder for a picture of each view in each form. */
const PICTURES = process.env['PICTURES'];

const FORMS = [
  { name: '1280-light', width: 1280, height: 900, colorScheme: 'light' },
  { name: '360-dark', width: 360, height: 740, colorScheme: 'dark' },
  { name: '1280-dark', width: 1280, height: 900, colorScheme: 'dark' },
  { name: '360-light', width: 360, height: 740, colorScheme: 'light' },
] as const;

/** The hour of work that a fleet of an operator shows, in small. */
describe('each view of the console', function () {
  const shown = consolePage(assertDescribed);
  const orders = uniqueName('orders').replaceAll('-', '_');
  const payments = uniqueName('payments').replaceAll('-', '_');
  const archive = uniqueName('archive').replaceAll('-', '_');
  const customers = uniqueName('customers').replaceAll('-', '_');
  let worker: WorkerProcess;
  let kafka: KafkaTraffic;
  let db: TestDatabase;
  let sql: SqlClient;

  before(async () => {
    [kafka, db] = await Promise.all([KafkaTraffic.shared(), database('console_views')]);
    worker = await WorkerProcess.start({
      properties: {
        'plugin.path': PLUGINS,
        'offset.flush.interval.ms': '200',
        services: 'database-http',
        'database.http.connection.url': `jdbc:db://${db.host}:${String(db.port)}`,
        'database.http.default.database': db.database,
        'database.http.listeners': 'http://127.0.0.1:0',
      },
    });
    sql = new SqlClient(db);
    await Promise.all([runningSink(), failedSink(), stalledSink(), runningSource()]);
    if (PICTURES !== undefined) await mkdir(PICTURES, { recursive: true });
  });

  after(async () => {
    await worker?.discard();
    await sql?.close();
  });

  const line = (table: string, n: number) =>
    `${table},region=north amount=${String(n % 70)}i,price=${String(n)}.5 ${String(1_767_225_600_000 + n)}`;

  /** With a transform, a changed configuration and two kinds of dead letters. */
  async function runningSink(): Promise<void> {
    await sql.run(
      `create table "${orders}" (ts timestamptz not null, region text, amount int8 constraint in_stock check (amount < 65), price float8)`,
    );
    await Promise.all([kafka.createTopic(orders, 3), kafka.createTopic(`${orders}-dead`, 1)]);
    const config = sinkConfig(db, {
      topics: orders,
      'tasks.max': '3',
      'protocol.type': 'line_lp',
      'timestamp.precision': 'ms',
      ...keepingLetters(`${orders}-dead`),
      transforms: 'route',
      'transforms.route.type': 'org.apache.kafka.connect.transforms.RegexRouter',
      'transforms.route.regex': '(.*)',
      'transforms.route.replacement': '$1',
    });
    await worker.rest.create(orders, config);
    await worker.rest.untilState(orders, 'RUNNING', 3);
    await worker.rest.request('PATCH', `/connectors/${orders}/config`, { 'max.retries': '7' });
    await worker.rest.untilState(orders, 'RUNNING', 3);
    await kafka.produce(
      orders,
      Array.from({ length: 300 }, (_, n) => ({
        key: `order-${String(n)}`,
        value: n % 100 === 50 ? `<img src=x onerror="document.title='run'"> ${String(n)}` : line(orders, n),
        partition: n % 3,
      })),
    );
    await kafka.read(`${orders}-dead`, ({ length }) => length >= 18);
  }

  async function failedSink(): Promise<void> {
    await sql.run(`create table "${payments}" (ts timestamptz not null, v int8)`);
    await kafka.createTopic(payments, 2);
    const config = { topics: payments, 'protocol.type': 'line_lp', 'tasks.max': '2' };
    await worker.rest.create(payments, sinkConfig(db, config));
    await kafka.produce(payments, [{ value: '<img src=x>is no line', partition: 0 }]);
    await until(
      async () => (await worker.rest.status(payments)).tasks.some(({ trace }) => trace !== undefined),
      'the task has failed',
    );
  }

  async function stalledSink(): Promise<void> {
    await sql.run(`create table "${archive}" (value text primary key)`);
    await kafka.createTopic(archive, 1);
    const place = { topics: archive, table: archive, url: db.url };
    await worker.rest.create(archive, { 'connector.class': 'StuckSink', ...place, 'stall.after.ms': '1000' });
    await kafka.produce(archive, [{ value: 'wait' }]);
  }

  async function runningSource(): Promise<void> {
    await sql.run(
      `create table ${customers} (id int8 primary key, ts timestamptz not null)`,
      `insert into ${customers} select n, timestamptz '2026-01-01' + n * interval '1 hour' from generate_series(1, 10) n`,
    );
    const tables = { 'topic.prefix': customers, 'table.include': customers, 'timestamp.column.name': 'ts' };
    await worker.rest.create(customers, sourceConfig(db, tables));
    await worker.rest.untilState(customers, 'RUNNING', 1);
  }

  /** Every form of what the page shows now. */
  async function lookAt(name: string): Promise<void> {
    const { page } = shown;
    for (const form of PICTURES === undefined ? FORMS.slice(0, 2) : FORMS) {
      await page.setViewportSize({ width: form.width, height: form.height });
      await page.emulateMedia({ colorScheme: form.colorScheme });
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      assert.ok(width <= form.width, `${name} is ${String(width)} pixels wide at ${form.name}`);
      await shown.isAccessible([form.colorScheme]);
      if (PICTURES === undefined) continue;
      await page.screenshot({ path: join(PICTURES, `${name}-${form.name}.png`), fullPage: true });
    }
    await page.setViewportSize({ width: 1280, height: 900 });
  }

  async function open(address: string): Promise<ConsolePage['page']> {
    const { page } = shown;
    await page.goto('about:blank');
    await page.goto(`${worker.url}/ui${address}`);
    return page;
  }

  it('of the fleet', async () => {
    let page = await open('');
    const row = (name: string) => page.locator('table.fleet tbody tr', { hasText: name });
    await row(payments).locator('.badge', { hasText: 'FAILED' }).waitFor();
    await row(archive).locator('.badge', { hasText: 'STALLED' }).waitFor();
    await lookAt('fleet');
    await page.getByRole('checkbox', { name: `Select ${payments}` }).check();
    await page.getByRole('toolbar').getByRole('button', { name: 'Restart failed' }).click();
    await page.getByRole('dialog').waitFor();
    await lookAt('fleet-bulk');
    page = await open('#/?text=no-such-name');
    await page.getByText('No connector matches').waitFor();
    await lookAt('fleet-empty');
  });

  it('of a connector', async () => {
    for (const [name, view] of [
      [orders, 'sink'],
      [payments, 'failed'],
      [archive, 'stalled'],
      [customers, 'source'],
    ] as const) {
      const page = await open(`#/connectors/${name}`);
      await page.locator('.sentence .badge').waitFor();
      await page.locator('figure').first().waitFor();
      if (view === 'failed') await page.locator('.trace summary').first().click();
      await lookAt(`connector-${view}`);
    }
    const page = await open('#/connectors/there-is-none');
    await page
      .getByText(/There is no connector/)
      .first()
      .waitFor();
    await lookAt('connector-none');
  });

  it('of its dead letters', async () => {
    let page = await open(`#/connectors/${orders}/dead-letters`);
    const group = page.locator('.group', { hasText: '23514' });
    await group.waitFor();
    await lookAt('letters');
    await group.locator('summary').first().click();
    await group.getByRole('button', { name: 'What would happen now?' }).first().click();
    await group
      .getByText(/fails with the same fault/)
      .first()
      .waitFor();
    await group.getByText('Bytes and headers').first().click();
    await lookAt('letters-group');
    const marked = page.locator('.group', { hasText: 'DataException' });
    await marked.locator('summary').first().click();
    await marked.getByText('<img src=x').first().waitFor();
    assert.equal(await page.locator('main img').count(), 0, 'what a record has is text');
    await group.getByRole('button', { name: 'Replay these' }).click();
    await page.getByRole('button', { name: 'Preview' }).click();
    await page
      .getByText(/fails with the same fault/)
      .nth(1)
      .waitFor();
    await page.getByRole('button', { name: 'Start the replay' }).click();
    await page.getByRole('region', { name: 'Replays' }).getByText('failed again').first().waitFor();
    await lookAt('letters-replayed');
    page = await open(`#/connectors/${payments}/dead-letters`);
    await page.getByText('errors.deadletterqueue.topic.name').first().waitFor();
    await lookAt('letters-none');
  });

  it('of its data', async () => {
    const page = await open(`#/connectors/${orders}/data`);
    const rows = page.getByRole('region', { name: 'Messages' }).last().locator('tbody tr');
    await rows.nth(5).waitFor();
    await rows.nth(1).getByRole('button').first().click();
    await page.getByRole('button', { name: 'What would this become?' }).click();
    await page.locator('.message').getByRole('status').getByText(/north/).first().waitFor();
    await lookAt('data');
    await open(`#/connectors/${customers}/data`);
    await rows.nth(9).waitFor();
    await rows.first().getByRole('button').first().click();
    await page.locator('.message pre').getByText('"id": ').first().waitFor();
    assert.equal(await page.getByRole('button', { name: 'What would this become?' }).count(), 0);
    await lookAt('data-of-source');
  });

  it('of its configuration', async () => {
    const page = await open(`#/connectors/${orders}/configuration`);
    await page.locator('[id="option-connection.url"]').waitFor({ state: 'attached' });
    await lookAt('configuration');
    const folded = page.locator('.config-form details:not([open]) > summary');
    while ((await folded.count()) > 0) await folded.first().click();
    await page.locator('[id="option-max.retries"]').fill('many');
    await page.locator('[id="option-max.retries"][aria-invalid=true]').waitFor();
    await lookAt('configuration-invalid');
    await page.locator('[id="option-max.retries"]').fill('8');
    await page.locator('[id="option-max.retries"]:not([aria-invalid=true])').waitFor();
    await page.getByRole('button', { name: 'Show messages' }).click();
    await page.getByRole('region', { name: 'Show messages' }).locator('tbody tr').first().waitFor();
    await lookAt('configuration-messages');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('dialog').waitFor();
    await lookAt('configuration-save');
    await page.keyboard.press('Escape');
    await page.getByText('JSON', { exact: true }).first().click();
    await page.locator('.cm-content').waitFor();
    await lookAt('configuration-json');
  });

  it('of its offsets, history and log', async () => {
    let page = await open(`#/connectors/${orders}/offsets`);
    await page.getByRole('region', { name: 'Offsets' }).locator('tbody tr').first().waitFor();
    await page.getByLabel('Continue from').selectOption({ label: 'as a new connector: remove all offsets' });
    await page.getByRole('button', { name: 'Preview' }).click();
    await page
      .getByText(/records are delivered again/)
      .first()
      .waitFor();
    await lookAt('offsets');
    page = await open(`#/connectors/${customers}/offsets`);
    await page.getByRole('region', { name: 'Offsets' }).locator('tbody tr').first().waitFor();
    await lookAt('offsets-source');
    page = await open(`#/connectors/${orders}/history`);
    await page.locator('.changes > li').nth(1).waitFor();
    await lookAt('history');
    await page.locator('.changes > li', { hasText: 'created' }).getByRole('button').first().click();
    await page.getByRole('dialog').waitFor();
    await lookAt('history-restore');
    page = await open(`#/connectors/${payments}/log`);
    await page
      .getByText(/Task 0|failed/i)
      .first()
      .waitFor();
    await lookAt('log');
  });

  it('of a new connector', async () => {
    const page = await open('#/create');
    await page.getByText('Choose what the connector does').waitFor();
    await lookAt('create');
    await page.getByLabel('Class').selectOption({ label: 'DbSinkConnector' });
    await page.getByLabel('Filter topics').fill(orders);
    await page.getByRole('checkbox', { name: orders, exact: true }).check();
    await page.locator('[id="option-name"]').waitFor();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('Nothing was created').waitFor();
    await lookAt('create-sink');
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('button', { name: 'Database → Kafka' }).click();
    const option = (key: string) => page.locator(`[id="option-${key}"]`);
    await option('connection.url').fill(db.url);
    await page.getByRole('button', { name: 'List the tables' }).click();
    await page.getByRole('checkbox', { name: customers }).check();
    await option('name').fill('new-source');
    await option('out.format').fill('json_db');
    await page.getByText(/^Connected: /).waitFor();
    await page.getByText('The topic does not exist. The brokers create no topics').waitFor();
    await lookAt('create-source');
  });

  it('of SQL', async () => {
    const page = await open('#/sql');
    await page.getByLabel('User').fill(db.user);
    await lookAt('sql-login');
    await page.getByLabel('Password').fill(db.password);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('textbox', { name: 'Statement' }).press('Control+A');
    await page.keyboard.insertText(`select * from "${orders}" order by ts limit 200`);
    await page.keyboard.press('Control+Enter');
    await page.getByRole('region', { name: 'Result' }).last().locator('tbody tr').first().waitFor();
    await lookAt('sql');
    await page.getByRole('textbox', { name: 'Statement' }).press('Control+A');
    await page.keyboard.insertText(`select amounts from "${orders}"`);
    await page.keyboard.press('Control+Enter');
    await page.getByText(/42703/).first().waitFor();
    await lookAt('sql-error');
  });

  it('of the cluster', async () => {
    let page = await open('#/cluster');
    await page.getByRole('rowheader', { name: 'main' }).waitFor();
    await lookAt('cluster');
    page = await open('#/cluster/plugins');
    await page.getByRole('button', { name: 'DbSinkConnector' }).click();
    await page.getByRole('rowheader', { name: 'errors.deadletterqueue.topic.name' }).waitFor();
    await lookAt('plugins');
    page = await open('#/cluster/loggers');
    await page.getByRole('combobox').first().waitFor();
    await lookAt('loggers');
    page = await open('#/cluster/topics');
    await page.getByText('compact', { exact: true }).first().waitFor();
    await lookAt('topics');
  });
});
