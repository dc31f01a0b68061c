import assert from 'node:assert/strict';
import { freePort } from '../../src/dev/ports.ts';
import { keepingLetters, sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

interface ErrorBody {
  readonly error_code: number;
  readonly message: string;
}

interface Validation {
  readonly error_count: number;
  readonly configs: readonly { readonly value: { readonly name: string; readonly errors: readonly string[] } }[];
}

const SINK = 'com.db.kafka.connect.sink.DbSinkConnector';

describe('the management API', function () {
  let sluice: WorkerProcess;
  let db: TestDatabase;
  let sql: SqlClient;
  let kafka: KafkaTraffic;

  before(async () => {
    [sluice, db, kafka] = await Promise.all([WorkerProcess.start(), database('rest'), KafkaTraffic.shared()]);
    sql = new SqlClient(db);
  });

  after(async () => {
    await sluice.discard();
    await sql.close();
  });

  async function create(config: Record<string, string>, name = uniqueName('c')) {
    return { name, answer: await sluice.rest.post<ErrorBody>('/connectors', { name, config }) };
  }

  it('says who it is and that it is well', async () => {
    const root = await sluice.rest.get<Record<string, string>>('/');
    assert.deepEqual(Object.keys(root.body), ['version', 'commit', 'kafka_cluster_id']);
    assert.equal(root.headers.get('content-type'), 'application/json');
    assert.match(root.body['version'] ?? '', /^\d+\.\d+\.\d+$/);
    assert.deepEqual((await sluice.rest.get('/health')).body, {
      status: 'healthy',
      message: 'Worker has completed startup and is ready to handle requests.',
    });
    assert.deepEqual((await sluice.rest.get('/connectors/')).status, 200);
  });

  it("creates, shows, changes, pauses, stops, restarts and deletes a connector in Connect's shapes", async () => {
    const topic = uniqueName('life');
    await kafka.createTopic(topic);
    const config = sinkConfig(db, { topics: topic, 'protocol.type': 'json_db', 'tasks.max': '2' });
    const { name, answer } = await create(config);
    assert.equal(answer.status, 201);
    assert.equal(answer.headers.get('location'), `${sluice.url}/connectors/${name}`);
    assert.deepEqual(answer.body, { name, config: { ...config, name }, tasks: [], type: 'sink' });
    assert.equal((await create(config, name)).answer.status, 409);
    assert.deepEqual((await create(config, name)).answer.body, {
      error_code: 409,
      message: `Connector ${name} already exists`,
    });
    const status = await sluice.rest.untilState(name, 'RUNNING', 2);
    assert.equal(status.type, 'sink');
    assert.deepEqual((await sluice.rest.get(`/connectors/${name}`)).body, {
      name,
      config: { ...config, name },
      tasks: [
        { connector: name, task: 0 },
        { connector: name, task: 1 },
      ],
      type: 'sink',
    });
    const tasks = await sluice.rest.get<{ id: unknown; config: Record<string, string> }[]>(`/connectors/${name}/tasks`);
    assert.equal(tasks.body[1]?.config['task.class'], 'com.db.kafka.connect.sink.DbSinkTask');
    const expanded = await sluice.rest.get<Record<string, object>>('/connectors?expand=status&expand=info');
    assert.deepEqual(Object.keys(expanded.body[name] ?? {}).sort(), ['info', 'status']);

    assert.equal((await sluice.rest.put(`/connectors/${name}/pause`)).status, 202);
    await sluice.rest.untilState(name, 'PAUSED', 2);
    assert.equal((await sluice.rest.put(`/connectors/${name}/resume`)).status, 202);
    await sluice.rest.untilState(name, 'RUNNING', 2);
    assert.equal((await sluice.rest.put(`/connectors/${name}/stop`)).status, 204);
    await until(async () => {
      const { connector, tasks: left } = await sluice.rest.status(name);
      return connector.state === 'STOPPED' && left.length === 0;
    }, 'it is stopped and has no tasks');
    assert.equal((await sluice.rest.put(`/connectors/${name}/resume`)).status, 202);
    await sluice.rest.untilState(name, 'RUNNING', 2);

    assert.equal((await sluice.rest.post(`/connectors/${name}/tasks/1/restart`)).status, 204);
    assert.equal((await sluice.rest.post(`/connectors/${name}/restart`)).status, 204);
    const restart = await sluice.rest.post<{ connector: { state: string }; tasks: { state: string }[] }>(
      `/connectors/${name}/restart?includeTasks=true`,
    );
    assert.equal(restart.status, 202);
    assert.equal(restart.body.connector.state, 'RESTARTING');
    await sluice.rest.untilState(name, 'RUNNING', 2);

    const changed = await sluice.rest.put(`/connectors/${name}/config`, { ...config, 'tasks.max': 1 });
    assert.equal(changed.status, 200);
    await sluice.rest.untilState(name, 'RUNNING', 1);
    assert.equal((await sluice.rest.delete(`/connectors/${name}`)).status, 204);
    await until(async () => (await sluice.rest.get(`/connectors/${name}/status`)).status === 404, 'its status is gone');
    assert.deepEqual((await sluice.rest.get(`/connectors/${name}`)).body, {
      error_code: 404,
      message: `Connector ${name} not found`,
    });
  });

  it('comes back with its connectors and target states after a restart', async () => {
    const topic = uniqueName('restart');
    await kafka.createTopic(topic);
    const config = sinkConfig(db, { topics: topic, 'protocol.type': 'json_db' });
    const running = (await create(config)).name;
    const paused = (await create(config)).name;
    await sluice.rest.untilState(running, 'RUNNING', 1);
    await sluice.rest.untilState(paused, 'RUNNING', 1);
    await sluice.rest.put(`/connectors/${paused}/pause`);
    await sluice.rest.untilState(paused, 'PAUSED', 1);
    assert.equal(await sluice.terminate(), 0);
    await sluice.start();
    await sluice.rest.untilState(running, 'RUNNING', 1);
    await sluice.rest.untilState(paused, 'PAUSED', 1);
    assert.deepEqual((await sluice.rest.get(`/connectors/${paused}/config`)).body, { ...config, name: paused });
    for (const name of [running, paused]) await sluice.rest.delete(`/connectors/${name}`);
  });

  it('names every wrong key of a configuration at once, and where to see them', async () => {
    const { answer } = await create({ 'connector.class': SINK, 'tasks.max': '0', 'batch.size': 'many' });
    assert.equal(answer.status, 400);
    const lines = answer.body.message.split('\n');
    assert.match(lines[0] ?? '', /^Connector configuration is invalid and contains the following \d error\(s\):$/);
    for (const expected of [
      'Invalid value 0 for configuration tasks.max: Value must be at least 1',
      'Must configure one of topics or topics.regex',
      'Missing required configuration "connection.url" which has no default value.',
      'Missing required configuration "protocol.type" which has no default value.',
      'Invalid value many for configuration batch.size: Not a number of type INT',
    ]) {
      assert.ok(lines.includes(expected), `${expected}\nis not among\n${answer.body.message}`);
    }
    assert.match(lines.at(-1) ?? '', /^You can also find the above list of errors at the endpoint/);
  });

  it('validates without creating, and shows options with their errors', async () => {
    const answer = await sluice.rest.put<Validation>('/connector-plugins/DbSink/config/validate', {
      'connector.class': SINK,
      name: 'v',
      topics: 't',
      'connection.url': 'http://x',
      'protocol.type': 'json_db',
    });
    assert.equal(answer.status, 200);
    const errors = answer.body.configs.filter(({ value }) => value.errors.length > 0);
    assert.deepEqual(
      errors.map(({ value }) => value.name),
      ['connection.url'],
    );
    assert.equal(answer.body.error_count, 1);
    assert.equal((await sluice.rest.get('/connectors/v')).status, 404);
  });

  it('answers an unknown class, a wrong password and a missing database with what is wrong', async () => {
    const base = sinkConfig(db, { topics: 't', 'protocol.type': 'json_db' });
    const unknown = (await create({ ...base, 'connector.class': 'NoSuch' })).answer;
    assert.equal(unknown.status, 400);
    assert.match(
      unknown.body.message,
      /^Failed to find any class that implements Connector and which name matches NoSuch, available connectors are: PluginDesc/,
    );
    const refused = (await create({ ...base, 'connection.user': 'nobody-here', 'connection.password': 'hush-hush' }))
      .answer;
    assert.equal(refused.status, 400);
    assert.doesNotMatch(refused.body.message, /hush-hush/);
    const missing = (await create({ ...base, 'connection.database': 'no_such_db' })).answer;
    assert.equal(missing.status, 400);
    assert.match(missing.body.message, /no_such_db/);
  });

  it("answers what is no JSON, no path, no method and no media type in Connect's words", async () => {
    const form = await fetch(`${sluice.url}/connectors`, { method: 'POST', body: new URLSearchParams({ a: 'b' }) });
    assert.deepEqual(
      [form.status, await form.json()],
      [415, { error_code: 415, message: 'HTTP 415 Unsupported Media Type' }],
    );
    const broken = await sluice.rest.post<ErrorBody>('/connectors', '{"name":');
    assert.equal(broken.status, 400);
    const unknown = await sluice.rest.post<ErrorBody>('/connectors', { name: 'x', config: {}, extra: 1 });
    assert.match(unknown.body.message, /^Unrecognized field "extra"/);
    assert.deepEqual((await sluice.rest.get('/nowhere')).body, { error_code: 404, message: 'HTTP 404 Not Found' });
    assert.deepEqual((await sluice.rest.delete('/connectors')).body, {
      error_code: 405,
      message: 'HTTP 405 Method Not Allowed',
    });
    const xml = await fetch(`${sluice.url}/connectors`, { headers: { accept: 'text/xml' } });
    assert.equal(xml.status, 406);
  });

  it('lets a task fail alone, with the coordinates of the record and the reason, and continues', async () => {
    const topic = uniqueName('garbage');
    await kafka.createTopic(topic);
    await sql.run('create table ok_lines (k_timestamp timestamptz primary key, v float8)');
    const config = sinkConfig(db, { topics: topic, 'protocol.type': 'line_lp' });
    const { name } = await create(config);
    const healthy = (await create(config)).name;
    await sluice.rest.untilState(name, 'RUNNING', 1);
    await sluice.rest.put(`/connectors/${healthy}/pause`);
    await kafka.produce(topic, [{ value: 'ok_lines v=1 1700000000000000000' }, { value: 'no such line' }]);
    const status = await until(async () => {
      const seen = await sluice.rest.status(name);
      return seen.tasks[0]?.state === 'FAILED' && seen;
    }, 'the task fails');
    const trace = status.tasks[0]?.trace ?? '';
    assert.match(
      trace,
      /^org\.apache\.kafka\.connect\.errors\.ConnectException: Exiting WorkerSinkTask due to unrecoverable exception\.\n/,
    );
    assert.match(trace, new RegExp(`topic ${topic}, partition 0, offset 1`));
    assert.equal(status.connector.state, 'RUNNING');
    await sluice.rest.untilState(healthy, 'PAUSED', 1);
    assert.equal((await sluice.rest.get('/health')).status, 200);
    assert.equal((await sluice.rest.post(`/connectors/${name}/restart?includeTasks=true&onlyFailed=true`)).status, 202);
    for (const each of [name, healthy]) await sluice.rest.delete(`/connectors/${each}`);
  });

  it('names the table when a line is for one that is not there', async () => {
    const topic = uniqueName('unknown-table');
    await kafka.createTopic(topic);
    const { name } = await create(sinkConfig(db, { topics: topic, 'protocol.type': 'line_lp' }));
    await kafka.produce(topic, [{ value: 'missing_table v=1 1700000000000000000' }]);
    const trace = await until(async () => (await sluice.rest.status(name)).tasks[0]?.trace, 'the task fails');
    assert.match(trace, /missing_table/);
    assert.match(trace, new RegExp(`topic ${topic}, partition 0, offset 0`));
    await sluice.rest.delete(`/connectors/${name}`);
  });

  it('with errors.tolerance=all stores four of five records and dead-letters the one in the middle', async () => {
    const topic = uniqueName('five');
    const letters = uniqueName('letters');
    await kafka.createTopic(topic);
    await sql.run('create table five (k_timestamp timestamptz primary key, v float8)');
    const config = sinkConfig(db, {
      topics: topic,
      'protocol.type': 'line_lp',
      ...keepingLetters(letters),
    });
    const { name } = await create(config);
    const lines = [1, 2, 3, 4, 5].map((n) => ({
      value: n === 3 ? 'garbage' : `five v=${String(n)} ${String(n)}000000000`,
    }));
    await kafka.produce(topic, lines);
    await until(async () => (await sql.number('select count(*) from five')) === 4, 'four rows are stored');
    const [letter] = await kafka.read(letters, ({ length }) => length === 1);
    assert.equal(letter?.value?.toString(), 'garbage');
    const headers = Object.fromEntries(letter?.headers.map(({ key, value }) => [key, value?.toString()]) ?? []);
    assert.equal(headers['__connect.errors.topic'], topic);
    assert.equal(headers['__connect.errors.offset'], '2');
    assert.equal(headers['__connect.errors.connector.name'], name);
    assert.equal(headers['__connect.errors.stage'], 'TASK_PUT');
    await sluice.rest.untilState(name, 'RUNNING', 1);
    await sluice.rest.delete(`/connectors/${name}`);
  });

  it('fails a task whose database cannot be reached, after the documented attempts, with where it looked', async () => {
    const topic = uniqueName('unreachable');
    await kafka.createTopic(topic);
    const port = String(await freePort());
    const config = sinkConfig(db, {
      topics: topic,
      'protocol.type': 'json_db',
      'connection.url': `jdbc:db://127.0.0.1:${port}/nowhere`,
      'connection.attempts': '2',
      'connection.backoff.ms': '100',
    });
    const { name, answer } = await create(config);
    assert.equal(answer.status, 201, 'a database may be away for now');
    const trace = await until(async () => (await sluice.rest.status(name)).tasks[0]?.trace, 'the task fails');
    assert.match(trace, new RegExp(`127\\.0\\.0\\.1:${port}.*\\(2 attempts, 100 ms apart\\)`));
    assert.doesNotMatch(sluice.log + trace, /:(postgres|secret)@/);
    await sluice.rest.delete(`/connectors/${name}`);
  });

  it('waits for a topic that is not there yet', async () => {
    const topic = uniqueName('not-yet');
    await sql.run('create table not_yet (k_timestamp timestamptz primary key, v float8)');
    const { name } = await create(sinkConfig(db, { topics: topic, 'protocol.type': 'line_lp' }));
    await sluice.rest.untilState(name, 'RUNNING', 1);
    await until(() => sluice.log.includes(topic), 'the log names the topic');
    await kafka.createTopic(topic);
    await kafka.produce(topic, [{ value: 'not_yet v=1 1700000000000000000' }]);
    await until(async () => (await sql.number('select count(*) from not_yet')) === 1, 'the row arrived');
    await sluice.rest.delete(`/connectors/${name}`);
  });
});
