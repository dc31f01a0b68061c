import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

/** The `Accept` header of Prometheus 2.42. */
const PROMETHEUS =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';

const PLUGINS = fileURLToPath(new URL('../support/unruly-plugins', import.meta.url));

describe('the metrics of a worker', () => {
  let worker: WorkerProcess;
  let target: TestDatabase;
  let sql: SqlClient;
  let traffic: KafkaTraffic;

  before(async () => {
    [worker, target, traffic] = await Promise.all([
      WorkerProcess.start({ properties: { 'plugin.path': PLUGINS } }),
      database('metrics'),
      KafkaTraffic.shared(),
    ]);
    sql = new SqlClient(target);
  });
  after(async () => {
    await worker.discard();
    await sql.close();
  });

  const page = async (): Promise<string> => (await fetch(`${worker.url}/metrics`)).text();

  /** The value of a sample by its name and labels as they stand on the page. */
  async function value(sample: string): Promise<number | undefined> {
    const line = (await page()).split('\n').find((each) => each.startsWith(`${sample} `));
    return line === undefined ? undefined : Number(line.slice(sample.length + 1));
  }

  it('tell states, records, failures and lag in the names of Connect’s dashboards', async () => {
    const [topic, name] = [uniqueName('metrics'), uniqueName('metrics')];
    await sql.run('CREATE TABLE m (k_timestamp timestamptz PRIMARY KEY, v float8)');
    await traffic.createTopic(topic);
    const options = {
      topics: topic,
      'protocol.type': 'line_lp',
      'timestamp.precision': 'ms',
      'errors.tolerance': 'all',
    };
    await worker.rest.create(name, sinkConfig(target, options));
    const lines = Array.from({ length: 10 }, (_, id) => ({ value: id === 4 ? 'garbage' : `m v=1 ${String(id)}` }));
    await traffic.produce(topic, lines);
    await until(async () => (await sql.number('SELECT count(*) FROM m')) === 9, 'nine rows');

    const of = `{connector="${name}",task="0"`;
    const samples: [string, number][] = [
      [`kafka_connect_sink_task_sink_record_read_total${of}}`, 10],
      [`kafka_connect_sink_task_sink_record_send_total${of}}`, 10],
      [`kafka_connect_sink_task_partition_count${of}}`, 1],
      [`kafka_connect_task_error_total_records_skipped${of}}`, 1],
      [`kafka_connect_connector_status{connector="${name}",status="running"}`, 1],
      [`kafka_connect_connector_task_status${of},status="running"}`, 1],
      [`kafka_connect_worker_connector_failed_task_count{connector="${name}"}`, 0],
      [
        `kafka_consumer_fetch_manager_records_lag{clientid="connector-consumer-${name}-0",topic="${topic}",partition="0"}`,
        0,
      ],
      [`kafka_connect_connector_task_running_ratio${of}}`, 1],
      [`kafka_connect_connector_task_batch_size_max${of}}`, 10],
    ];
    for (const [sample, expected] of samples) {
      await until(async () => (await value(sample)) === expected, `${sample} is ${String(expected)}`);
    }
    assert.match(await page(), /^process_cpu_seconds_total \d/m);
    assert.equal(await value(`kafka_connect_connector_metrics{connector="${name}",status="running"}`), 1);
    for (const [accept, type, end] of [
      ['text/plain', 'text/plain; version=0.0.4; charset=utf-8', /\n$/],
      [PROMETHEUS, 'application/openmetrics-text; version=1.0.0; charset=utf-8', /\n# EOF\n$/],
    ] as const) {
      const answer = await fetch(`${worker.url}/metrics`, { headers: { accept } });
      assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, type]);
      assert.match(await answer.text(), end);
    }

    await worker.rest.put(`/connectors/${name}/pause`);
    await until(async () => (await value(`kafka_connect_connector_task_status${of},status="paused"}`)) === 1, 'paused');
    assert.equal(await value(`kafka_connect_connector_task_status${of},status="running"}`), undefined);

    await worker.rest.delete(`/connectors/${name}`);
    await until(async () => !(await page()).includes(name), 'nothing of a deleted connector is left');
  });

  it('and the parts of a task name a topic that a sink waits for, until it exists', async () => {
    const [topic, name] = [uniqueName('metrics'), uniqueName('metrics')];
    await worker.rest.create(name, sinkConfig(target, { topics: topic, 'protocol.type': 'line_lp' }));
    const parts = async () => (await worker.rest.get(`/connectors/${name}/tasks/0/parts`)).body as unknown[];
    await until(async () => (await parts()).length > 0, 'the sink says what it waits for');
    assert.deepEqual(await parts(), [{ name: topic, state: 'WAITING', error: 'the topic does not exist', counts: {} }]);
    const sample = `kafka_connect_sink_task_part_status{connector="${name}",task="0",part="${topic}",status="waiting"}`;
    assert.equal(await value(sample), 1);
    await traffic.createTopic(topic);
    await until(async () => (await parts()).length === 0, 'it waits no longer');
  });

  it('and its health show the longest turn of the event loop, and a warning names the task that took it (issue 12, lights)', async () => {
    const shown = async () => ({
      metric: (await value('sluice_event_loop_delay_seconds')) ?? Number.NaN,
      health: Number((await worker.rest.get('/health')).headers.get('x-event-loop-delay-seconds') ?? Number.NaN),
    });
    const before = await shown();
    assert.ok(before.metric >= 0 && before.health >= 0, JSON.stringify(before));

    const name = uniqueName('metrics');
    await worker.rest.create(name, { 'connector.class': 'UnrulySource', topic: name, 'task.does': 'block' });
    const warning = await until(
      () => worker.log.split('\n').find((line) => line.includes(`Last entered: poll of task ${name}-0`)),
      'a warning names the task',
    );
    assert.match(warning, /"level":"warn".*The event loop of thread \d+ stood still for [1-9]\d*\.\d\d s/);
    const { metric, health } = await shown();
    assert.ok(metric > 1.2 && health > 1.2, `${String(metric)} ${String(health)}`);
    const { body, headers } = await worker.rest.get('/health');
    const slowest = headers.get('x-event-loop-delay-thread') ?? 'main';
    assert.notEqual(slowest, 'main');
    assert.match(warning, new RegExp(`The event loop of thread ${slowest} `));
    const ofThread = `{thread="${slowest}",purpose="tasks"}`;
    assert.ok(Number(await value(`sluice_thread_event_loop_delay_seconds${ofThread}`)) > 1.2);
    assert.ok(Number(await value(`sluice_thread_tasks${ofThread}`)) >= 1);
    assert.ok(Number(await value(`sluice_thread_heap_bytes${ofThread}`)) > 1_000_000);
    assert.ok(Number(await value(`sluice_thread_cpu_seconds_total${ofThread}`)) > 0.1);
    assert.equal(await value('sluice_thread_ends_total{reason="hang"}'), 0);
    const cluster = await worker.rest.get<{ threads: { thread: number | 'main'; tasks: string[] }[] }>('/cluster');
    const own = cluster.body.threads.find(({ tasks }) => tasks.includes(`${name}-0`));
    assert.equal(String(own?.thread), slowest);
    assert.deepEqual(body, {
      status: 'healthy',
      message: 'Worker has completed startup and is ready to handle requests.',
    });
  });
});
