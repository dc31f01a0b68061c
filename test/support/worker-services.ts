import assert from 'node:assert/strict';
import { KafkaTraffic } from './kafka-traffic.ts';
import { database, type TestDatabase } from './services.ts';
import { SqlClient } from './sql-client.ts';
import { WorkerCluster } from './worker-cluster.ts';
import { WorkerProcess, type WorkerOptions } from './worker-process.ts';

/** The shared Kafka and a new database, available from the first test of a `describe` to its last. */
interface Services {
  readonly kafka: KafkaTraffic;
  readonly db: TestDatabase;
  readonly sql: SqlClient;
}

interface Discardable {
  discard(): Promise<void>;
}

/**
 * Starts a worker and the services that it needs. The database is called `name`. Must be called within a `describe`.
 */
export function workerServices(
  name: string,
  options: WorkerOptions = {},
): Services & { readonly worker: WorkerProcess } {
  return servicesWith('worker', name, () => WorkerProcess.start(options));
}

/**
 * Starts workers of one group with these properties, and the services that they need. Must be called within a
 * `describe`.
 */
export function clusterServices(
  name: string,
  size: number,
  properties: Readonly<Record<string, string>>,
): Services & { readonly cluster: WorkerCluster } {
  return servicesWith('cluster', name, () => WorkerCluster.start(size, properties));
}

function servicesWith<K extends string, T extends Discardable>(
  key: K,
  name: string,
  start: () => Promise<T>,
): Services & Readonly<Record<K, T>> {
  let running: T | undefined;
  let services: Services | undefined;

  before(async () => {
    const [started, kafka, db] = await Promise.all([start(), KafkaTraffic.shared(), database(name)]);
    running = started;
    services = { kafka, db, sql: new SqlClient(db) };
  });

  after(async () => {
    await Promise.all([running?.discard(), services?.sql.close()]);
  });

  const there = <V>(value: V | undefined): V => {
    assert.ok(value !== undefined, 'services are there within hooks and tests');
    return value;
  };
  return {
    get kafka() {
      return there(services).kafka;
    },
    get db() {
      return there(services).db;
    },
    get sql() {
      return there(services).sql;
    },
    get [key]() {
      return there(running);
    },
  } as Services & Readonly<Record<K, T>>;
}
