import assert from 'node:assert/strict';
import { sinkConfig, sourceConfig } from '../support/connectors.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { clusterServices } from '../support/worker-services.ts';

const READ_COMMITTED = { 'isolation.level': 'read_committed' };

interface Health {
  readonly verdict: string;
  readonly sentence: string;
  readonly tasks: readonly { readonly throttledMs: number; readonly worker: string }[];
}

describe('the rate limit of a connector of several workers', function () {
  const on = clusterServices('limits', 2, {
    'offset.flush.interval.ms': '200',
    'exactly.once.source.support': 'enabled',
  });

  const pages = () =>
    Promise.all(on.cluster.workers.map(async ({ rest }) => (await rest.get<string>('/metrics')).body));

  /** How often each worker has started tasks. */
  const startsOfTasks = async () =>
    (await pages()).map((page) => /^kafka_connect_worker_.*task_startup_attempts_total\S* (\S+)$/m.exec(page)?.[1]);

  /** Seconds for which each task of the connector has waited for its limit, on whichever worker it is. */
  const throttled = async (name: string): Promise<Record<string, number>> => {
    const line = new RegExp(
      `^sluice_task_throttled_seconds_total\\{connector="${name}",task="(\\d+)"\\} (\\S+)$`,
      'gm',
    );
    const found = (await pages()).flatMap((page) => [...page.matchAll(line)]);
    return Object.fromEntries(found.map(([, task = '', seconds]) => [task, Number(seconds)]));
  };

  const healthOf = async (name: string) => (await on.cluster.rest(0).get<Health>(`/connectors/${name}/health`)).body;

  it('is divided among tasks of two workers, and lifted for all of them without a restart; metrics and health show it', async () => {
    const records = 4000;
    const name = uniqueName('limits').replaceAll('-', '_');
    await on.sql.run(`create table "${name}" (ts timestamptz not null, v bigint)`);
    await on.kafka.createTopic(name, 2);
    await on.kafka.produce(
      name,
      Array.from({ length: records }, (_, n) => ({ value: `${name} v=${String(n)}i`, partition: n % 2 })),
    );
    const limit = { 'rate.limit.records': '100', 'tasks.max': '2' };
    const config = sinkConfig(on.db, { topics: name, 'protocol.type': 'line_lp', ...limit });
    const rows = () => on.sql.number(`select count(*) from "${name}"`);
    const startedAt = performance.now();
    await on.cluster.rest(0).create(name, config);
    const [, ...places] = await on.cluster.untilRuns(name, 2);
    assert.equal(new Set(places).size, 2, 'each worker has a task');
    await until(async () => (await rows()) >= 200, '200 rows');
    const there = await rows();
    const allowed = 100 * ((performance.now() - startedAt) / 1000 + 3);
    assert.ok(there <= allowed, `${String(there)} rows are there, ${allowed.toFixed(0)} are allowed`);
    await until(
      async () => (await healthOf(name)).sentence.endsWith('records behind; the rate limit holds 2 of them back.'),
      'health names the limit',
    );
    const waited = await throttled(name);
    assert.deepEqual(Object.keys(waited).sort(), ['0', '1']);
    assert.ok(
      Object.values(waited).every((seconds) => seconds > 0),
      JSON.stringify(waited),
    );
    const starts = await startsOfTasks();
    assert.ok(starts.every((count = '') => /^[1-9]/.test(count)));
    // Asked of the worker that has to pass it on, whichever that is.
    for (const { rest } of on.cluster.workers) {
      const { status } = await rest.request('PATCH', `/connectors/${name}/config`, { 'rate.limit.records': '200' });
      assert.equal(status, 200);
    }
    await on.cluster.rest(1).request('PATCH', `/connectors/${name}/config`, { 'rate.limit.records': null });
    await until(async () => (await rows()) === records, 'all rows without the limit');
    assert.deepEqual(await startsOfTasks(), starts);
    await until(async () => !(await healthOf(name)).sentence.includes('rate limit'), 'health has forgotten it');
    const last = await throttled(name);
    for (const [task, seconds] of Object.entries(waited)) assert.ok((last[task] ?? 0) >= seconds);
    assert.deepEqual(await throttled(name), last, 'nothing waits any more');
  });

  it('holds an exactly-once source back by bytes and records, changes without a restart, and no row comes twice', async () => {
    const records = 3000;
    const name = uniqueName('limits').replaceAll('-', '_');
    await on.sql.run(
      `create table "${name}" (id int primary key, ts timestamptz not null)`,
      `insert into "${name}" select i, now() - '1 hour'::interval from generate_series(1, ${String(records)}) i`,
    );
    const topic = `${name}-${on.db.database}-${name}-json_db`;
    const limit = { 'rate.limit.records': '100', 'exactly.once.support': 'required' };
    const startedAt = performance.now();
    await on.cluster
      .rest(0)
      .create(name, sourceConfig(on.db, { 'topic.prefix': name, 'table.include': name, ...limit }));
    const read = async () =>
      (await on.kafka.all(topic, READ_COMMITTED)).flatMap(({ value }) => {
        const { data } = JSON.parse(value?.toString() ?? '{}') as { data: readonly { id: number }[] };
        return data.map(({ id }) => id);
      });
    await until(async () => (await read()).length >= 150, '150 rows');
    const there = (await read()).length;
    const allowed = 100 * ((performance.now() - startedAt) / 1000 + 1.5);
    assert.ok(there <= allowed, `${String(there)} rows are there, ${allowed.toFixed(0)} are allowed`);
    const health = await healthOf(name);
    assert.match(health.sentence, /the rate limit holds 1 of them back\.$/);
    assert.ok(((await throttled(name))['0'] ?? 0) > 0);
    const starts = await startsOfTasks();
    const patch = (change: Record<string, string | null>) =>
      on.cluster.rest(1).request('PATCH', `/connectors/${name}/config`, change);
    assert.equal((await patch({ 'rate.limit.records': null, 'rate.limit.bytes': '10000' })).status, 200);
    await until(async () => (await read()).length > there + 100, 'it continues');
    assert.ok((await read()).length < records);
    assert.equal((await patch({ 'rate.limit.bytes': '-1' })).status, 200);
    await until(async () => (await read()).length >= records, 'all rows without the limit');
    assert.deepEqual(
      (await read()).sort((a, b) => a - b),
      Array.from({ length: records }, (_, n) => n + 1),
    );
    assert.deepEqual(await startsOfTasks(), starts);
    const changes = on.cluster.workers.flatMap(({ log }) => log.split('\n')).filter((line) => line.includes(name));
    assert.ok(changes.some((line) => line.includes('has changed; nothing is restarted')));
  });
});
