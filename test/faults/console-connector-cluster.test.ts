import assert from 'node:assert/strict';
import { sinkConfig } from '../support/connectors.ts';
import { consolePage } from '../../plugins/console/test/support/console-page.ts';
import { assertDescribed } from '../support/open-api-check.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { clusterServices } from '../support/worker-services.ts';

describe('a connector with tasks on two workers', () => {
  const shown = consolePage(assertDescribed);
  const name = uniqueName('console');
  const on = clusterServices('console_cluster', 2, { 'session.timeout.ms': '30000' });

  before(async () => {
    await on.sql.run(`create table "${name}" (ts timestamptz not null, v int8)`);
    await on.kafka.createTopic(name, 2);
    const config = sinkConfig(on.db, { topics: name, 'protocol.type': 'line_lp', 'tasks.max': '2' });
    await on.cluster.rest(0).create(name, config);
  });

  it('shows the log and the stages of both at either, and logs more on both', async () => {
    const [first, second] = [on.cluster.worker(0), on.cluster.worker(1)];
    const status = await first.rest.untilState(name, 'RUNNING', 2);
    const ids = [...new Set(status.tasks.map(({ worker_id: id }) => id))].sort();
    assert.equal(ids.length, 2);

    const stop = new AbortController();
    try {
      const answer = await fetch(`${first.url}/ui/connectors/${name}/log`, { signal: stop.signal });
      const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
      let told = '';
      const decoder = new TextDecoder();
      const from = (id: string) => told.includes(`{"worker":"${id}",`);
      while (!ids.every(from)) told += decoder.decode((await reader.read()).value, { stream: true });
    } finally {
      stop.abort();
    }

    const path = `/ui/connectors/${name}/log-level`;
    const json = { 'content-type': 'application/json' };
    const body = JSON.stringify({ level: 'DEBUG', minutes: 1 });
    const set = await fetch(first.url + path, { method: 'PUT', headers: json, body });
    assert.deepEqual(((await set.json()) as { unreached: string[] }).unreached, []);
    const levels = await Promise.all([first, second].map(async ({ url }) => (await fetch(url + path)).json()));
    assert.deepEqual(
      levels.map((each) => (each as { level: string }).level),
      ['DEBUG', 'DEBUG'],
    );

    await until(async () => {
      const flows = (await (await fetch(`${second.url}/ui/connectors/${name}/flow`)).json()) as { worker: string }[];
      return ids.every((id) => flows.some(({ worker }) => worker === id));
    }, 'both workers report their tasks');
  });

  it('shows the last hour from all workers with tasks, because its own may have moved', async () => {
    const { rest, url } = on.cluster.worker(0);
    const one = uniqueName('console-one');
    await rest.create(one, sinkConfig(on.db, { topics: name, 'protocol.type': 'line_lp', 'tasks.max': '1' }));
    await rest.untilState(one, 'RUNNING', 1);
    await until(async () => {
      const answer = await fetch(`${url}/ui/connectors/${one}/history`);
      const histories = (await answer.json()) as { readonly worker: string; readonly at: readonly number[] }[];
      return histories.length === 2 && histories.filter(({ at }) => at.length > 0).length === 1;
    }, 'both workers answer, and the one with the task has points');
    await rest.delete(`/connectors/${one}`);
    await until(async () => (await rest.get(`/connectors/${one}`)).status === 404, 'the connector is deleted');
  });

  it('is SILENT within seconds when one of them is killed, while the group still counts it, and runs when it has returned', async () => {
    const [served, killed] = [on.cluster.worker(0), on.cluster.worker(1)];
    const { host } = new URL(killed.url);
    const { page } = shown;
    const badge = (verdict: string) => page.locator('table.fleet tbody .badge', { hasText: verdict });
    const silence = page.getByRole('list', { name: 'Workers that do not answer' });
    await page.goto(`${served.url}/ui`);
    await badge('RUNNING').waitFor();
    await killed.kill();
    await silence.getByText(`Worker ${host} has not answered for 0:`).waitFor();
    assert.match(await silence.innerText(), /If it is lost, its tasks run elsewhere within 5:\d\d\.$/);
    await badge('SILENT').waitFor();
    await page.locator('table.fleet tbody td.number', { hasText: '1/2' }).waitFor();
    const { tasks } = await served.rest.status(name);
    assert.ok(tasks.some(({ worker_id: id, state }) => id === host && state === 'RUNNING'));
    await shown.isAccessible();

    await page.goto(`${served.url}/ui#/connectors/${name}`);
    await page.locator('.sentence .badge', { hasText: 'SILENT' }).waitFor();
    await page.getByRole('region', { name: 'Tasks' }).getByText('No answer for 0:').waitFor();
    await shown.isAccessible();

    await killed.start();
    await page.locator('.sentence .badge', { hasText: 'RUNNING' }).waitFor();
    await silence.waitFor({ state: 'detached' });
  });
});
