import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import type { RestartView } from '../../src/operate/restarts/restart-view.ts';
import { sinkConfig, sourceConfig } from '../support/connectors.ts';
import { TcpProxy } from '../support/proxy.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { WorkerCluster } from '../support/worker-cluster.ts';
import { workerServices } from '../support/worker-services.ts';

const PLUGINS = fileURLToPath(new URL('../support/stuck-plugins', import.meta.url));

interface Health {
  readonly verdict: string;
  readonly sentence: string;
  readonly restarts: readonly RestartView[];
}

/** Issue 18: what may pass is restarted by the worker itself. */
describe('a connector that has failed', () => {
  const on = workerServices('healing', {
    properties: {
      'plugin.path': PLUGINS,
      // Filling a heap takes more than two seconds on a busy machine, and is no hang.
      'task.hang.timeout.ms': '4000',
      'offset.flush.interval.ms': '200',
      'restart.backoff.ms': '300',
      'restart.backoff.max.ms': '1000',
    },
  });
  const proxies: TcpProxy[] = [];

  after(async () => {
    await Promise.all([...proxies.map((proxy) => proxy.close())]);
  });

  const healthOf = async (name: string, { rest } = on.worker) =>
    (await rest.get<Health>(`/connectors/${name}/health`)).body;

  async function untilRestart(
    name: string,
    holds: (restart: RestartView | undefined) => boolean,
    what: string,
    at = on.worker,
  ): Promise<{ readonly restart: RestartView | undefined }> {
    let seen: Health | undefined;
    return until(
      async () => {
        seen = await healthOf(name, at);
        const [restart] = seen.restarts;
        return holds(restart) && { restart };
      },
      `${name}: ${what}`,
      { timeoutMs: 30_000 },
    ).catch((error: unknown) => {
      throw new Error(JSON.stringify(seen), { cause: error });
    });
  }

  const untilSentence = (name: string, sentence: RegExp) =>
    until(async () => sentence.test((await healthOf(name)).sentence), `${name} says ${String(sentence)}`);

  const untilRows = (name: string, count: number) =>
    until(
      async () => (await on.sql.number(`select count(*) from "${name}"`)) === count,
      `${name} has ${String(count)} rows`,
      {
        timeoutMs: 30_000,
      },
    );

  const rows = (name: string, from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => ({
      value: `${name} v=${String(from + n)}i ${String(1_767_225_600_000 + from + n)}`,
    }));

  /** A sink that gives its database up at once. */
  async function sink(more: Record<string, string> = {}, at = on.worker): Promise<{ name: string; proxy: TcpProxy }> {
    const name = uniqueName('healing');
    const proxy = await TcpProxy.start(on.db);
    proxies.push(proxy);
    await on.sql.run(`create table "${name}" (k_timestamp timestamptz primary key, v int8)`);
    await on.kafka.createTopic(name, 1);
    const impatient = { 'max.retries': '0', 'connection.attempts': '1', 'connection.backoff.ms': '100' };
    const place = { ...on.db, host: '127.0.0.1', port: proxy.port };
    const format = { 'protocol.type': 'line_lp', 'timestamp.precision': 'ms' };
    await at.rest.create(name, sinkConfig(place, { topics: name, ...format, ...impatient, ...more }));
    await at.rest.untilState(name, 'RUNNING', 1);
    return { name, proxy };
  }

  const state = async (name: string, { rest } = on.worker) => (await rest.status(name)).tasks[0]?.state;

  it('because its database was unreachable runs again when that has returned, with all rows; health, metrics and the log show it', async () => {
    const { name, proxy } = await sink();
    await on.kafka.produce(name, rows(name, 0, 10));
    await untilRows(name, 10);
    proxy.refuse();
    await on.kafka.produce(name, rows(name, 10, 20));
    const { restart } = await untilRestart(name, (seen) => seen?.state === 'WAITING' && seen.attempt >= 2, 'waits');
    assert.deepEqual(
      [restart?.task, restart?.kind, restart?.policy, restart?.maxAttempts],
      [0, 'infrastructure', 'transient', 20],
    );
    await untilSentence(name, /^Task 0 has failed: .*; the next attempt, \d+ of 20, is at 20\d\d-\d\d-\d\dT.*Z\.$/);
    proxy.pass();
    await untilRows(name, 20);
    assert.equal(await state(name), 'RUNNING');
    const { body: history } = await on.worker.rest.get<{ what: string; automatic?: boolean; task?: number }[]>(
      `/connectors/${name}/history`,
    );
    assert.ok(
      history.some(({ what, automatic, task }) => what === 'restarted' && automatic === true && task === 0),
      `the history has the automatic restart (U12): ${JSON.stringify(history)}`,
    );
    const page = await (await fetch(`${on.worker.url}/metrics`)).text();
    assert.match(page, new RegExp(`sluice_task_restarts_total\\{connector="${name}",kind="infrastructure"\\} [1-9]`));
    assert.match(page, new RegExp(`sluice_restarts_waiting\\{connector="${name}"\\} 0`));
    assert.match(
      on.worker.log,
      new RegExp(`Task ${name}-0 has failed \\(infrastructure\\): .*; the next attempt, 1 of 20, is at`),
    );
  });

  it('at its start, because its database was unreachable, makes its tasks when that has returned', async () => {
    const name = uniqueName('healing');
    await on.sql.run(
      `create table "${name}" (ts timestamptz primary key, n int8)`,
      `insert into "${name}" values (now(), 1)`,
    );
    const proxy = await TcpProxy.start(on.db);
    proxies.push(proxy);
    const place = { ...on.db, host: '127.0.0.1', port: proxy.port };
    await on.worker.rest.create(
      name,
      sourceConfig(place, { 'topic.prefix': name, 'table.include': name, 'connection.attempts': '1' }),
    );
    await on.worker.rest.untilState(name, 'RUNNING', 1);
    proxy.refuse();
    await on.worker.rest.post(`/connectors/${name}/restart?includeTasks=true`);
    // The connector's own instance.
    await untilRestart(name, (seen) => seen?.task === null && seen.attempt >= 2, 'waits');
    await untilSentence(
      name,
      /^The connector has failed: .*; (the next attempt, \d+ of 20, is at|attempt \d+ of 20 has begun)/,
    );
    proxy.pass();
    await on.worker.rest.untilState(name, 'RUNNING', 1, { timeoutMs: 20_000 });
    const page = await (await fetch(`${on.worker.url}/metrics`)).text();
    assert.match(
      page,
      new RegExp(`sluice_connector_restarts_total\\{connector="${name}",kind="infrastructure"\\} [1-9]`),
    );
    await on.kafka.texts(`${name}-${on.db.database}-${name}-json_db`, 1);
  });

  it('by a hang continues after the record that hangs, without a request', async () => {
    const name = uniqueName('healing');
    await on.sql.run(`create table "${name}" (value text primary key)`);
    await on.kafka.createTopic(name, 1);
    await on.kafka.produce(
      name,
      ['a', 'loop', 'b'].map((value) => ({ value })),
    );
    const config = {
      'connector.class': 'StuckSink',
      topics: name,
      table: name,
      url: on.db.url,
      'errors.tolerance': 'all',
    };
    await on.worker.rest.create(name, config);
    await untilRestart(name, (seen) => seen?.kind === 'hang', 'hangs');
    await untilRows(name, 2);
    await untilRestart(
      name,
      (seen) => seen?.state === 'STARTED' && seen.attempt === 2,
      'runs after its second restart',
    );
    await on.worker.rest.delete(`/connectors/${name}`);
  });

  it('by a full heap continues after the record that fills it, with its backoff, while others are not interrupted', async () => {
    const { name: bystander } = await sink();
    await on.kafka.produce(bystander, rows(bystander, 0, 5));
    await untilRows(bystander, 5);
    const name = uniqueName('healing');
    await on.sql.run(`create table "${name}" (value text primary key)`);
    await on.kafka.createTopic(name, 1);
    await on.kafka.produce(
      name,
      ['a', 'allocate', 'b'].map((value) => ({ value })),
    );
    await on.worker.rest.create(name, {
      'connector.class': 'StuckSink',
      topics: name,
      table: name,
      url: on.db.url,
      'errors.tolerance': 'all',
      'task.isolation': 'own',
      'task.memory.max.mb': '64',
      // Long enough to be seen.
      'restart.backoff.ms': '1000',
      'restart.backoff.max.ms': '10000',
    });
    const { restart } = await untilRestart(name, (seen) => seen?.kind === 'memory', 'has filled its heap');
    assert.equal(restart?.task, 0);
    assert.match(restart?.reason ?? '', /its heap reached its limit of 64 MB/);
    await untilSentence(
      name,
      /^Task 0 has failed: .* reaching memory limit.*; (the next attempt, \d of 20, is at|attempt \d of 20 has begun)/,
    );
    // The others store rows in the meantime.
    await on.kafka.produce(bystander, rows(bystander, 5, 10));
    await untilRows(bystander, 10);
    // A full heap counts against a record only where that was put alone: it takes three ends.
    await untilRows(name, 2);
    await untilRestart(name, (seen) => seen?.state === 'STARTED' && seen.attempt === 3, 'runs after its third restart');
    assert.equal(await state(name), 'RUNNING');
    assert.deepEqual((await healthOf(bystander)).restarts, []);
    const page = await (await fetch(`${on.worker.url}/metrics`)).text();
    assert.match(page, new RegExp(`sluice_task_restarts_total\\{connector="${name}",kind="memory"\\} 3`));
    for (const kind of ['infrastructure', 'hang', 'memory']) {
      assert.match(page, new RegExp(`sluice_task_restarts_total\\{connector="${bystander}",kind="${kind}"\\} 0`));
    }
    assert.match(page, /sluice_thread_ends_total\{[^}]*reason="memory"[^}]*\} 3/);
    for (const [attempt, waitsMs] of [1000, 2000, 4000].entries()) {
      const line = new RegExp(
        `^.*Task ${name}-0 has failed \\(memory\\): .*; the next attempt, ${String(attempt + 1)} of 20, is at .*$`,
        'm',
      );
      const { time, msg } = JSON.parse(line.exec(on.worker.log)?.[0] ?? '{}') as { time: string | number; msg: string };
      const waits = Date.parse(/is at (\S+Z)/.exec(msg)?.[1] ?? '') - new Date(time).getTime();
      // Up to a fifth more or less, and the time until the line was written.
      assert.ok(waits > waitsMs * 0.3 && waits < waitsMs * 1.3, `${String(waits)} ms: ${msg}`);
    }
  });

  it('because of a record stays FAILED; with restart.policy=always it is restarted up to the cap, and again on request', async () => {
    const { name } = await sink();
    await on.kafka.produce(name, [{ value: 'no such line' }]);
    await untilRestart(name, (seen) => seen?.state === 'GIVEN_UP', 'is given up');
    await untilSentence(
      name,
      /; it is not restarted, because the failure is of the kind data and restart\.policy=transient\.$/,
    );
    assert.equal(await state(name), 'FAILED');
    const { body: config } = await on.worker.rest.get<Record<string, string>>(`/connectors/${name}/config`);
    const always = { ...config, 'restart.policy': 'always', 'restart.max.attempts': '2' };
    assert.equal((await on.worker.rest.put(`/connectors/${name}/config`, always)).status, 200);
    await untilRestart(name, (seen) => seen?.state === 'GIVEN_UP' && seen.attempt === 2, 'it stays FAILED');
    await untilSentence(name, /; it is not restarted, because all attempts were made \(restart\.max\.attempts=2\)\.$/);
    assert.equal((await on.worker.rest.post(`/connectors/${name}/tasks/0/restart`)).status, 204);
    await untilRestart(name, (seen) => seen?.attempt === 1, 'counts from the beginning');
    await untilRestart(name, (seen) => seen?.state === 'GIVEN_UP' && seen.attempt === 2, 'it stays FAILED again');
  });

  it('is not restarted while it is paused; a request starts it at once, and then its restarts are reset', async () => {
    const { name, proxy } = await sink({ 'restart.backoff.ms': '600000', 'restart.backoff.max.ms': '600000' });
    proxy.refuse();
    await on.kafka.produce(name, rows(name, 0, 3));
    const { restart } = await untilRestart(name, (seen) => seen?.state === 'WAITING', 'waits');
    await on.worker.rest.put(`/connectors/${name}/pause`);
    await untilRestart(name, (seen) => seen === undefined, 'does not wait any more');
    assert.equal(await state(name), 'FAILED');
    await on.worker.rest.put(`/connectors/${name}/resume`);
    const { restart: anew } = await untilRestart(name, (seen) => seen?.state === 'WAITING', 'waits again');
    assert.equal(anew?.attempt, 1);
    assert.notEqual(anew.nextAttemptAt, restart?.nextAttemptAt);
    proxy.pass();
    assert.equal((await on.worker.rest.post(`/connectors/${name}/tasks/0/restart`)).status, 204);
    await untilRows(name, 3);
    assert.deepEqual((await healthOf(name)).restarts, []);
  });

  it('is restarted at its time by the worker that takes it over, which continues the count', async () => {
    const cluster = await WorkerCluster.start(2, {
      'session.timeout.ms': '6000',
      'heartbeat.interval.ms': '1000',
      'scheduled.rebalance.max.delay.ms': '0',
      'restart.backoff.ms': '10000',
    });
    try {
      const { name, proxy } = await sink({}, cluster.worker(0));
      proxy.refuse();
      await on.kafka.produce(name, rows(name, 0, 5));
      const { restart } = await untilRestart(name, (seen) => seen?.state === 'WAITING', 'waits', cluster.worker(0));
      assert.equal(restart?.attempt, 1);
      const owner = cluster.indexOf((await cluster.rest(0).status(name)).tasks[0]?.worker_id ?? '');
      const other = cluster.worker(owner + 1);
      await until(async () => (await healthOf(name, other)).restarts.length === 1, 'the other worker knows of it');
      await cluster.worker(owner).kill();
      const isTaken = async () => {
        const [task] = (await other.rest.status(name)).tasks;
        return task !== undefined && cluster.indexOf(task.worker_id) !== owner && task.state === 'FAILED';
      };
      await until(isTaken, 'the other worker has taken the task over', { timeoutMs: 30_000 });
      const taken = (await healthOf(name, other)).restarts[0];
      assert.deepEqual([taken?.since, taken?.attempt], [restart.since, taken?.state === 'WAITING' ? taken.attempt : 1]);
      await untilRestart(name, (seen) => seen?.state === 'WAITING' && seen.attempt === 2, 'counts on', other);
      proxy.pass();
      assert.equal((await other.rest.post(`/connectors/${name}/tasks/0/restart`)).status, 204);
      await untilRows(name, 5);
    } finally {
      await cluster.discard();
    }
  });
});
