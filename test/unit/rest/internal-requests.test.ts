import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadWorkerConfig } from '../../../src/config/worker-config.ts';
import type { DrainOrder } from '../../../src/operate/drain/drain-body.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { SecretMask } from '../../../src/observe/secret-mask.ts';
import { StageTracker } from '../../../src/observe/stage.ts';
import { openListeners, type RestListeners } from '../../../src/rest/open-listeners.ts';
import { until } from '../../support/until.ts';
import { served, type ServedParts } from '../../../src/worker/routes.ts';

const KEY = { key: Buffer.alloc(32, 7).toString('base64'), algorithm: 'HmacSHA256', createdAtMs: 0 };
const PATHS = [
  ['POST', '/connectors/x/tasks'],
  ['PUT', '/connectors/x/fence'],
  ['PUT', '/cluster/drain'],
] as const;

describe('requests between workers, at a worker with BasicAuth', () => {
  let folder: string;
  let listeners: RestListeners;
  const sockets: Socket[] = [];
  const orders: DrainOrder[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-internal-'));
    const users = join(folder, 'users.properties');
    await writeFile(users, 'ann=correct horse\n');
    const config = loadWorkerConfig({
      mode: 'standalone',
      properties: {
        'bootstrap.servers': 'nowhere:9092',
        'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
        'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
        'offset.storage.file.filename': 'offsets',
        listeners: 'http://127.0.0.1:0',
        'rest.extension.classes': 'BasicAuthSecurityRestExtension',
        'rest.basic.auth.credentials.file': users,
      },
    });
    const stage = new StageTracker();
    listeners = await openListeners(config, { stage, secrets: new SecretMask(), logger: silentLogger });
    listeners.serve(
      served({
        herder: { ready: true, stage, sessionKey: KEY, requests: { fenceZombies: async () => undefined } },
        signatureAlgorithms: ['HmacSHA256'],
        drains: { onOrder: (order: DrainOrder) => orders.push(order) },
        secrets: new SecretMask(),
        readings: {},
        logger: silentLogger,
      } as unknown as ServedParts),
    );
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  after(async () => {
    await listeners.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** The head of a request, and as much of its body; the answer as it comes. */
  function send(method: string, path: string, headers: Readonly<Record<string, string>>, body = '') {
    const { hostname, port } = new URL(listeners.url);
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    const answer = {
      socket,
      text: '',
      get status() {
        return this.text.slice(9, 12);
      },
    };
    socket.on('data', (chunk: Buffer) => (answer.text += chunk.toString())).on('error', () => undefined);
    const lines = Object.entries({ Host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
    return answer;
  }

  const signed = (body: string) => ({
    'Content-Length': String(body.length),
    'X-Connect-Request-Signature-Algorithm': 'HmacSHA256',
    'X-Connect-Authorization': createHmac('sha256', Buffer.from(KEY.key, 'base64')).update(body).digest('base64'),
  });

  it('S9: need no user, draining included, where they are signed', async () => {
    const body = JSON.stringify({ worker: 'a:8083', drain: true });
    const drained = send('PUT', '/cluster/drain', signed(body), body);
    const fenced = send('PUT', '/connectors/x/fence', signed(''));
    await until(() => [drained, fenced].every(({ status }) => status === '204'), 'both are answered 204');
    assert.deepEqual(orders.splice(0), [{ worker: 'a:8083', drain: true }]);
  });

  it('S4: are refused before a byte of their body where the headers show that no worker has sent them', async () => {
    const length = { 'Content-Length': String(8 * 1024 * 1024) };
    const [algorithm, authorization] = ['X-Connect-Request-Signature-Algorithm', 'X-Connect-Authorization'];
    const right = { [algorithm]: 'HmacSHA256', [authorization]: Buffer.alloc(32).toString('base64') };
    const refused: [headers: Readonly<Record<string, string>>, status: string][] = [
      [{}, '400'],
      [{ [algorithm]: 'HmacSHA256' }, '400'],
      [{ ...right, [algorithm]: 'HmacSHA3' }, '400'],
      [{ ...right, [algorithm]: 'HmacSHA512' }, '400'],
      [{ ...right, [authorization]: '@@' }, '400'],
      [{ ...right, [authorization]: 'AAAA' }, '403'],
    ];
    const answers = PATHS.flatMap(([method, path]) =>
      refused.map(([headers, status]) => ({ status, answer: send(method, path, { ...length, ...headers }) })),
    );
    await until(() => answers.every(({ answer }) => answer.text !== ''), 'all are answered');
    for (const { status, answer } of answers) assert.equal(answer.status, status, answer.text);
    // These have small bodies.
    const large = PATHS.slice(1).map(([method, path]) => send(method, path, { ...length, ...right }));
    await until(() => large.every(({ status }) => status === '413'), 'bodies of eight megabytes are refused');
    assert.deepEqual(orders, []);
  });

  it('S4: hold 16 MB at most while their signature cannot be checked, whatever the number of requests', async () => {
    const body = 'x'.repeat(1024 * 1024);
    const head = { ...signed(''), 'Content-Length': String(8 * 1024 * 1024) };
    const answers = Array.from({ length: 40 }, () => send('POST', '/connectors/x/tasks', head, body));
    // On a slow machine some are cut as too slow instead.
    const held = () => answers.filter(({ status, socket }) => status !== '503' && !socket.closed);
    await until(() => held().length <= 16, 'those above are refused');
    assert.ok(held().every(({ status }) => status === ''));
    assert.match(answers.find(({ status }) => status === '503')?.text ?? '', /too many bytes of request bodies/);
  });
});
