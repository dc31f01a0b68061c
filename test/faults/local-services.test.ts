import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kafka as KafkaClient, logLevel } from 'kafkajs';
import { LocalKafka } from '../../src/dev/kafka.ts';
import { LocalPostgres } from '../../src/dev/postgres.ts';
import { folderOfEachTest } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

/** Starts a service in a process of its own, which prints what `report` gives, and kills that process with -9. */
async function startAndDie(module: string, start: string): Promise<{ pid: number; folder: string }> {
  const script = `
    import { ${start} } from ${JSON.stringify(new URL(module, import.meta.url).href)};
    const service = await ${start}.start();
    console.log(JSON.stringify({ pid: service.pid, folder: service.dataDir }));
  `;
  const parent = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  parent.kill('SIGKILL');
  return JSON.parse(line.toString()) as { pid: number; folder: string };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('the local PostgreSQL', () => {
  const folder = folderOfEachTest('services');

  it('reports a failed start with the end of its log', async () => {
    const settings = { shared_buffers: 'nonsense' };
    await assert.rejects(
      LocalPostgres.start({ dataDir: join(folder.path, 'pg'), settings }),
      /PostgreSQL ended while starting \(exit code 1\)[^]*invalid value for parameter "shared_buffers"/,
    );
  });

  it('ends when the process that started it is killed with -9, and a temporary folder is removed', async () => {
    const left = await startAndDie('../../src/dev/postgres.ts', 'LocalPostgres');
    await until(() => !isRunning(left.pid), 'PostgreSQL ended');
    await until(() => !existsSync(left.folder), 'its folder went');
  });
});

describe('the local Kafka', () => {
  it('keeps its records and its port over a stop, and over a kill -9, whatever characters its path has', async function () {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-services,a:b c-'));
    const kafka = await LocalKafka.start({ dataDir: join(folder, 'kafka') });
    const client = new KafkaClient({ brokers: [kafka.bootstrapServers], logLevel: logLevel.NOTHING });
    const produce = async (): Promise<void> => {
      const producer = client.producer();
      await producer.connect();
      await producer.send({ topic: 'kept', messages: [{ value: 'one' }] });
      await producer.disconnect();
    };
    const admin = client.admin();
    try {
      await admin.connect();
      await admin.createTopics({ waitForLeaders: true, topics: [{ topic: 'kept', numPartitions: 1 }] });
      for (const end of [() => kafka.stop(), () => kafka.kill()]) {
        await end();
        assert.equal(kafka.pid, undefined);
        await kafka.start();
        await produce();
      }
      const [partition] = await admin.fetchTopicOffsets('kept');
      assert.equal(partition?.high, '2');
      const before = performance.now();
      await kafka.stop();
      assert.ok(performance.now() - before < 15_000);
    } finally {
      await admin.disconnect();
      await kafka.discard();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('reports a failed start with the end of its log', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-services-'));
    const kafka = await LocalKafka.start({ dataDir: join(folder, 'kafka') });
    await kafka.stop();
    const identity = join(folder, 'kafka', 'meta.properties');
    await writeFile(identity, (await readFile(identity, 'utf8')).replace('node.id=1', 'node.id=7'));
    try {
      await assert.rejects(
        kafka.start(),
        /Kafka ended while starting \(exit code 1\); the end of .*kafka\.log:\n[^]*Stored node id 7/,
      );
    } finally {
      await kafka.discard();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('ends when the process that started it is killed with -9, and a temporary folder is removed', async () => {
    const left = await startAndDie('../../src/dev/kafka.ts', 'LocalKafka');
    await until(() => !isRunning(left.pid), 'Kafka ended');
    await until(() => !existsSync(left.folder), 'its folder went');
  });
});
