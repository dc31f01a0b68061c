import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadWorkerConfig } from '../../src/config/worker-config.ts';
import { freePort } from '../../src/dev/ports.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { startWorker, type Worker } from '../../src/worker/worker.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { broker, uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../unit/tls/tls-fixture.ts';

const BASIC_AUTH = 'org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension';
const USER = 'probe:the password of the probe';
const CONNECTORS = 4;

interface Summary {
  readonly connectors: Readonly<Record<string, number>>;
  readonly silentWorkers: readonly string[];
}

/** `body` is parsed where it is JSON. */
interface Answer {
  readonly status: number;
  readonly body: unknown;
}

describe('the health of connectors on workers with https and users', () => {
  let folder: string;
  let workers: readonly Worker[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-health-'));
    const [pem, users] = [join(folder, 'server.pem'), join(folder, 'users.properties')];
    await writeFile(pem, PRIVATE_KEY + CERTIFICATE);
    await writeFile(users, USER.replace(':', '='));
    const group = uniqueName('health-secure');
    const topics = Object.fromEntries(
      ['config', 'offset', 'status'].flatMap((kind) => [
        [`${kind}.storage.topic`, `${group}-${kind}`],
        [`${kind}.storage.replication.factor`, '1'],
      ]),
    );
    const start = async (): Promise<Worker> => {
      const properties = {
        'bootstrap.servers': (await broker()).bootstrapServers,
        'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
        'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
        'group.id': group,
        ...topics,
        'offset.storage.partitions': '1',
        'status.storage.partitions': '1',
        listeners: `https://127.0.0.1:${String(await freePort())}`,
        'ssl.keystore.type': 'PEM',
        'ssl.keystore.location': pem,
        'ssl.truststore.type': 'PEM',
        'ssl.truststore.location': pem,
        'ssl.endpoint.identification.algorithm': '',
        'rest.extension.classes': BASIC_AUTH,
        'rest.basic.auth.credentials.file': users,
      };
      const worker = await startWorker(loadWorkerConfig({ mode: 'distributed', properties }), { logger: silentLogger });
      await worker.started;
      return worker;
    };
    workers = [await start(), await start()];
  });

  after(async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    await rm(folder, { recursive: true, force: true });
  });

  function ask(worker: Worker | undefined, method: string, path: string, user = USER, body?: unknown): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Basic ${Buffer.from(user).toString('base64')}`,
        'content-type': 'application/json',
      };
      const options = { method, headers, ca: CERTIFICATE, checkServerIdentity: () => undefined, agent: false };
      request(`${worker?.url ?? ''}${path}`, options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        response.on('end', () => {
          const isJson = response.headers['content-type'] === 'application/json';
          resolve({ status: response.statusCode ?? 0, body: isJson ? JSON.parse(text) : text });
        });
      })
        .on('error', reject)
        .end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  it('comes from all of them with the credentials of the caller, and without them from none', async () => {
    const topic = uniqueName('health-secure');
    await (await KafkaTraffic.shared()).createTopic(topic, 1);
    for (let n = 0; n < CONNECTORS; n++) {
      const config = { 'connector.class': 'FileStreamSink', topics: topic, file: join(folder, String(n)) };
      const { status } = await ask(workers[0], 'POST', '/connectors', USER, { name: uniqueName('secure'), config });
      assert.equal(status, 201);
    }
    for (const worker of workers) {
      const { connectors, silentWorkers } = await until(async () => {
        const { body } = await ask(worker, 'GET', '/health?connectors');
        return (body as Summary).connectors['RUNNING'] === CONNECTORS && (body as Summary);
      }, `${worker.url} has seen all connectors run`);
      assert.deepEqual([connectors['UNASSIGNED'], silentWorkers], [0, []]);
      const { body: own } = await ask(worker, 'GET', '/health?connectors&local=true');
      const count = (own as Summary).connectors['RUNNING'] ?? 0;
      assert.ok(count > 0 && count < CONNECTORS, 'each worker has some of them');
      for (const path of ['/health', '/health?connectors', '/cluster/tasks']) {
        assert.deepEqual(await ask(worker, 'GET', path, 'probe:wrong'), {
          status: 401,
          body: 'User cannot access the resource.',
        });
      }
    }
  });
});
