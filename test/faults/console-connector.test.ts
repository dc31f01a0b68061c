import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { sinkConfig, sourceConfig } from '../support/connectors.ts';
import { consolePage } from '../../plugins/console/test/support/console-page.ts';
import { assertDescribed } from '../support/open-api-check.ts';
import { TcpProxy } from '../support/proxy.ts';
import { uniqueName } from '../support/services.ts';
import { workerServices } from '../support/worker-services.ts';

const PLUGINS = fileURLToPath(new URL('../support/stuck-plugins', import.meta.url));

describe('a connector in the console', function () {
  const shown = consolePage(assertDescribed);
  const on = workerServices('console', {
    properties: {
      'plugin.path': PLUGINS,
      'offset.flush.interval.ms': '200',
      'task.shutdown.graceful.timeout.ms': '500',
    },
  });

  async function create(config: Readonly<Record<string, string>> = {}): Promise<string> {
    const name = uniqueName('console');
    await on.sql.run(`create table "${name}" (ts timestamptz not null, v int8)`);
    await on.kafka.createTopic(name, 1);
    await on.worker.rest.create(name, sinkConfig(on.db, { topics: name, 'protocol.type': 'line_lp', ...config }));
    await on.worker.rest.untilState(name, 'RUNNING', 1);
    return name;
  }

  const open = (name: string, part = '') => shown.page.goto(`${on.worker.url}/ui#/connectors/${name}${part}`);

  const sentence = () => shown.page.locator('.sentence');
  const verdict = (text: string) => sentence().locator('.badge', { hasText: text }).waitFor({ timeout: 30_000 });
  const lines = (name: string, count: number) =>
    Array.from({ length: count }, (_, n) => ({ value: `${name} v=${String(n)}i ${String(1_767_225_600_000 + n)}` }));

  it('that has failed at a record says why it is not restarted, and leads to the record and to its trace', async () => {
    const name = await create();
    await on.kafka.produce(name, [{ value: 'this is no line' }]);
    await open(name, '/log');
    await verdict('FAILED');
    await sentence().getByText('Task 0 does not restart automatically').waitFor();
    assert.match(await sentence().innerText(), /restarting will not help: the record itself is bad/);
    await sentence().getByRole('link', { name: 'Show the record' }).click();
    const messages = shown.page.getByRole('region', { name: 'Messages' }).last();
    await messages.getByText('this is no line').waitFor();
    await shown.page.getByRole('link', { name: 'Overview' }).click();
    await shown.page.locator('.trace summary').click();
    const trace = shown.page.locator('details.trace[open] pre');
    await trace.waitFor();
    const { tasks } = await on.worker.rest.status(name);
    assert.equal((await trace.innerText()).trimEnd(), tasks[0]?.trace?.trimEnd());
    await on.worker.rest.delete(`/connectors/${name}`);
  });

  it('whose database is unreachable counts down to its next start, and runs again automatically', async () => {
    const name = uniqueName('console');
    const proxy = await TcpProxy.start(on.db);
    try {
      await on.sql.run(`create table "${name}" (ts timestamptz not null, v int8)`);
      await on.kafka.createTopic(name, 1);
      const place = { ...on.db, host: '127.0.0.1', port: proxy.port };
      const impatient = { 'max.retries': '0', 'connection.attempts': '1', 'restart.backoff.ms': '3000' };
      const config = { topics: name, 'protocol.type': 'line_lp', 'restart.backoff.max.ms': '3000', ...impatient };
      await on.worker.rest.create(name, sinkConfig(place, config));
      await on.worker.rest.untilState(name, 'RUNNING', 1);
      proxy.refuse();
      await on.kafka.produce(name, lines(name, 1));
      await open(name);
      await verdict('FAILED');
      await sentence()
        .getByText(/Task 0 restarts automatically in 0:0[1-4] \(attempt \d+ of 20, at /)
        .waitFor();
      assert.match(await sentence().innerText(), /annot connect to database[^]*The cause is outside of the connector/);
      proxy.pass();
      await verdict('RUNNING');
      await sentence()
        .getByText(/Task 0 was restarted: attempt \d+ of 20/)
        .waitFor();
    } finally {
      await on.worker.rest.delete(`/connectors/${name}`);
      await proxy.close();
    }
  });

  it('whose plugin hangs is STALLED, and names the call that does not return', async () => {
    const name = uniqueName('console');
    await on.sql.run(`create table "${name}" (value text primary key)`);
    await on.kafka.createTopic(name, 1);
    const config = {
      'connector.class': 'StuckSink',
      topics: name,
      table: name,
      url: on.db.url,
      'stall.after.ms': '1000',
    };
    await on.worker.rest.create(name, config);
    await on.kafka.produce(name, [{ value: 'wait' }]);
    await open(name);
    await verdict('STALLED');
    assert.match(await sentence().innerText(), /put\(\) of the task has not returned/);
    await on.worker.rest.delete(`/connectors/${name}`);
  });

  it('shows what happens to a record, with rates and times, also at a width of 360 pixels in the dark', async () => {
    const name = await create({
      transforms: 'route',
      'transforms.route.type': 'org.apache.kafka.connect.transforms.RegexRouter',
      'transforms.route.regex': '(.*)',
      'transforms.route.replacement': '$1',
    });
    await on.kafka.produce(name, lines(name, 500));
    await open(name);
    const boxes = shown.page.locator('.flow .box');
    await boxes.filter({ hasText: 'Tables' }).getByText('500 rows').waitFor({ timeout: 20_000 });
    const texts = await boxes.allInnerTexts();
    assert.deepEqual(
      texts.map((text) => text.split('\n', 1)[0]),
      ['Topics', 'Converter', 'Transform', 'Put', 'Tables'],
    );
    assert.match(texts[0] ?? '', new RegExp(`${name} 0 behind`));
    assert.match(texts[2] ?? '', /route \(RegexRouter\)[^]*[\d.]+\/s[^]*(µs|ms)/);
    assert.match(texts[4] ?? '', /[\d.]+\/s[^]*(µs|ms)/);
    assert.match(await shown.page.getByRole('region', { name: 'Tasks' }).innerText(), /in [\d,]+ ms/);
    await shown.page.locator('.chart canvas').first().waitFor();
    await shown.page.getByText('The charts as a table').click();
    await shown.page.emulateMedia({ colorScheme: 'dark' });
    await shown.page.setViewportSize({ width: 360, height: 740 });
    const width = await shown.page.evaluate<number>('document.documentElement.scrollWidth');
    assert.ok(width <= 360, `${String(width)} pixels wide`);
    await shown.isAccessible();
    await on.worker.rest.delete(`/connectors/${name}`);
  });

  it('that is a source shows how far it is in each table', async () => {
    const name = uniqueName('console');
    await on.sql.run(
      `create table "${name}" (ts timestamptz primary key, n int8)`,
      `insert into "${name}" select now() - n * interval '1 minute', n from generate_series(1, 7) n`,
    );
    await on.worker.rest.create(name, sourceConfig(on.db, { 'topic.prefix': name, 'table.include': name }));
    await open(name);
    const table = shown.page.getByRole('region', { name: 'Tables' });
    await table
      .getByRole('row', { name: new RegExp(`${name} RUNNING 7 0 0 0 20\\d\\d-`) })
      .waitFor({ timeout: 20_000 });
    assert.deepEqual(
      (await shown.page.locator('.flow .box .kind').allInnerTexts()).join(),
      'Tables,Poll,Converter,Topics',
    );
    await on.worker.rest.delete(`/connectors/${name}`);
  });

  it('shows its log as it comes, finds lines, and holds the view', async () => {
    const name = await create();
    await open(name, '/log');
    const log = shown.page.getByRole('region', { name: 'Log of the connector' });
    await log.locator('li').first().waitFor();
    await on.kafka.produce(name, [{ value: 'this is no line' }]);
    const failure = log.locator('li', { hasText: 'threw an uncaught and unrecoverable exception' });
    await failure.waitFor();
    assert.match(await failure.innerText(), /ERROR/);
    await failure.locator('summary').click();
    await failure.locator('pre').waitFor();
    await shown.page.getByLabel('Find in the lines').fill('nothing has this');
    await log.getByText('No line matches').waitFor();
    await shown.page.getByLabel('Find in the lines').fill('');
    await shown.page.getByRole('button', { name: 'Pause', exact: true }).click();
    await on.worker.rest.post(`/connectors/${name}/restart?includeTasks=true`);
    const goOn = shown.page.getByRole('button', { name: /^Resume \(\d+ new\)/ });
    await goOn.waitFor();
    await goOn.click();
    await on.worker.rest.delete(`/connectors/${name}`);
  });

  it('raises its log level for some time, which the worker ends', async () => {
    const [name, other] = [await create(), await create()];
    await open(name, '/log');
    await shown.page.getByLabel('Log more:').selectOption('TRACE');
    await shown.page.getByRole('button', { name: 'Start', exact: true }).click();
    await shown.page.getByText('The connector logs at TRACE.').waitFor();
    await shown.page.getByText(/It ends automatically in [45]:/).waitFor();
    const log = shown.page.getByRole('region', { name: 'Log of the connector' });
    await log.getByText('TRACE').first().waitFor();
    const levelOf = async (connector: string) => {
      const answer = await fetch(`${on.worker.url}/ui/connectors/${connector}/log-level`);
      return ((await answer.json()) as { level: string | null }).level;
    };
    assert.deepEqual([await levelOf(name), await levelOf(other)], ['TRACE', null]);
    await shown.isAccessible();
    const set = await fetch(`${on.worker.url}/ui/connectors/${name}/log-level`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ level: 'DEBUG', minutes: 0.02 }),
    });
    assert.equal(set.status, 200, await set.text());
    await shown.page.getByRole('button', { name: 'Start', exact: true }).waitFor();
    assert.equal(await levelOf(name), null);
    await Promise.all([name, other].map((each) => on.worker.rest.delete(`/connectors/${each}`)));
  });
});
