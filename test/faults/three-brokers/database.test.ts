import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { LocalPostgres } from '../../../src/dev/postgres.ts';
import { FaultStage } from '../../support/fault-stage.ts';
import { onServer, ownPostgres } from '../../support/services.ts';
import { useBrokers } from '../../support/shared-brokers.ts';
import type { SinkLoadOptions } from '../../support/sink-load.ts';
import { until } from '../../support/until.ts';

const SINKS: readonly SinkLoadOptions[] = [
  { codec: 'gzip', delivery: 'exactly-once' },
  { codec: 'snappy', delivery: 'at-least-once' },
];
/** How long each outage is, at the least. */
const OUTAGE_MS = 5_000;
const CONNECTIONS = 30;

describe('a database that fails under sinks', function () {
  const brokers = useBrokers();
  let postgres: LocalPostgres;

  beforeEach(async () => {
    postgres = await ownPostgres({ settings: { max_connections: String(CONNECTIONS) } });
  });
  afterEach(() => postgres.discard());

  const run = (scenario: (stage: FaultStage) => Promise<void>) =>
    FaultStage.run(brokers(), { workers: 2, db: onServer(postgres, 'postgres') }, async (stage) => {
      await stage.startSinks(...SINKS);
      await scenario(stage);
      await stage.untilFlows();
    });

  it('loses no row, and duplicates none of an exactly-once sink, when it is shut down at once or killed with -9', async () => {
    await run(async (stage) => {
      for (const signal of ['SIGQUIT', 'SIGKILL', 'SIGQUIT', 'SIGKILL'] as const) {
        process.kill(postgres.pid ?? 0, signal);
        stage.addFault();
        await until(() => !postgres.running, 'PostgreSQL has ended');
        await postgres.start();
        await stage.untilFlows();
      }
    });
  });

  it('loses no row, and duplicates none of an exactly-once sink, while others have all of its connections', async () => {
    await run(async (stage) => {
      const others = new Crowd(postgres);
      try {
        await others.runAll();
        stage.addFault();
        await delay(OUTAGE_MS);
      } finally {
        await others.leave();
      }
    });
  });
});

/** Connections of others, up to the last one, those of sinks too. */
class Crowd {
  readonly #postgres: LocalPostgres;
  readonly #clients: pg.Client[] = [];

  constructor(postgres: LocalPostgres) {
    this.#postgres = postgres;
  }

  async runAll(): Promise<void> {
    const first = await this.#join();
    const sinks = `from pg_stat_activity where application_name like 'sluice%'`;
    assert.ok(first !== undefined);
    await until(async () => {
      await first.query(`select pg_terminate_backend(pid) ${sinks}`);
      while ((await this.#join()) !== undefined);
      const { rows } = await first.query<{ count: string }>(`select count(*) ${sinks}`);
      return rows[0]?.count === '0';
    }, 'no sink has a connection');
  }

  async leave(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.end()));
  }

  /** One more; `undefined` when there are too many. */
  async #join(): Promise<pg.Client | undefined> {
    const client = new pg.Client({ connectionString: this.#postgres.url(), application_name: 'crowd' });
    try {
      await client.connect();
    } catch (error) {
      if ((error as { code?: unknown }).code === '53300') return undefined;
      throw error;
    }
    this.#clients.push(client);
    return client;
  }
}
