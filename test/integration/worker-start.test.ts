import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../../src/dev/ports.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { SLUICE_VERSION } from '../../src/version.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { broker, uniqueName } from '../support/services.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { builtCli } from '../support/worker-build.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

interface Run {
  readonly code: number | null;
  readonly output: string;
}

async function sluice(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Run> {
  const child = spawn(process.execPath, [await builtCli(), ...args], {
    cwd: projectRoot,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

describe('starting a worker', function () {
  const folder = temporaryFolder('start');

  it('works as the command that the package installs', async function () {
    const command = join(projectRoot, 'dist', 'src', 'cli.js');
    // Built by npm ci; a checkout that was never built has none.
    if (!existsSync(command)) return this.skip();
    const { stdout } = await promisify(execFile)(command, ['--version']);
    assert.equal(stdout.trim(), SLUICE_VERSION);
  });

  it('names all missing and wrong keys of its file at once', async () => {
    const path = await folder.file(
      'wrong.properties',
      'bootstrap.servers=x:1\noffset.flush.interval.ms=soon\nunknown.key=1\n',
    );
    const { code, output } = await sluice(['start', path]);
    assert.equal(code, 3);
    for (const expected of [
      'Missing required configuration "group.id" which has no default value.',
      'Missing required configuration "key.converter" which has no default value.',
      'Missing required configuration "config.storage.topic" which has no default value.',
      'Invalid value soon for configuration offset.flush.interval.ms: Not a number of type LONG',
    ]) {
      assert.ok(output.includes(expected), `${expected}\nis not in\n${output}`);
    }
  });

  it('N9: says in one line which option names an address that is taken', async () => {
    const squatter = createServer().listen(0, '127.0.0.1');
    await once(squatter, 'listening');
    const address = `127.0.0.1:${String((squatter.address() as AddressInfo).port)}`;
    try {
      const common = `bootstrap.servers=${(await broker()).bootstrapServers}
key.converter=org.apache.kafka.connect.storage.StringConverter
value.converter=org.apache.kafka.connect.storage.StringConverter
offset.storage.file.filename=${join(folder.path, 'taken-offsets')}
`;
      const service = `listeners=http://127.0.0.1:0\nservices=database-http\ndatabase.http.tls=off\ndatabase.http.connection.url=postgresql://127.0.0.1:1`;
      const taken = [
        ['listeners', `listeners=http://${address}`],
        ['database.http.listeners', `${service}\ndatabase.http.listeners=http://${address}`],
      ] as const;
      for (const [option, properties] of taken) {
        const path = await folder.file(`taken-${option}.properties`, `${common}${properties}\n`);
        const { code, output } = await sluice(['standalone', path]);
        assert.equal(code, 3);
        const said = output.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
        assert.deepEqual(said, [
          `The worker could not start: ${option}: cannot listen at http://${address}: another process already listens there (EADDRINUSE)`,
        ]);
        assert.doesNotMatch(output, /\bat .*\.(?:js|ts):\d+/);
      }
    } finally {
      squatter.close();
    }
  });

  it('says which file it cannot read, and shows its usage for a wrong command', async () => {
    assert.match((await sluice(['start', join(folder.path, 'none.properties')])).output, /none\.properties/);
    const { code, output } = await sluice(['begin']);
    assert.equal(code, 1);
    assert.match(output, /unknown command 'begin'/);
  });

  it("refuses an internal topic that is not compacted, in Connect's words", async () => {
    const { bootstrapServers } = await broker();
    const topic = uniqueName('not-compacted');
    await (await KafkaTraffic.shared()).createTopic(topic);
    const lines = [
      `bootstrap.servers=${bootstrapServers}`,
      `group.id=${uniqueName('g')}`,
      `config.storage.topic=${topic}`,
      `offset.storage.topic=${topic}-o`,
      `status.storage.topic=${topic}-s`,
      ...['config', 'offset', 'status'].map((kind) => `${kind}.storage.replication.factor=1`),
      'key.converter=org.apache.kafka.connect.storage.StringConverter',
      'value.converter=org.apache.kafka.connect.storage.StringConverter',
      'listeners=http://127.0.0.1:0',
    ];
    const { code, output } = await sluice(['start', await folder.file('compact.properties', lines.join('\n'))]);
    assert.equal(code, 3);
    assert.match(
      output,
      /supplied via the 'config\.storage\.topic' property is required to have 'cleanup\.policy=compact'/,
    );
  });

  it('takes CONNECT_ variables for everything, and creates compacted topics', async () => {
    const worker = await WorkerProcess.start({ environment: { CONNECT_GROUP_ID: 'from-environment' } });
    try {
      const { bootstrapServers } = await broker();
      const admin = createKafkaClient({ 'bootstrap.servers': bootstrapServers }, silentLogger).admin();
      for (const kind of ['config', 'offset', 'status']) {
        const settings = await admin.topicSettings(worker.properties[`${kind}.storage.topic`] ?? '');
        assert.equal(settings.get('cleanup.policy'), 'compact');
      }
      await admin.close();
      // The name that would clash with the group tells which group it is.
      const answer = await worker.rest.put<{ configs: { value: { errors: string[] } }[] }>(
        '/connector-plugins/DbSink/config/validate',
        { 'connector.class': 'DbSink', name: 'x', 'consumer.override.group.id': 'from-environment', topics: 't' },
      );
      const errors = answer.body.configs.flatMap(({ value }) => value.errors);
      assert.ok(
        errors.includes('Consumer group from-environment conflicts with Connect worker group from-environment'),
      );
    } finally {
      await worker.discard();
    }
  });

  it('stops cleanly at SIGTERM as soon as it listens', async () => {
    const url = `http://127.0.0.1:${String(await freePort())}`;
    const path = await folder.file(
      'stopped-early.properties',
      [
        'bootstrap.servers=127.0.0.1:1',
        `offset.storage.file.filename=${join(folder.path, 'stopped-early.offsets')}`,
        'key.converter=org.apache.kafka.connect.storage.StringConverter',
        'value.converter=org.apache.kafka.connect.storage.StringConverter',
        `listeners=${url}`,
      ].join('\n'),
    );
    const child = spawn(process.execPath, [await builtCli(), 'standalone', path], { cwd: projectRoot });
    await until(async () => (await fetch(`${url}/health`)).status === 503, '/health answers 503', { everyMs: 5 });
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });
});
