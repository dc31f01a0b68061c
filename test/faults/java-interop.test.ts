import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findJavaConnect, JavaWorker } from '../support/java-worker.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import type { ConnectRest } from '../support/rest.ts';
import { broker, uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const STRINGS = 'org.apache.kafka.connect.storage.StringConverter';
const COMMITTED = { 'isolation.level': 'read_committed' };
const SLOW = { timeoutMs: 60_000 };

interface Expanded {
  readonly info: { readonly config: Record<string, string>; readonly tasks: readonly object[]; readonly type: string };
  readonly status: { readonly connector: { readonly state: string }; readonly tasks: readonly { state: string }[] };
}

/** The state of all connectors as a worker reports it. The next worker must report the same, except for the worker ids. */
async function stateOf(rest: ConnectRest): Promise<Record<string, object>> {
  return until(async () => {
    const states = await statesNow(rest);
    const isStable = Object.values(states).every(({ state }) => !state.includes('UNASSIGNED'));
    return isStable ? states : undefined;
  }, 'nothing is being restarted');
}

async function statesNow(rest: ConnectRest): Promise<Record<string, { readonly state: readonly string[] }>> {
  const { status, body } = await rest.get<Record<string, Expanded>>('/connectors?expand=info&expand=status');
  assert.equal(status, 200);
  const states = Object.entries(body).map(async ([name, { info, status: running }]) => {
    const path = `/connectors/${name}`;
    const [offsets, tasks] = await Promise.all([rest.get(`${path}/offsets`), rest.get(`${path}/tasks`)]);
    const state = [running.connector.state, ...running.tasks.map((task) => task.state)];
    return [name, { ...info, state, tasks: tasks.body, offsets: offsets.body }] as const;
  });
  return Object.fromEntries((await Promise.all(states)).sort(([a], [b]) => (a < b ? -1 : 1)));
}

describe('with Apache Kafka’s own worker', function () {
  const group = uniqueName('interop');
  const topic = `${group}-lines`;
  // Its consumer group is the broker's, not the worker group's.
  const sink = `${group}-sink`;
  const topics = {
    configs: `${group}-configs`,
    offsets: `${group}-offsets`,
    statuses: `${group}-status`,
  };
  let properties: Record<string, string>;
  let kafka: KafkaTraffic;
  let folder = '';
  let java: JavaWorker;
  let sluice: WorkerProcess | undefined;
  let written = 0;

  const file = (name: string) => join(folder, `${name} “ä, é”.txt`);
  const source = (name: string, more: Record<string, string> = {}) => ({
    'connector.class': 'FileStreamSource',
    'tasks.max': '1',
    file: file(name),
    topic,
    ...more,
  });
  /** More lines at the end of a source's file, numbered through all files. */
  const append = async (name: string, count: number): Promise<void> => {
    const lines = Array.from({ length: count }, () => `${name} ${String(written++)}`);
    await appendFile(file(name), `${lines.join('\n')}\n`);
  };
  /** All lines that were written to files whose sources run: each once in the topic, and once in the sink's file. */
  const allArrived = async (hidden = 0): Promise<void> => {
    const count = written - hidden;
    const numbers = (lines: readonly string[]) => lines.map((line) => Number(line.split(' ')[1])).sort((a, b) => a - b);
    const inFile = async () => {
      const text = await readFile(file('sink'), 'utf8');
      return text.split('\n').slice(0, -1);
    };
    await until(async () => (await inFile()).length >= count, `${String(count)} lines in the sink’s file`, SLOW);
    const inTopic = numbers(await kafka.texts(topic, count));
    assert.equal(new Set(inTopic).size, count, 'no line is missing in the topic');
    assert.equal(inTopic.length, count, 'no line is twice in the topic');
    assert.deepEqual(numbers(await inFile()), inTopic, 'the sink’s file has the lines of the topic');
  };
  const position = async (rest: ConnectRest, name: string): Promise<unknown> => {
    const { body } = await rest.get<{ offsets: { offset: { position?: number } }[] }>(`/connectors/${name}/offsets`);
    return body.offsets[0]?.offset.position;
  };
  const untilRead = async (rest: ConnectRest, name: string): Promise<void> => {
    const bytes = (await readFile(file(name))).length;
    await until(async () => (await position(rest, name)) === bytes, `${name} is read and committed to its end`, SLOW);
  };
  const untilSinkCommitted = () =>
    until(
      async () => {
        const last = (await kafka.all(topic, COMMITTED)).at(-1);
        return last !== undefined && (await kafka.committed(`connect-${sink}`)) > last.offset;
      },
      'the sink has committed',
      SLOW,
    );
  const configRecords = async () =>
    (await kafka.all(topics.configs)).map(({ key, value }) => ({
      key: key?.toString() ?? '',
      value: value?.toString() ?? null,
    }));
  const untilRuns = (rest: ConnectRest, name: string) => rest.untilState(name, 'RUNNING', 1, SLOW);

  const ours = () => (sluice?.url ?? '').replace('http://', '');
  const connectors = ['running', 'paused', 'stopped', 'ours', sink];
  const workersOf = async (rest: ConnectRest): Promise<string[]> => {
    const statuses = await Promise.all(connectors.map((name) => rest.status(name)));
    const all = statuses.flatMap(({ connector, tasks }) => [connector, ...tasks]);
    return all.every(({ state }) => state === 'RUNNING') ? all.map(({ worker_id: worker }) => worker) : [];
  };
  const untilOn = (rest: ConnectRest, workers: readonly string[]) =>
    until(
      async () => {
        const seen = await workersOf(rest);
        return seen.length === 2 * connectors.length && [...new Set(seen)].sort().join() === [...workers].sort().join();
      },
      `all runs on ${workers.join(' and ')}`,
      SLOW,
    );
  const appendAll = async () => {
    for (const name of connectors.slice(0, 4)) await append(name, 25);
  };

  before(async function () {
    const found = await findJavaConnect();
    if (typeof found === 'string') {
      console.log(`      skipped: no Java worker to compare with, ${found}`);
      this.skip();
    }
    const { bootstrapServers } = await broker();
    properties = {
      'bootstrap.servers': bootstrapServers,
      'group.id': group,
      'config.storage.topic': topics.configs,
      'offset.storage.topic': topics.offsets,
      'offset.storage.partitions': '3',
      'status.storage.topic': topics.statuses,
      'status.storage.partitions': '2',
      'config.storage.replication.factor': '1',
      'offset.storage.replication.factor': '1',
      'status.storage.replication.factor': '1',
      'key.converter': STRINGS,
      'value.converter': STRINGS,
      'heartbeat.interval.ms': '500',
      'scheduled.rebalance.max.delay.ms': '0',
      'offset.flush.interval.ms': '500',
      'exactly.once.source.support': 'enabled',
    };
    kafka = await KafkaTraffic.shared();
    await kafka.createTopic(topic);
    folder = await mkdtemp(join(tmpdir(), 'sluice-interop-'));
    java = await JavaWorker.create(found, properties);
  });

  after(async () => {
    await Promise.all([java?.discard(), sluice?.discard()]);
    if (folder !== '') await rm(folder, { recursive: true, force: true });
  });

  it('continues where a Java worker stopped: connectors, target states, task configurations and offsets', async () => {
    await java.start();
    for (const name of ['running', 'paused', 'stopped']) await append(name, 100);
    await java.rest.create(sink, { 'connector.class': 'FileStreamSink', topics: topic, file: file('sink') });
    for (const name of ['running', 'paused', 'stopped']) await java.rest.create(name, source(name));
    for (const name of ['running', 'paused', 'stopped']) await untilRead(java.rest, name);
    await java.rest.put('/connectors/paused/pause');
    await java.rest.put('/connectors/stopped/stop');
    await java.rest.untilState('paused', 'PAUSED', 1, SLOW);
    await java.rest.untilState('stopped', 'STOPPED', 0, SLOW);
    await untilSinkCommitted();
    const before = await stateOf(java.rest);
    await java.terminate();
    const recordsBefore = await configRecords();
    for (const name of ['running', 'paused', 'stopped']) await append(name, 50);

    sluice = await WorkerProcess.start({ properties, readyTimeoutMs: SLOW.timeoutMs });
    await untilRuns(sluice.rest, 'running');
    await untilRuns(sluice.rest, sink);
    await sluice.rest.untilState('paused', 'PAUSED', 1);
    await untilRead(sluice.rest, 'running');
    const after = await stateOf(sluice.rest);
    assert.deepEqual(without(after, 'running', sink), without(before, 'running', sink));
    for (const name of ['running', sink])
      assert.deepEqual({ ...after[name], offsets: 0 }, { ...before[name], offsets: 0 });
    await allArrived(100);
    await sluice.rest.put('/connectors/paused/resume');
    await sluice.rest.put('/connectors/stopped/resume');
    await untilRead(sluice.rest, 'paused');
    await untilRead(sluice.rest, 'stopped');
    await allArrived();
    const added = (await configRecords()).slice(recordsBefore.length).map(({ key }) => key);
    const start = ['task-stopped-0', 'commit-stopped', 'tasks-fencing-stopped'];
    const resumed = ['target-state-paused', 'target-state-stopped', ...start];
    assert.deepEqual(
      added.filter((key) => key !== 'session-key'),
      resumed,
      'no configuration is written again',
    );
  });

  it('leaves its state so that a Java worker continues with it', async () => {
    assert.ok(sluice !== undefined);
    const { rest } = sluice;
    await append('ours', 100);
    await append('ours-stopped', 100);
    await rest.create('ours', source('ours'));
    await rest.create('ours-stopped', source('ours-stopped'));
    await untilRead(rest, 'ours');
    await untilRead(rest, 'ours-stopped');
    await rest.put('/connectors/ours-stopped/stop');
    await rest.untilState('ours-stopped', 'STOPPED', 0);
    const half = (await readFile(file('ours-stopped'), 'utf8')).split('\n').slice(0, 50).join('\n').length + 1;
    const offset = { partition: { filename: file('ours-stopped') }, offset: { position: half } };
    assert.equal((await rest.request('PATCH', '/connectors/ours-stopped/offsets', { offsets: [offset] })).status, 200);
    await rest.put('/connectors/paused/pause');
    await rest.untilState('paused', 'PAUSED', 1);
    assert.equal((await rest.post('/connectors/ours/restart?includeTasks=true')).status, 202);
    await untilRuns(rest, 'ours');
    await untilSinkCommitted();
    const before = await stateOf(rest);
    assert.equal(await sluice.terminate(), 0);
    const recordsBefore = await configRecords();

    await java.start();
    for (const name of ['running', sink, 'ours', 'stopped']) await untilRuns(java.rest, name);
    await java.rest.untilState('paused', 'PAUSED', 1, SLOW);
    assert.deepEqual(await stateOf(java.rest), before);
    assert.deepEqual(await configRecords(), recordsBefore, 'the Java worker has nothing to write again');
    for (const name of ['running', 'paused', 'stopped', 'ours']) await append(name, 50);
    for (const name of ['running', 'stopped', 'ours']) await untilRead(java.rest, name);
    await allArrived(50);
    await java.rest.put('/connectors/paused/resume');
    await untilRead(java.rest, 'paused');
    await allArrived();
    const keys = (await kafka.all(topics.offsets)).map(({ key }) => key?.toString() ?? '');
    const sources = ['running', 'paused', 'stopped', 'ours', 'ours-stopped'];
    const expected = sources.map((name) => `["${name}",{"filename":"${file(name)}"}]`);
    assert.deepEqual(
      [...new Set(keys)].sort(),
      expected.sort(),
      'one key for each file, no matter which worker wrote it',
    );
  });

  it('works with Java workers in one group with mixed.group=allow, so that they are replaced one at a time, and back', async () => {
    assert.ok(sluice !== undefined);
    await sluice.start({ 'mixed.group': 'allow' });
    await untilOn(java.rest, [ours(), java.workerId]);
    await untilOn(sluice.rest, [ours(), java.workerId]);
    await appendAll();
    // Each asks the other, by signed requests or redirection.
    for (const rest of [sluice.rest, java.rest]) {
      const config = { ...source('ours'), 'batch.size': rest === java.rest ? '500' : '1000' };
      // The response is 409 while the group rebalances for the previous change, so clients retry.
      const done = (status: number, ask: () => Promise<{ status: number }>) =>
        until(async () => (await ask()).status === status, `the answer is ${String(status)}`);
      await done(200, () => rest.put('/connectors/ours/config', config));
      for (const name of ['running', sink]) {
        await done(202, () => rest.post(`/connectors/${name}/restart?includeTasks=true`));
      }
      await untilOn(rest, [ours(), java.workerId]);
    }
    await allArrived();
    await java.terminate();
    await untilOn(sluice.rest, [ours()]);
    await appendAll();
    await allArrived();
    await java.start();
    await untilOn(java.rest, [ours(), java.workerId]);
    await sluice.terminate();
    await untilOn(java.rest, [java.workerId]);
    await appendAll();
    await allArrived();
  });

  it('does not enter a group of Java workers, and lets none into its own, unless mixed.group=allow', async () => {
    assert.ok(sluice !== undefined);
    const worker = sluice;
    const starting = worker.start();
    await until(() => worker.log.includes(`Not joining the worker group ${group}`), 'it says why it waits', SLOW);
    await java.terminate();
    await starting;
    await untilOn(worker.rest, [ours()]);

    await java.launch();
    // It says that it exits; that takes the Java worker 46 s more, which is nobody's business here.
    await until(
      async () => (await java.log()).includes('InconsistentGroupProtocolException'),
      'the Java worker is refused by the broker',
      SLOW,
    );
    await java.kill();
    const [line = ''] = worker.log.split('\n').filter((each) => each.includes('Refused the worker at'));
    assert.ok(line.includes(`Refused the worker at ${java.rest.url}/ in the worker group ${group}`), line);
    assert.ok(line.includes('set mixed.group=allow on all Sluice workers'), line);
    await untilOn(worker.rest, [ours()]);
    await appendAll();
    await allArrived();
  });
});

function without(states: Record<string, object>, ...names: readonly string[]): Record<string, object> {
  return Object.fromEntries(Object.entries(states).filter(([name]) => !names.includes(name)));
}
