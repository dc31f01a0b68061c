import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { compilePackage, filesOfPage, writeFiles } from '../support/page-package.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const ENTRIES = [
  { id: 3, fields: { name: 'Ada', site: 'oslo & ås' } },
  { id: 5, fields: { name: 'Bob', site: 'refused' } },
  { id: 9, fields: { name: 'Ada', site: 'bergen' } },
];

interface ConnectorFile {
  readonly name: string;
  readonly config: Readonly<Record<string, string>>;
}

interface Received {
  readonly place: string | undefined;
  readonly body: unknown;
}

/** The servers of the page's example: a feed, and a hook that is busy at first and refuses one record. */
class ExampleServer {
  readonly received: Received[] = [];
  readonly asked: string[] = [];
  readonly #server: Server;
  #isBusy = true;

  constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (url.pathname === '/feed') {
      this.asked.push(url.searchParams.get('after') ?? '');
      const after = Number(url.searchParams.get('after'));
      response.end(JSON.stringify(ENTRIES.filter(({ id }) => id > after)));
      return;
    }
    const body = JSON.parse(await text(request)) as { site?: string };
    if (this.#isBusy) response.statusCode = 503;
    else if (body.site === 'refused') response.statusCode = 422;
    else this.received.push({ place: request.headers['idempotency-key']?.toString(), body });
    this.#isBusy = false;
    response.end();
  }
}

describe('the package of docs/plugins.md', function () {
  this.timeout(120_000);
  const server = new ExampleServer();
  const topic = uniqueName('readings');
  let folder = '';
  let installed = '';
  let files: ReadonlyMap<string, string>;
  let worker: WorkerProcess;

  /** A connector's file as the page has it, with this test's addresses and topic. */
  function connector(file: string, origin: string): ConnectorFile {
    const page = files.get(file) ?? assert.fail(`the page has no ${file}`);
    const here = page
      .replaceAll('http://127.0.0.1:9000', origin)
      .replaceAll('"readings"', JSON.stringify(topic))
      .replaceAll('/etc/sluice/secrets.properties', join(folder, 'secrets.properties'));
    return JSON.parse(here) as ConnectorFile;
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-page-'));
    installed = join(folder, 'plugins');
    files = await filesOfPage('docs/plugins.md');
    await writeFiles(join(folder, 'webhooks'), files);
    await writeFile(join(folder, 'secrets.properties'), 'pseudonym=the-key\n');
  });

  after(async () => {
    await worker?.discard();
    await server.stop();
    await rm(folder, { recursive: true });
  });

  it('compiles against the types of the plugin API', () => {
    assert.deepEqual(compilePackage(join(folder, 'webhooks')), []);
  });

  it('N1: is installed from its tarball without asking a registry, not even for sluice', async () => {
    const cwd = join(folder, 'webhooks');
    const registry = createServer((request, response) => {
      asked.push(request.url);
      response.statusCode = 404;
      response.end();
    });
    const asked: (string | undefined)[] = [];
    registry.listen(0, '127.0.0.1');
    await once(registry, 'listening');
    const { port } = registry.address() as AddressInfo;
    const npm = (...args: string[]) =>
      promisify(execFile)(
        'npm',
        [...args, `--registry=http://127.0.0.1:${String(port)}/`, '--no-audit', '--no-update-notifier'],
        { cwd },
      );
    try {
      await npm('pack');
      await npm('install', '--prefix', installed, './acme-webhooks-1.0.0.tgz');
    } finally {
      registry.close();
    }
    assert.deepEqual(asked, []);
    assert.deepEqual(await readdir(join(installed, 'node_modules')), ['.package-lock.json', '@acme']);
  });

  it('moves the entries of a feed to a hook, with pseudonyms, after retries, without the refused record', async () => {
    const origin = await server.start();
    worker = await WorkerProcess.start({
      properties: {
        'plugin.path': installed,
        'config.providers': 'file',
        'config.providers.file.class': 'org.apache.kafka.common.config.provider.FileConfigProvider',
      },
    });
    for (const file of ['feed.json', 'hook.json']) {
      const { name, config } = connector(file, origin);
      await worker.rest.create(name, config);
    }
    await until(() => server.received.length >= 2, 'the hook has both records');
    const pseudonym = createHmac('sha256', 'the-key').update('Ada').digest('hex');
    assert.deepEqual(server.received, [
      { place: `${topic}/0/0`, body: { name: pseudonym, site: 'oslo & ås' } },
      { place: `${topic}/0/2`, body: { name: pseudonym, site: 'bergen' } },
    ]);
    await until(() => server.asked.includes('9'), 'the source asks for what comes after the last entry');
    await worker.rest.untilState('feed', 'RUNNING', 1);
    await worker.rest.untilState('hook', 'RUNNING', 1);
  });

  it('continues at its stored offsets', async () => {
    await worker.rest.put('/connectors/feed/stop');
    await until(async () => (await worker.rest.status('feed')).tasks.length === 0, 'the source has stopped');
    const { body } = await worker.rest.get<{ offsets: { offset: unknown }[] }>('/connectors/feed/offsets');
    assert.deepEqual(
      body.offsets.map(({ offset }) => offset),
      [{ id: 9 }],
    );
    server.asked.length = 0;
    await worker.rest.put('/connectors/feed/resume');
    await until(() => server.asked.length > 0, 'the source requests the feed again');
    assert.equal(server.asked[0], '9');
  });

  it('answers invalid configurations with the error of the option', async () => {
    const { status, body } = await worker.rest.put<{ message: string }>('/connectors/wrong/config', {
      'connector.class': 'com.acme.FeedSourceConnector',
      topic,
      feeds: '',
      'poll.interval.ms': '1',
    });
    assert.equal(status, 400);
    assert.match(body.message, /feeds.*must not be empty/);
    assert.match(body.message, /poll\.interval\.ms: Value must be at least 10/);
  });
});
