import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parse as parseProperties } from 'dot-properties';
import { parse as parseYaml } from 'yaml';
import { freePort } from '../../src/dev/ports.ts';
import { keepingLetters } from '../support/connectors.ts';
import { consolePage } from '../../plugins/console/test/support/console-page.ts';
import { assertDescribed } from '../support/open-api-check.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import { SinkFixture } from '../integration/sink-fixture.ts';

const ROWS = 5;

describe('what a user does in the console', function () {
  const shown = consolePage(assertDescribed, { permissions: ['clipboard-read', 'clipboard-write'] });
  let fixture: SinkFixture;
  /** A worker of the same group. Its console is read-only, and its logger levels are set elsewhere. */
  let other: WorkerProcess;
  let adminListener: string;
  /** A sink that runs and has stored its rows. */
  let sink: { readonly name: string; readonly topic: string };

  before(async () => {
    fixture = await SinkFixture.create('console_clicks');
    const { listeners: _own, ...shared } = fixture.sluice.properties;
    adminListener = `http://127.0.0.1:${String(await freePort())}`;
    const properties = { ...shared, 'console.read.only': 'true', 'admin.listeners': adminListener };
    other = await WorkerProcess.start({ properties });
    sink = await rowsSink();
  });

  after(async () => {
    await other?.discard();
    await fixture?.close();
  });

  const line = (table: string, n: number) => `${table} n=${String(n)}i ${String(1_700_000_000_000 + n)}`;

  async function rowsSink(options: Readonly<Record<string, string>> = {}) {
    const topic = await fixture.topicOf([]);
    await fixture.sql.run(`create table ${topic} (ts timestamptz(3), n int8)`);
    await fixture.send(
      topic,
      Array.from({ length: ROWS }, (_, n) => line(topic, n)),
    );
    const name = await fixture.start(topic, {
      'protocol.type': 'line_lp',
      'timestamp.precision': 'ms',
      'tasks.max': '1',
      ...options,
    });
    await fixture.done(name, ROWS);
    return { name, topic };
  }

  const open = (hash: string, worker = fixture.sluice) => shown.page.goto(`${worker.url}/ui#${hash}`);
  const part = (name: string, tab: string) => `/connectors/${encodeURIComponent(name)}/${tab}`;
  const button = (name: string | RegExp) => shown.page.getByRole('button', { name });
  const copied = () => shown.page.evaluate<string>('(globalThis.keptClipboard ?? navigator.clipboard).readText()');

  describe('copies', () => {
    it('the trace whole', async () => {
      const { name, topic } = await rowsSink();
      await fixture.send(topic, ['this is no line']);
      const trace = await fixture.traceOf(name);
      await open(part(name, ''));
      await shown.page.locator('.trace summary').click();
      await button('Copy').click();
      await button('Copied').waitFor();
      await shown.page.getByRole('status').filter({ hasText: 'Copied to the clipboard.' }).waitFor();
      assert.ok(trace.split('\n').length > 3, trace);
      assert.equal(await copied(), trace);
      await fixture.sluice.rest.delete(`/connectors/${name}`);
    });

    it('a configuration for curl, as properties and for Strimzi, without its secret', async () => {
      const { config } = (await fixture.sluice.rest.get<{ config: Record<string, string> }>(`/connectors/${sink.name}`))
        .body;
      const password = config['connection.password'] ?? '';
      await open(part(sink.name, 'configuration'));
      await shown.page.getByText('The configuration is valid.').waitFor();
      await shown.page.locator('summary', { hasText: 'Copy as' }).click();
      await button('Copy as curl').click();
      await shown.page.getByRole('status').filter({ hasText: 'Copied to the clipboard.' }).waitFor();
      const command = await copied();
      const shell = `curl() { printf '%s\\0' "$@"; }; ${command}`;
      const env = { ...process.env, CONNECTION_PASSWORD: password };
      const words = (await promisify(execFile)('sh', ['-c', shell], { env })).stdout.split('\0');
      assert.deepEqual(words.slice(0, 3), ['-X', 'PUT', `${fixture.sluice.url}/connectors/${sink.name}/config`]);
      assert.deepEqual(JSON.parse(words.at(-2) ?? ''), config);

      const hidden: Record<string, string> = { ...config, 'connection.password': '${env:CONNECTION_PASSWORD}' };
      await button('Copy as properties').click();
      await until(async () => (await copied()) !== command, 'the properties are copied');
      assert.deepEqual({ ...parseProperties(await copied()) }, hidden);
      await button('Copy for Strimzi').click();
      await until(async () => (await copied()).startsWith('apiVersion'), 'the YAML is copied');
      const { name: _name, 'connector.class': className, 'tasks.max': tasks, ...rest } = hidden;
      const resource = parseYaml(await copied()) as { spec: unknown };
      assert.deepEqual(resource.spec, { class: className, tasksMax: Number(tasks), config: rest });
    });

    it('where the browser gives a page no clipboard, and shows the text where it allows no copying', async () => {
      await shown.page.addInitScript(`
        globalThis.keptClipboard ??= navigator.clipboard;
        Object.defineProperty(navigator, 'clipboard', { value: undefined });
      `);
      await open(part(sink.name, 'configuration'));
      await shown.page.getByText('The configuration is valid.').waitFor();
      await shown.page.evaluate("globalThis.keptClipboard.writeText('before')");
      await shown.page.locator('summary', { hasText: 'Copy as' }).click();
      await button('Copy as properties').click();
      await button('Copied').waitFor();
      assert.match(await copied(), /^connector\.class=/m);
      assert.equal(await shown.page.evaluate('document.activeElement.textContent'), 'Copied');

      await shown.page.evaluate('document.execCommand = () => false');
      await button('Copy as curl').click();
      const text = shown.page.getByLabel(/^The browser does not let the page copy/);
      await text.waitFor();
      assert.match(await shown.page.evaluate<string>('String(getSelection())'), /^curl -X PUT /);
      await shown.isAccessible();
    });
  });

  it('deletes a connector after a dialog, and creates it again from the notice; a restart says what has become of it', async () => {
    const { page } = shown;
    const { name, topic } = await rowsSink();
    await open(part(name, ''));
    const more = page.locator('.actions summary');
    await more.click();
    await button('Delete').click();
    const dialog = page.getByRole('dialog', { name: `Delete ${name}?` });
    await dialog.getByText('Topics, tables and offsets stay.').waitFor();
    await shown.isAccessible();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText(`${name} is deleted.`).waitFor();
    await until(async () => (await fixture.sluice.rest.get(`/connectors/${name}`)).status === 404, 'it is deleted');
    await button('Undo').click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await fixture.sluice.rest.untilState(name, 'RUNNING', 1);

    await fixture.send(topic, ['this is no line']);
    await fixture.traceOf(name);
    await page.getByRole('link', { name: 'Skip the record' }).waitFor();
    assert.equal(await button('Restart failed').getAttribute('class'), '', 'a restart does not help');
    await button('Restart failed').click();
    await page.getByText(/^Restarted, and failed again after [\d.]+ s with the same cause\.$/).waitFor();
    await page.getByRole('link', { name: 'Skip the record' }).click();
    await page.getByText('0 records are delivered again. 1 record is skipped.').waitFor();
    await button('Stop, set and resume').click();
    await page.getByText('The offsets are set.', { exact: true }).waitFor();
    assert.equal(await page.getByText('What would happen').count(), 0, 'the change is not proposed again');
    await fixture.sluice.rest.untilState(name, 'RUNNING', 1);
    await fixture.sluice.rest.delete(`/connectors/${name}`);
  });

  it('stops a replay of dead letters, and replays the remaining records', async () => {
    const { page } = shown;
    const topic = await fixture.topicOf([]);
    const letters = 30;
    await fixture.sql.run(`create table ${topic} (ts timestamptz(3), n int8 constraint small check (n < 100))`);
    await fixture.send(
      topic,
      Array.from({ length: letters }, (_, n) => line(topic, 100 + n)),
    );
    const name = await fixture.start(topic, {
      'protocol.type': 'line_lp',
      'timestamp.precision': 'ms',
      ...keepingLetters(`${topic}-dead`),
    });
    await fixture.done(name, letters);
    await fixture.sql.run(`alter table ${topic} drop constraint small`);
    await open(part(name, 'dead-letters'));
    await page.getByLabel('Records a second, at most').fill('4');
    await button('Preview').click();
    await page.getByText(/^Of the first \d+: stored/).waitFor();
    await button('Start the replay').click();
    const replays = page.getByRole('region', { name: 'Replays' });
    await replays.getByText('running').waitFor();
    await replays.getByText(/^[1-9]\d* of 30 offsets passed/).waitFor();
    await button('Stop replay 1').click();
    await replays.getByText('stopped').waitFor();
    await page.locator(':focus', { hasText: 'Replay 1' }).waitFor();
    const done = Number(/^(\d+) of 30/.exec(await replays.getByText(/of 30 offsets passed/).innerText())?.[1]);
    assert.ok(done > 0 && done < letters, String(done));
    assert.equal(await fixture.sql.number(`select count(*) from ${topic}`), done);
    await shown.isAccessible();

    await button('Replay the rest of replay 1').click();
    await page.locator(':focus', { hasText: 'The rest of replay 1' }).waitFor();
    await page.getByLabel('Records a second, at most').fill('1000');
    await button('Preview').click();
    await page.getByText(/^Of the first \d+: stored/).waitFor();
    await button('Start the replay').click();
    await replays
      .getByText(`${String(letters - done)} records selected, ${String(letters - done)} delivered`)
      .waitFor();
    assert.equal(await fixture.sql.number(`select count(distinct n) from ${topic}`), letters);
    await fixture.sluice.rest.delete(`/connectors/${name}`);
  });

  it('reports the state after an interrupted change of offsets, also elsewhere, and undoes it', async () => {
    const { page } = shown;
    const { name } = await rowsSink();
    const { rest } = fixture.sluice;
    await open(part(name, 'offsets'));
    const begin = async (): Promise<void> => {
      await button('Preview').click();
      await page.getByText(`${String(ROWS)} records are delivered again.`).waitFor();
      await button('Stop, set and resume').click();
    };
    const refuse = (path: string, method: string) =>
      page.route(`**/connectors/${name}/${path}`, (route) =>
        route.request().method() === method
          ? route.fulfill({ status: 500, contentType: 'application/json', body: `{"message":"${method} is refused"}` })
          : route.fallback(),
      );

    await page.route('**/stop', (route) => route.abort());
    await begin();
    await page.getByRole('alert').getByText('The worker does not answer').waitFor();
    await page.getByText('The state of the connector is RUNNING. Its offsets are as they were.').waitFor();
    await page.locator(':focus', { hasText: 'The change of the offsets' }).waitFor();
    await button('Leave it as it is').click();
    await page.unroute('**/stop');

    await refuse('offsets', 'PATCH');
    await begin();
    await page.getByRole('alert').getByText('PATCH is refused').waitFor();
    await page.getByText('The connector is stopped until it is resumed.').waitFor();
    await page.getByText('Its offsets may not be set').waitFor();
    await rest.untilState(name, 'STOPPED', 0);
    await shown.isAccessible();
    await page.getByRole('link', { name: 'Connectors', exact: true }).click();
    await page.getByRole('link', { name: `offsets of ${name}` }).click();
    await button('Resume it without the change').click();
    await page.getByText('The connector is as it was before.').waitFor();
    await rest.untilState(name, 'RUNNING', 1);
    await page.unroute(`**/connectors/${name}/offsets`);

    await refuse('resume', 'PUT');
    await begin();
    await page.getByRole('alert').getByText('PUT is refused').waitFor();
    await page.getByText('Its offsets are set.').waitFor();
    assert.equal(await button(/^Resume it without/).count(), 0);
    await page.unroute(`**/connectors/${name}/resume`);
    await button('Retry').click();
    await page.getByText('The offsets are set.', { exact: true }).waitFor();
    await rest.untilState(name, 'RUNNING', 1);
    await page.getByText('Not finished').waitFor({ state: 'detached' });
    await rest.delete(`/connectors/${name}`);
  });

  it('shows the log without the worker that does not answer, and names the workers whose level was not changed', async () => {
    const { page } = shown;
    const topic = await fixture.topicOf([], 4);
    await fixture.sql.run(`create table ${topic} (ts timestamptz(3), n int8)`);
    const name = await fixture.start(topic, { 'protocol.type': 'line_lp', 'tasks.max': '4' });
    const { tasks } = await fixture.sluice.rest.untilState(name, 'RUNNING', 4);
    const { host } = new URL(other.url);
    assert.equal(new Set(tasks.map(({ worker_id: id }) => id)).size, 2);
    await open(part(name, 'log'));
    const log = page.getByRole('region', { name: 'Log of the connector' });
    await log.getByText(host).first().waitFor();
    await button(/^Start$/).click();
    await page.getByText(`not on ${host} (worker ${host} has answered 403)`).waitFor();
    await page.getByText('The connector logs at DEBUG.').waitFor();
    await log.getByText('DEBUG').first().waitFor();

    const { pid } = other;
    assert.ok(pid !== undefined);
    process.kill(pid, 'SIGSTOP');
    try {
      await page.getByText(`Without the lines of ${host}, which does not answer.`).waitFor();
      const own = tasks.find(({ worker_id: id }) => id !== host)?.id;
      const restarted = log.getByText(new RegExp(`task ${String(own)} .*Writing line_lp messages`));
      const before = await restarted.count();
      await fixture.sluice.rest.post(`/connectors/${name}/tasks/${String(own)}/restart`);
      await until(async () => (await restarted.count()) > before, 'the own lines still come');
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await page.getByText(/^Without the lines of/).waitFor({ state: 'detached' });
    await button('End now').click();
    await button(/^Start$/).waitFor();
    await fixture.sluice.rest.delete(`/connectors/${name}`);
  });

  it('keeps unsaved edits while other views are open, and asks before the page is left', async () => {
    const { page } = shown;
    await open(part(sink.name, 'configuration'));
    const tasks = page.locator('[id="option-tasks.max"]');
    await tasks.fill('3');
    const kept = page.getByText(/^1 change, not saved but kept/);
    await kept.waitFor();
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByText('the newest first').waitFor();
    const unfinished = page.getByRole('link', { name: `configuration of ${sink.name}` });
    await unfinished.waitFor();
    await page.goBack();
    await kept.waitFor();
    assert.equal(await tasks.inputValue(), '3');

    await button('JSON').click();
    const json = page.getByRole('textbox', { name: 'Configuration as JSON' });
    await json.press('Control+End');
    await json.press('x');
    await button(/The document ends before this/).waitFor();
    await page.getByRole('link', { name: 'New connector' }).click();
    await page.getByLabel('Class').selectOption({ label: 'DbSinkConnector' });
    await page.locator('[id="option-name"]').fill('half-done');
    await page.getByText('Not created yet').waitFor();
    await shown.isAccessible();
    await page.getByRole('link', { name: 'Cluster' }).click();
    await page.getByText('Threads of').waitFor();
    await page.getByRole('banner').getByRole('link', { name: 'New connector' }).last().click();
    assert.equal(await page.locator('[id="option-name"]').inputValue(), 'half-done');
    await button('Discard').click();
    await page.getByText('Choose what the connector does').waitFor();
    await unfinished.click();
    await button(/The document ends before this/).waitFor();

    const asked = page.waitForEvent('dialog');
    const leaving = page.goto('about:blank').catch(() => undefined);
    const dialog = await asked;
    assert.equal(dialog.type(), 'beforeunload');
    await dialog.dismiss();
    await leaving;
    await button('Discard changes').click();
    await page.getByText('No changes.').waitFor();
    await page.getByText('Not finished').waitFor({ state: 'detached' });
  });

  it('can be used for its main tasks by the keyboard alone', async () => {
    const { page } = shown;
    await open('/');
    const box = page.getByRole('checkbox', { name: `Select ${sink.name}` });
    await box.waitFor();
    await page.keyboard.press('Tab');
    await page.locator(':focus', { hasText: 'Skip to the content' }).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('main:focus').waitFor();
    await shown.tabTo(box);
    await page.keyboard.press('Space');
    await page.getByText('1 selected').waitFor();
    const pause = page.getByRole('toolbar').getByRole('button', { name: 'Pause' });
    await shown.tabTo(pause, 'Shift+Tab');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Pause 1 connector?' });
    await dialog.locator(':focus').waitFor();
    for (const key of ['Tab', 'Tab', 'Tab', 'Shift+Tab', 'Shift+Tab', 'Shift+Tab', 'Shift+Tab']) {
      await page.keyboard.press(key);
      // Behind the last control is the browser's own.
      assert.equal(await page.locator('main :not(dialog *):focus, header :focus').count(), 0);
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await pause.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await shown.tabTo(dialog.getByRole('button', { name: 'Pause' }));
    await page.keyboard.press('Enter');
    await page.getByText('Pause: 1 done.').waitFor();
    await fixture.sluice.rest.untilState(sink.name, 'PAUSED', 1);

    await shown.tabTo(page.getByRole('rowheader').getByRole('link', { name: sink.name }));
    await page.keyboard.press('Enter');
    await page.locator('main:focus').getByRole('heading', { name: sink.name }).waitFor();
    assert.equal(await page.title(), `${sink.name} – Sluice`);
    await shown.tabTo(page.getByRole('button', { name: 'Resume' }));
    await page.keyboard.press('Enter');
    await fixture.sluice.rest.untilState(sink.name, 'RUNNING', 1);
    await shown.tabTo(page.getByRole('link', { name: 'History' }));
    await page.keyboard.press('Enter');
    const restore = button(/^Restore the configuration of change/).first();
    await restore.waitFor();
    await shown.tabTo(restore);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').locator(':focus').waitFor();
    await page.keyboard.press('Escape');
    await restore.and(page.locator(':focus')).waitFor();
  });

  describe('of a console that is read only', () => {
    /** Requests that the actions below must not send. */
    const WRITING = /^(?:POST|PUT|PATCH|DELETE) (?!.*\/(?:offsets\/preview|validate|messages|login|logout)(?:\?|$))/;
    const OFFERS =
      /^(?:Pause|Resume|Stop|Restart|Restart failed|Review changes|Discard changes|Save|Create|Restore.*|Replay.*|Start the replay|Start|End now|Drain|Set|Stop, set and.*|Set the offsets|Show messages|What would .*)$/;

    it('S2: nothing that writes is offered, nor a preview of messages, and the page says once why; previews of offsets stay', async () => {
      const { page } = shown;
      const sent: string[] = [];
      page.on('request', (request) => sent.push(`${request.method()} ${request.url()}`));
      const views = new Map([
        ['/', 'Search'],
        ['/create', 'Connectors are created through the API'],
        ['/sql', 'services=database-http'],
        ['/cluster', 'Threads of'],
        ['/cluster/plugins', 'Choose a plugin'],
        ['/cluster/loggers', `at ${adminListener}`],
        ['/cluster/topics', 'Cleanup policy'],
        [part(sink.name, ''), 'What happens to a record'],
        [part(sink.name, 'dead-letters'), 'no dead-letter topic'],
        [part(sink.name, 'data'), 'Searched 5 records'],
        [part(sink.name, 'configuration'), 'The configuration is valid.'],
        [part(sink.name, 'offsets'), 'As of'],
        [part(sink.name, 'history'), 'created'],
        [part(sink.name, 'log'), `at ${adminListener}`],
      ]);
      for (const [hash, text] of views) {
        await open(hash, other);
        await page.getByText(text).first().waitFor();
        assert.equal(await page.getByText(/read only/i).count(), 1, hash);
        assert.equal(await page.getByRole('link', { name: 'New connector' }).count(), 0, hash);
        if (hash === '/') assert.equal(await page.getByRole('checkbox').count(), 0);
        const names = await page.getByRole('button').allInnerTexts();
        assert.deepEqual(
          names.filter((name) => OFFERS.test(name.trim()) && hash !== part(sink.name, 'log')),
          [],
          hash,
        );
        for (const each of await page.locator('main button:enabled:visible').all()) await each.click();
      }
      await open(part(sink.name, 'offsets'), other);
      await button('Preview').click();
      await page.getByText(`${String(ROWS)} records are delivered again.`).waitFor();
      assert.deepEqual(await page.getByRole('main').getByRole('button').allInnerTexts(), ['Preview']);
      assert.deepEqual(
        sent.filter((each) => WRITING.test(each)),
        [],
      );
      await shown.isAccessible();
    });

    it('the worker refuses every write below /ui, also where it is sent by hand', async () => {
      const connector = `/ui/connectors/${sink.name}`;
      const writes = [
        ['POST', '/ui/connectors'],
        ['PUT', `${connector}/config`],
        ['POST', `${connector}/changes/1/restore?newest=1`],
        ['PUT', `${connector}/log-level`],
        ['POST', `${connector}/messages/preview`],
        ['POST', '/ui/connector-plugins/DbSink/preview'],
        ['PUT', '/ui/connector-plugins/DbSink/connection'],
      ] as const;
      const headers = { 'Content-Type': 'application/json' };
      for (const [method, path] of writes) {
        const { status } = await fetch(other.url + path, { method, headers, body: '{}' });
        assert.equal(status, 403, path);
      }
      const path = `${connector}/log-level`;
      const { status } = await fetch(adminListener + path, { method: 'PUT', headers, body: '{"level":"DEBUG"}' });
      assert.equal(status, 403);
    });
  });
});
