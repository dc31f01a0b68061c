import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { request as httpRequest } from 'node:http';
import { sinkConfig } from '../support/connectors.ts';
import { consolePage } from '../../plugins/console/test/support/console-page.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { assertDescribed } from '../support/open-api-check.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

/** Would be true if markup of a name or a value were ever run. */
const WAS_RUN = 'globalThis.wasRun === true';
const MARKUP = '<img src=x onerror="wasRun=true"><script>wasRun=true</script>';
const LONG = 'x'.repeat(700_000);

/** Connectors whose names lead elsewhere, or look like others, if the console handles them carelessly. */
const NAMES = [
  MARKUP,
  '../snapshot',
  'a%2Fb',
  'a/b',
  'two  blanks',
  '__proto__',
  'constructor',
  'ünïcødé 🦊',
  '#/create?&=+',
  '\u202ecod.exe',
  'zero\u200bwidth',
  'javascript:wasRun=true',
  `'"\`\\`,
];

describe('the console under attack', function () {
  const shown = consolePage(assertDescribed);
  let worker: WorkerProcess;
  let kafka: KafkaTraffic;
  let db: TestDatabase;
  let sql: SqlClient;

  before(async () => {
    [worker, kafka, db] = await Promise.all([
      WorkerProcess.start({ properties: { 'offset.flush.interval.ms': '200', 'access.control.allow.origin': '*' } }),
      KafkaTraffic.shared(),
      database('console-attacks'),
    ]);
    sql = new SqlClient(db);
  });

  after(async () => {
    await worker?.discard();
    await sql?.close();
  });

  const json = { 'Content-Type': 'application/json' };
  const ask = async (method: string, path: string, body?: unknown) => {
    const sent = body === undefined ? {} : { headers: json, body: JSON.stringify(body) };
    const response = await fetch(worker.url + path, { method, ...sent });
    return { status: response.status, text: await response.text() };
  };
  const rowOf = (name: string) => shown.page.locator('table.fleet tbody tr', { hasText: name });

  /** A request as a browser sends it for a page: `fetch` does not let these headers through. */
  async function asBrowser(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<{ status: number; headers: Readonly<Record<string, string | string[] | undefined>> }> {
    const { hostname, port } = new URL(worker.url);
    return new Promise((resolve, reject) => {
      const sent = httpRequest({ host: hostname, port, method, path, headers, agent: false }, (response) => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers });
        response.destroy();
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  it('shows, opens, saves, restarts and deletes connectors of any name, and runs none of them', async () => {
    const topic = uniqueName('attacks');
    await kafka.createTopic(topic, 1);
    const config = {
      'connector.class': 'org.apache.kafka.connect.file.FileStreamSinkConnector',
      file: '/dev/null',
      topics: topic,
      [MARKUP]: MARKUP,
      'a.link': 'javascript:wasRun=true',
      unseen: 'a\u0000b\u202ec',
    };
    for (const name of NAMES) {
      const created = await ask('POST', '/ui/connectors', { name, config: { ...config, name } });
      assert.equal(created.status, 201, `${name}: ${created.text}`);
    }
    const expanded = JSON.parse((await ask('GET', '/connectors?expand=info')).text) as object;
    assert.deepEqual(Object.keys(expanded).sort(), [...NAMES].sort());

    const { page } = shown;
    await page.goto(`${worker.url}/ui`);
    await rowOf('‹U+202E›cod.exe').waitFor();
    await rowOf('zero‹U+200B›width').waitFor();
    for (const name of [MARKUP, '../snapshot', '#/create?&=+', '__proto__']) {
      await page.goto(`${worker.url}/ui`);
      await rowOf(name).getByRole('link').first().click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      for (const part of ['Offsets', 'History', 'Log', 'Data', 'Dead letters', 'Configuration']) {
        await page.getByRole('link', { name: part, exact: true }).click();
        assert.ok((await page.getByRole('heading', { level: 1 }).innerText()).startsWith(name), part);
      }
      await page.getByText('The configuration is valid.').waitFor();
      assert.equal(await page.locator('main img, main script').count(), 0);
      assert.equal(await page.evaluate(WAS_RUN), false);
    }
    for (const name of NAMES) {
      const path = `/ui/connectors/${encodeURIComponent(name)}/config`;
      const { entries, version } = JSON.parse((await ask('GET', path)).text) as {
        entries: [string, string][];
        version: string;
      };
      const saved = await ask('PUT', path, { config: { ...Object.fromEntries(entries), more: '1' }, version });
      assert.deepEqual([saved.status, JSON.parse(saved.text)], [200, { name }]);
      const own = `/connectors/${encodeURIComponent(name)}`;
      assert.ok((await ask('POST', `${own}/restart?includeTasks=true`)).status < 300, name);
      assert.equal((await ask('DELETE', own)).status, 204, name);
    }
    for (const name of ['.', '..']) {
      const { status, text } = await ask('POST', '/ui/connectors', { name, config: { ...config, name } });
      assert.equal(status, 400);
      assert.match(text, /choose another name/);
    }
  });

  it('shows messages, faults and long values as text, and its page stays responsive', async () => {
    const name = uniqueName('attacks');
    await kafka.createTopic(name, 1);
    const headers = { [MARKUP]: MARKUP, '\u202eheader': '\u0000' };
    await kafka.produce(name, [
      { key: MARKUP, value: MARKUP, headers },
      { key: '\u202ekey', value: `\u0007${LONG}` },
      { key: 'json', value: '{"__proto__": {"wasRun": true}, "a": "\\ud800"}' },
    ]);
    await sql.run(`create table "${name}" (ts timestamptz not null, v int8)`);
    const config = sinkConfig(db, { topics: name, 'protocol.type': 'line_lp', 'x.long': LONG });
    await worker.rest.create(name, config);
    const { page } = shown;
    await page.addInitScript(
      'globalThis.turns = []; new PerformanceObserver((list) => turns.push(...list.getEntries().map((each) => each.duration))).observe({ type: "longtask", buffered: true });',
    );
    await page.goto(`${worker.url}/ui#/connectors/${name}/data`);
    const rows = page.getByRole('region', { name: 'Messages' }).last().locator('tbody tr');
    await rows.nth(2).waitFor();
    assert.match(await rows.nth(1).innerText(), /‹U\+202E›key/);
    await rows.nth(2).getByRole('button').click();
    await page.locator('.message').getByText(MARKUP).first().waitFor();
    await page.getByText('‹U+202E›header').waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.locator('.trace').first().waitFor();
    await page.getByRole('link', { name: 'Configuration', exact: true }).click();
    await page.locator('[id="option-x.long"]').waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'JSON' }).click();
    await page.getByRole('textbox', { name: 'Configuration as JSON' }).waitFor();
    const turns = await page.evaluate<number[]>('turns');
    console.log(`      (the longest turn of the page: ${Math.max(0, ...turns).toFixed(0)} ms)`);
    assert.ok(Math.max(0, ...turns) < 5000, String(turns));
    assert.equal(await page.evaluate(WAS_RUN), false);
    assert.equal(await page.evaluate('({}).wasRun'), undefined);
    await worker.rest.delete(`/connectors/${name}`);
  });

  it('answers only its own page, even if every origin may call the API', async () => {
    const Host = new URL(worker.url).host;
    const evil = { Host, Origin: 'https://evil.example' };
    const paths = ['/ui/snapshot', '/ui/events', '/ui/rates', '/ui/sql', '/ui/topics', '/ui/deleted-connectors'];
    for (const path of paths) {
      for (const headers of [evil, { Host, Origin: 'null' }, { Host, 'Sec-Fetch-Site': 'cross-site' }]) {
        const refused = await asBrowser('GET', path, headers);
        assert.equal(refused.status, 403, path);
        assert.equal(refused.headers['access-control-allow-origin'], undefined);
      }
      assert.equal((await asBrowser('GET', path, { Host: 'evil.example:8083' })).status, 403, path);
      const own = await asBrowser('GET', path, { Host, 'Sec-Fetch-Site': 'same-origin' });
      assert.equal(own.status, 200, path);
      assert.equal(own.headers['cache-control'], 'no-store', path);
      assert.equal(own.headers['x-content-type-options'], 'nosniff', path);
      assert.equal(own.headers['x-frame-options'], 'DENY', path);
      assert.equal(own.headers['cross-origin-resource-policy'], 'same-origin', path);
      assert.match(String(own.headers['content-security-policy']), /frame-ancestors 'none'/);
    }
    const writes = [
      ['POST', '/ui/connectors'],
      ['PUT', '/ui/connectors/a/config'],
      ['POST', '/ui/connectors/a/changes/1/restore'],
      ['PUT', '/ui/connectors/a/log-level'],
      ['POST', '/ui/sql/login'],
      ['POST', '/ui/connectors/a/messages'],
    ] as const;
    const forms = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'];
    for (const [method, path] of writes) {
      for (const type of [...forms, 'application/json']) {
        assert.equal((await asBrowser(method, path, { ...evil, 'Content-Type': type }, '{}')).status, 403, path);
        const noOrigin = { Host, 'Sec-Fetch-Site': 'cross-site', 'Content-Type': type };
        assert.equal((await asBrowser(method, path, noOrigin, '{}')).status, 403, path);
      }
    }
    for (const type of forms) {
      const { status } = await asBrowser('POST', '/ui/connectors', { Host, 'Content-Type': type }, '{}');
      assert.equal(status, 415, type);
    }
    const page = await asBrowser('GET', '/ui', { Host, 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' });
    assert.equal(page.status, 200);
  });

  it('S7: accepts a limited number of streams, half of them for one address, and again when their clients have vanished', async () => {
    const { hostname, port } = new URL(worker.url);
    const open = (localAddress: string): Promise<{ socket: Socket; status: string }> =>
      new Promise((resolve, reject) => {
        const socket = connect({ port: Number(port), host: hostname, localAddress }, () => {
          socket.write(`GET /ui/events HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
        });
        socket.once('error', reject);
        // The first bytes alone: from then on nobody reads.
        socket.once('data', (bytes: Buffer) => {
          socket.pause();
          resolve({ socket, status: bytes.toString().slice(9, 12) });
        });
      });
    const opened = async (address: string) => Promise.all(Array.from({ length: 105 }, () => open(address)));
    const own = await opened('127.0.0.1');
    const counted = (streams: readonly { status: string }[], status: string) =>
      streams.filter((each) => each.status === status).length;
    assert.deepEqual([counted(own, '200'), counted(own, '503')], [100, 5]);
    const others = [...(await opened('127.0.0.2')), await open('127.0.0.3')];
    assert.deepEqual([counted(others, '200'), counted(others, '503')], [100, 6]);
    assert.equal((await ask('GET', '/ui/snapshot')).status, 200);
    for (const { socket } of [...own, ...others]) socket.resetAndDestroy();
    await until(async () => {
      const { socket, status } = await open('127.0.0.1');
      socket.destroy();
      return status === '200';
    }, 'there is room again');
  });

  it('ends a search for messages whose client is gone, and reports invalid parameters', async () => {
    const name = uniqueName('attacks');
    await kafka.createTopic(name, 1);
    await worker.rest.create(
      name,
      sinkConfig(db, { topics: name, 'protocol.type': 'line_lp', 'errors.tolerance': 'all' }),
    );
    const path = `/ui/connectors/${name}/messages`;
    const wrong = [
      { limit: 1e9 },
      { limit: -1 },
      { limit: 'NaN' },
      { offset: -1 },
      { offset: 1.5 },
      { time: 'yesterday' },
    ];
    for (const body of [...wrong, { partition: 2 ** 31 }, { topic: '' }, { before: [{}] }, [], 'x', { more: 1 }]) {
      const { status, text } = await ask('POST', path, body);
      assert.equal(status, 400, text);
    }
    await kafka.produce(name, [{ key: 'k', value: 'v' }]);
    const { host, hostname, port } = new URL(worker.url);
    const body = JSON.stringify({ key: 'nothing has this key' });
    const head = [`POST ${path} HTTP/1.1`, `Host: ${host}`, 'Content-Type: application/json'];
    const text = [...head, `Content-Length: ${String(body.length)}`, '', body].join('\r\n');
    for (let count = 0; count < 30; count += 1) {
      const socket = connect(Number(port), hostname);
      socket.write(text, () => socket.destroy());
      await once(socket, 'close');
    }
    await until(async () => (await ask('POST', path, { key: 'k' })).status === 200, 'the queue is free');
    await worker.rest.delete(`/connectors/${name}`);
  });

  it('names before a save the stored secrets that would be sent to another address, and sends none while you type', async () => {
    const name = uniqueName('attacks');
    await sql.run(`create table "${name}" (ts timestamptz not null, v int8)`);
    await kafka.createTopic(name, 1);
    await worker.rest.create(name, sinkConfig(db, { topics: name, 'protocol.type': 'line_lp' }));
    const { page } = shown;
    await page.goto(`${worker.url}/ui#/connectors/${name}/configuration`);
    const url = page.locator('[id="option-connection.url"]');
    await url.waitFor();
    const logins: Socket[] = [];
    const other = createServer((socket) => logins.push(socket));
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    await url.fill(`jdbc:db://127.0.0.1:${String((other.address() as AddressInfo).port)}/${db.database}`);
    await page
      .getByText('The secret of connection.password has not been sent to the address that connection.url names now.')
      .waitFor();
    assert.equal(logins.length, 0);
    other.close();
    await page.getByRole('button', { name: 'Review changes' }).click();
    const dialog = page.getByRole('dialog', { name: `Save ${name}?` });
    await dialog
      .getByText('The secret of connection.password is then sent to the address that connection.url names now.')
      .waitFor();
    await shown.isAccessible();
    const plugin = 'com.db.kafka.connect.sink.DbSinkConnector';
    const config = { ...sinkConfig(db, { topics: name, 'protocol.type': 'line_lp' }), name };
    const elsewhere = { ...config, 'connection.url': 'jdbc:db://127.0.0.1:1/x', 'connection.password': '[hidden]' };
    const preview = await ask('POST', `/ui/connector-plugins/${plugin}/preview?connector=${name}`, {
      config: elsewhere,
      messages: [{ value: 'a v=1i 1' }],
    });
    assert.equal(preview.status, 400);
    assert.match(preview.text, /connection\.password is not sent to the address that connection\.url names now/);
    await worker.rest.delete(`/connectors/${name}`);
  });
});
