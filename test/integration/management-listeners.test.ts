import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { loadWorkerConfig } from '../../src/config/worker-config.ts';
import { freePort } from '../../src/dev/ports.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger, type Logger } from '../../src/observe/logger.ts';
import { startWorker, type Worker } from '../../src/worker/worker.ts';
import { ConnectRest } from '../support/rest.ts';
import { broker, uniqueName } from '../support/services.ts';
import { CERTIFICATE, PKCS12, PRIVATE_KEY } from '../unit/tls/tls-fixture.ts';

interface ErrorBody {
  readonly message: string;
}

const SINK = { 'connector.class': 'FileStreamSink', name: 'v', topics: 't', file: '/dev/null' };
const BASIC_AUTH = 'org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension';

describe('the listeners of the management API', () => {
  let folder: string;
  let worker: Worker | undefined;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-listeners-'));
  });
  afterEach(async () => {
    await worker?.stop();
    worker = undefined;
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function startWith(properties: Record<string, string>, logger: Logger = silentLogger): Promise<ConnectRest> {
    const port = String(await freePort());
    const config = loadWorkerConfig({
      mode: 'group.id' in properties ? 'distributed' : 'standalone',
      properties: {
        'bootstrap.servers': (await broker()).bootstrapServers,
        'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
        'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
        'offset.storage.file.filename': join(folder, 'offsets'),
        listeners: `http://127.0.0.1:${port}`,
        ...properties,
      },
    });
    worker = await startWorker(config, { logger });
    await worker.started;
    return new ConnectRest(worker.url);
  }

  /** Over https, with the certificate that the listener must show. */
  function getSecurely(url: string, options: RequestOptions = {}): Promise<number> {
    return new Promise((resolve, reject) => {
      const checkServerIdentity = () => undefined;
      request(url, { ca: CERTIFICATE, checkServerIdentity, agent: false, ...options }, (response) => {
        response.resume().on('end', () => {
          resolve(response.statusCode ?? 0);
        });
      })
        .on('error', reject)
        .end();
    });
  }

  it('admit browsers from the allowed origins, with the allowed methods', async () => {
    const rest = await startWith({
      'access.control.allow.origin': 'http://ui.example,https://*.tools.example',
      'access.control.allow.methods': 'GET,PUT,DELETE',
    });
    const ask = (origin: string, more: RequestInit = {}) =>
      fetch(`${rest.url}/connectors`, { ...more, headers: { origin, ...more.headers } });
    for (const origin of ['http://ui.example', 'https://a.tools.example']) {
      const answer = await ask(origin);
      assert.equal(answer.headers.get('access-control-allow-origin'), origin);
      assert.equal(answer.headers.get('vary'), 'Origin');
    }
    for (const origin of ['http://ui-example', 'https://tools.example.org']) {
      assert.equal((await ask(origin)).headers.get('access-control-allow-origin'), null);
    }
    const preflight = await ask('http://ui.example', {
      method: 'OPTIONS',
      headers: { 'access-control-request-method': 'PUT' },
    });
    assert.equal(preflight.status, 200);
    assert.equal(preflight.headers.get('access-control-allow-methods'), 'GET,PUT,DELETE');
    assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /Content-Type/);
  });

  it('add the headers of response.http.headers.config to every answer, errors too', async () => {
    const rest = await startWith({
      'response.http.headers.config':
        'set X-Frame-Options: DENY, "add Cache-Control: no-cache, no-store", setDate Expires: 60000',
    });
    for (const path of ['/connectors', '/nowhere']) {
      const { headers } = await rest.get(path);
      assert.equal(headers.get('x-frame-options'), 'DENY');
      assert.equal(headers.get('cache-control'), 'no-cache, no-store');
      const inMs = Date.parse(headers.get('expires') ?? '') - Date.now();
      assert.ok(inMs > 50_000 && inMs < 70_000, String(inMs));
    }
  });

  it('keep /admin/loggers to themselves with admin.listeners, and show it nowhere when that is empty', async () => {
    const admin = new ConnectRest(`http://127.0.0.1:${String(await freePort())}`);
    const rest = await startWith({ 'admin.listeners': admin.url });
    assert.equal((await rest.get('/admin/loggers')).status, 404);
    assert.equal((await admin.get('/admin/loggers/root')).status, 200);
    assert.equal((await admin.get('/connectors')).status, 404);
    await worker?.stop();
    const without = await startWith({ 'admin.listeners': '' });
    assert.equal((await without.get('/admin/loggers')).status, 404);
  });

  it('require the users of a JAAS file or a credentials file, except from other workers', async () => {
    const users = join(folder, 'users.properties');
    const jaas = join(folder, 'jaas.conf');
    await writeFile(users, 'ann=s3cret\nbob=p:w\n');
    await writeFile(
      jaas,
      `KafkaConnect {\n  org.apache.kafka.connect.rest.basic.auth.extension.PropertyFileLoginModule required\n  file="${users}";\n};\n`,
    );
    const before = process.env['KAFKA_OPTS'];
    for (const given of ['own', 'jaas'] as const) {
      if (given === 'jaas') process.env['KAFKA_OPTS'] = `-Xmx1g -Djava.security.auth.login.config=${jaas}`;
      const rest = await startWith({
        'rest.extension.classes': BASIC_AUTH,
        ...(given === 'own' ? { 'rest.basic.auth.credentials.file': users } : {}),
      });
      if (before === undefined) delete process.env['KAFKA_OPTS'];
      else process.env['KAFKA_OPTS'] = before;
      const ask = (login?: string) => {
        const headers = login === undefined ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` };
        return fetch(`${rest.url}/connectors`, { headers });
      };
      for (const login of ['ann:s3cret', 'bob:p:w']) assert.equal((await ask(login)).status, 200, login);
      for (const login of [undefined, 'ann:', 'ann:s3cret ', 'eve:s3cret', 'ann', ':']) {
        const refused = await ask(login);
        assert.equal(refused.status, 401);
        assert.equal(await refused.text(), 'User cannot access the resource.');
        assert.equal(refused.headers.get('www-authenticate'), null);
      }
      const internal = await rest.request<ErrorBody>('PUT', '/connectors/x/fence');
      assert.notEqual(internal.status, 401);
      await worker?.stop();
    }
  });

  it('say what is missing for basic authentication', async () => {
    await assert.rejects(startWith({ 'rest.extension.classes': BASIC_AUTH }), /rest\.basic\.auth\.credentials\.file/);
    await assert.rejects(
      startWith({ 'rest.extension.classes': 'org.example.Other' }),
      /there is no org\.example\.Other/,
    );
  });

  it('answer by https with a key store in PEM or PKCS12, and ask for a certificate when so configured', async () => {
    const pem = join(folder, 'server.pem');
    const p12 = join(folder, 'server.p12');
    await writeFile(pem, PRIVATE_KEY + CERTIFICATE);
    await writeFile(p12, PKCS12);
    const stores = [
      { 'ssl.keystore.type': 'PEM', 'ssl.keystore.location': pem },
      { 'ssl.keystore.type': 'PKCS12', 'ssl.keystore.location': p12, 'ssl.keystore.password': 'secret' },
      { 'ssl.keystore.type': 'PEM', 'ssl.keystore.key': PRIVATE_KEY, 'ssl.keystore.certificate.chain': CERTIFICATE },
    ];
    for (const store of stores) {
      const rest = await startWith({ ...store, listeners: `https://127.0.0.1:${String(await freePort())}` });
      assert.match(rest.url, /^https:/);
      assert.equal(await getSecurely(`${rest.url}/connectors`), 200);
      await worker?.stop();
    }
    const rest = await startWith({
      listeners: `https://127.0.0.1:${String(await freePort())}`,
      'listeners.https.ssl.keystore.location': pem,
      'listeners.https.ssl.truststore.location': pem,
      'listeners.https.ssl.truststore.type': 'PEM',
      'listeners.https.ssl.client.auth': 'required',
    });
    await assert.rejects(getSecurely(`${rest.url}/connectors`));
    assert.equal(await getSecurely(`${rest.url}/connectors`, { key: PRIVATE_KEY, cert: CERTIFICATE }), 200);
  });

  it('do not open by https without a certificate', async () => {
    const listeners = `https://127.0.0.1:${String(await freePort())}`;
    await assert.rejects(startWith({ listeners }), /ssl\.keystore\.location/);
  });

  it('refuse overrides that the policy does not allow, each at its key', async () => {
    const overrides = { 'consumer.override.max.poll.records': '5', 'consumer.override.sasl.mechanism': 'PLAIN' };
    const expected: Readonly<Record<string, readonly string[]>> = {
      None: ['max.poll.records', 'sasl.mechanism'],
      Principal: ['max.poll.records'],
      Allowlist: ['sasl.mechanism'],
      All: [],
    };
    for (const [policy, refused] of Object.entries(expected)) {
      const rest = await startWith({
        'connector.client.config.override.policy': policy,
        'connector.client.config.override.allowlist': 'max.poll.records',
      });
      const { body } = await rest.put<{ configs: { value: { name: string; errors: string[] } }[] }>(
        '/connector-plugins/FileStreamSink/config/validate',
        { ...SINK, ...overrides },
      );
      const found = body.configs.filter(({ value }) => value.errors.length > 0);
      assert.deepEqual(
        found.map(({ value }) => [value.name, value.errors]),
        refused.map((setting) => [
          `consumer.override.${setting}`,
          [`The '${policy}' policy does not allow '${setting}' to be overridden in the connector configuration.`],
        ]),
      );
      await worker?.stop();
    }
    await assert.rejects(startWith({ 'connector.client.config.override.policy': 'Some' }), /which name matches Some/);
  });

  it('take requests between workers that are signed with the session key of the config topic, and no others', async () => {
    const group = uniqueName('signed');
    const topics = Object.fromEntries(
      ['config', 'offset', 'status'].flatMap((kind) => [
        [`${kind}.storage.topic`, `${group}-${kind}`],
        [`${kind}.storage.replication.factor`, '1'],
      ]),
    );
    const rest = await startWith({
      'group.id': group,
      ...topics,
      'offset.storage.partitions': '1',
      'status.storage.partitions': '1',
    });
    const key = await sessionKey(`${group}-config`);
    const body = '[]';
    const send = async (signature: string, algorithm = 'HmacSHA256') => {
      const headers = { 'X-Connect-Authorization': signature, 'X-Connect-Request-Signature-Algorithm': algorithm };
      const answer = await fetch(`${rest.url}/connectors/none/tasks`, { method: 'POST', body, headers });
      return [answer.status, ((await answer.json()) as ErrorBody).message];
    };
    const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(body).digest('base64');
    assert.deepEqual(await send(signature), [404, 'Connector none not found']);
    assert.deepEqual(await send(signature.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))), [
      403,
      'Internal request contained invalid signature.',
    ]);
    assert.deepEqual(await send('@@'), [400, 'Illegal base64 character 40']);
    const [status, message] = await send(signature, 'HmacSHA512');
    assert.equal(status, 400);
    assert.match(String(message), /^This worker does not support the 'HmacSHA512' key signing algorithm/);
  });

  it('change the level of a logger and of those below it while the worker runs', async () => {
    const lines: { logger?: string; level: number }[] = [];
    const write = (line: string) => void lines.push(JSON.parse(line) as { level: number });
    const rest = await startWith({}, pino({ level: 'info' }, { write }));
    const logged = () =>
      lines.splice(0).filter(({ logger }) => logger === 'org.apache.kafka.connect.runtime.rest').length;
    const warn = () => rest.put('/admin/loggers/x?scope=nowhere', { level: 'INFO' });
    logged();
    await warn();
    assert.equal(logged(), 1);
    const set = await rest.put('/admin/loggers/org.apache.kafka.connect', { level: 'ERROR' });
    assert.deepEqual(set.body, [
      'org.apache.kafka.connect',
      'org.apache.kafka.connect.runtime.rest',
      'org.apache.kafka.connect.runtime.standalone.StandaloneHerder',
    ]);
    await warn();
    assert.equal(logged(), 0);
    const all = (await rest.get<Record<string, { level: string }>>('/admin/loggers')).body;
    assert.equal(all['org.apache.kafka.connect.runtime.rest']?.level, 'ERROR');
    assert.equal(all['root']?.level, 'INFO');
  });

  /** Reads it as another worker does. */
  async function sessionKey(topic: string): Promise<string> {
    const { bootstrapServers } = await broker();
    let key = '';
    const log = createKafkaClient({ 'bootstrap.servers': bootstrapServers }, silentLogger).compactedTopic({
      topic,
      property: 'config.storage.topic',
      purpose: 'connector configurations',
      partitions: 1,
      replicationFactor: 1,
      settings: {},
      onRecord: (record) => {
        if (record.key?.toString() === 'session-key') {
          key = (JSON.parse(record.value?.toString() ?? '{}') as { key: string }).key;
        }
      },
    });
    await log.start();
    await log.stop();
    return key;
  }
});
