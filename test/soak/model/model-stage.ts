import { createKafkaClient } from '../../../src/kafka/client/client.ts';
import type { Admin, ClientProperties, KafkaClient } from '../../../src/kafka/api.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { KafkaTraffic } from '../../support/kafka-traffic.ts';
import { broker, database, type TestDatabase } from '../../support/services.ts';
import { SqlClient } from '../../support/sql-client.ts';
import { WorkerProcess } from '../../support/worker-process.ts';
import type { Engine } from './sink-subject.ts';

/** Long enough for a machine that is ten times as busy as it should be. */
const READY_MS = 180_000;
const ENGINES = ['unmarked', 'time-series', 'relational'] as const;

/** Workers, a broker, and databases with every mark. All seeds share them. */
export class ModelStage {
  readonly workers: readonly WorkerProcess[];
  readonly kafka: KafkaTraffic;
  readonly client: KafkaClient;
  readonly admin: Admin;
  readonly #databases: ReadonlyMap<Engine, TestDatabase>;

  private constructor(
    workers: readonly WorkerProcess[],
    kafka: KafkaTraffic,
    client: KafkaClient,
    databases: ReadonlyMap<Engine, TestDatabase>,
  ) {
    this.workers = workers;
    this.kafka = kafka;
    this.client = client;
    this.admin = client.admin();
    this.#databases = databases;
  }

  /** Starts one worker in its own group for each set of properties. */
  static async start(...properties: readonly ClientProperties[]): Promise<ModelStage> {
    const starts = properties.map((more) => {
      const own = { 'offset.flush.interval.ms': '100', ...more };
      return WorkerProcess.start({ properties: own, readyTimeoutMs: READY_MS });
    });
    const workers = (await Promise.allSettled(starts)).flatMap((outcome) =>
      outcome.status === 'fulfilled' ? [outcome.value] : [],
    );
    if (workers.length < starts.length) {
      await Promise.all(workers.map((worker) => worker.discard()));
      await Promise.all(starts);
    }
    const [kafka, client, ...databases] = await Promise.all([
      KafkaTraffic.shared(),
      sharedClient(),
      ...ENGINES.map((engine) => markedDatabase(engine)),
    ]);
    return new ModelStage(workers, kafka, client, new Map(databases));
  }

  worker(index = 0): WorkerProcess {
    const worker = this.workers[index];
    if (worker === undefined) throw new Error('The stage has no such worker');
    return worker;
  }

  database(engine: Engine): TestDatabase {
    const found = this.#databases.get(engine);
    if (found === undefined) throw new Error(`There is no database for ${engine}`);
    return found;
  }

  async end(): Promise<void> {
    await this.admin.close();
    await Promise.all(this.workers.map((worker) => worker.discard()));
  }
}

async function sharedClient(): Promise<KafkaClient> {
  return createKafkaClient({ 'bootstrap.servers': (await broker()).bootstrapServers }, silentLogger);
}

async function markedDatabase(engine: Engine): Promise<readonly [Engine, TestDatabase]> {
  const db = await database(`model_${engine.replace('-', '_')}`);
  const sql = new SqlClient(db);
  if (engine !== 'unmarked') await sql.run(`comment on database "${db.database}" is 'sluice:${engine}'`);
  await sql.close();
  return [engine, db];
}
