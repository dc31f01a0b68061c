import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../src/dev/ports.ts';
import { readJavaMap } from '../../src/java/java-map-file.ts';
import { sourceConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database, ownBroker, uniqueName } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { builtCli } from '../support/worker-build.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

describe('starting a worker', function () {
  const folder = temporaryFolder('start');

  it('may start before its broker: its health is starting, requests wait, and everything works once the broker is reachable', async () => {
    const kafka = await ownBroker();
    const port = String(await freePort());
    const url = `http://127.0.0.1:${port}`;
    const group = uniqueName('early');
    const topics = ['config', 'offset', 'status'].flatMap((kind) => [
      `${kind}.storage.topic=${group}-${kind}`,
      `${kind}.storage.replication.factor=1`,
    ]);
    const path = await folder.file(
      'early.properties',
      [
        `bootstrap.servers=${kafka.bootstrapServers}`,
        `group.id=${group}`,
        ...topics,
        'key.converter=org.apache.kafka.connect.storage.StringConverter',
        'value.converter=org.apache.kafka.connect.storage.StringConverter',
        `listeners=${url}`,
      ].join('\n'),
    );
    await kafka.stop();
    const child = spawn(process.execPath, [await builtCli(), 'start', path], { cwd: projectRoot });
    try {
      const starting = await until(async () => {
        const answer = await fetch(`${url}/health`);
        const body = (await answer.json()) as { status: string; message: string };
        // It listens before plugins are loaded.
        return answer.status === 503 && !body.message.includes('loading plugins') && body;
      }, '/health answers 503 with what the worker is doing');
      assert.equal(starting.status, 'starting');
      assert.match(
        starting.message,
        /^Worker is still starting up\. The worker is currently asking for the id of the Kafka cluster/,
      );
      const waiting = fetch(`${url}/connectors`);
      await kafka.start();
      assert.deepEqual(await (await waiting).json(), []);
      assert.equal((await fetch(`${url}/health`)).status, 200);
    } finally {
      child.kill('SIGTERM');
      const [code] = (await once(child, 'exit')) as [number];
      assert.equal(code, 0);
      await kafka.discard();
    }
  });

  it('standalone runs the connectors of its command line and keeps offsets in a file that Java reads', async () => {
    const db = await database('standalone');
    const sql = new SqlClient(db);
    const prefix = uniqueName('alone');
    const offsets = join(folder.path, 'offsets');
    await sql.run(
      'create table t (ts timestamptz primary key, n int4)',
      `insert into t values (now() - interval '1 hour', 1)`,
    );
    const name = uniqueName('alone');
    const worker = await WorkerProcess.start({
      standalone: [{ name, ...sourceConfig(db, { 'topic.prefix': prefix }) }],
      properties: { 'offset.storage.file.filename': offsets },
    });
    try {
      const topic = `${prefix}-${db.database}-t-json_db`;
      const kafka = await KafkaTraffic.shared();
      assert.equal((await kafka.texts(topic, 1)).length, 1);
      const stored = await until(async () => {
        const entries = readJavaMap(await readFile(offsets));
        return entries.length > 0 && entries;
      }, 'the offset is in the file');
      assert.equal(Buffer.from(stored[0]?.[0] ?? []).toString(), `["${name}",{"table":"t"}]`);
      assert.equal(await worker.terminate(), 0);
      await sql.run(`insert into t values (now(), 2)`);
      await worker.start();
      const texts = await kafka.texts(topic, 2);
      assert.deepEqual(
        texts.map((text) => (JSON.parse(text) as { data: { n: number }[] }).data[0]?.n),
        [1, 2],
      );
    } finally {
      await worker.discard();
      await sql.close();
    }
  });
});
