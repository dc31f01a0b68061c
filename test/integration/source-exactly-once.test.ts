import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConsumedRecord, KafkaClient, TransactionalProducer } from '../../src/kafka/api.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { sourceConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { broker, database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

interface ValidateAnswer {
  readonly configs: readonly { readonly value: { readonly name: string; readonly errors: readonly string[] } }[];
}

const READ_COMMITTED = { 'isolation.level': 'read_committed' };

describe('a source with exactly-once delivery', function () {
  let db: TestDatabase;
  let sql: SqlClient;
  let kafka: KafkaTraffic;
  let client: KafkaClient;
  let sluice: WorkerProcess;
  let group: string;
  let folder: string;
  let zombie: TransactionalProducer | undefined;

  before(async () => {
    [db, kafka, sluice, folder] = await Promise.all([
      database('source'),
      KafkaTraffic.shared(),
      WorkerProcess.start({ properties: { 'exactly.once.source.support': 'enabled' } }),
      mkdtemp(join(tmpdir(), 'sluice-once-')),
    ]);
    sql = new SqlClient(db);
    group = sluice.properties['group.id'] ?? '';
    client = createKafkaClient({ 'bootstrap.servers': (await broker()).bootstrapServers }, silentLogger);
  });
  after(async () => {
    await zombie?.close(0);
    await sluice.discard();
    await sql.close();
    await rm(folder, { recursive: true, force: true });
  });

  const committed = (topic: string, count: number): Promise<readonly ConsumedRecord[]> =>
    kafka.read(topic, ({ length }) => length >= count, 30_000, READ_COMMITTED);

  /** A connector that reads lines of a file of its own. */
  async function lines(more: Record<string, string> = {}): Promise<{ name: string; file: string; topic: string }> {
    const name = uniqueName('lines');
    const file = join(folder, name);
    await writeFile(file, 'one\ntwo\n');
    await kafka.createTopic(name);
    await sluice.rest.create(name, { 'connector.class': 'FileStreamSource', file, topic: name, ...more });
    return { name, file, topic: name };
  }

  async function errorsOf(plugin: string, config: Record<string, string>): Promise<readonly string[]> {
    const answer = await sluice.rest.put<ValidateAnswer>(`/connector-plugins/${plugin}/config/validate`, {
      name: 'x',
      'connector.class': plugin,
      ...config,
    });
    return answer.body.configs.flatMap(({ value }) => value.errors);
  }

  it('stores offsets with the records, by the poll', async () => {
    const { name, file, topic } = await lines();
    assert.equal((await committed(topic, 2)).length, 2);
    const offsets = async () => {
      const { body } = await sluice.rest.get<{ offsets: unknown[] }>(`/connectors/${name}/offsets`);
      return body.offsets;
    };
    assert.deepEqual(await offsets(), [{ partition: { filename: file }, offset: { position: 8 } }]);
    await appendFile(file, 'three\n');
    await committed(topic, 3);
    assert.deepEqual(await offsets(), [{ partition: { filename: file }, offset: { position: 14 } }]);
  });

  it('commits by interval if configured, and commits the open transaction when it is paused', async () => {
    const { name, topic, file } = await lines({
      'transaction.boundary': 'interval',
      'transaction.boundary.interval.ms': '2000',
    });
    await kafka.read(topic, ({ length }) => length >= 2);
    assert.equal((await kafka.all(topic, READ_COMMITTED)).length, 0);
    assert.equal((await committed(topic, 2)).length, 2);
    await sluice.rest.put(`/connectors/${name}/config`, {
      name,
      'connector.class': 'FileStreamSource',
      file,
      topic,
      'transaction.boundary': 'interval',
      'transaction.boundary.interval.ms': '50000',
    });
    await appendFile(file, 'three\n');
    await kafka.read(topic, ({ length }) => length >= 3);
    await sluice.rest.put(`/connectors/${name}/pause`);
    assert.equal((await committed(topic, 3)).length, 3);
  });

  it('fences earlier tasks when there are fewer of them', async () => {
    await sql.run(
      ...['a', 'b', 'c'].flatMap((table) => [
        `create table shared_${table} (ts timestamptz not null, n int8 primary key)`,
        `insert into shared_${table} values ('2026-01-01 00:00:00Z', 1)`,
      ]),
    );
    const name = uniqueName('shared');
    const prefix = uniqueName('out');
    const config = sourceConfig(db, {
      'topic.prefix': prefix,
      'table.include': 'shared_.',
    });
    await sluice.rest.create(name, { ...config, 'tasks.max': '3' });
    await sluice.rest.untilState(name, 'RUNNING', 3);
    const topic = uniqueName('zombie');
    await kafka.createTopic(topic);
    zombie = client.transactionalProducer({ 'transactional.id': `${group}-${name}-2` });
    await zombie.connect();
    await zombie.init();
    zombie.begin();
    await zombie.send([{ topic, partition: 0, key: null, value: Buffer.from('z'), timestamp: null, headers: [] }]);
    await sluice.rest.put(`/connectors/${name}/config`, { ...config, 'tasks.max': '1' });
    await sluice.rest.untilState(name, 'RUNNING', 1);
    await until(async () => (await fencingRecords(name)).length === 2, 'both generations are recorded');
    await assert.rejects(zombie.commit(), /There is a newer producer with the same transactionalId/);
    assert.deepEqual(await fencingRecords(name), ['{"task-count":3}', '{"task-count":1}']);
    assert.equal((await kafka.all(topic, READ_COMMITTED)).length, 0);
  });

  it('restarts a task, including a failed one, without fencing the others', async () => {
    const { name, topic, file } = await lines();
    await committed(topic, 2);
    await sluice.rest.post(`/connectors/${name}/tasks/0/restart`);
    await appendFile(file, 'three\n');
    const records = await committed(topic, 3);
    assert.deepEqual(
      records.map(({ value }) => value?.toString()),
      ['one', 'two', 'three'],
    );
    await sluice.rest.untilState(name, 'RUNNING', 1);
    assert.deepEqual(await fencingRecords(name), ['{"task-count":1}']);
  });

  it('fails a task that writes to its own offsets topic', async () => {
    const name = uniqueName('own');
    const file = join(folder, name);
    await writeFile(file, 'one\n');
    await sluice.rest.create(name, { 'connector.class': 'FileStreamSource', file, topic: `${group}-offsets` });
    const status = await until(async () => {
      const seen = await sluice.rest.status(name).catch(() => undefined);
      return seen?.tasks[0]?.state === 'FAILED' ? seen : undefined;
    }, 'the task fails');
    assert.match(
      status.tasks[0]?.trace ?? '',
      /ConnectException: Source tasks may not produce to their own offsets topics when exactly-once support is enabled/,
    );
  });

  it('keeps offsets in the connector’s own topic, with a copy in the worker’s; altering them fences tasks first', async () => {
    const own = uniqueName('own-offsets');
    const { name, topic, file } = await lines({ 'offsets.storage.topic': own });
    await committed(topic, 2);
    const stored = async (where: string): Promise<string[]> => {
      const records = await kafka.all(where, READ_COMMITTED);
      return records
        .filter(({ key }) => key?.toString() === JSON.stringify([name, { filename: file }]))
        .map(({ value }) => value?.toString() ?? 'null');
    };
    assert.deepEqual(await stored(own), ['{"position":8}']);
    await until(async () => (await stored(`${group}-offsets`)).length === 1, 'the copy is there');
    await sluice.rest.put(`/connectors/${name}/stop`);
    await sluice.rest.untilState(name, 'STOPPED', 0);
    const heir = client.transactionalProducer({ 'transactional.id': `${group}-${name}-0` });
    await heir.connect();
    await heir.init();
    heir.begin();
    await heir.send([{ topic, partition: 0, key: null, value: Buffer.from('late'), timestamp: null, headers: [] }]);
    const partition = { filename: file };
    const altered = await sluice.rest.request('PATCH', `/connectors/${name}/offsets`, {
      offsets: [{ partition, offset: { position: 4 } }],
    });
    assert.equal(altered.status, 200, JSON.stringify(altered.body));
    await assert.rejects(heir.commit(), /fences the current one/);
    await heir.close(0);
    const { body } = await sluice.rest.get<{ offsets: unknown[] }>(`/connectors/${name}/offsets`);
    assert.deepEqual(body.offsets, [{ partition, offset: { position: 4 } }]);
    await sluice.rest.put(`/connectors/${name}/resume`);
    const values = (await committed(topic, 3)).map(({ value }) => value?.toString());
    assert.deepEqual(values, ['one', 'two', 'two']);
    await sluice.rest.put(`/connectors/${name}/stop`);
    await sluice.rest.untilState(name, 'STOPPED', 0);
    await sluice.rest.delete(`/connectors/${name}/offsets`);
    assert.equal((await stored(own)).at(-1), 'null');
    assert.equal((await stored(`${group}-offsets`)).at(-1), 'null');
  });

  it('is refused for connectors that do not support it, with Connect’s message', async () => {
    const file = { topic: 't', 'exactly.once.support': 'required' };
    assert.deepEqual(await errorsOf('FileStreamSource', { ...file, file: '/x' }), []);
    assert.deepEqual(await errorsOf('FileStreamSource', file), [
      'The connector does not support exactly-once semantics with the provided configuration.',
    ]);
    assert.deepEqual(await errorsOf('FileStreamSource', { ...file, file: '/x', 'transaction.boundary': 'connector' }), [
      'The connector does not support connector-defined transaction boundaries with the given configuration. Please reconfigure it to use a different transaction boundary definition.',
    ]);
  });

  async function fencingRecords(name: string): Promise<string[]> {
    const records = await kafka.all(`${group}-configs`);
    return records
      .filter(({ key }) => key?.toString() === `tasks-fencing-${name}`)
      .map(({ value }) => value?.toString() ?? '');
  }
});
