import assert from 'node:assert/strict';
import { loadWorkerConfig } from '../../../src/config/worker-config.ts';
import { ConfigError } from '../../../src/errors.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { SecretMask } from '../../../src/observe/secret-mask.ts';
import { StageTracker } from '../../../src/observe/stage.ts';
import { openListeners, type RestListeners } from '../../../src/rest/open-listeners.ts';
import { ReplayFigures } from '../../../src/operate/dead-letters/replay-figures.ts';
import { served, type ServedParts } from '../../../src/worker/routes.ts';

const LISTENERS = 'http://127.0.0.1:0';

describe('the management API of a worker that is not built yet', () => {
  const stage = new StageTracker();
  let listeners: RestListeners | undefined;

  async function open(properties: Record<string, string> = {}): Promise<RestListeners> {
    const config = loadWorkerConfig({
      mode: 'standalone',
      properties: {
        'bootstrap.servers': 'nowhere:9092',
        'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
        'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
        'offset.storage.file.filename': 'offsets',
        listeners: LISTENERS,
        ...properties,
      },
    });
    listeners = await openListeners(config, { stage, secrets: new SecretMask(), logger: silentLogger });
    return listeners;
  }

  /** As much of a worker as `GET /connectors` needs. */
  const worker = {
    herder: { ready: true, stage, directory: { names: () => ['orders'] } },
    secrets: new SecretMask(),
    logger: silentLogger,
    readings: {},
  } as unknown as ServedParts;

  /** Resolves with the answers, once both requests have reached the server. */
  async function asked(url: string): Promise<readonly Promise<Response>[]> {
    const answers = ['/connectors', '/no-such-path'].map((path) => fetch(url + path));
    for (const answer of answers) answer.catch(() => undefined);
    // Answered at once, on connections that were opened later.
    for (let turn = 0; turn < 3; turn++) await (await fetch(`${url}/health`)).text();
    return answers;
  }

  afterEach(async () => {
    await listeners?.close();
    listeners = undefined;
  });

  it('says at /health that it is starting, and with what', async () => {
    const { url } = await open();
    let loaded = (): void => undefined;
    const loading = stage.during('loading plugins', () => new Promise<void>((resolve) => (loaded = resolve)));
    const answer = await fetch(`${url}/health`);
    loaded();
    await loading;
    const { status, message } = (await answer.json()) as Record<string, string>;
    assert.deepEqual([answer.status, status], [503, 'starting']);
    assert.match(
      message ?? '',
      /^Worker is still starting up\. The worker is currently loading plugins, which began at/,
    );
    assert.match(answer.headers.get('x-event-loop-delay-seconds') ?? '', /^\d+\.\d{3}$/);
  });

  it('answers requests that came before when it is built, whatever their path', async () => {
    const api = await open();
    const [names, unknown] = await asked(api.url);
    api.serve(served(worker));
    assert.deepEqual(await (await names)?.json(), ['orders']);
    assert.equal((await unknown)?.status, 404);
  });

  it('refuses the requests that wait when it cannot be built', async () => {
    const api = await open();
    const [names] = await asked(api.url);
    await api.close();
    const answer = await names;
    assert.equal(answer?.status, 500);
    assert.deepEqual(await answer.json(), { error_code: 500, message: 'Worker is shutting down' });
  });

  it('keeps to the rules for hosts and credentials from the first request on', async () => {
    const { url } = await open({ 'access.control.allow.origin': 'http://ui.example' });
    const foreign = await fetch(`${url}/connectors`, { method: 'POST', headers: { origin: 'http://evil.example' } });
    assert.equal(foreign.status, 403);
    await foreign.text();
  });

  it('answers metrics, and nothing else, at metrics.listeners', async () => {
    const api = await open({ 'metrics.listeners': LISTENERS, 'rest.extension.classes': '' });
    const [url = ''] = api.metricsUrls;
    assert.match(url, /^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    const metricsSource = {
      directory: { names: () => [] },
      placement: { ownsConnector: () => true, ownsTask: () => true },
      workerId: 'w:1',
      startedAtMs: 5,
      committedLags: { all: () => [] },
      taskReports: () => Promise.resolve([]),
      verdicts: () => Promise.resolve([]),
      startups: () => ({}),
      restarts: () => ({ made: [], waiting: new Map() }),
      replays: { figures: new ReplayFigures() },
      taskPlaces: () => new Map(),
      cluster: () => undefined,
    };
    const counts = { unhandled: { owned: 0, unknown: 0 }, collapsed: [], collections: {}, services: [] };
    const main = { thread: 'main', purpose: 'main', loopDelaySeconds: 0, figures: undefined };
    const threads = { measure: () => Promise.resolve({ threads: [main], counts, ends: {} }) };
    api.serve(served({ ...worker, metricsSource, threads, metricNamings: ['strimzi'] } as unknown as ServedParts));
    const answer = await fetch(`${url}/metrics`, { headers: { accept: 'text/plain' } });
    assert.deepEqual([answer.status, answer.headers.get('content-type')?.split(';')[0]], [200, 'text/plain']);
    const text = await answer.text();
    assert.match(text, /^kafka_connect_start_time_seconds\{clientid="w:1"\} 0\.005$/m);
    assert.equal(answer.headers.get('content-encoding'), 'gzip');
    const plain = await fetch(`${url}/metrics`, { headers: { 'accept-encoding': 'identity' } });
    assert.equal(plain.headers.get('content-encoding'), null);
    const names = (page: string) => page.match(/^# TYPE .*$/gm);
    assert.deepEqual(names(await plain.text()), names(text));
    const other = await fetch(`${url}/connectors`);
    assert.equal(other.status, 404);
    await other.text();
  });

  it('does not listen when the configuration of a listener is wrong', async () => {
    await assert.rejects(open({ listeners: `${LISTENERS},https://127.0.0.1:0` }), ConfigError);
  });

  it('N9: names the option and the address when it cannot listen there', async () => {
    const taken = await open();
    const others = [taken.url, 'http://192.0.2.1:0'];
    const reasons = [
      'another process already listens there (EADDRINUSE)',
      'this machine does not have the address (EADDRNOTAVAIL)',
    ];
    for (const option of ['listeners', 'admin.listeners', 'metrics.listeners']) {
      for (const [index, url] of others.entries()) {
        await assert.rejects(open({ [option]: url }), {
          name: 'ConfigError',
          message: `${option}: cannot listen at ${url}: ${String(reasons[index])}`,
        });
      }
    }
    await taken.close();
  });
});
