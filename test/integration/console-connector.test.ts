import assert from 'node:assert/strict';
import { sinkConfig } from '../support/connectors.ts';
import { consolePage } from '../support/console-page.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { WorkerProcess } from '../support/worker-process.ts';

describe('a connector in the console', function () {
  const shown = consolePage();
  let worker: WorkerProcess;
  let kafka: KafkaTraffic;
  let db: TestDatabase;
  let sql: SqlClient;

  before(async () => {
    [worker, kafka, db] = await Promise.all([
      WorkerProcess.start({ properties: { 'offset.flush.interval.ms': '200' } }),
      KafkaTraffic.shared(),
      database('console'),
    ]);
    sql = new SqlClient(db);
  });

  after(async () => {
    await worker?.discard();
    await sql?.close();
  });

  async function create(config: Readonly<Record<string, string>> = {}): Promise<string> {
    const name = uniqueName('console');
    await sql.run(`create table "${name}" (ts timestamptz not null, v int8)`);
    await kafka.createTopic(name, 1);
    await worker.rest.create(name, sinkConfig(db, { topics: name, 'protocol.type': 'line_lp', ...config }));
    await worker.rest.untilState(name, 'RUNNING', 1);
    return name;
  }

  const open = (name: string, part = '') => shown.page.goto(`${worker.url}/ui#/connectors/${name}${part}`);

  it('shows its log as it comes, finds lines, and holds the view', async () => {
    const name = await create();
    await open(name, '/log');
    const log = shown.page.getByRole('region', { name: 'Log of the connector' });
    await log.locator('li').first().waitFor();
    await kafka.produce(name, [{ value: 'this is no line' }]);
    const failure = log.locator('li', { hasText: 'threw an uncaught and unrecoverable exception' });
    await failure.waitFor();
    assert.match(await failure.innerText(), /ERROR/);
    await failure.locator('summary').click();
    await failure.locator('pre').waitFor();
    await shown.page.getByLabel('Find in the lines').fill('nothing has this');
    await log.getByText('No line matches').waitFor();
    await shown.page.getByLabel('Find in the lines').fill('');
    await shown.page.getByRole('button', { name: 'Pause', exact: true }).click();
    await worker.rest.post(`/connectors/${name}/restart?includeTasks=true`);
    const goOn = shown.page.getByRole('button', { name: /^Go on \(\d+ new\)/ });
    await goOn.waitFor();
    await goOn.click();
    await shown.isAccessible();
    await worker.rest.delete(`/connectors/${name}`);
  });

  it('has it log more for some time, which the worker ends', async () => {
    const [name, other] = [await create(), await create()];
    await open(name, '/log');
    await shown.page.getByLabel('Log more:').selectOption('TRACE');
    await shown.page.getByRole('button', { name: 'Begin' }).click();
    await shown.page.getByText('The connector logs at TRACE.').waitFor();
    await shown.page.getByText(/It ends by itself in [45]:/).waitFor();
    const log = shown.page.getByRole('region', { name: 'Log of the connector' });
    await log.getByText('TRACE').first().waitFor();
    const levelOf = async (connector: string) => {
      const answer = await fetch(`${worker.url}/ui/connectors/${connector}/log-level`);
      return ((await answer.json()) as { level: string | null }).level;
    };
    assert.deepEqual([await levelOf(name), await levelOf(other)], ['TRACE', null]);
    await shown.isAccessible();
    await fetch(`${worker.url}/ui/connectors/${name}/log-level`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ level: 'DEBUG', minutes: 0.02 }),
    });
    await shown.page.getByRole('button', { name: 'Begin' }).waitFor();
    assert.equal(await levelOf(name), null);
    await Promise.all([name, other].map((each) => worker.rest.delete(`/connectors/${each}`)));
  });
});
