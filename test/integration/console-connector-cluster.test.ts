import assert from 'node:assert/strict';
import { sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database, uniqueName } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerCluster } from '../support/worker-cluster.ts';

describe('a connector with tasks on two workers', () => {
  it('shows the log and the stages of both at either, and logs more on both', async () => {
    const [cluster, kafka, db] = await Promise.all([
      WorkerCluster.start(2, {}),
      KafkaTraffic.shared(),
      database('console_cluster'),
    ]);
    const sql = new SqlClient(db);
    const stop = new AbortController();
    try {
      const name = uniqueName('console');
      await sql.run(`create table "${name}" (ts timestamptz not null, v int8)`);
      await kafka.createTopic(name, 2);
      const [first, second] = cluster.workers;
      assert.ok(first !== undefined && second !== undefined);
      await first.rest.create(name, sinkConfig(db, { topics: name, 'protocol.type': 'line_lp', 'tasks.max': '2' }));
      const status = await first.rest.untilState(name, 'RUNNING', 2);
      const ids = [...new Set(status.tasks.map(({ worker_id: id }) => id))].sort();
      assert.equal(ids.length, 2);

      const answer = await fetch(`${first.url}/ui/connectors/${name}/log`, { signal: stop.signal });
      const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
      let told = '';
      const decoder = new TextDecoder();
      const from = (id: string) => told.includes(`{"worker":"${id}",`);
      while (!ids.every(from)) told += decoder.decode((await reader.read()).value, { stream: true });
      stop.abort();

      const path = `/ui/connectors/${name}/log-level`;
      const json = { 'content-type': 'application/json' };
      const body = JSON.stringify({ level: 'DEBUG', minutes: 1 });
      const set = await fetch(first.url + path, { method: 'PUT', headers: json, body });
      assert.deepEqual(((await set.json()) as { unreached: string[] }).unreached, []);
      const levels = await Promise.all([first, second].map(async ({ url }) => (await fetch(url + path)).json()));
      assert.deepEqual(
        levels.map((each) => (each as { level: string }).level),
        ['DEBUG', 'DEBUG'],
      );

      await until(async () => {
        const flows = (await (await fetch(`${second.url}/ui/connectors/${name}/flow`)).json()) as { worker: string }[];
        return ids.every((id) => flows.some(({ worker }) => worker === id));
      }, 'both workers tell of their tasks');
    } finally {
      stop.abort();
      await Promise.all([cluster.discard(), sql.close()]);
    }
  });
});
