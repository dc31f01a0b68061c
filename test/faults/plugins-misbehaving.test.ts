import assert from 'node:assert/strict';
import { loadWorkerConfig } from '../../src/config/worker-config.ts';
import type {
  Connector,
  ConnectorConfig,
  ConnectorContext,
  SinkRecord,
  SinkTask,
  SinkTaskContext,
  SourceConnectorPlugin,
  SinkConnectorPlugin,
  SourceTask,
  SourceTaskContext,
} from '../../src/index.ts';
import { RetriableError, Schema } from '../../src/index.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { startWorker, type Worker } from '../../src/worker/worker.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { ConnectRest } from '../support/rest.ts';
import { broker, uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';

/** A connector whose behaviour is scripted by its configuration. */
class Scripted implements Connector {
  #config: ConnectorConfig = {};

  async start(config: ConnectorConfig, context: ConnectorContext): Promise<void> {
    this.#config = config;
    if (config['connector.start'] === 'throw') throw new Error('the connector does not want to start');
    if (config['connector.start'] === 'hang') await new Promise(() => undefined);
    if (config['connector.start'] === 'raise') setTimeout(() => context.raiseError(new Error('something came up')), 10);
  }

  async taskConfigs(maxTasks: number): Promise<ConnectorConfig[]> {
    const tasks = Number(this.#config['task.count'] ?? maxTasks);
    return Promise.resolve(Array.from({ length: tasks }, () => this.#config));
  }

  async stop(): Promise<void> {
    await Promise.resolve();
  }
}

const puts = new Map<string, SinkRecord[][]>();

class ScriptedSinkTask implements SinkTask {
  #context: SinkTaskContext | undefined;
  #failures = 0;

  async start(context: SinkTaskContext): Promise<void> {
    this.#context = context;
    if (context.config['task.start'] === 'throw') throw new Error('the task does not want to start');
    await Promise.resolve();
  }

  async put(records: readonly SinkRecord[]): Promise<void> {
    if (records.length === 0 || this.#context === undefined) return;
    const { config, connectorName } = this.#context;
    const seen = puts.get(connectorName) ?? [];
    puts.set(connectorName, seen);
    seen.push([...records]);
    if (this.#failures++ < Number(config['put.retriable'] ?? '0')) {
      this.#context.retryAfterMs(50);
      throw new RetriableError('not now');
    }
    await Promise.resolve();
  }

  async preCommit(delivered: Parameters<SinkTask['preCommit']>[0]) {
    return Promise.resolve([...delivered.values()]);
  }

  async stop(): Promise<void> {
    if (this.#context?.config['task.stop'] === 'hang') await new Promise(() => undefined);
  }
}

class CountingSourceTask implements SourceTask {
  #context: SourceTaskContext | undefined;
  #next = 0;

  async start(context: SourceTaskContext): Promise<void> {
    this.#context = context;
    const stored = await context.offset({ counter: 'c' });
    this.#next = Number(stored?.['n'] ?? 0);
  }

  async poll() {
    const config: ConnectorConfig = this.#context?.config ?? {};
    const topic = config['topic'] ?? '';
    if (this.#next >= Number(config['fail.at'] ?? 'NaN')) throw new Error(`poll failed at ${String(this.#next)}`);
    if (this.#next >= 1000) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return [];
    }
    return Array.from({ length: 100 }, () => {
      const n = ++this.#next;
      return {
        topic,
        partition: null,
        keySchema: null,
        key: null,
        valueSchema: new Schema('string'),
        value: String(n),
        timestamp: null,
        headers: [],
        sourcePartition: { counter: 'c' },
        sourceOffset: { n },
      };
    });
  }

  async stop(): Promise<void> {
    await Promise.resolve();
  }
}

const SINK: SinkConnectorPlugin = {
  type: 'sink',
  className: 'org.example.ScriptedSinkConnector',
  taskClassName: 'org.example.ScriptedSinkTask',
  version: '1.2.3',
  options: {},
  createConnector: () => new Scripted(),
  createTask: () => new ScriptedSinkTask(),
};

const SOURCE: SourceConnectorPlugin = {
  type: 'source',
  className: 'org.example.CountingSourceConnector',
  taskClassName: 'org.example.CountingSourceTask',
  version: '1.2.3',
  options: {},
  createConnector: () => new Scripted(),
  createTask: () => new CountingSourceTask(),
};

describe('plugins that misbehave', function () {
  const group = uniqueName('plugins');
  let properties: Record<string, string>;
  let worker: Worker;
  let rest: ConnectRest;
  let kafka: KafkaTraffic;
  let topic: string;

  async function start(): Promise<void> {
    const config = loadWorkerConfig({ mode: 'distributed', properties });
    worker = await startWorker(config, { logger: silentLogger, plugins: [SINK, SOURCE] });
    await worker.started;
    rest = new ConnectRest(worker.url);
  }

  before(async () => {
    const topics = ['config', 'offset', 'status'].flatMap((kind): [string, string][] => [
      [`${kind}.storage.topic`, `${group}-${kind}`],
      [`${kind}.storage.replication.factor`, '1'],
    ]);
    properties = {
      'bootstrap.servers': (await broker()).bootstrapServers,
      'group.id': group,
      'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
      'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
      listeners: 'http://127.0.0.1:0',
      'offset.flush.interval.ms': '200',
      'task.shutdown.graceful.timeout.ms': '1000',
      ...Object.fromEntries(topics),
    };
    kafka = await KafkaTraffic.shared();
    topic = uniqueName('scripted');
    await kafka.createTopic(topic);
    await start();
  });

  after(async () => {
    await worker.stop();
  });

  async function create(config: Record<string, string>): Promise<string> {
    const name = uniqueName('scripted');
    await rest.create(name, { 'connector.class': 'ScriptedSink', topics: topic, ...config });
    return name;
  }

  const connectorFails = (name: string) =>
    until(async () => {
      const { connector } = await rest.status(name);
      return connector.state === 'FAILED' && connector;
    }, `${name} fails`);

  it('are distinguished by name and shown with their version', async () => {
    const { body } = await rest.get<{ class: string; type: string; version: string }[]>('/connector-plugins');
    assert.deepEqual(
      body.filter(({ class: name }) => name.startsWith('org.example.')),
      [
        { class: SINK.className, type: 'sink', version: '1.2.3' },
        { class: SOURCE.className, type: 'source', version: '1.2.3' },
      ],
    );
  });

  it('by throwing in start make their connector FAILED with the reason, and no tasks', async () => {
    const name = await create({ 'connector.start': 'throw' });
    const { trace } = await connectorFails(name);
    assert.match(trace ?? '', /the connector does not want to start/);
    assert.deepEqual((await rest.status(name)).tasks, []);
    assert.equal((await rest.post(`/connectors/${name}/restart`)).status, 500);
    await rest.delete(`/connectors/${name}`);
  });

  it('by raising an error later make their connector FAILED while its tasks continue', async () => {
    const name = await create({ 'connector.start': 'raise' });
    assert.match((await connectorFails(name)).trace ?? '', /something came up/);
    await until(async () => (await rest.status(name)).tasks[0]?.state === 'RUNNING', 'its task runs');
    await rest.delete(`/connectors/${name}`);
  });

  it("by making more tasks than they may are FAILED in Connect's words, unless that is allowed", async () => {
    const name = await create({ 'task.count': '3', 'tasks.max': '2' });
    assert.match(
      (await connectorFails(name)).trace ?? '',
      new RegExp(
        `The connector ${name} has generated 3 tasks, which is greater than 2, the maximum number of tasks it is configured to create\\.`,
      ),
    );
    const allowed = await create({ 'task.count': '3', 'tasks.max': '2', 'tasks.max.enforce': 'false' });
    await rest.untilState(allowed, 'RUNNING', 3);
    for (const each of [name, allowed]) await rest.delete(`/connectors/${each}`);
  });

  it('by hanging in start keep nobody else waiting', async () => {
    const hanging = await create({ 'connector.start': 'hang' });
    const fine = await create({});
    await rest.untilState(fine, 'RUNNING', 1);
    assert.equal((await rest.get(`/connectors/${hanging}`)).status, 200);
    assert.equal((await rest.delete(`/connectors/${hanging}`)).status, 204);
    await rest.delete(`/connectors/${fine}`);
  });

  it('by hanging in stop are left behind after task.shutdown.graceful.timeout.ms', async () => {
    const name = await create({ 'task.stop': 'hang' });
    await rest.untilState(name, 'RUNNING', 1);
    assert.equal((await rest.delete(`/connectors/${name}`)).status, 204);
    await until(async () => (await rest.get(`/connectors/${name}/status`)).status === 404, 'its status is gone');
  });

  it('by failing in one task leave the others running, and a restart of that task starts it again', async () => {
    const name = await create({ 'task.start': 'throw' });
    const status = await until(async () => {
      const seen = await rest.status(name);
      return seen.tasks[0]?.state === 'FAILED' && seen;
    }, 'the task fails');
    assert.equal(status.connector.state, 'RUNNING');
    assert.match(status.tasks[0]?.trace ?? '', /^java\.lang\.RuntimeException: the task does not want to start\n/);
    assert.equal((await rest.post(`/connectors/${name}/tasks/0/restart`)).status, 204);
    assert.equal((await rest.post(`/connectors/${name}/tasks/7/restart`)).status, 404);
    await rest.delete(`/connectors/${name}`);
  });

  it('by asking for the same records again get exactly them, in order, and nothing is lost', async () => {
    const own = uniqueName('again');
    await kafka.createTopic(own);
    const name = await create({ topics: own, 'put.retriable': '3' });
    await rest.untilState(name, 'RUNNING', 1);
    await kafka.produce(
      own,
      [1, 2, 3].map((n) => ({ value: String(n) })),
    );
    await until(() => (puts.get(name)?.length ?? 0) >= 4, 'the records were put four times');
    await until(async () => (await kafka.committed(`connect-${name}`)) === 3, 'they are committed');
    const values = puts.get(name)?.map((records) => records.map(({ value }) => value));
    assert.deepEqual(
      values?.slice(0, 4).map((each) => each[0]),
      ['1', '1', '1', '1'],
    );
    assert.deepEqual(values?.slice(3).flat(), ['1', '2', '3']);
    await rest.delete(`/connectors/${name}`);
  });

  it('by failing in poll keep the offsets of acknowledged records, and continue there after a restart of the worker', async () => {
    const name = uniqueName('counting');
    const out = uniqueName('counted');
    await kafka.createTopic(out);
    const config = { 'connector.class': SOURCE.className, 'tasks.max': '1', topic: out };
    await rest.create(name, { ...config, 'fail.at': '500' });
    await until(async () => (await rest.status(name)).tasks[0]?.state === 'FAILED', 'the task fails');
    assert.match((await rest.status(name)).tasks[0]?.trace ?? '', /poll failed at 500/);
    await worker.stop();
    await start();
    assert.equal((await rest.put(`/connectors/${name}/config`, config)).status, 200);
    await rest.untilState(name, 'RUNNING', 1);
    const texts = await kafka.texts(out, 1000);
    assert.deepEqual(
      texts,
      Array.from({ length: 1000 }, (_, i) => String(i + 1)),
    );
    await rest.delete(`/connectors/${name}`);
  });
});
