import type { LocalPostgres } from '../../src/dev/postgres.ts';
import { KafkaTraffic } from './kafka-traffic.ts';
import { logicalPostgres } from './log-source.ts';
import { LogSourceRun } from './log-source-run.ts';
import type { TestDatabase } from './services.ts';
import { SqlClient } from './sql-client.ts';
import { until } from './until.ts';
import { WorkerProcess } from './worker-process.ts';

interface LogServer {
  readonly server: LocalPostgres;
  readonly db: TestDatabase;
  readonly sql: SqlClient;
}

/** A server whose log can be decoded, which the tests of a `describe` share. */
class LogStage {
  #server: LogServer | undefined;
  readonly #runs: LogSourceRun[] = [];

  get server(): LocalPostgres {
    return this.#started.server;
  }

  get db(): TestDatabase {
    return this.#started.db;
  }

  get sql(): SqlClient {
    return this.#started.sql;
  }

  /** A task without a worker, which is stopped after the test. */
  newRun(): LogSourceRun {
    const run = new LogSourceRun();
    this.#runs.push(run);
    return run;
  }

  async untilRead(slot: string): Promise<void> {
    const active = `select count(*) from pg_replication_slots where slot_name = '${slot}' and active`;
    await until(async () => (await this.sql.number(active)) === 1, `slot ${slot} is read`);
  }

  async open(): Promise<void> {
    const { server, db } = await logicalPostgres();
    this.#server = { server, db, sql: new SqlClient(db) };
  }

  async stopRuns(): Promise<void> {
    await Promise.all(this.#runs.splice(0).map((each) => each.stop()));
  }

  async close(): Promise<void> {
    await this.#server?.sql.close();
    await this.#server?.server.discard();
  }

  get #started(): LogServer {
    if (this.#server === undefined) throw new Error('The server is not started');
    return this.#server;
  }
}

/** The same with a worker. */
class LogWorkerStage extends LogStage {
  #kafka: KafkaTraffic | undefined;
  #sluice: WorkerProcess | undefined;

  get kafka(): KafkaTraffic {
    if (this.#kafka === undefined) throw new Error('Kafka is not started');
    return this.#kafka;
  }

  get sluice(): WorkerProcess {
    if (this.#sluice === undefined) throw new Error('The worker is not started');
    return this.#sluice;
  }

  async openWith(properties: Readonly<Record<string, string>>): Promise<void> {
    [, this.#kafka, this.#sluice] = await Promise.all([
      this.open(),
      KafkaTraffic.shared(),
      WorkerProcess.start({ properties: { 'offset.flush.interval.ms': '200', ...properties } }),
    ]);
  }

  override async close(): Promise<void> {
    await this.#sluice?.discard();
    await super.close();
  }
}

/** A server from the first test of a `describe` to its last. It must be called within the `describe`. */
export function logStage(): LogStage {
  const stage = new LogStage();
  before(() => stage.open());
  afterEach(() => stage.stopRuns());
  after(() => stage.close());
  return stage;
}

/** A server and a worker with these properties from the first test of a `describe` to its last. It must be called within the `describe`. */
export function logWorkerStage(properties: Readonly<Record<string, string>> = {}): LogWorkerStage {
  const stage = new LogWorkerStage();
  before(() => stage.openWith(properties));
  after(() => stage.close());
  return stage;
}
