import assert from 'node:assert/strict';
import type { FleetRow, OffsetsPreview, TaskFigures, WorkerFlow } from '../../plugins/console/src/common/answers.ts';
import { sinkRows } from '../../plugins/console/src/connector/offset-rows.ts';
import { fleetCsv } from '../../plugins/console/src/fleet/fleet-csv.ts';
import { texts } from '../../plugins/console/src/texts/fleet.ts';
import { sinkConfig } from '../support/connectors.ts';
import { uniqueName } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { workerServices } from '../support/worker-services.ts';

const COUNT = 2300;

interface Health {
  readonly verdict: string;
  readonly lag: number | null;
  readonly tasks: readonly TaskFigures[];
}

describe('the lag of a sink is one figure everywhere (U1, U2)', () => {
  const on = workerServices('sink-lag', {
    properties: { 'stall.after.ms': '1500', 'offset.flush.interval.ms': '60000' },
  });

  async function sink(first: number, more: Readonly<Record<string, string>> = {}): Promise<string> {
    const name = uniqueName('lag');
    await on.sql.run(`create table "${name}" (ts timestamptz not null, v int)`);
    await on.kafka.createTopic(name, 1);
    await produce(name, first);
    await on.worker.rest.create(name, sinkConfig(on.db, { topics: name, 'protocol.type': 'line_lp', ...more }));
    return name;
  }

  async function produce(name: string, count: number): Promise<void> {
    const messages = Array.from({ length: count }, (_, v) => ({ value: `${name} v=${String(v)}i ${String(v)}` }));
    await on.kafka.produce(name, messages);
  }

  async function ui<T>(path: string): Promise<T> {
    const answer = await fetch(on.worker.rest.url + path);
    assert.equal(answer.status, 200);
    return (await answer.json()) as T;
  }

  async function row(name: string): Promise<FleetRow | undefined> {
    const { rows } = await ui<{ rows: readonly FleetRow[] }>('/ui/snapshot');
    return rows.find((each) => each.name === name);
  }

  async function flow(name: string): Promise<readonly WorkerFlow[]> {
    return ui(`/ui/connectors/${name}/flow`);
  }

  /** The lag by the place where it is shown, the verdict first. */
  async function shown(name: string): Promise<Readonly<Record<string, unknown>>> {
    const { rest } = on.worker;
    const preview = async (to: string) =>
      (await rest.post<OffsetsPreview>(`/connectors/${name}/offsets/preview`, { to })).body;
    const [{ body: health }, fleet, flows, page, earliest, latest] = await Promise.all([
      rest.get<Health>(`/connectors/${name}/health`),
      row(name),
      flow(name),
      fetch(`${rest.url}/metrics`).then((answer) => answer.text()),
      preview('earliest'),
      preview('latest'),
    ]);
    const [titles = [], values = []] = fleet === undefined ? [] : csvRows(fleetCsv([fleet]));
    return {
      verdict: health.verdict,
      health: health.lag,
      tasks: health.tasks.map(({ lag }) => lag),
      fleet: fleet?.lag,
      csv: values.at(titles.indexOf('lag') - titles.length),
      picture: flows.flatMap(({ topics }) => topics.map(({ lag }) => lag)),
      metrics: new RegExp(`^sluice_connector_lag\\{connector="${name}"\\} (\\d+)$`, 'm').exec(page)?.[1],
      offsets: sinkRows(earliest, latest, health.tasks).map(({ lag }) => lag),
    };
  }

  const everywhere = (verdict: string, lag: number, tasks = [lag]) => ({
    ...{ verdict, health: lag, tasks, fleet: lag, csv: String(lag) },
    ...{ picture: [lag], metrics: String(lag), offsets: [lag] },
  });

  async function untilShown(name: string, expected: Readonly<Record<string, unknown>>): Promise<void> {
    let seen: unknown;
    const isShown = async (): Promise<boolean> => {
      seen = await shown(name);
      return JSON.stringify(seen) === JSON.stringify(expected);
    };
    await until(isShown, 'all places show the figure', { timeoutMs: 60_000 }).catch((error: unknown) => {
      assert.deepEqual(seen ?? error, expected);
    });
  }

  for (const delivery of ['at-least-once', 'exactly-once']) {
    it(`while its table is locked, and its tables get no rows then, delivery=${delivery}`, async () => {
      const name = await sink(0, { delivery });
      const session = new SqlClient(on.db);
      try {
        await session.run('begin', `lock table "${name}" in access exclusive mode`);
        await produce(name, COUNT);
        await untilShown(name, everywhere('STALLED', COUNT));
        // A rate needs two measurements.
        const rates = async () => [(await row(name))?.rate, (await flow(name))[0]?.deliveredRate];
        await until(async () => (await rates()).every((rate) => rate === 0), 'nothing is delivered');
        await produce(name, 10);
        await untilShown(name, everywhere('STALLED', COUNT + 10));
        await session.run('rollback');
        await untilShown(name, everywhere('RUNNING', 0));
        await until(async () => ((await row(name))?.spark ?? []).some((rate) => (rate ?? 0) > 0), 'the rate is shown');
        assert.equal(await on.sql.number(`select count(*) from "${name}"`), COUNT + 10);
      } finally {
        await session.close();
      }
      await on.worker.rest.delete(`/connectors/${name}`);
    });
  }

  it('when its task has failed', async () => {
    const name = await sink(COUNT, { 'value.converter': 'org.apache.kafka.connect.json.JsonConverter' });
    await untilShown(name, everywhere('FAILED', COUNT));
    await produce(name, 10);
    await untilShown(name, everywhere('FAILED', COUNT + 10));
    await on.worker.rest.delete(`/connectors/${name}`);
  });

  it('when it is paused, and when it is stopped', async () => {
    const name = await sink(5);
    await untilShown(name, everywhere('RUNNING', 0));
    await on.worker.rest.put(`/connectors/${name}/pause`);
    await on.worker.rest.untilState(name, 'PAUSED', 1);
    await produce(name, COUNT);
    await untilShown(name, everywhere('PAUSED', COUNT));
    await on.worker.rest.put(`/connectors/${name}/stop`);
    await untilShown(name, everywhere('STOPPED', COUNT, []));
    await on.worker.rest.delete(`/connectors/${name}`);
  });
});

/** The sentence may have commas: columns behind it are counted from the end. */
function csvRows(text: string): readonly (readonly string[])[] {
  assert.ok(text.includes(texts.csvColumns.join(',')));
  return text
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));
}
