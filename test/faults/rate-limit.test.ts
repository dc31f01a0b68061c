import assert from 'node:assert/strict';
import { sinkConfig, sourceConfig } from '../support/connectors.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { workerServices } from '../support/worker-services.ts';

const RECORDS = 3000;

interface Health {
  readonly verdict: string;
  readonly sentence: string;
  readonly tasks: readonly { readonly throttledMs: number }[];
}

describe('the rate limit of a connector', function () {
  const on = workerServices('limit', { properties: { 'offset.flush.interval.ms': '200' } });

  const startsOfTasks = async (): Promise<string | undefined> => {
    const { body } = await on.worker.rest.get<string>('/metrics');
    return /^kafka_connect_worker_.*task_startup_attempts_total\S* (\S+)$/m.exec(body)?.[1];
  };

  /** Waits until there are `some`; then there may be no more than the rate has allowed since `sinceMs`. */
  const untilSome = async (
    some: number,
    count: () => Promise<number>,
    sinceMs: number,
    rate: number,
  ): Promise<void> => {
    await until(async () => (await count()) >= some, `${String(some)} records`);
    const there = await count();
    const allowed = rate * ((performance.now() - sinceMs) / 1000 + 1.5);
    assert.ok(there <= allowed, `${String(there)} records are there, ${allowed.toFixed(0)} are allowed`);
    assert.ok(there < RECORDS);
  };

  const sinkOf = async (message: (index: number) => string, limit: Record<string, string>) => {
    const name = uniqueName('limit').replaceAll('-', '_');
    await on.sql.run(`create table "${name}" (ts timestamptz not null, v bigint, text text)`);
    await on.kafka.createTopic(name, 1);
    await on.kafka.produce(
      name,
      Array.from({ length: RECORDS }, (_, index) => ({ value: `${name} ${message(index)}` })),
    );
    const more = { topics: name, 'protocol.type': 'line_lp', 'stall.after.ms': '1000', ...limit };
    const config = sinkConfig(on.db, more);
    const startedAt = performance.now();
    await on.worker.rest.create(name, config);
    return { name, config, startedAt, rows: () => on.sql.number(`select count(*) from "${name}"`) };
  };

  it('holds a sink back, which is no stall, and changes without a restart', async () => {
    const limit = { 'rate.limit.records': '100' };
    const { name, config, startedAt, rows } = await sinkOf((index) => `v=${String(index)}i`, limit);
    await untilSome(200, rows, startedAt, 100);
    const starts = await startsOfTasks();
    assert.match(starts ?? '', /^\d/);
    const { body: health } = await on.worker.rest.get<Health>(`/connectors/${name}/health`);
    assert.equal(health.verdict, 'RUNNING', health.sentence);
    assert.match(health.sentence, /records behind; the rate limit holds 1 of them back\.$/);
    assert.ok((health.tasks[0]?.throttledMs ?? 0) > 0);
    await on.worker.rest.put(`/connectors/${name}/config`, { ...config, 'rate.limit.records': '-1' });
    await until(async () => (await rows()) === RECORDS, 'all rows without the limit');
    assert.equal(await startsOfTasks(), starts);
    assert.match(on.worker.log, new RegExp(`The rate limit of connector ${name} has changed; nothing is restarted`));
    assert.equal((await on.worker.rest.status(name)).tasks[0]?.state, 'RUNNING');
  });

  it('counts the bytes of values', async () => {
    const text = 'x'.repeat(970);
    const limit = { 'rate.limit.bytes': '100000' };
    const { startedAt, rows } = await sinkOf((index) => `v=${String(index)}i,text="${text}"`, limit);
    await untilSome(150, rows, startedAt, 100);
  });

  it('holds a source back, and changes without a restart', async () => {
    const name = uniqueName('limit').replaceAll('-', '_');
    await on.sql.run(`create table "${name}" (id int primary key, ts timestamptz not null)`);
    await on.sql.run(
      `insert into "${name}" select i, now() - '1 hour'::interval from generate_series(1, ${String(RECORDS)}) i`,
    );
    const more = { 'topic.prefix': name, 'table.include': name, 'rate.limit.records': '100' };
    const config = sourceConfig(on.db, more);
    const startedAt = performance.now();
    await on.worker.rest.create(name, config);
    const records = async () => (await on.kafka.all(`${name}-${on.db.database}-${name}-json_db`)).length;
    await untilSome(200, records, startedAt, 100);
    const starts = await startsOfTasks();
    await on.worker.rest.put(`/connectors/${name}/config`, { ...config, 'rate.limit.records': '1000000' });
    await until(async () => (await records()) === RECORDS, 'all records without the limit');
    assert.equal(await startsOfTasks(), starts);
  });
});
