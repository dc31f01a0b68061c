import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sinkConfig } from '../support/connectors.ts';
import { consolePage } from '../../plugins/console/test/support/console-page.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { assertDescribed } from '../support/open-api-check.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerCluster } from '../support/worker-cluster.ts';
import { WorkerProcess } from '../support/worker-process.ts';

describe('the console’s editor of configurations', function () {
  const shown = consolePage(assertDescribed);
  const role = uniqueName('editor').replaceAll('-', '_');
  const secret = `secret-${randomUUID()}`;
  let cluster: WorkerCluster;
  /** The leader is another one: what is saved is forwarded. */
  let worker: WorkerProcess;
  let kafka: KafkaTraffic;
  let db: TestDatabase;
  let sql: SqlClient;
  /** Bodies of the responses that the page received. */
  let answers: Promise<string>[] = [];

  before(async () => {
    [cluster, kafka, db] = await Promise.all([
      WorkerCluster.start(2, { 'offset.flush.interval.ms': '200' }),
      KafkaTraffic.shared(),
      database('console-editor'),
    ]);
    const leads = (await cluster.worker(0).rest.get<{ is_leader: boolean }>('/cluster')).body.is_leader;
    worker = cluster.worker(leads ? 1 : 0);
    sql = new SqlClient(db);
    await sql.run(`create role ${role} login superuser password '${secret}'`);
  });

  beforeEach(() => {
    answers = [];
    shown.page.on('response', (response) => {
      if (response.request().resourceType() === 'fetch') answers.push(response.text().catch(() => ''));
    });
  });

  afterEach(async () => {
    const told = (await Promise.all(answers)).filter((answer) => answer.includes(secret));
    await sql.run(`alter role ${role} password '${secret}'`);
    assert.deepEqual(told, [], 'no secret goes to the browser');
  });

  after(async () => {
    await cluster?.discard();
    await sql?.run(`drop role if exists ${role}`);
    await sql?.close();
  });

  async function topicAndTable(messages: readonly string[]): Promise<string> {
    const name = uniqueName('editor');
    await sql.run(`create table "${name}" (ts timestamptz not null, v int8)`);
    await kafka.createTopic(name, 1);
    await kafka.produce(
      name,
      messages.map((value) => ({ value })),
    );
    return name;
  }

  const configOf = (name: string): Record<string, string> => ({
    ...sinkConfig(db, { topics: name, 'protocol.type': 'line_lp' }),
    'connection.user': role,
    'connection.password': secret,
  });

  const storedConfig = async (name: string) =>
    (await worker.rest.get<Record<string, string>>(`/connectors/${name}/config`)).body;

  async function openFolds(): Promise<void> {
    const folded = shown.page.locator('.config-form details:not([open]) > summary');
    while ((await folded.count()) > 0) await folded.first().click();
  }

  const option = (key: string) => shown.page.locator(`[id="option-${key}"]`);

  it('creates a sink from a topic, after it has shown its messages and their rows', async () => {
    const name = await topicAndTable([]);
    await kafka.produce(name, [
      { value: `${name} v=1i 1700000000000000000` },
      { value: `${name} v=2i 1700000001000000000` },
    ]);
    const { page } = shown;
    await page.goto(`${worker.url}/ui`);
    await page.getByRole('navigation').getByRole('link', { name: 'New connector' }).click();
    await page.getByText('Choose what the connector does').waitFor();
    await page.getByLabel('Class').selectOption({ label: 'DbSinkConnector' });
    await page.getByLabel('Filter topics').fill(name);
    await page.getByRole('checkbox', { name }).check();
    await option('name').waitFor();

    await openFolds();
    for (const [key, values] of [
      ['protocol.type', ['json_db', 'json_tsd', 'line_tsd', 'line_lp', 'cdc_db', 'struct']],
      ['errors.tolerance', ['none', 'all']],
    ] as const) {
      const list = (await option(key).getAttribute('list')) ?? '';
      const offered = await page.locator(`[id="${list}"] option`).all();
      assert.deepEqual(await Promise.all(offered.map((each) => each.getAttribute('value'))), values);
    }

    const config = configOf(name);
    await option('value.converter').fill(config['value.converter'] ?? '');
    await page.getByRole('button', { name: 'Show messages' }).click();
    const messages = page.getByRole('region', { name: 'Show messages' });
    await messages.getByText(`${name} v=2i 1700000001000000000`).waitFor();

    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('Nothing was created').waitFor();
    await page
      .getByText(/Missing required configuration "name"/)
      .first()
      .waitFor();
    assert.equal(await option('name').getAttribute('aria-invalid'), 'true');
    await page
      .locator('.foot')
      .getByRole('button', { name: /^\d+ problems: go to the first$/ })
      .click();
    await page.locator('[id="option-name"]:focus').waitFor();

    await option('name').fill(name);
    for (const key of ['key.converter', 'connection.url', 'connection.user', 'connection.password', 'protocol.type']) {
      await option(key).fill(config[key] ?? '');
    }
    await page.getByText('The configuration is valid.').waitFor();
    await page.getByText(new RegExp(`^Connected: PostgreSQL .*, user ${role}\\. Rights: `)).waitFor();
    await page.getByRole('button', { name: 'Preview' }).click();
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByRole('cell', { name: '2', exact: true }).waitFor();
    await preview.getByText('SQL').first().click();
    await preview
      .getByText(/insert into/i)
      .first()
      .waitFor();
    assert.equal(await sql.number(`select count(*) from "${name}"`), 0);
    await shown.isAccessible();

    await page.getByRole('button', { name: 'JSON' }).click();
    const text = page.getByRole('textbox', { name: 'Configuration as JSON' });
    await text.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('my own words');
    await page.getByText('Another class can be chosen once the JSON below is valid').waitFor();
    assert.ok(await page.locator('.filters select').first().isDisabled());
    await text.locator('.cm-line', { hasText: 'my own words' }).waitFor();
    await page.keyboard.press('Control+Shift+ArrowLeft');
    await page.keyboard.press('Control+Shift+ArrowLeft');
    await page.keyboard.press('Control+Shift+ArrowLeft');
    await page.keyboard.press('Delete');
    await page.getByText('The configuration is valid.').waitFor();
    assert.ok(await page.locator('.filters select').first().isEnabled());

    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await until(async () => (await sql.number(`select sum(v) from "${name}"`)) === 3, 'both rows are stored');
    await worker.rest.delete(`/connectors/${name}`);
  });

  it('creates a source of the tables that are chosen from a list with their rows, and says before what it reads', async () => {
    // The tables are listed by name.
    const [one, other] = ['first', 'second'].map((name) => uniqueName(name).replaceAll('-', '_'));
    assert.ok(one !== undefined && other !== undefined);
    for (const name of [one, other])
      await sql.run(
        `create table ${name} (id int8 primary key, ts timestamptz not null)`,
        `insert into ${name} select n, now() from generate_series(1, 250) n`,
      );
    const { page } = shown;
    await page.goto(`${worker.url}/ui#/create`);
    await page.getByRole('button', { name: 'Database → Kafka' }).click();
    const foot = page.locator('.foot');
    await foot
      .getByText(/^Reads every table of the database into topics, also tables that are created later/)
      .waitFor();
    await page.locator('[id="option-connection.url"]:focus').waitFor();
    await page.keyboard.insertText(`jdbc:db://${db.host}:${String(db.port)}/${db.database}`);
    for (const [key, value] of [
      ['connection.user', role],
      ['connection.password', secret],
    ] as const) {
      await page.keyboard.press('Tab');
      await page.locator(`[id="option-${key}"]:focus`).waitFor();
      await page.keyboard.insertText(value);
    }
    await page.keyboard.press('Enter');
    await page.getByRole('checkbox', { name: `${one} 250 rows` }).check();
    await foot.getByText(`Reads ${one} (250 existing rows) into topics.`).waitFor();
    await page.getByRole('checkbox', { name: `${other} 250 rows` }).check();
    await foot.getByText(`Reads ${one}, ${other} (500 existing rows) into topics.`).waitFor();
    await shown.isAccessible();
    await option('name').fill(one);
    await option('topic.prefix').fill(one);
    await option('out.format').fill('json_db');
    await page.getByText('The configuration is valid.').waitFor();
    const topics = [one, other].map((table) => `${one}-${db.database}-${table}-json_db`);
    await foot.getByText(`Writes to ${topics.join(', ')}.`).waitFor();
    await foot.getByText('These topics do not exist. The brokers create no topics').waitFor();
    await shown.isAccessible();
    await foot.getByRole('button', { name: 'Let the source create them' }).click();
    await foot.getByText('The source creates what is missing').waitFor();
    assert.equal(await page.locator('.options', { hasText: 'Topic Creation' }).getAttribute('open'), '');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: one }).waitFor();
    assert.equal((await storedConfig(one))['table.include'], `${one},${other}`);
    for (const topic of topics) await kafka.read(topic, ({ length }) => length === 250);
    await worker.rest.delete(`/connectors/${one}`);
  });

  it('shows errors at the field and at the line, and the difference before it saves; the secret stays', async () => {
    const name = await topicAndTable([]);
    const config = { ...configOf(name), 'tasks.max': '1', 'my.own': 'kept', 'task.max': '2' };
    await worker.rest.create(name, config);
    await worker.rest.untilState(name, 'RUNNING', 1);
    const { page } = shown;
    await page.goto(`${worker.url}/ui#/connectors/${name}/configuration`);
    await option('connection.password').waitFor();
    await openFolds();
    assert.equal(await option('connection.password').inputValue(), '');
    assert.equal(await option('connection.password').getAttribute('placeholder'), 'Stored. Type to replace it.');
    assert.equal(await option('my.own').inputValue(), 'kept');
    // N6
    await page.getByText('There is no option task.max; did you mean tasks.max?').waitFor();
    assert.equal(await option('restart.policy').getAttribute('placeholder'), 'transient');

    await option('tasks.max').fill('many');
    const wrong = 'Invalid value many for configuration tasks.max: Not a number of type INT';
    await page
      .locator('.field', { has: option('tasks.max') })
      .getByText(wrong)
      .waitFor();
    await page.locator('.config-form summary', { hasText: 'Common' }).click();
    await option('tasks.max').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: wrong }).click();
    await page.locator('[id="option-tasks.max"]:focus').waitFor();
    await page.getByRole('button', { name: /^\d problems?: go to / }).click();
    await page.locator('[id="option-tasks.max"]:focus').waitFor();
    await page.getByRole('button', { name: 'JSON' }).click();
    const text = page.getByRole('textbox', { name: 'Configuration as JSON' });
    await text.waitFor();
    const lines = (await text.locator('.cm-line').allInnerTexts()).map((line) => line.trim());
    const line = lines.findIndex((each) => each.startsWith('"tasks.max"')) + 1;
    assert.ok(lines.includes('"connection.password": "[hidden]",'), lines.join('\n'));
    assert.deepEqual(
      lines.flatMap((each) => /^"([^"]*)"/.exec(each)?.[1] ?? []),
      Object.keys(await storedConfig(name)),
    );
    await page.getByRole('button', { name: `Line ${String(line)}: ${wrong}` }).click();
    await text.locator('.cm-line', { hasText: 'tasks.max' }).locator('.cm-lintRange-error').waitFor();
    assert.equal(await page.locator('.cm-lint-marker-error').count(), 1);
    await shown.isAccessible();

    await page.keyboard.press('Home');
    await page.keyboard.press('Shift+End');
    await page.keyboard.type('"tasks.max": "2,');
    await page.getByRole('button', { name: new RegExp(`^Line ${String(line)}: This is not JSON`) }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Form' }).isDisabled(), true);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.type('"');
    await page.getByText('The configuration is valid.').waitFor();
    await page.getByRole('button', { name: 'Form' }).click();
    assert.equal(await option('tasks.max').inputValue(), '2');

    await page.getByRole('button', { name: 'Review changes' }).click();
    const dialog = page.getByRole('dialog', { name: `Save ${name}?` });
    await dialog.waitFor();
    assert.deepEqual(await dialog.locator('tbody tr').allInnerTexts(), ['tasks.max\tchanged\t1\t2']);
    await dialog.getByText('The connector and its task restart').waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    assert.deepEqual(await storedConfig(name), { ...config, name, 'tasks.max': '2' });
    await kafka.produce(name, [{ value: `${name} v=7i 1700000000000000000` }]);
    await until(async () => (await sql.number(`select count(*) from "${name}"`)) === 1, 'the row is stored');

    await option('tasks.max').fill('3');
    await page.getByText(/^1 change, not saved/).waitFor();
    await worker.rest.put(`/connectors/${name}/config`, { ...config, 'my.own': 'changed by another' });
    await page.getByRole('button', { name: 'Review changes' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('was changed in the meantime').waitFor();
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByText('Your changes were applied to the new one').waitFor();
    assert.deepEqual(
      [await option('my.own').inputValue(), await option('tasks.max').inputValue()],
      ['changed by another', '3'],
    );
    await page.getByText(/^1 change, not saved/).waitFor();
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByText('No changes.').waitFor();
    assert.equal(await option('tasks.max').inputValue(), '1');
    await worker.rest.delete(`/connectors/${name}`);
  });

  it('can be used by the keyboard alone', async () => {
    const name = await topicAndTable([]);
    await worker.rest.create(name, configOf(name));
    const { page } = shown;
    await page.goto(`${worker.url}/ui#/connectors/${name}/configuration`);
    await option('connection.password').waitFor();
    await shown.tabTo(option('connection.password'));
    const next = `${secret}-next`;
    await sql.run(`alter role ${role} password '${next}'`);
    await page.keyboard.type(next);
    await shown.tabTo(page.getByRole('button', { name: 'Review changes' }), 'Shift+Tab');
    await page.getByText('The configuration is valid.').waitFor();
    await shown.tabTo(page.getByRole('button', { name: 'Review changes' }), 'Shift+Tab');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: `Save ${name}?` });
    await dialog.waitFor();
    assert.deepEqual(await dialog.locator('tbody tr').allInnerTexts(), [
      'connection.password\tchanged\tsecret\tsecret',
    ]);
    await shown.tabTo(dialog.getByRole('button', { name: 'Save' }));
    await page.keyboard.press('Enter');
    await page.locator(':focus', { hasText: 'Saved.' }).waitFor();
    assert.equal((await storedConfig(name))['connection.password'], next);
    await worker.rest.delete(`/connectors/${name}`);
  });

  it('changes nothing through a console that is read only, and gives no stored value to what has none', async () => {
    const config = { ...configOf('nothing'), name: 'nothing', 'connection.password': '[hidden]' };
    const missing = '[hidden] replaces a stored value, and none is stored for connection.password: enter the value';
    assert.deepEqual(await ask('POST', '/ui/connectors', { name: 'nothing', config }), [400, missing]);
    const save = { config, version: '' };
    assert.deepEqual(await ask('PUT', '/ui/connectors/nothing/config', save), [404, 'Connector nothing not found']);
    const standing = await WorkerProcess.start({ properties: { 'console.read.only': 'true' }, standalone: [] });
    try {
      const headers = { 'Content-Type': 'application/json' };
      const refused = await fetch(`${standing.url}/ui/connectors`, { method: 'POST', headers, body: '{}' });
      assert.equal(refused.status, 403, await refused.text());
    } finally {
      await standing.discard();
    }
  });

  it('keeps the stored value of a secret through each worker of a cluster, and answers without it', async () => {
    const name = await topicAndTable([]);
    await worker.rest.create(name, configOf(name));
    for (const index of [0, 1]) {
      const path = `/ui/connectors/${name}/config`;
      const read = async (): Promise<string> => (await fetch(cluster.worker(index).url + path)).text();
      await until(async () => (await read()).includes('"entries"'), 'the worker knows the connector');
      const shownNow = JSON.parse(await read()) as { version: string; entries: [string, string][] };
      assert.ok(shownNow.entries.some(([key, value]) => key === 'connection.password' && value === '[hidden]'));
      const config = { ...Object.fromEntries(shownNow.entries), 'my.own': String(index) };
      const [status, text] = await ask('PUT', path, { config, version: shownNow.version }, cluster.worker(index));
      assert.deepEqual([status, text], [200, undefined]);
      const { 'connection.password': password, 'my.own': own } = await storedConfig(name);
      assert.deepEqual([password, own], [secret, String(index)]);
    }
    const [status, text = ''] = await ask('POST', '/ui/connectors', {
      name: `${name}-2`,
      config: { ...configOf(name), name: `${name}-2`, 'connection.url': `jdbc:db://u:${secret}@nowhere:x/y` },
    });
    assert.equal(status, 400);
    assert.match(text, /connection\.url/);
    assert.ok(!text.includes(secret), text);
    const stopped = { name: `${name}-3`, config: configOf(name), initial_state: 'STOPPED' };
    const created = await fetch(`${worker.url}/ui/connectors`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(stopped),
    });
    assert.deepEqual([created.status, await created.json()], [201, { name: `${name}-3` }]);
    await worker.rest.untilState(`${name}-3`, 'STOPPED', 0);
    for (const each of [name, `${name}-3`]) await worker.rest.delete(`/connectors/${each}`);
  });

  async function ask(method: string, path: string, body: unknown, asked = worker) {
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(asked.url + path, { method, headers, body: JSON.stringify(body) });
    return [response.status, ((await response.json()) as { message?: string }).message] as const;
  }
});
