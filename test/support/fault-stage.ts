import assert from 'node:assert/strict';
import type { BrokerCluster } from './broker-cluster.ts';
import { REPLICATED_WORKER } from './cluster-load.ts';
import { database, type TestDatabase } from './services.ts';
import { SinkLoad, type SinkLoadOptions } from './sink-load.ts';
import { until } from './until.ts';
import { WorkerCluster } from './worker-cluster.ts';
import { printWorkers } from './worker-process.ts';

export interface FaultStageOptions {
  readonly workers: number;
  /** Additional properties of the workers. */
  readonly properties?: Readonly<Record<string, string>>;
  /** If absent, a new database on the shared server is used. */
  readonly db?: TestDatabase;
}

/** Workers on three brokers. The rows of their sinks are counted at the end of a scenario. */
export class FaultStage {
  readonly brokers: BrokerCluster;
  readonly workers: WorkerCluster;
  readonly db: TestDatabase;
  readonly #sinks: SinkLoad[] = [];
  #faults = 0;

  private constructor(brokers: BrokerCluster, workers: WorkerCluster, db: TestDatabase) {
    this.brokers = brokers;
    this.workers = workers;
    this.db = db;
  }

  /**
   * Runs a scenario. Rejects if the scenario rejects, if a sink has lost rows, or if an exactly-once sink has
   * duplicated rows.
   */
  static async run(
    brokers: BrokerCluster,
    { workers: size, properties, db }: FaultStageOptions,
    scenario: (stage: FaultStage) => Promise<void>,
  ): Promise<void> {
    const common = { 'bootstrap.servers': brokers.bootstrapServers, ...REPLICATED_WORKER };
    const workers = await WorkerCluster.start(size, { ...common, ...properties });
    const stage = new FaultStage(brokers, workers, db ?? (await database('faults')));
    try {
      await scenario(stage);
      await stage.#count();
    } catch (error) {
      await printWorkers('a scenario that failed');
      throw error;
    } finally {
      await Promise.all(stage.#sinks.map((sink) => sink.close()));
      await workers.discard();
    }
  }

  /** Prepares a sink whose rows are counted at the end. The caller creates its connector. */
  async prepare(options: SinkLoadOptions): Promise<SinkLoad> {
    const sink = new SinkLoad(this.brokers, this.db, options);
    this.#sinks.push(sink);
    await sink.prepare();
    return sink;
  }

  /** Creates sinks, and resolves when rows flow through them. */
  async startSinks(...all: readonly SinkLoadOptions[]): Promise<readonly SinkLoad[]> {
    const sinks = await Promise.all(all.map((options) => this.prepare(options)));
    for (const sink of sinks) await sink.create(this.workers.rest(0));
    for (const sink of sinks) sink.begin();
    await this.untilFlows();
    return sinks;
  }

  /** Resolves when new rows flow through every sink. */
  async untilFlows(): Promise<void> {
    await Promise.all(this.#sinks.map((sink) => sink.untilFlows()));
  }

  /** Resolves when every sink has stored a row after this one. */
  async untilStores(row: number): Promise<void> {
    await Promise.all(
      this.#sinks.map(({ name, table, sql }) =>
        until(async () => (await sql.number(`select max(id) from ${table}`)) > row, `${name} stores rows`),
      ),
    );
  }

  /** Counts a fault that the test caused. The number is printed with the other counts. */
  addFault(): void {
    this.#faults += 1;
  }

  async #count(): Promise<void> {
    const counts = await Promise.all(this.#sinks.map(async (sink) => ({ sink, ...(await sink.finish()) })));
    for (const { sink, rows, lost, doubled } of counts) {
      const found = `${String(rows)} records, ${String(this.#faults)} faults, ${String(lost.length)} lost, ${String(doubled.length)} doubled`;
      process.stdout.write(`    (${sink.codec}, ${sink.delivery}: ${found})\n`);
    }
    for (const { sink, lost, doubled } of counts) {
      assert.deepEqual(lost, [], `lost by ${sink.name}`);
      if (sink.delivery === 'exactly-once') assert.deepEqual(doubled, [], `doubled by ${sink.name}`);
    }
  }
}
