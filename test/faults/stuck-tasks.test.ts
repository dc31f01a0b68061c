import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import type { RestartView } from '../../src/operate/restarts/restart-view.ts';
import { keepingLetters } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until, type UntilOptions } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const PLUGINS = fileURLToPath(new URL('../support/stuck-plugins', import.meta.url));

const plain = (count: number, from = 0) => Array.from({ length: count }, (_, n) => `row ${String(from + n)}`);

/** Issue 14: a stuck task is ended, and its record named; nobody else is affected. */
describe('a task that never returns', function () {
  let worker: WorkerProcess;
  let kafka: KafkaTraffic;
  let db: TestDatabase;
  let sql: SqlClient;
  const bystanders: string[] = [];

  before(async () => {
    [worker, kafka, db] = await Promise.all([
      WorkerProcess.start({
        properties: {
          'plugin.path': PLUGINS,
          'task.threads': '2',
          'task.hang.timeout.ms': '3000',
          'task.shutdown.graceful.timeout.ms': '500',
          'offset.flush.interval.ms': '200',
          // These tests are about a single start.
          'restart.policy': 'never',
        },
      }),
      KafkaTraffic.shared(),
      database('stuck'),
    ]);
    sql = new SqlClient(db);
    // Two for each thread, with the one that gets stuck.
    for (let n = 0; n < 3; n++) bystanders.push(await create(plain(10)));
    for (const name of bystanders) await untilRows(name, 10);
  });

  after(async () => {
    await Promise.all([worker.discard(), sql.close()]);
  });

  /** A sink of a topic with these values into a table of its own. */
  async function create(
    values: readonly string[],
    more: Record<string, string> = {},
    otherPartition: readonly string[] = [],
  ): Promise<string> {
    const name = uniqueName('stuck');
    await sql.run(`create table "${name}" (value text primary key)`);
    await kafka.createTopic(name, otherPartition.length === 0 ? 1 : 2);
    await send(name, values);
    await send(name, otherPartition, 1);
    await worker.rest.create(name, {
      'connector.class': 'StuckSink',
      topics: name,
      table: name,
      url: db.url,
      'consumer.override.max.poll.records': '500',
      ...more,
    });
    return name;
  }

  async function send(name: string, values: readonly string[], partition = 0): Promise<void> {
    await kafka.produce(
      name,
      values.map((value) => ({ value, partition })),
    );
  }

  const rowsOf = (name: string) => sql.number(`select count(*) from "${name}"`);
  const sessionsOf = (name: string) =>
    sql.number(`select count(*) from pg_stat_activity where application_name = '${name}'`);

  async function untilRows(name: string, count: number, options: UntilOptions = {}): Promise<void> {
    await until(async () => (await rowsOf(name)) === count, `${name} has ${String(count)} rows`, options);
  }

  /** They store new rows, without a call to anybody, and each once. */
  async function bystandersGoOn(): Promise<void> {
    for (const name of bystanders) {
      const rows = await rowsOf(name);
      await send(name, plain(10, rows));
      // A thread is replaced within two seconds on a machine that has nothing else to do.
      await untilRows(name, rows + 10, { timeoutMs: 10_000 });
      await worker.rest.untilState(name, 'RUNNING', 1);
    }
  }

  const traceOf = (name: string) =>
    until(async () => (await worker.rest.status(name)).tasks[0]?.trace, `${name} has failed`);

  async function restart(name: string): Promise<void> {
    assert.equal((await worker.rest.post(`/connectors/${name}/tasks/0/restart`)).status, 204);
    await until(async () => (await worker.rest.status(name)).tasks[0]?.state === 'RUNNING', `${name} runs again`);
  }

  const committed = (name: string, offset: number) =>
    until(async () => (await kafka.committed(`connect-${name}`)) === offset, `${name} has committed ${String(offset)}`);

  const headers = async (topic: string, count: number) => {
    const letters = await kafka.read(topic, ({ length }) => length >= count);
    return letters.map((letter) =>
      Object.fromEntries(letter.headers.map(({ key, value }) => [key, value?.toString() ?? ''])),
    );
  };

  it('is FAILED, with its stack and its record; the others continue, each row is stored once, and the API answers', async () => {
    let isOver = false;
    const answers: number[] = [];
    const asking = (async () => {
      while (!isOver) {
        answers.push((await worker.rest.get('/connectors')).status);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    const name = await create(['loop']);
    const trace = await traceOf(name);
    await bystandersGoOn();
    isOver = true;
    await asking;
    assert.match(
      trace,
      /^org\.apache\.kafka\.connect\.errors\.ConnectException: Thread \d+, in which task [\w-]+ ran, has ended/,
    );
    assert.ok(trace.includes(`topic ${name}, partition 0, offset 0`), trace);
    assert.match(trace, /at Object\.loopForEver \[as loop\] \(.*stuck-sink\.js:\d+:\d+\)/);
    assert.ok(answers.length > 20 && answers.every((status) => status === 200), answers.join());
    assert.equal(await rowsOf(name), 0, 'its transaction is aborted');
    assert.equal(await sessionsOf(name), 0);
    await worker.rest.delete(`/connectors/${name}`);
  });

  it('cannot have a limit for memory that it shares with others', async () => {
    const config = { 'connector.class': 'StuckSink', topics: 't', 'task.memory.max.mb': '64' };
    const { status, body } = await worker.rest.post<{ message: string }>('/connectors', { name: 'shared', config });
    assert.equal(status, 400);
    assert.match(body.message, /task\.memory\.max\.mb needs task\.isolation=own/);
  });

  it('because its memory is full is FAILED as well, in its own thread', async () => {
    const name = await create(['allocate'], { 'task.isolation': 'own', 'task.memory.max.mb': '64' });
    const trace = await traceOf(name);
    assert.match(trace, /its heap reached its limit of 64 MB/);
    assert.ok(trace.includes(`topic ${name}, partition 0, offset 0`), trace);
    await bystandersGoOn();
    const { body } = await worker.rest.get<{ restarts: RestartView[] }>(`/connectors/${name}/health`);
    assert.deepEqual(
      body.restarts.map(({ task, state, kind }) => [task, state, kind]),
      [[0, 'GIVEN_UP', 'memory']],
    );
    await worker.rest.delete(`/connectors/${name}`);
  });

  for (const deed of ['wait', 'loop']) {
    it(`is ended with its thread when its stop takes too long: in put it does ${deed}`, async () => {
      const name = await create([...plain(3), deed]);
      await until(
        () => sql.number(`select count(*) from pg_locks where relation = '"${name}"'::regclass and granted`),
        'its transaction has begun',
      );
      await until(async () => (await sessionsOf(name)) === 1, 'it has a session');
      assert.equal((await worker.rest.delete(`/connectors/${name}`)).status, 204);
      await until(async () => (await sessionsOf(name)) === 0, 'its session is gone');
      await bystandersGoOn();
      assert.equal(await rowsOf(name), 0, 'nothing is written');
    });
  }

  const values = [...plain(700), 'loop', ...plain(300, 700)];

  it('at a record is skipped at the third attempt with errors.tolerance=all, and the dead letter has its stack', async () => {
    const letters = uniqueName('letters');
    const name = await create(values, {
      ...keepingLetters(letters),
    });
    assert.match(await traceOf(name), /at Object\.loopForEver/);
    await restart(name);
    assert.ok((await traceOf(name)).includes(`topic ${name}, partition 0, offset 700`));
    await restart(name);
    await committed(name, values.length);
    await worker.rest.untilState(name, 'RUNNING', 1);
    assert.equal(await rowsOf(name), 1000);
    const [letter = {}, ...others] = await headers(letters, 1);
    assert.deepEqual(others, []);
    assert.equal(letter['__connect.errors.offset'], '700');
    assert.equal(letter['__connect.errors.stage'], 'TASK_PUT');
    assert.match(letter['__connect.errors.exception.message'] ?? '', /^2 threads have ended at this record/);
    assert.match(letter['__connect.errors.exception.stacktrace'] ?? '', /stuck-sink\.js:\d+/);
    const { body } = await worker.rest.get<string>('/metrics');
    assert.match(body, new RegExp(`task_error_total_record_errors(?:_total)?\\{connector="${name}",task="0"\\} 1`));
    await send(name, plain(5, 1000));
    await untilRows(name, 1005);
    await bystandersGoOn();
    await worker.rest.delete(`/connectors/${name}`);
  });

  it('at a record fails at the third attempt with errors.tolerance=none, without hanging, and names the record and the reason', async () => {
    const name = await create(values);
    await traceOf(name);
    await restart(name);
    await traceOf(name);
    const ends = () => worker.log.split('\n').filter((line) => line.includes('hangs') && line.includes(name)).length;
    const before = ends();
    assert.ok(before >= 2);
    for (let failures = 1; failures <= 2; failures++) {
      assert.equal((await worker.rest.post(`/connectors/${name}/tasks/0/restart`)).status, 204);
      const refused = `Task ${name}-0 threw an uncaught and unrecoverable exception`;
      await until(() => worker.log.split(refused).length > failures, 'it fails again');
      const trace = await traceOf(name);
      assert.match(trace, /Tolerance exceeded in error handler/);
      assert.ok(trace.includes(`topic ${name}, partition 0, offset 700: 2 threads have ended at this record: (1) `));
      assert.match(trace, /stuck-sink\.js:\d+/);
    }
    assert.equal(ends(), before);
    assert.equal(await rowsOf(name), 700, 'all before it is stored');
    await bystandersGoOn();
    await worker.rest.delete(`/connectors/${name}`);
  });

  it('leaves its partition to another task of the connector, which finds the record: the next start skips it', async () => {
    const more = { 'tasks.max': '2', 'errors.tolerance': 'all', 'consumer.override.session.timeout.ms': '6000' };
    const name = await create([...plain(40), 'loop', ...plain(40, 40)], more, plain(20, 80));
    const failed = async () => {
      const { tasks } = await worker.rest.status(name);
      return tasks.length === 2 && tasks.every(({ state }) => state === 'FAILED') && tasks;
    };
    const traces = (await until(failed, 'both have failed')).map(({ trace = '' }) => trace);
    assert.equal(traces.filter((trace) => trace.includes(`topic ${name}, partition 0, offset 40`)).length, 1);
    assert.equal((await worker.rest.post(`/connectors/${name}/tasks/0/restart`)).status, 204);
    await committed(name, 101);
    assert.equal(await rowsOf(name), 100);
    await bystandersGoOn();
    await worker.rest.delete(`/connectors/${name}`);
  });

  it('in a transform is found at its record at once, and skipped at the third attempt', async () => {
    const letters = uniqueName('letters');
    const bad = `${'a'.repeat(40)}!`;
    const name = await create([...plain(20), bad, ...plain(20, 20)], {
      transforms: 'words',
      'transforms.words.type': 'com.example.Words',
      ...keepingLetters(letters),
    });
    for (let attempt = 1; attempt <= 2; attempt++) {
      const trace = await traceOf(name);
      assert.ok(trace.includes(`in the conversion of task ${name}-0, topic ${name}, partition 0, offset 20`), trace);
      assert.match(trace, /at (?:Words\.)?apply \(.*words\.js:\d+:\d+\)/);
      await restart(name);
    }
    await committed(name, 41);
    assert.equal(await rowsOf(name), 40);
    const [letter = {}, ...others] = await headers(letters, 1);
    assert.deepEqual(others, []);
    assert.equal(letter['__connect.errors.stage'], 'TRANSFORMATION');
    assert.match(letter['__connect.errors.exception.stacktrace'] ?? '', /words\.js:\d+/);
    await bystandersGoOn();
    await worker.rest.delete(`/connectors/${name}`);
  });

  // The last one: it ends the worker.
  it('in a call that cannot be interrupted is FAILED as well, and the worker can be stopped', async () => {
    const name = await create(['compute']);
    const trace = await traceOf(name);
    assert.match(trace, /its event loop was blocked/);
    await bystandersGoOn();
    const ended = await worker.terminate();
    assert.match(worker.log, /A thread waits in a system call; the process does not wait for it/);
    assert.equal(ended, 'SIGKILL');
  });
});
