import assert from 'node:assert/strict';
import zlib from 'node:zlib';
import type { ConsumedRecord } from '../../src/kafka/api.ts';
import { partitionOfKey } from '../../src/kafka/producer/partitioner.ts';
import { logSourceConfig } from '../support/log-source.ts';
import { logWorkerStage } from '../support/log-source-stage.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';

interface ChangeEvent {
  readonly op: string;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly source: { readonly snapshot: string | null };
}

describe('the log source', function () {
  const stage = logWorkerStage({ 'exactly.once.source.support': 'enabled' });

  /** Creates a table and a connector that captures it alone; the snapshot has begun when it returns. */
  async function capture(
    table: string,
    more: Readonly<Record<string, string>> = {},
    { partitions = 1, settings = {} }: { partitions?: number; settings?: Readonly<Record<string, string>> } = {},
  ) {
    const config = logSourceConfig(stage.db, { 'table.include.list': `public.${table}`, ...more });
    const topic = `${config['topic.prefix'] ?? ''}.public.${table}`;
    await stage.kafka.createTopic(topic, partitions, settings);
    const name = uniqueName('log');
    await stage.sluice.rest.create(name, config);
    await stage.sluice.rest.untilState(name, 'RUNNING', 1);
    return { name, topic, slot: config['slot.name'] ?? '' };
  }

  async function committed(topic: string, count: number): Promise<readonly ConsumedRecord[]> {
    return stage.kafka.read(topic, ({ length }) => length >= count, 30_000, { 'isolation.level': 'read_committed' });
  }

  async function events(topic: string, count: number): Promise<readonly (ChangeEvent | null)[]> {
    return (await committed(topic, count)).map(eventOf);
  }

  async function isStopped(name: string): Promise<void> {
    await until(async () => {
      const { connector, tasks } = await stage.sluice.rest.status(name);
      return connector.state === 'STOPPED' && tasks.length === 0;
    }, 'the connector is stopped');
  }

  it('sends a snapshot, and then every change once, in order', async () => {
    await stage.sql.run(
      'create table orders (id int primary key, item text)',
      `insert into orders values (1, 'one'), (2, 'two')`,
    );
    const { topic, slot } = await capture('orders');
    await stage.untilRead(slot);
    await stage.sql.run(
      `insert into orders values (3, 'three')`,
      `update orders set item = 'uno' where id = 1`,
      `update orders set id = 20 where id = 2`,
      'delete from orders where id = 3',
    );
    const found = await events(topic, 9);
    assert.deepEqual(
      found.map((event) => (event === null ? null : [event.op, event.before, event.after])),
      [
        ['r', null, { id: 1, item: 'one' }],
        ['r', null, { id: 2, item: 'two' }],
        ['c', null, { id: 3, item: 'three' }],
        ['u', null, { id: 1, item: 'uno' }],
        ['d', { id: 2, item: null }, null],
        null,
        ['c', null, { id: 20, item: 'two' }],
        ['d', { id: 3, item: null }, null],
        null,
      ],
    );
    assert.deepEqual(
      found.slice(0, 2).map((event) => event?.source.snapshot),
      ['first', 'last'],
    );
  });

  it('continues after the server has ended the connection, with no change lost or sent twice', async () => {
    await stage.sql.run('create table lines (n int primary key)');
    const { topic, slot } = await capture('lines', { 'snapshot.mode': 'no_data' });
    await stage.untilRead(slot);
    for (let round = 0; round < 5; round++) {
      const first = round * 100;
      await stage.sql.run(
        `insert into lines select generate_series(${String(first)}, ${String(first + 49)})`,
        `select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = '${slot}' and active`,
        `copy lines from program 'seq ${String(first + 50)} ${String(first + 99)}'`,
      );
    }
    const numbers = (await events(topic, 500)).map((event) => event?.after?.['n']);
    assert.deepEqual(
      numbers,
      Array.from({ length: 500 }, (_, n) => n),
    );
  });

  it('continues after a stop in the middle of a transaction', async () => {
    await stage.sql.run('create table parts (n int primary key)');
    const { name, topic, slot } = await capture('parts', { 'snapshot.mode': 'no_data', 'max.batch.size': '10' });
    await stage.untilRead(slot);
    await stage.sql.run('insert into parts select generate_series(0, 9999)');
    await events(topic, 100);
    await stage.sluice.rest.request('PUT', `/connectors/${name}/stop`);
    await isStopped(name);
    await stage.sql.run('insert into parts select generate_series(10000, 10099)');
    await stage.sluice.rest.request('PUT', `/connectors/${name}/resume`);
    const numbers = (await events(topic, 10_100)).map((event) => event?.after?.['n']);
    assert.deepEqual(
      numbers,
      Array.from({ length: 10_100 }, (_, n) => n),
    );
  });

  for (const compression of ['none', 'gzip', 'snappy', 'lz4', 'zstd']) {
    it(`keeps the order of each key in three partitions with compression ${compression}`, async function () {
      // Node 20 has no zstd.
      if (compression === 'zstd' && !('zstdCompressSync' in zlib)) this.skip();
      const table = `spread_${compression}`;
      await stage.sql.run(`create table ${table} (id int primary key, version int, pad text)`);
      const producer = { 'producer.override.compression.type': compression };
      // A broker with this limit takes the large row only if it is compressed.
      const settings = { 'max.message.bytes': compression === 'none' ? '1000000' : '100000' };
      const { topic, slot } = await capture(
        table,
        { 'snapshot.mode': 'no_data', ...producer },
        { partitions: 3, settings },
      );
      await stage.untilRead(slot);
      await stage.sql.run(
        `insert into ${table} select id, 0 from generate_series(1, 40) id`,
        ...Array.from({ length: 5 }, () => `update ${table} set version = version + 1`),
        `insert into ${table} values (41, 0, repeat('x', 200000))`,
        `delete from ${table} where id = 1`,
      );
      const records = await committed(topic, 243);
      const versions = new Map<string, (number | null)[]>();
      for (const record of records) {
        const key = record.key ?? Buffer.alloc(0);
        assert.equal(record.partition, partitionOfKey(key, 3), key.toString());
        const version = eventOf(record)?.after?.['version'] ?? null;
        versions.set(key.toString(), [...(versions.get(key.toString()) ?? []), version as number | null]);
      }
      assert.equal(new Set(records.map(({ partition }) => partition)).size, 3);
      const all = [0, 1, 2, 3, 4, 5];
      const expected = Array.from({ length: 40 }, (_, index) => [`{"id":${String(index + 1)}}`, all] as const);
      const wanted = new Map<string, readonly (number | null)[]>([...expected, ['{"id":41}', [0]]]);
      assert.deepEqual(versions, wanted.set('{"id":1}', [...all, null, null]));
    });
  }

  it('lets the server forget what is stored', async () => {
    await stage.sql.run('create table kept (n int primary key)');
    const { topic, slot } = await capture('kept', { 'snapshot.mode': 'no_data', 'status.update.interval.ms': '100' });
    await stage.untilRead(slot);
    await stage.sql.run('insert into kept values (1)');
    const lsn = (await stage.sql.rows('select pg_current_wal_lsn()'))[0]?.[0] ?? '';
    for (let n = 2; n <= 5; n++) {
      await stage.sql.run(`insert into kept values (${String(n)})`);
      await events(topic, n);
    }
    const behind = `select count(*) from pg_replication_slots where slot_name = '${slot}' and confirmed_flush_lsn >= '${lsn}'`;
    let n = 5;
    await until(async () => {
      await stage.sql.run(`insert into kept values (${String(++n)})`);
      return (await stage.sql.number(behind)) === 1;
    }, 'the slot has moved');
  });

  it('fails with a message when its slot is gone, and reads all again with when_needed', async () => {
    await stage.sql.run('create table gone (n int primary key)', 'insert into gone values (1)');
    const { name, topic, slot } = await capture('gone');
    await stage.untilRead(slot);
    await stage.sql.run('insert into gone values (2)');
    await events(topic, 2);
    const config = (await stage.sluice.rest.request<Record<string, string>>('GET', `/connectors/${name}/config`)).body;
    await stage.sluice.rest.request('PUT', `/connectors/${name}/stop`);
    await isStopped(name);
    await stage.sql.run(`select pg_drop_replication_slot('${slot}')`, 'insert into gone values (3)');
    await stage.sluice.rest.request('PUT', `/connectors/${name}/resume`);
    await until(async () => {
      const { tasks } = await stage.sluice.rest.status(name);
      return tasks[0]?.state === 'FAILED' && (tasks[0].trace ?? '').includes('no longer available on the server');
    }, 'the task has failed');
    await stage.sluice.rest.request('PUT', `/connectors/${name}/config`, { ...config, 'snapshot.mode': 'when_needed' });
    const numbers = (await events(topic, 5)).map((event) => event?.after?.['n']);
    assert.deepEqual(numbers, [1, 2, 1, 2, 3]);
  });

  it('writes a dead letter in place of a change that is too large, and continues', async () => {
    await stage.sql.run('create table large (n int primary key, pad text)');
    const letters = uniqueName('letters');
    await stage.kafka.createTopic(letters);
    const { topic, slot } = await capture('large', {
      'snapshot.mode': 'no_data',
      'errors.tolerance': 'all',
      'errors.deadletterqueue.topic.name': letters,
    });
    await stage.untilRead(slot);
    await stage.sql.run(
      `insert into large values (1, 'small')`,
      `insert into large values (2, repeat('x', 1100000))`,
      `insert into large values (3, 'small')`,
    );
    const numbers = (await events(topic, 2)).map((event) => event?.after?.['n']);
    assert.deepEqual(numbers, [1, 3]);
    const [letter] = await committed(letters, 1);
    const header = (name: string) => letter?.headers.find(({ key }) => key === name)?.value?.toString() ?? '';
    assert.equal(header('__connect.errors.topic'), topic);
    assert.equal(header('__connect.errors.stage'), 'KAFKA_PRODUCE');
    assert.match(header('__connect.errors.exception.message'), /larger than 1048576/);
    assert.match(header('sluice.source.offset'), /"lsn":\d+/);
  });

  it('is DEGRADED with the cause while the server keeps more of its log than it may, and has metrics', async () => {
    await stage.sql.run('create table guarded (n int primary key)', 'insert into guarded values (1)');
    const more = { 'log.max.lag.bytes': '1', 'status.update.interval.ms': '100' };
    const { name, topic, slot } = await capture('guarded', more);
    await stage.untilRead(slot);
    await events(topic, 1);
    await stage.sql.run('insert into guarded values (2)');
    const sentence = await until(async () => {
      const { body } = await stage.sluice.rest.get<{ verdict: string; sentence: string }>(`/connectors/${name}/health`);
      return body.verdict === 'DEGRADED' ? body.sentence : undefined;
    }, 'the verdict is DEGRADED');
    const begin = `Task 0 cannot process slot ${slot}: the server keeps `;
    assert.ok(sentence.startsWith(begin) && sentence.includes('more than log.max.lag.bytes=1'), sentence);
    const text = await (await fetch(`${stage.sluice.url}/metrics`)).text();
    const labels = `{plugin="postgres",name="${topic.split('.')[0] ?? ''}",context="snapshot",connector="${name}",task="0"}`;
    assert.ok(text.includes(`debezium_metrics_SnapshotCompleted${labels} 1`), text.slice(0, 200));
  });

  it('is refused with an option of Debezium that has no effect here', async () => {
    const config = { ...logSourceConfig(stage.db), name: 'x', 'post.processors': 'r' };
    const answer = await stage.sluice.rest.request<{
      readonly configs: readonly { readonly value: { readonly name: string; readonly errors: readonly string[] } }[];
    }>('PUT', '/connector-plugins/PostgresConnector/config/validate', config);
    const errors = answer.body.configs.flatMap(({ value }) => value.errors);
    assert.deepEqual(errors, ["The 'post.processors' value is invalid: this option of Debezium is not supported"]);
  });
});

function eventOf({ value }: ConsumedRecord): ChangeEvent | null {
  return value === null ? null : (JSON.parse(value.toString()) as ChangeEvent);
}
