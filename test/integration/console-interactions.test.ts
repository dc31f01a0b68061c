import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parse as parseProperties } from 'dot-properties';
import { parse as parseYaml } from 'yaml';
import { freePort } from '../../src/dev/ports.ts';
import { consolePage } from '../support/console-page.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import { SinkFixture } from './sink-fixture.ts';

const ROWS = 5;

describe('what a user does in the console', function () {
  const shown = consolePage({ permissions: ['clipboard-read', 'clipboard-write'] });
  let fixture: SinkFixture;
  /** Of the same group; its console is read only, and levels of loggers are set elsewhere. */
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
      await shown.page.getByRole('link', { name: 'Show the fault' }).click();
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

  it('stops a replay of dead letters, and replays what it has left', async () => {
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
      'errors.tolerance': 'all',
      'errors.deadletterqueue.topic.name': `${topic}-dead`,
      'errors.deadletterqueue.topic.replication.factor': '1',
      'errors.deadletterqueue.context.headers.enable': 'true',
    });
    await fixture.done(name, letters);
    await fixture.sql.run(`alter table ${topic} drop constraint small`);
    await open(part(name, 'dead-letters'));
    await page.getByLabel('Letters a second, at most').fill('4');
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
    await page.locator(':focus', { hasText: 'What replay 1 has left' }).waitFor();
    await page.getByLabel('Letters a second, at most').fill('1000');
    await button('Preview').click();
    await page.getByText(/^Of the first \d+: stored/).waitFor();
    await button('Start the replay').click();
    await replays
      .getByText(`${String(letters - done)} letters selected, ${String(letters - done)} delivered`)
      .waitFor();
    assert.equal(await fixture.sql.number(`select count(distinct n) from ${topic}`), letters);
    await fixture.sluice.rest.delete(`/connectors/${name}`);
  });

  describe('of a console that is read only', () => {
    /** What is pressed below sends nothing of these. */
    const WRITING = /^(?:POST|PUT|PATCH|DELETE) (?!.*\/(?:preview|validate|messages|login|logout)(?:\?|$))/;
    const OFFERS =
      /^(?:Pause|Resume|Stop|Restart|Restart failed|Review changes|Discard changes|Save|Create|Restore.*|Replay.*|Start the replay|Begin|End now|Drain|Set|Stop, set and.*|Set the offsets)$/;

    it('nothing that writes is offered, and the page says once why; previews stay', async () => {
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
        [part(sink.name, 'offsets'), 'Go on elsewhere'],
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
      await page.getByText(`${String(ROWS)} records come again.`).waitFor();
      assert.deepEqual((await page.getByRole('button').allInnerTexts()).sort(), ['Look again', 'Preview']);
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
