import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { untilHealth } from '../support/connector-health.ts';
import { sinkConfig } from '../support/connectors.ts';
import { uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { workerServices } from '../support/worker-services.ts';

const PLUGINS = fileURLToPath(new URL('../support/stuck-plugins', import.meta.url));

interface Health {
  readonly verdict: string;
  readonly sentence: string;
  readonly reasons: readonly string[];
  readonly since: string;
  readonly tasks: readonly { readonly lag: number | null; readonly lastDeliveredAt: string | null }[];
}

interface Summary {
  readonly status: string;
  readonly connectors: Readonly<Record<string, number>>;
  readonly attention: readonly { readonly name: string; readonly verdict: string }[];
}

describe('the health of a connector', function () {
  const on = workerServices('health', { properties: { 'plugin.path': PLUGINS, 'offset.flush.interval.ms': '200' } });

  const health = async (name: string) => (await on.worker.rest.get<Health>(`/connectors/${name}/health`)).body;
  const untilVerdict = (name: string, verdict: string, text: RegExp): Promise<Health> =>
    untilHealth(on.worker.rest, name, [verdict, text], 15_000);

  async function create(more: Record<string, string> = {}, at: TestDatabase = on.db): Promise<string> {
    const name = uniqueName('health');
    await on.sql.run(`create table "${name}" (ts timestamptz not null, v int)`);
    await on.kafka.createTopic(name, 1);
    await on.worker.rest.create(
      name,
      sinkConfig(at, { topics: name, 'protocol.type': 'json_db', 'stall.after.ms': '1000', ...more }),
    );
    await on.worker.rest.untilState(name, 'RUNNING', 1);
    return name;
  }

  const line = (name: string, v: number) => ({ value: `${name} v=${String(v)}i` });

  it('names the session that holds the lock, and is RUNNING again when it is gone', async () => {
    const name = await create({ 'protocol.type': 'line_lp' });
    await on.kafka.produce(name, [line(name, 1)]);
    await untilVerdict(name, 'RUNNING', /0 records behind/);
    const holder = new SqlClient(on.db);
    try {
      await holder.run('begin');
      const pid = await holder.number('select pg_backend_pid()');
      await holder.run(`lock table "${name}" in access exclusive mode`);
      await on.kafka.produce(name, [line(name, 2)]);
      const { sentence } = await untilVerdict(name, 'STALLED', /waits for a lock/);
      assert.match(sentence, new RegExp(`pid ${String(pid)} holds`));
      const sessions = `select count(*) from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'sluice:${name}-0'`;
      assert.equal(await on.sql.number(sessions), 1, 'the waiting session names connector and task (U18)');
      await holder.run('rollback');
    } finally {
      await holder.close();
    }
    await untilVerdict(name, 'RUNNING', /./);
  });

  it('says that put has not returned', async () => {
    const name = uniqueName('health');
    await on.sql.run(`create table "${name}" (value text primary key)`);
    await on.kafka.createTopic(name, 1);
    await on.worker.rest.create(name, {
      'connector.class': 'StuckSink',
      topics: name,
      table: name,
      url: on.db.url,
      'stall.after.ms': '1000',
    });
    await on.kafka.produce(name, [{ value: 'wait' }]);
    await untilVerdict(name, 'STALLED', /put\(\) of the task has not returned/);
    const page = await (await fetch(`${on.worker.url}/metrics`)).text();
    const of = (verdict: string): string => `sluice_connector_verdict{connector="${name}",verdict="${verdict}"}`;
    for (const sample of [`${of('STALLED')} 1`, `${of('RUNNING')} 0`]) assert.ok(page.includes(`${sample}\n`), sample);
  });

  it('names the topic that does not exist', async () => {
    const name = uniqueName('health');
    const config = sinkConfig(on.db, { topics: name, 'protocol.type': 'json_db' });
    await on.worker.rest.create(name, { ...config, 'consumer.override.allow.auto.create.topics': 'false' });
    await untilVerdict(name, 'STALLED', new RegExp(`topic ${name} does not exist`));
  });

  it('reports a topic that never had a record, and is RUNNING (U17)', async () => {
    const name = await create({ 'protocol.type': 'line_lp' });
    const hint = `The topic ${name} has never had a record; check its name in topics.`;
    const isHinted = async (): Promise<boolean> => (await health(name)).reasons.includes(hint);
    await until(isHinted, 'the health has the hint');
    assert.equal((await health(name)).verdict, 'RUNNING');
    await on.kafka.produce(name, [line(name, 1)]);
    await until(async () => !(await isHinted()), 'the topic has a record');
  });

  it('is DEGRADED when records are skipped, and FAILED with the first line of the trace', async () => {
    const tolerant = await create({ 'errors.tolerance': 'all', 'degraded.rate': '2' });
    const broken = Array.from({ length: 4 }, () => ({ value: 'no json' }));
    await on.kafka.produce(tolerant, broken);
    await untilVerdict(tolerant, 'DEGRADED', /4 records could not be delivered/);
    const strict = await create();
    await on.kafka.produce(strict, broken);
    await untilVerdict(strict, 'FAILED', /^Task 0 has failed: \S/);
    const { status, body } = await on.worker.rest.get<Summary>('/health?connectors=true&fail=stalled,FAILED');
    assert.deepEqual([status, body.status], [503, 'unhealthy']);
    const found = body.attention.filter(({ name }) => [tolerant, strict].includes(name));
    assert.deepEqual(
      found.map(({ name, verdict }) => [name, verdict]),
      [
        [strict, 'FAILED'],
        [tolerant, 'DEGRADED'],
      ],
    );
    const listed = Object.values(body.connectors).reduce((sum, count) => sum + count, 0);
    assert.equal(listed, (await on.worker.rest.get<string[]>('/connectors')).body.length);
  });

  it('leaves the answer of Connect to /health without connectors, and refuses unknown verdicts', async () => {
    const message = 'Worker has completed startup and is ready to handle requests.';
    for (const query of ['', '?fail=FAILED', '?connectors=false']) {
      const { status, body } = await on.worker.rest.get(`/health${query}`);
      assert.deepEqual([status, body], [200, { status: 'healthy', message }]);
    }
    assert.equal((await on.worker.rest.get('/health?connectors&fail=BROKEN')).status, 400);
  });
});
