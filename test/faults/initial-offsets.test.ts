import assert from 'node:assert/strict';
import { sinkConfig, sourceConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerCluster } from '../support/worker-cluster.ts';
import type { ConnectRest } from '../support/rest.ts';

interface Preview {
  readonly again: number | null;
  readonly skipped: number | null;
  readonly offsets: readonly unknown[];
}

const DONE = 'The offsets for this connector have been altered successfully';

describe('a connector with initial_offsets', function () {
  let cluster: WorkerCluster;
  let kafka: KafkaTraffic;
  let db: TestDatabase;
  let sql: SqlClient;

  before(async () => {
    [cluster, kafka, db] = await Promise.all([
      WorkerCluster.start(2, { 'offset.flush.interval.ms': '200' }),
      KafkaTraffic.shared(),
      database('begin'),
    ]);
    sql = new SqlClient(db);
  });

  after(async () => {
    await Promise.all([...cluster.workers.map((worker) => worker.discard()), sql.close()]);
  });

  /** Resolves with a worker that has to forward the request to the leader. */
  const follower = async (): Promise<ConnectRest> => {
    return until(async () => {
      for (const { rest } of cluster.workers) {
        const { body } = await rest.get<{ is_leader: boolean; leader_url: string | null }>('/cluster');
        if (!body.is_leader && body.leader_url !== null) return rest;
      }
      return undefined;
    }, 'a worker that does not lead');
  };

  const offset = (topic: string, kafkaOffset: number) => ({
    partition: { kafka_topic: topic, kafka_partition: 0 },
    offset: { kafka_offset: kafkaOffset },
  });

  for (const delivery of ['at-least-once', 'exactly-once']) {
    it(`reads a topic from there, regardless of an earlier connector of its name (${delivery})`, async () => {
      const rest = await follower();
      const name = uniqueName('begin').replaceAll('-', '_');
      await sql.run(`create table "${name}" (ts timestamptz not null, v bigint)`);
      await kafka.createTopic(name, 1);
      await kafka.produce(
        name,
        Array.from({ length: 10 }, (_, index) => ({ value: `${name} v=${String(index)}i` })),
      );
      const config = { name, ...sinkConfig(db, { topics: name, 'protocol.type': 'line_lp', delivery }) };
      const values = async () => (await sql.rows(`select v from "${name}" order by v`)).flat().map(Number);
      const create = async (from: number) => {
        const body = { name, config, initial_offsets: [offset(name, from)] };
        const answer = await rest.post<{ offsets_status: string }>('/connectors', body);
        assert.deepEqual([answer.status, answer.body.offsets_status], [201, DONE]);
      };
      await create(7);
      await until(async () => (await values()).length >= 3, 'the rows from offset 7 on');
      assert.deepEqual(await values(), [7, 8, 9]);
      await until(async () => (await kafka.committed(`connect-${name}`)) === 10, 'the commit of all');
      assert.equal((await rest.delete(`/connectors/${name}`)).status, 204);
      await sql.run(`truncate "${name}"`);
      await create(4);
      await until(async () => (await values()).length >= 6, 'the rows from offset 4 on');
      assert.deepEqual(await values(), [4, 5, 6, 7, 8, 9]);
    });
  }

  it('shows which records other offsets repeat or skip, in the form in which they are set', async () => {
    const rest = await follower();
    const name = uniqueName('begin').replaceAll('-', '_');
    await sql.run(`create table "${name}" (ts timestamptz not null, v bigint)`);
    await kafka.createTopic(name, 1);
    const at = (index: number) => Date.UTC(2026, 0, 1) + index * 1000;
    await kafka.produce(
      name,
      Array.from({ length: 10 }, (_, index) => ({ value: `${name} v=${String(index)}i`, timestamp: at(index) })),
    );
    await rest.create(name, sinkConfig(db, { topics: name, 'protocol.type': 'line_lp' }));
    await until(async () => (await kafka.committed(`connect-${name}`)) === 10, 'the commit of all');
    const preview = async (body: unknown) => {
      const answer = await rest.post<Preview>(`/connectors/${name}/offsets/preview`, body);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body;
    };
    const countsOf = async (body: unknown) => {
      const { again, skipped, offsets } = await preview(body);
      return { again, skipped, offsets };
    };
    assert.deepEqual(await countsOf({ to: 'earliest' }), { again: 10, skipped: 0, offsets: [offset(name, 0)] });
    assert.deepEqual(await countsOf({ to: 'latest' }), { again: 0, skipped: 0, offsets: [offset(name, 10)] });
    assert.deepEqual(await countsOf({ time: at(7) }), { again: 3, skipped: 0, offsets: [offset(name, 7)] });
    const iso = new Date(at(99)).toISOString();
    assert.deepEqual(await countsOf({ time: iso }), { again: 0, skipped: 0, offsets: [offset(name, 10)] });
    const given = [offset(name, 4)];
    assert.deepEqual(await countsOf({ offsets: given }), { again: 6, skipped: 0, offsets: given });
    for (const body of [{}, { time: 'noon' }, { to: 'earliest', time: 1 }, { offsets: [] }]) {
      assert.equal((await rest.post(`/connectors/${name}/offsets/preview`, body)).status, 400, JSON.stringify(body));
    }
    assert.equal(await kafka.committed(`connect-${name}`), 10);
    assert.equal((await rest.put(`/connectors/${name}/stop`)).status, 204);
    const { offsets } = await preview({ time: at(7) });
    assert.equal((await rest.request('PATCH', `/connectors/${name}/offsets`, { offsets })).status, 200);
    assert.equal(await kafka.committed(`connect-${name}`), 7);
    assert.equal((await preview({ to: 'latest' })).skipped, 3);
  });

  it('reads a table from there', async () => {
    const rest = await follower();
    const name = uniqueName('begin').replaceAll('-', '_');
    await sql.run(`create table "${name}" (id bigint primary key)`);
    await sql.run(`insert into "${name}" select generate_series(1, 10)`);
    const more = { 'topic.prefix': name, 'table.include': name, mode: 'incrementing' };
    const config = { name, ...sourceConfig(db, more) };
    const offsets = [{ partition: { table: name }, offset: { incrementing: 8 } }];
    const answer = await rest.post<{ offsets_status: string }>('/connectors', {
      name,
      config,
      initial_offsets: offsets,
    });
    assert.deepEqual([answer.status, answer.body.offsets_status], [201, DONE], JSON.stringify(answer.body));
    const texts = await kafka.texts(`${name}-${db.database}-${name}-json_db`, 2);
    const preview = async (body: unknown) =>
      (await rest.post<Preview>(`/connectors/${name}/offsets/preview`, body)).body;
    await until(async () => (await preview({ to: 'earliest' })).again === 10, 'the offset of all rows');
    const { again, skipped } = await preview({
      offsets: [{ partition: { table: name }, offset: { incrementing: 4 } }],
    });
    assert.deepEqual([again, skipped], [6, 0]);
    assert.equal((await rest.post(`/connectors/${name}/offsets/preview`, { time: 1 })).status, 400);
    assert.deepEqual(
      texts.map((text) => (JSON.parse(text) as { data: { id: number }[] }).data.map(({ id }) => id)).flat(),
      [9, 10],
    );
  });

  it('is not created when its offsets are refused', async () => {
    const rest = await follower();
    const name = uniqueName('begin').replaceAll('-', '_');
    await kafka.createTopic(name, 1);
    const config = { name, ...sinkConfig(db, { topics: name, 'protocol.type': 'line_lp' }) };
    const refused = async (offsets: unknown, text: RegExp) => {
      const answer = await rest.post<{ message: string }>('/connectors', { name, config, initial_offsets: offsets });
      assert.equal(answer.status, 400, JSON.stringify(answer.body));
      assert.match(answer.body.message, text);
      assert.equal((await rest.get(`/connectors/${name}`)).status, 404);
    };
    await refused([], /need to be provided in initial_offsets/);
    await refused([{ partition: { topic: name }, offset: null }], /must contain the keys 'kafka_topic'/);
    await refused([offset(name, -1)], /Invalid negative offset/);
    await refused([offset(`${name}_missing`, 1)], /Failed to alter consumer group offsets/);
    const answer = await rest.post('/connectors', {
      name,
      config: { ...config, topics: '' },
      initial_offsets: [offset(name, 1)],
    });
    assert.equal(answer.status, 400);
    assert.equal(await kafka.committed(`connect-${name}`), 0);
  });
});
