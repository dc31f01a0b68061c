import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import type { FleetSnapshot } from '../../src/operate/console/console-answers.ts';
import type { FleetRow } from '../../src/operate/fleet/fleet-answers.ts';
import { consoleFiles } from '../../src/operate/console/console-files.ts';
import { keepingLetters, sinkConfig } from '../support/connectors.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { fleetConsole } from './console-fixture.ts';

const MAX_FIRST_LOAD = 25_000;

const PICTURE = new URL('../../docs/images/console.png', import.meta.url);

const CALM: FleetRow = {
  name: 'calm',
  type: 'sink',
  className: 'com.db.kafka.connect.sink.DbSinkConnector',
  verdict: 'RUNNING',
  sentence: '2 tasks run, 0 records behind.',
  since: '2026-01-01T00:00:00.000Z',
  tasks: { RUNNING: 2 },
  workers: ['127.0.0.1:8083'],
  topics: 'topic',
  tables: 'table',
  rate: 0,
  lag: 0,
  deadLettersPerMinute: 0,
  spark: [],
};

/** In the page: types into the search, and resolves with the milliseconds until the table has what matches. */
const FILTER = `(async () => {
  const input = document.querySelector('input[type=search]');
  const beganAt = performance.now();
  input.value = 'connector-99';
  input.dispatchEvent(new Event('input', { bubbles: true }));
  while (document.querySelector('table.fleet').getAttribute('aria-rowcount') !== '12') {
    await new Promise((resolve) => setTimeout(resolve));
  }
  return performance.now() - beganAt;
})()`;

describe('the console', function () {
  const { shown, on, rowOf, badgeOf, create } = fleetConsole();

  /** Selects these, presses the button, and confirms what will happen. */
  async function forSelected(names: readonly string[], button: string): Promise<void> {
    for (const name of names) await shown.page.getByRole('checkbox', { name: `Select ${name}` }).check();
    await shown.page.getByRole('toolbar').getByRole('button', { name: button }).click();
    const count = String(names.length);
    const what = button === 'Restart failed' ? 'Restart what has failed in' : button;
    const dialog = shown.page.getByRole('dialog', { name: `${what} ${count} connectors?` });
    for (const name of names) await dialog.getByText(name).waitFor();
    await dialog.getByRole('button', { name: button }).click();
    await shown.page.getByText(`${button}: ${count} done.`).waitFor();
  }

  it('loads at most 25 kB first, only from the worker', async () => {
    const loaded: number[] = [];
    const hosts = new Set<string>();
    shown.page.on('response', (response) => {
      hosts.add(new URL(response.url()).host);
    });
    await shown.page.goto(`${on.worker.url}/ui`);
    await shown.page.waitForSelector('main p, main table');
    const files = await consoleFiles();
    const index = files.get('index.html')?.bytes.toString() ?? '';
    for (const [path, { gzipped }] of files)
      if (path === 'index.html' || index.includes(path)) loaded.push(gzipped.length);
    assert.ok(loaded.length >= 3);
    assert.ok(loaded.reduce((sum, size) => sum + size) <= MAX_FIRST_LOAD, `${String(loaded)} bytes`);
    assert.deepEqual([...hosts], [new URL(on.worker.url).host]);
    const answer = await fetch(`${on.worker.url}/ui`);
    await answer.text();
    assert.match(answer.headers.get('content-security-policy') ?? '', /^default-src 'self'/);
  });

  it('pauses and resumes several connectors, after it has shown the effect', async () => {
    const names = [await create(), await create()];
    await shown.page.goto(`${on.worker.url}/ui#/?text=${encodeURIComponent('console')}&type=sink`);
    for (const [button, verdict] of [
      ['Pause', 'PAUSED'],
      ['Resume', 'RUNNING'],
    ] as const) {
      await forSelected(names, button);
      for (const name of names) await badgeOf(name, verdict).waitFor();
    }
    await Promise.all(names.map((name) => on.worker.rest.delete(`/connectors/${name}`)));
  });

  it('stops connectors, and restarts those that have failed, several at once', async () => {
    const [whole, broken] = [await create(), await create()];
    await on.sql.run(`drop table "${broken}"`);
    await on.kafka.produce(broken, [{ value: `${broken} v=7i 1000000000` }]);
    await shown.page.goto(`${on.worker.url}/ui`);
    await badgeOf(broken, 'FAILED').waitFor();
    await on.sql.run(`create table "${broken}" (ts timestamptz not null, v int8)`);
    await forSelected([whole, broken], 'Restart failed');
    await badgeOf(broken, 'RUNNING').waitFor();
    await until(async () => (await on.sql.rows(`select v from "${broken}"`)).length === 1, 'the record is a row');
    await forSelected([whole, broken], 'Stop');
    for (const name of [whole, broken]) await badgeOf(name, 'STOPPED').waitFor();
    await Promise.all([whole, broken].map((name) => on.worker.rest.delete(`/connectors/${name}`)));
  });

  it('shows the dead letters of a sink in groups, and what a replay would do with them', async () => {
    const name = uniqueName('console');
    await on.sql.run(`create table "${name}" (ts timestamptz not null, v int8)`);
    await Promise.all([on.kafka.createTopic(name, 1), on.kafka.createTopic(`${name}-dead`, 1)]);
    const config = sinkConfig(on.db, {
      topics: name,
      'protocol.type': 'line_lp',
      ...keepingLetters(`${name}-dead`),
    });
    await on.worker.rest.create(name, config);
    // Buckets of 32 s begin with the epoch.
    const at = (Math.floor(Date.now() / 32_000) - 100) * 32_000;
    const times = [at, at + 10_000, at + 1_800_000];
    await on.kafka.produce(
      name,
      times.map((timestamp) => ({ value: 'this is no line', timestamp })),
    );
    await on.kafka.read(`${name}-dead`, ({ length }) => length >= times.length);
    await shown.page.goto(`${on.worker.url}/ui#/connectors/${name}/dead-letters`);
    const group = shown.page.locator('.group', { hasText: 'line protocol' });
    await group.getByRole('img', { name: /^From .* to .*: at most 2 records in 32 seconds, at / }).waitFor();
    await group.locator('summary').first().click();
    await group.getByText(/^Partition 0, offset 0,/).waitFor();
    await group.getByRole('button', { name: 'What would happen now?' }).first().click();
    await group.getByText('Of the first 3: fails with the same fault: 3', { exact: true }).first().waitFor();
    await on.worker.rest.delete(`/connectors/${name}`);
  });

  it('shows the workers of the group and the threads of this one', async () => {
    await shown.page.goto(`${on.worker.url}/ui`);
    await shown.page.getByRole('link', { name: 'Cluster' }).click();
    const own = shown.page.getByRole('region', { name: 'Workers' });
    await own.getByRole('link', { name: new URL(on.worker.url).host }).waitFor();
    await shown.page.getByRole('rowheader', { name: 'main' }).waitFor();
  });

  it('keeps its filters in the address, and exports the remaining rows as CSV', async () => {
    const name = await create();
    await shown.page.goto(`${on.worker.url}/ui`);
    await rowOf(name).waitFor();
    await shown.page.getByLabel('Search').fill(name);
    const [download] = await Promise.all([
      shown.page.waitForEvent('download'),
      shown.page.getByRole('button', { name: 'Save 1 as CSV' }).click(),
    ]);
    const lines = (await readFile(await download.path(), 'utf8')).split('\r\n');
    assert.equal(lines.length, 3);
    assert.match(lines[0] ?? '', /^\ufeffconnector,type,class,verdict,/);
    assert.match(lines[1] ?? '', new RegExp(`^${name},`));
    await shown.page.getByLabel('Search').fill('nothing is named so');
    await shown.page.getByText('No connector matches').waitFor();
    assert.match(shown.page.url(), /#\/\?text=nothing\+is\+named\+so$/);
    await shown.page.getByRole('link', { name: 'Clear filters' }).click();
    await rowOf(name).waitFor();
    await on.worker.rest.delete(`/connectors/${name}`);
  });

  it('says that the worker does not answer, and continues when it does', async () => {
    await shown.page.goto(`${on.worker.url}/ui`);
    await shown.page.getByText(/^Live · /).waitFor();
    await on.worker.kill();
    await shown.page.getByText(/connection to the worker is lost|worker does not answer/i).waitFor();
    await shown.page.getByText(/What is shown is from \d\d:\d\d:\d\d/).waitFor();
    await shown.page.locator('.lost main').waitFor();
    await on.worker.start();
    await shown.page
      .getByText(/connection to the worker is lost|worker does not answer/i)
      .waitFor({ state: 'detached' });
    await shown.page.getByText(/^Live · /).waitFor();
    shown.forgive();
  });

  it('is shown by a picture in the README, which UPDATE_PICTURE=1 takes again', async () => {
    const server = await fakeApi(pictureRows());
    const { port } = server.address() as AddressInfo;
    try {
      await shown.page.setViewportSize({ width: 1180, height: 700 });
      await shown.page.goto(`http://127.0.0.1:${String(port)}/ui`);
      await rowOf('sessions').waitFor();
      const picture = await shown.page.screenshot();
      if (process.env['UPDATE_PICTURE'] === '1') await writeFile(PICTURE, picture);
    } finally {
      server.closeAllConnections();
      server.close();
    }
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
    assert.match(readme, /!\[[^\]]+\]\(docs\/images\/console\.png\)/);
    assert.deepEqual(
      [...(await readFile(PICTURE)).subarray(1, 4)].map((code) => String.fromCharCode(code)).join(''),
      'PNG',
    );
  });

  it('shows topics and tables in each row, leaves the free width to the reason, and marks no paused task', async () => {
    const server = await fakeApi(pictureRows());
    const { port } = server.address() as AddressInfo;
    const { page } = shown;
    try {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(`http://127.0.0.1:${String(port)}/ui`);
      const row = rowOf('warehouse-customers');
      await row.getByText('sink customers → customers').waitFor();
      const why = await page.getByRole('columnheader', { name: 'Why' }).boundingBox();
      assert.ok((why?.width ?? 0) > 330, JSON.stringify(why));
      assert.equal((await row.boundingBox())?.height, 36);
      assert.equal(await row.locator('.short-of').innerText(), '3/4');
      await rowOf('archive-invoices').getByText('0/2').waitFor();
      assert.equal(await rowOf('archive-invoices').locator('.short-of').count(), 0);
    } finally {
      server.closeAllConnections();
      server.close();
    }
    shown.forgive();
  });

  it('sorts by a column, follows its keys, and leads to each connector from its palette', async () => {
    const server = await fakeApi(Array.from({ length: 30 }, numberedRow));
    const { port } = server.address() as AddressInfo;
    const { page } = shown;
    try {
      await page.goto(`http://127.0.0.1:${String(port)}/ui`);
      await page.getByText('10 of 30 connectors need attention.').waitFor();
      await page.getByText('production').waitFor();
      const first = page.locator('table.fleet tbody th a').first();
      await page.getByRole('button', { name: 'Lag' }).click();
      await page.getByRole('columnheader', { name: 'Lag' }).and(page.locator('[aria-sort=descending]')).waitFor();
      assert.equal(await first.innerText(), 'connector-29');
      assert.match(page.url(), /sort=-lag$/);
      await page.getByRole('button', { name: 'Lag' }).click();
      assert.equal(await first.innerText(), 'connector-0');

      await page.locator('main').click({ position: { x: 2, y: 2 } });
      await page.keyboard.press('j');
      await page.keyboard.press('j');
      await page.locator('table.fleet tbody th a:focus', { hasText: 'connector-1' }).waitFor();
      await page.keyboard.press('/');
      await page.locator('input[type=search]:focus').waitFor();
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Go to a connector or a view' }).fill('clus');
      await shown.isAccessible();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Cluster' }).waitFor();
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.press('g');
      await page.keyboard.press('c');
      await first.waitFor();
      await page.goto(`http://127.0.0.1:${String(port)}/ui#/no-such-view`);
      await page.getByText('There is no such page.').waitFor();
    } finally {
      server.closeAllConnections();
      server.close();
    }
    shown.forgive();
  });

  it('shows 1,000 connectors with 10,000 tasks, and renders only the visible ones', async () => {
    const server = await fakeApi(Array.from({ length: 1000 }, numberedRow));
    const { port } = server.address() as AddressInfo;
    try {
      await shown.page.goto(`http://127.0.0.1:${String(port)}/ui`);
      await shown.page.locator('table.fleet tbody th a').first().waitFor();
      const paintMs = await shown.page.evaluate(() => performance.now());
      assert.equal(await shown.page.locator('table.fleet').getAttribute('aria-rowcount'), '1001');
      assert.ok((await shown.page.locator('table.fleet tbody tr').count()) < 100);
      const filterMs = await shown.page.evaluate<number>(FILTER);
      await shown.page.getByRole('link', { name: 'connector-990' }).waitFor();
      console.log(`      (painted after ${paintMs.toFixed(0)} ms, filtered in ${filterMs.toFixed(0)} ms)`);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

/** One of many connectors of 10 tasks. */
function numberedRow(_: unknown, number: number): FleetRow {
  const verdicts = ['RUNNING', 'RUNNING', 'RUNNING', 'PAUSED', 'LAGGING', 'FAILED'] as const;
  return {
    ...CALM,
    name: `connector-${String(number)}`,
    verdict: verdicts[number % verdicts.length] ?? 'RUNNING',
    sentence: '10 tasks run, 0 records behind.',
    tasks: { RUNNING: 10 },
    topics: `topic-${String(number)}`,
    rate: number,
    lag: number * 10,
    spark: Array.from({ length: 60 }, (__, minute) => (minute * number) % 97),
  };
}

/** Connectors as an operator may have them, for the picture of the README. */
function pictureRows(): FleetRow[] {
  const hour = (of: (minute: number) => number | null) => Array.from({ length: 60 }, (_, minute) => of(minute));
  const troubled: FleetRow[] = [
    {
      ...CALM,
      name: 'warehouse-customers',
      verdict: 'FAILED',
      sentence: 'Task 0 has failed: password authentication failed for user "loader" (28P01).',
      tasks: { FAILED: 1, RUNNING: 3 },
      rate: 0,
      lag: 12_450,
      spark: hour((minute) => (minute < 40 ? 900 + 40 * Math.sin(minute) : 0)),
    },
    {
      ...CALM,
      name: 'warehouse-orders',
      verdict: 'STALLED',
      sentence:
        'Task 1: 88120 records wait, and nothing was delivered for 480 s: the database waits for a lock that pid 4711 holds, application "report".',
      tasks: { RUNNING: 4 },
      rate: 0,
      lag: 88_120,
      spark: hour((minute) => (minute < 52 ? 2200 + 300 * Math.sin(minute / 3) : 0)),
    },
    {
      ...CALM,
      name: 'sensors-raw',
      verdict: 'DEGRADED',
      sentence: '12 records a minute go to the dead-letter topic.',
      tasks: { RUNNING: 8 },
      rate: 41_200,
      lag: 310,
      deadLettersPerMinute: 12,
      spark: hour((minute) => 40_000 + 4000 * Math.sin(minute / 5)),
    },
    {
      ...CALM,
      name: 'archive-invoices',
      verdict: 'PAUSED',
      sentence: 'The connector is paused.',
      tasks: { PAUSED: 2 },
      rate: null,
      spark: hour(() => null),
    },
  ];
  const names = ['clickstream', 'devices', 'inventory', 'payments', 'prices', 'sessions'];
  const calm = names.map((name, index): FleetRow => {
    const rate = 1200 * (index + 1);
    return { ...CALM, name, rate, lag: index * 3, spark: hour((minute) => rate + 300 * Math.sin(minute / 4 + index)) };
  });
  return [...troubled, ...calm].map((row, index) => {
    const topics = row.name.slice(row.name.indexOf('-') + 1);
    const since = new Date(Date.now() - (index + 1) ** 2 * 400_000).toISOString();
    return { ...row, topics, tables: topics, since };
  });
}

/** The API with these connectors. */
async function fakeApi(rows: readonly FleetRow[]): Promise<Server> {
  const files = await consoleFiles();
  const snapshot: FleetSnapshot = {
    at: Date.now(),
    worker: { id: 'w', version: '0', readOnly: false, title: 'production', lostWorkWaitsMs: null },
    rows,
    total: rows.length,
    silent: [],
  };
  const server = createServer(({ url = '' }, response) => {
    const path = url === '/ui' ? 'index.html' : url.replace('/ui/', '');
    const file = files.get(path);
    if (file !== undefined) response.setHeader('Content-Type', file.type).end(file.bytes);
    else if (url === '/ui/snapshot')
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(snapshot));
    else if (url === '/ui/events') response.setHeader('Content-Type', 'text/event-stream').write('retry: 2000\n\n');
    else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
