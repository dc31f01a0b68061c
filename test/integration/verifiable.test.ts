import assert from 'node:assert/strict';
import type { KafkaTraffic } from '../support/kafka-traffic.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import type { WorkerProcess } from '../support/worker-process.ts';
import { JSON_CONVERTER, PLAIN_JSON, verifiableServices, type Line } from './verifiable-fixture.ts';

const TOOLS = 'org.apache.kafka.connect.tools.';
const ONE_PARTITION = {
  'topic.creation.default.partitions': '1',
  'topic.creation.default.replication.factor': '1',
};

describe('Kafka’s connectors for tests of clusters (T2)', () => {
  let worker: WorkerProcess;
  let kafka: KafkaTraffic;

  before(async () => ({ worker, kafka } = await verifiableServices()));

  after(async () => {
    await worker?.discard();
  });

  it('send as fast as possible with throughput=-1, and stop at once', async () => {
    const [name, topic] = [uniqueName('fast'), uniqueName('fast')];
    const config = { ...ONE_PARTITION, ...PLAIN_JSON, 'connector.class': `${TOOLS}VerifiableSourceConnector`, topic };
    await worker.rest.create(name, { ...config, throughput: '-1', 'complete.record.data': 'true' });
    const [text = ''] = await kafka.texts(topic, 1000);
    assert.deepEqual({ ...(JSON.parse(text) as Line), time_ms: 0 }, { name, task: 0, topic, time_ms: 0, seqno: 0 });
    assert.equal((await worker.rest.delete(`/connectors/${name}`)).status, 204);
    await until(async () => (await worker.rest.get(`/connectors/${name}`)).status === 404, 'it is gone');
  });

  it('write a number of structs with two versions of a schema', async () => {
    const [name, topic] = [uniqueName('schemas'), uniqueName('schemas')];
    const config = { ...ONE_PARTITION, 'connector.class': 'SchemaSource', topic, throughput: '1000' };
    await worker.rest.create(name, {
      ...config,
      'key.converter': JSON_CONVERTER,
      'value.converter': JSON_CONVERTER,
      'num.messages': '4',
      'multiple.schema': 'true',
      'partition.count': '3',
    });
    const values = (await kafka.texts(topic, 4)).map((text) => JSON.parse(text) as { schema: Line; payload: Line });
    assert.deepEqual(
      values.map(({ schema, payload }) => [schema['version'], payload]),
      [0, 1, 2, 3].map((seqno) => [
        1 + (seqno % 2),
        {
          boolean: true,
          int: 12,
          long: 12,
          float: 12.2,
          double: 12.2,
          partitioning: seqno % 3,
          ...(seqno % 2 === 1 ? { string: 'def' } : {}),
          id: 0,
          seqno,
        },
      ]),
    );
    assert.ok(worker.log.includes('{"task": 0, "seqno": 3}'));
  });

  it('fail as mock_mode says: the connector, or its task', async () => {
    const topic = uniqueName('mock');
    await kafka.createTopic(topic);
    for (const kind of ['Sink', 'Source']) {
      const config = { 'connector.class': `Mock${kind}`, ...(kind === 'Sink' ? { topics: topic } : {}) };
      const [connector, task, none] = [uniqueName('connector'), uniqueName('task'), uniqueName('none')];
      const fast = { ...config, delay_ms: '300', 'tasks.max': '3', 'restart.policy': 'never' };
      await worker.rest.create(none, { ...fast, mock_mode: 'something-else' });
      await worker.rest.create(connector, { ...fast, mock_mode: 'connector-failure' });
      await worker.rest.create(task, { ...fast, mock_mode: 'task-failure' });
      const states = async (name: string) => {
        const status = await worker.rest.status(name);
        return [status.connector.state, ...status.tasks.map(({ state }) => state)].join();
      };
      await until(async () => (await states(connector)) === 'FAILED,RUNNING', 'the connector has failed');
      await until(async () => (await states(task)) === 'RUNNING,FAILED', 'the task has failed');
      const [{ trace = '' } = {}] = (await worker.rest.status(task)).tasks;
      assert.match(trace, /The task fails because of mock_mode=task-failure/);
      await until(async () => (await states(none)) === 'RUNNING,RUNNING', 'the third one is running');
    }
  });

  it('T3: fail as in Java when the worker’s settings for consumers are those of the other group protocol', async () => {
    const [name, topics] = [uniqueName('protocol'), uniqueName('protocol')];
    await kafka.createTopic(topics);
    const config = { 'connector.class': 'MockSink', topics, 'restart.policy': 'never' };
    await worker.rest.create(name, { ...config, 'consumer.override.group.protocol': 'consumer' });
    const trace = await until(async () => (await worker.rest.status(name)).tasks[0]?.trace, 'the task has failed');
    const [first] = trace.split('\n');
    assert.equal(
      first,
      'org.apache.kafka.common.config.ConfigException: session.timeout.ms cannot be set when group.protocol=CONSUMER',
    );
  });

  it('are not listed as plugins, and refuse a configuration without a topic', async () => {
    const { body } = await worker.rest.get<readonly { class: string }[]>('/connector-plugins?connectorsOnly=false');
    assert.deepEqual(
      body.filter((plugin) => plugin.class.startsWith(TOOLS)),
      [],
    );
    const answer = await worker.rest.post('/connectors', {
      name: uniqueName('bad'),
      config: { 'connector.class': 'VerifiableSource', throughput: '1' },
    });
    assert.equal(answer.status, 400);
    assert.match(JSON.stringify(answer.body), /Missing required configuration \\"topic\\"/);
  });

  it('find the lines in the log that Kafka’s own tests wait for (T4)', async () => {
    await until(() => /Joined group at generation \d+ with protocol version 2 and got/.test(worker.log), 'joined');
    const text = worker.log;
    const order = [
      /Kafka version: 4\.3\.1/,
      /REST resources initialized; server is started and ready to handle requests/,
      /Joined group at generation 1 with protocol version 2 and got assignment: Assignment\{error=0, leader='[^']+', leaderUrl='http:[^']+', offset=-?\d+, connectorIds=\[\], taskIds=\[\], revokedConnectorIds=\[\], revokedTaskIds=\[\], delay=0\} with rebalance delay: 0/,
      /Starting connectors and tasks using config offset -?\d+/,
      /Finished starting connectors and tasks/,
      /Kafka Connect started/,
    ].map((line) => text.search(line));
    assert.ok(!order.includes(-1), String(order));
    assert.deepEqual(
      order,
      [...order].sort((a, b) => a - b),
    );
    assert.match(text, /Session key updated/);
  });
});
