import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/dev/ports.ts';
import { createKafkaClient } from '../../src/kafka/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { broker, uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { builtCli } from '../support/worker-build.ts';

describe('sluice produce and sluice consume', () => {
  let cli = '';
  let bootstrap = '';
  let folder = '';

  before(async () => {
    cli = await builtCli();
    bootstrap = (await broker()).bootstrapServers;
    folder = await mkdtemp(join(tmpdir(), 'sluice-console-'));
  });

  after(() => rm(folder, { recursive: true, force: true }));

  function start(args: readonly string[], servers = bootstrap) {
    const child = spawn(process.execPath, [cli, ...args], { env: { ...process.env, BOOTSTRAP_SERVERS: servers } });
    const printed = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.err += text));
    const ended = once(child, 'close').then(([code]: unknown[]) => ({ code, ...printed }));
    return { child, printed, ended };
  }

  function run(args: readonly string[], input = '', servers = bootstrap) {
    const { child, ended } = start(args, servers);
    child.stdin.end(input);
    return ended;
  }

  it('send lines of standard input or of a file, with a key, and print them from the first one on', async () => {
    const topic = uniqueName('console');
    const first = await run(['produce', topic, '--create'], 'one\n\ntwø');
    assert.deepEqual(first, { code: 0, out: '', err: `2 messages sent to ${topic}\n` });
    const file = join(folder, 'lines');
    await writeFile(file, '{"id": 3}\n');
    assert.equal((await run(['produce', topic, file, '--key', 'k3'])).err, `1 message sent to ${topic}\n`);
    const { code, out } = await run(['consume', topic, '--count', '3']);
    assert.equal(code, 0);
    assert.deepEqual(out.split('\n').sort(), ['', 'one', 'twø', '{"id": 3}']);
    assert.deepEqual(await keysOf(topic), ['null one', 'null twø', 'k3 {"id": 3}'].sort());
  });

  async function keysOf(topic: string): Promise<string[]> {
    const client = createKafkaClient({ 'bootstrap.servers': bootstrap, 'auto.offset.reset': 'earliest' }, silentLogger);
    const admin = client.admin();
    const consumer = client.consumer();
    try {
      consumer.assign(await admin.endOffsets(topic));
      const found: string[] = [];
      await until(async () => {
        const records = await consumer.poll(100);
        found.push(...records.map(({ key, value }) => `${String(key)} ${String(value)}`));
        return found.length >= 3;
      }, 'the messages are read');
      return found.sort();
    } finally {
      await consumer.close(1000);
      await admin.close();
    }
  }

  it('wait: for lines that come later, for messages that come later, for a topic that is made later', async () => {
    const topic = uniqueName('console');
    const consuming = start(['consume', topic, '--count', '2']);
    await until(() => consuming.printed.err !== '', 'it says what it waits for');
    assert.equal(consuming.printed.err, `The topic ${topic} does not exist; waiting for it\n`);
    const producing = start(['produce', topic, '--create']);
    producing.child.stdin.write('first\n');
    await until(() => consuming.printed.out === 'first\n', 'the first message is printed');
    producing.child.stdin.end('second\n');
    assert.deepEqual((await producing.ended).code, 0);
    const { code, out } = await consuming.ended;
    assert.deepEqual([code, out], [0, 'first\nsecond\n']);
  });

  it('say what is wrong: no topic, no file, no broker, a line that is too long, a count that is none', async () => {
    const topic = uniqueName('console');
    const nobody = `127.0.0.1:${String(await freePort())}`;
    const [missing, noFile, noBroker, wrong] = await Promise.all([
      run(['produce', topic], 'x\n'),
      run(['produce', topic, join(folder, 'none')]),
      run(['consume', topic], '', nobody),
      run(['consume', topic, '--count', '1.5']),
    ]);
    assert.deepEqual([missing.code, missing.err], [2, `The topic ${topic} does not exist; with --create it is made\n`]);
    assert.equal(noFile.code, 2);
    assert.match(noFile.err, /^Cannot read .*none: ENOENT/);
    assert.equal(noBroker.code, 2);
    assert.match(noBroker.err, new RegExp(`^No Kafka broker answers at ${nobody}: .*ECONNREFUSED`));
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /'1\.5' is invalid\. It must be a whole number above 0\./);
    const long = await run(['produce', topic, '--create'], `one\n${'x'.repeat(1_000_001)}\n`);
    assert.equal(long.code, 2);
    assert.match(
      long.err,
      /^Line 2 has more than 1 MB, the most that a message may have\. 1 message was sent before\.\n$/,
    );
  });

  it("take the broker from a worker's file, with its variables", async () => {
    const topic = uniqueName('console');
    const file = join(folder, 'worker.properties');
    const provider = 'org.apache.kafka.common.config.provider.DirectoryConfigProvider';
    await writeFile(join(folder, 'brokers'), bootstrap);
    const lines = ['config.providers=dir', `config.providers.dir.class=${provider}`, 'group.id=any'];
    lines.push(`bootstrap.servers=\${dir:${folder}:brokers}`, 'security.protocol=PLAINTEXT');
    await writeFile(file, lines.join('\n'));
    const { code, err } = await run(['produce', topic, '--create', '--worker-config', file], 'x\n', '');
    assert.deepEqual([code, err], [0, `1 message sent to ${topic}\n`]);
  });
});
