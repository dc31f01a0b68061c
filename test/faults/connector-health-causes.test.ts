import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { untilHealth } from '../support/connector-health.ts';
import { sinkConfig, sourceConfig } from '../support/connectors.ts';
import { TcpProxy } from '../support/proxy.ts';
import { uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { GroupReader } from '../integration/group-reader.ts';
import { record, sharedClient } from '../integration/kafka-fixture.ts';
import { workerServices } from '../support/worker-services.ts';

const PLUGINS = fileURLToPath(new URL('../support/waiting-plugins', import.meta.url));

const SECRET = 'a-secret-of-a-provider';

interface Health {
  readonly verdict: string;
  readonly sentence: string;
  readonly tasks: readonly { readonly lag: number | null }[];
}

/** Issue 18: each cause is made for real, and named rightly. */
describe('why a connector is not RUNNING', function () {
  const on = workerServices('health-causes', {
    properties: {
      'plugin.path': PLUGINS,
      'offset.flush.interval.ms': '200',
      'task.shutdown.graceful.timeout.ms': '500',
      // The worker's options apply to all connectors of these tests.
      'stall.after.ms': '1500',
      'lagging.records': '5',
      'config.providers': 'env',
      'config.providers.env.class': 'org.apache.kafka.common.config.provider.EnvVarConfigProvider',
    },
    environment: { HEALTH_SECRET: SECRET },
  });
  let created: string[] = [];

  afterEach(async () => {
    for (const name of created) await on.worker.rest.delete(`/connectors/${name}`);
    created = [];
  });

  const untilVerdict = (name: string, verdict: string, text: RegExp): Promise<Health> =>
    untilHealth(on.worker.rest, name, [verdict, text], 30_000);

  async function create(name: string, config: Record<string, string>): Promise<void> {
    await on.worker.rest.create(name, config);
    created.push(name);
  }

  async function table(name: string): Promise<void> {
    await on.sql.run(`create table "${name}" (ts timestamptz not null, v int)`);
  }

  async function lineSink(at = on.db, more: Record<string, string> = {}): Promise<string> {
    const name = uniqueName('cause');
    await table(name);
    await on.kafka.createTopic(name, 1);
    await create(name, sinkConfig(at, { topics: name, 'protocol.type': 'line_lp', ...more }));
    return name;
  }

  async function waiting(
    type: 'Sink' | 'Source',
    does: string,
    more: Record<string, string> = {},
    count = 1,
  ): Promise<string> {
    const name = uniqueName('cause');
    await on.kafka.createTopic(name, 1);
    if (type === 'Sink') {
      await on.kafka.produce(
        name,
        Array.from({ length: count }, (_, n) => ({ value: String(n) })),
      );
    }
    const topics: Record<string, string> = type === 'Sink' ? { topics: name } : {};
    await create(name, {
      'connector.class': `Waiting${type}`,
      'task.does': does,
      'consumer.override.auto.offset.reset': 'earliest',
      ...topics,
      ...more,
    });
    return name;
  }

  const line = (name: string, v: number) => ({ value: `${name} v=${String(v)}i` });

  /** A name of the database that can go away for those who use it. */
  async function throughProxy(): Promise<[TcpProxy, TestDatabase]> {
    const proxy = await TcpProxy.start(on.db);
    return [proxy, { ...on.db, host: '127.0.0.1', port: proxy.port }];
  }

  it('a source: tables have failed while others are read, by name and cause, until they can be read (M4)', async () => {
    const name = uniqueName('cause');
    const role = name.replaceAll('-', '_');
    const [read, denied] = [`${role}_read`, `${role}_denied`];
    const colliding = [`${role}_ä`, `${role}_ö`];
    for (const each of [read, denied, ...colliding]) await table(each);
    await on.sql.run(
      `create role ${role} login password '${role}'`,
      `grant select on ${read} to ${role}`,
      `insert into ${read} values (now(), 1)`,
    );
    const more = {
      'table.include': `${role}_.*`,
      'out.format': 'line_lp',
      'topic.prefix': name,
      'poll.interval.ms': '200',
    };
    await create(name, sourceConfig({ ...on.db, user: role, password: role }, more));
    await untilVerdict(
      name,
      'DEGRADED',
      new RegExp(`Task 0 cannot process ${denied}: permission denied for table ${denied}`),
    );
    const { body } = await on.worker.rest.get<Health & { readonly reasons: readonly string[] }>(
      `/connectors/${name}/health`,
    );
    const reasons = body.reasons.join('\n');
    for (const each of colliding) assert.match(reasons, new RegExp(`Task 0 cannot process ${each}: .* topic ${name}`));
    const { body: all } = await on.worker.rest.get<{ attention: readonly { name: string; verdict: string }[] }>(
      '/health?connectors',
    );
    assert.equal(all.attention.find((each) => each.name === name)?.verdict, 'DEGRADED');
    const [first = '', second = ''] = colliding;
    await on.sql.run(
      `grant select on ${denied} to ${role}`,
      `insert into ${denied} values (now(), 1)`,
      `drop table "${second}"`,
      `grant select on "${first}" to ${role}`,
    );
    await untilVerdict(name, 'RUNNING', /1 task runs/);
  });

  it('a sink: the database is unreachable, with its address, and reachable again', async () => {
    const [proxy, away] = await throughProxy();
    const user = uniqueName('cause').replaceAll('-', '_');
    const password = uniqueName('secret');
    await on.sql.run(`create role ${user} superuser login password '${password}'`);
    try {
      const name = await lineSink(
        { ...away, user, password },
        { 'max.retries': '1000', 'retry.backoff.ms': '100', 'connection.backoff.ms': '200' },
      );
      await on.kafka.produce(name, [line(name, 1)]);
      await until(async () => (await on.sql.number(`select count(*) from "${name}"`)) === 1, 'the first row is stored');
      await untilVerdict(name, 'RUNNING', / 0 records behind/);
      proxy.refuse();
      await on.kafka.produce(name, [line(name, 2)]);
      const address = `database ${on.db.database} at 127.0.0.1:${String(proxy.port)}`;
      const expected = new RegExp(`^Task 0: 1 record waits, .* the ${address} cannot be reached \\(retry \\d+\\): .`);
      const { sentence } = await untilVerdict(name, 'STALLED', expected);
      assert.ok(!sentence.includes(password), sentence);
      assert.equal(sentence.split(address).length, 2, sentence);
      assert.equal(sentence.split(`127.0.0.1:${String(proxy.port)}`).length, 2, sentence);
      proxy.pass();
      await untilVerdict(name, 'RUNNING', / 0 records behind/);
    } finally {
      await proxy.close();
      for (const name of created.splice(0)) await on.worker.rest.delete(`/connectors/${name}`);
      await on.sql.run(`drop role ${user}`);
    }
  });

  it('a source: the database is unreachable, and reachable again', async () => {
    const [proxy, away] = await throughProxy();
    const name = uniqueName('cause');
    await table(name);
    try {
      await create(name, sourceConfig(away, { 'table.include': name, 'connection.backoff.ms': '200' }));
      await untilVerdict(name, 'RUNNING', /1 task runs/);
      proxy.refuse();
      const address = `database ${on.db.database} at 127.0.0.1:${String(proxy.port)}`;
      const { sentence } = await untilVerdict(name, 'STALLED', new RegExp(`the ${address} cannot be reached: .`));
      assert.equal(sentence.split(`127.0.0.1:${String(proxy.port)}`).length, 2, sentence);
      proxy.pass();
      await untilVerdict(name, 'RUNNING', /1 task runs/);
    } finally {
      await proxy.close();
    }
  });

  it('a sink and a source: the database is unreachable when their tasks start, with its address once, and reachable again', async () => {
    const [proxy, away] = await throughProxy();
    const patience = { 'connection.attempts': '1000', 'connection.backoff.ms': '200' };
    const source = uniqueName('cause');
    await table(source);
    try {
      // Its connector looks at the tables before there is a task.
      await create(source, sourceConfig(away, { 'table.include': source, ...patience }));
      await untilVerdict(source, 'RUNNING', /1 task runs/);
      proxy.refuse();
      const sink = await lineSink(away, patience);
      assert.equal((await on.worker.rest.post(`/connectors/${source}/tasks/0/restart`)).status, 204);
      const place = `127.0.0.1:${String(proxy.port)}`;
      const reached = `: the database ${on.db.database} at ${place} cannot be reached`;
      for (const [name, text] of [
        [sink, `${reached} \\(attempt \\d+ of 1000\\): \\w`],
        [source, `${reached}: \\w`],
      ] as const) {
        const { sentence } = await untilVerdict(name, 'STALLED', new RegExp(text));
        assert.equal(sentence.split(place).length, 2, sentence);
      }
      const warnings = on.worker.log
        .split('\n')
        .filter((line) => line.includes('cannot start yet') && line.includes(sink));
      assert.equal(warnings.length, 1, 'one warning of the sink that was created meanwhile (N7)');
      assert.ok(warnings[0]?.includes(`The task cannot start yet${reached}`), warnings[0]);
      proxy.pass();
      await untilVerdict(sink, 'RUNNING', / 0 records behind/);
      await untilVerdict(source, 'RUNNING', /1 task runs/);
    } finally {
      for (const name of created.splice(0)) await on.worker.rest.delete(`/connectors/${name}`);
      await proxy.close();
    }
  });

  it('a source: its query waits for a lock, and who holds it', async () => {
    const name = uniqueName('cause');
    await table(name);
    await create(name, sourceConfig(on.db, { 'table.include': name }));
    await untilVerdict(name, 'RUNNING', /1 task runs/);
    const holder = new SqlClient(on.db);
    try {
      await holder.run('begin', `lock table "${name}" in access exclusive mode`);
      const pid = await holder.number('select pg_backend_pid()');
      await untilVerdict(name, 'STALLED', new RegExp(`the database waits for a lock that pid ${String(pid)} holds`));
      await holder.run('rollback');
    } finally {
      await holder.close();
    }
    await untilVerdict(name, 'RUNNING', /./);
  });

  it('two sinks of one user: each names the holder of its own lock', async () => {
    const names = [await lineSink(), await lineSink()];
    const holders = names.map(() => new SqlClient(on.db));
    try {
      const pids: number[] = [];
      for (const [index, holder] of holders.entries()) {
        const name = names[index] ?? '';
        await untilVerdict(name, 'RUNNING', / 0 records behind/);
        await holder.run('begin', `lock table "${name}" in access exclusive mode`);
        pids.push(await holder.number('select pg_backend_pid()'));
        await on.kafka.produce(name, [line(name, 1)]);
      }
      for (const [index, name] of names.entries()) {
        await untilVerdict(name, 'STALLED', new RegExp(`a lock that pid ${String(pids[index])} holds`));
      }
    } finally {
      await Promise.all(holders.map((holder) => holder.close()));
    }
  });

  it('a sink: it requests its records again, how often, when next and why', async () => {
    const name = await waiting('Sink', 'retry');
    await untilVerdict(
      name,
      'STALLED',
      /1 record waits.*put\(\) of the task has requested a retry 1 time in a row, the next try is in \d+ s, the last error was: the other system has no room/,
    );
  });

  it('a sink whose error has a secret of a config provider, which is hidden, on one line', async () => {
    const name = await waiting('Sink', 'tell', { secret: '${env:HEALTH_SECRET}' });
    await untilVerdict(name, 'STALLED', /the last error was: the login with \[hidden\] is refused\.$/);
    for (const path of [`/connectors/${name}/health`, `/connectors/${name}/health?local=true`, '/cluster/tasks']) {
      const text = JSON.stringify((await on.worker.rest.get(path)).body);
      assert.ok(text.includes('[hidden]') && !text.includes(SECRET), path);
    }
  });

  it('a source: poll() does not return, or fails again and again; start() does not return', async () => {
    const hanging = await waiting('Source', 'wait');
    const failing = await waiting('Source', 'retry');
    const starting = await waiting('Source', 'nothing', { 'task.starts': 'never' });
    await untilVerdict(hanging, 'STALLED', /poll\(\) of the task has not returned/);
    await untilVerdict(
      failing,
      'STALLED',
      /poll\(\) of the task has failed \d+ times in a row and is retried, the last error was: the other system has no room/,
    );
    await untilVerdict(starting, 'STALLED', /start\(\) of the task has not returned/);
  });

  it('a thread that does not turn its event loop, and the record that it is at', async () => {
    const name = await waiting('Sink', 'loop', { 'task.isolation': 'own' });
    await untilVerdict(
      name,
      'STALLED',
      new RegExp(
        `its thread \\d+ does not turn its event loop, in the put of 1 record of task ${name}-0, topic ${name}`,
      ),
    );
  });

  it('LAGGING: it is behind, and does not wait for long', async () => {
    const name = await waiting(
      'Sink',
      'wait',
      { 'stall.after.ms': '600000', 'consumer.override.max.poll.records': '1' },
      20,
    );
    const { tasks } = await untilVerdict(
      name,
      'LAGGING',
      /^Task 0 is \d+ records behind, more than lagging.records=5\.$/,
    );
    assert.equal(tasks[0]?.lag, 20);
  });

  it('a sink without a partition, because another member of its group has it', async () => {
    const name = uniqueName('cause');
    await on.kafka.createTopic(name, 1);
    const client = await sharedClient({ 'client.id': 'a-member-that-sorts-first' });
    const foreign = new GroupReader(client, `connect-${name}`, name, { 'partition.assignment.strategy': 'range' });
    try {
      await until(() => foreign.owned().length === 1, 'the other member has the partition');
      await create(name, { 'connector.class': 'WaitingSink', 'task.does': 'nothing', topics: name });
      await untilVerdict(
        name,
        'STALLED',
        /^No task has had a partition for \d+ s: other members of its consumer group have all of them/,
      );
    } finally {
      await foreign.close();
    }
    await untilVerdict(name, 'RUNNING', /1 task runs/);
  });

  it('a sink whose next record belongs to a transaction that is open', async () => {
    const name = uniqueName('cause');
    await on.kafka.createTopic(name, 1);
    const client = await sharedClient();
    const producer = client.transactionalProducer({ 'transactional.id': name });
    try {
      await producer.init();
      producer.begin();
      await producer.send([record(name, 'pending')]);
      await create(name, {
        'connector.class': 'WaitingSink',
        'task.does': 'nothing',
        topics: name,
        'consumer.override.isolation.level': 'read_committed',
        'consumer.override.auto.offset.reset': 'earliest',
      });
      await untilVerdict(name, 'STALLED', /1 record waits, .* the brokers do not give the records/);
      await producer.commit();
      await untilVerdict(name, 'RUNNING', / 0 records behind/);
    } finally {
      await producer.close();
    }
  });
});
