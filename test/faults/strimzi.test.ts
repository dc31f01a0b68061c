import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { kubernetesStub, type KubernetesStub } from '../support/kubernetes-stub.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { uniqueName } from '../support/services.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const KAFKA_PROVIDERS = 'org.apache.kafka.common.config.provider';

/** Properties that Strimzi's operator writes for a KafkaConnect (KafkaConnectConfigurationBuilder), below `folder`, not `/opt/kafka`. */
function operatorProperties(folder: string): Record<string, string> {
  return {
    'security.protocol': 'PLAINTEXT',
    'producer.security.protocol': 'PLAINTEXT',
    'consumer.security.protocol': 'PLAINTEXT',
    'admin.security.protocol': 'PLAINTEXT',
    'config.providers': 'strimzienv,strimzifile,strimzidir,strimzisecrets',
    'config.providers.strimzienv.class': `${KAFKA_PROVIDERS}.EnvVarConfigProvider`,
    'config.providers.strimzienv.param.allowlist.pattern': '.*',
    'config.providers.strimzifile.class': `${KAFKA_PROVIDERS}.FileConfigProvider`,
    'config.providers.strimzidir.class': `${KAFKA_PROVIDERS}.DirectoryConfigProvider`,
    'config.providers.strimzidir.param.allowed.paths': folder,
    'config.providers.strimzisecrets.class': 'io.strimzi.kafka.KubernetesSecretConfigProvider',
    'rest.advertised.host.name': '${strimzienv:ADVERTISED_HOSTNAME}',
    'rest.advertised.port': '8083',
    'plugin.path': join(folder, 'plugins'),
    'consumer.client.rack': `\${strimzidir:${join(folder, 'init')}:rack.id}`,
  };
}

describe('a worker in a pod of Strimzi', function () {
  const topic = uniqueName('strimzi');
  const path = '/api/v1/namespaces/project/secrets/source';
  let folder = '';
  let api: KubernetesStub;
  let traffic: KafkaTraffic;
  let worker: WorkerProcess;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-strimzi-'));
    for (const name of ['plugins', 'init']) await mkdir(join(folder, name));
    await writeFile(join(folder, 'init', 'rack.id'), 'zone-a');
    await writeFile(join(folder, 'lines.txt'), 'first\nsecond\n');
    api = await kubernetesStub({
      [path]: { data: { file: Buffer.from(join(folder, 'lines.txt')).toString('base64') } },
    });
    traffic = await KafkaTraffic.shared();
    await traffic.createTopic(topic);
    worker = await WorkerProcess.start({
      properties: operatorProperties(folder),
      environment: {
        ADVERTISED_HOSTNAME: '127.0.0.1',
        KUBERNETES_MASTER: api.url,
        KUBERNETES_AUTH_TOKEN: 'token-of-the-pod',
      },
    });
  });

  after(async () => {
    await worker.discard();
    await api.close();
    await rm(folder, { recursive: true });
  });

  it('starts from the properties of the operator, and runs a connector whose setting is in a Secret', async () => {
    const config = {
      'connector.class': 'org.apache.kafka.connect.file.FileStreamSourceConnector',
      'tasks.max': '1',
      topic,
      file: '${strimzisecrets:project/source:file}',
    };
    const created = await worker.rest.request('PUT', `/connectors/${topic}/config`, config);
    assert.equal(created.status, 201, JSON.stringify(created.body));
    const records = await traffic.read(topic, (all) => all.length >= 2);
    assert.equal(records.length, 2);
    const stored = await worker.rest.request('GET', `/connectors/${topic}/config`);
    assert.deepEqual(stored.body, { ...config, name: topic });
    assert.ok(api.requests.every(({ authorization }) => authorization === 'Bearer token-of-the-pod'));
  });

  it('refuses a connector whose Secret its service account must not read, and names the right', async () => {
    api.resources.set('/api/v1/namespaces/project/secrets/hidden', 403);
    const refused = await worker.rest.request('PUT', '/connectors/hidden/config', {
      'connector.class': 'org.apache.kafka.connect.file.FileStreamSourceConnector',
      topic,
      file: '${strimzisecrets:project/hidden:file}',
    });
    assert.ok(refused.status >= 400);
    assert.match(
      JSON.stringify(refused.body),
      /the worker's service account needs the right to get this Secret hidden/,
    );
  });

  it("is started by the command of Strimzi's operator", async () => {
    const programs = join(folder, 'programs');
    await mkdir(programs);
    const stubs = {
      hostname: 'echo connect-0.connect.project.svc.cluster.local',
      node: 'echo "$ADVERTISED_HOSTNAME $*"',
    };
    for (const [name, command] of Object.entries(stubs)) {
      await writeFile(join(programs, name), `#!/bin/sh\n${command}\n`);
      await chmod(join(programs, name), 0o755);
    }
    const script = fileURLToPath(new URL('../../src/worker/kafka_connect_run.sh', import.meta.url));
    const { stdout } = await promisify(execFile)(script, [], { env: { PATH: `${programs}:/usr/bin:/bin` } });
    assert.equal(
      stdout,
      'connect-0.connect.project.svc /opt/sluice/dist/src/cli.js start /opt/kafka/custom-config/kafka-connect.properties\n',
    );
  });
});
