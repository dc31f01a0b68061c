import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Password } from '../config/password.ts';
import { loadWorkerConfig } from '../config/worker-config.ts';
import type { Executor } from '../database/api.ts';
import { openExecutor, parseConnectionUrl } from '../database/open-executor.ts';
import { createKafkaClient } from '../kafka/client.ts';
import type { KafkaClient } from '../kafka/api.ts';
import type { Logger } from '../observe/logger.ts';
import { quoteIdentifier, quoteLiteral } from '../sql/quote.ts';
import { startWorker, type Worker } from '../worker/worker.ts';
import { LocalKafka } from './kafka.ts';
import { LocalPostgres } from './postgres.ts';
import { nextFreePort } from './ports.ts';
import { sampleConnectors } from './sample-connectors.ts';
import { HOST_TABLES, HOST_TOPIC, PROCESS_TOPIC } from './sample-data.ts';

/** Name, user and password of the sample database; it listens on this machine alone. */
const SAMPLE = 'sluice';
const SAMPLE_TOPICS = [HOST_TOPIC, PROCESS_TOPIC];

export interface StackOptions {
  readonly fresh: boolean;
  readonly bootstrapServers: string | undefined;
  readonly onProgress: (message: string) => void;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly logFile: string;
}

export interface Stack {
  readonly bootstrapServers: string;
  readonly databaseUrl: string;
  readonly psqlUrl: string;
  readonly worker: Worker;
  readonly kafka: KafkaClient;
  readonly executor: Executor;
  stop(): Promise<void>;
}

/** Where a local stack keeps its data, below the folder it is started in. */
export function stateFolder(): string {
  return resolve('.sluice', 'dev');
}

/**
 * Starts a PostgreSQL, a Kafka (unless one is given), the worker, and the sample connectors, each as soon as what it needs is
 * there. What was started is stopped again when a later part fails.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const state = stateFolder();
  if (options.fresh) await rm(state, { recursive: true, force: true });
  await mkdir(state, { recursive: true });
  const endings: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const ending of endings.splice(0).reverse()) await ending();
  };
  try {
    const { postgres, bootstrapServers } = await startServices(options, state, endings);
    const address = `${postgres.host}:${String(postgres.port)}`;
    const databaseUrl = `jdbc:db://${address}/${SAMPLE}`;
    const [executor, { kafka, worker }] = await Promise.all([
      prepareDatabase(postgres, databaseUrl, options.logger, endings),
      startWithTopics(bootstrapServers, address, options, endings),
    ]);
    await createConnectors(worker, databaseUrl);
    const psqlUrl = `postgresql://${SAMPLE}:${SAMPLE}@${address}/${SAMPLE}`;
    return { bootstrapServers, databaseUrl, psqlUrl, worker, kafka, executor, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startServices(options: StackOptions, state: string, endings: (() => Promise<unknown>)[]) {
  const { onProgress, signal } = options;
  const [postgresPort, kafkaPort] = await Promise.all([nextFreePort(5432), nextFreePort(9092)]);
  const startPostgres = async () => {
    const dataDir = join(state, 'postgres');
    const postgres = await LocalPostgres.start({ dataDir, port: postgresPort, onProgress, signal });
    endings.push(() => postgres.stop());
    return postgres;
  };
  const startKafka = async () => {
    const given = options.bootstrapServers ?? process.env['BOOTSTRAP_SERVERS'];
    if (given !== undefined && given !== '') return given;
    const kafka = await LocalKafka.start({ dataDir: join(state, 'kafka'), port: kafkaPort, onProgress, signal });
    endings.push(() => kafka.stop());
    return kafka.bootstrapServers;
  };
  const [postgres, kafka] = await Promise.allSettled([startPostgres(), startKafka()]);
  if (postgres.status === 'rejected') throw postgres.reason;
  if (kafka.status === 'rejected') throw kafka.reason;
  return { postgres: postgres.value, bootstrapServers: kafka.value };
}

/** Makes the sample user, database and tables where they are missing. */
async function prepareDatabase(
  server: LocalPostgres,
  databaseUrl: string,
  logger: Logger,
  endings: (() => Promise<unknown>)[],
): Promise<Executor> {
  const admin = openExecutor(
    parseConnectionUrl(`postgresql://${server.host}:${String(server.port)}/postgres`, {
      user: server.user,
      password: new Password(server.password),
    }),
    { logger, poolSize: 1 },
  );
  try {
    const role = await admin.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [SAMPLE]);
    const name = quoteIdentifier(SAMPLE);
    if (role.rowCount === 0) await admin.query(`CREATE ROLE ${name} LOGIN PASSWORD ${quoteLiteral(SAMPLE)}`);
    const database = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [SAMPLE]);
    if (database.rowCount === 0) await admin.query(`CREATE DATABASE ${name} OWNER ${name}`);
  } finally {
    await admin.close();
  }
  const executor = openExecutor(parseConnectionUrl(databaseUrl, { user: SAMPLE, password: new Password(SAMPLE) }), {
    logger,
    poolSize: 2,
  });
  endings.push(() => executor.close());
  for (const table of HOST_TABLES) for (const statement of table.split(';\n')) await executor.query(statement);
  return executor;
}

async function startWithTopics(
  bootstrapServers: string,
  databaseAddress: string,
  options: StackOptions,
  endings: (() => Promise<unknown>)[],
) {
  const { logger } = options;
  const kafka = createKafkaClient({ 'bootstrap.servers': bootstrapServers, 'client.id': 'sluice-dev' }, logger);
  const admin = kafka.admin();
  const existing = await admin.describeTopics(SAMPLE_TOPICS);
  for (const name of SAMPLE_TOPICS) {
    if (!existing.has(name)) await admin.createTopic({ name, partitions: 2, replicationFactor: 1, settings: {} });
  }
  await admin.close();
  const [restPort, apiPort] = await Promise.all([nextFreePort(8083), nextFreePort(8080)]);
  const properties = {
    ...workerProperties(bootstrapServers, restPort),
    ...databaseApiProperties(databaseAddress, apiPort),
  };
  const worker = await startWorker(loadWorkerConfig({ mode: 'distributed', properties }), { logger });
  endings.push(() => worker.stop());
  await worker.started;
  return { kafka, worker };
}

/** What a worker.properties of this stack would hold. */
function workerProperties(bootstrapServers: string, port: number): Record<string, string> {
  const topics = ['config', 'offset', 'status'].flatMap((kind): [string, string][] => [
    [`${kind}.storage.topic`, `sluice-dev-${kind}`],
    [`${kind}.storage.replication.factor`, '1'],
  ]);
  return {
    'bootstrap.servers': bootstrapServers,
    'group.id': 'sluice-dev',
    'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
    'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
    listeners: `http://127.0.0.1:${String(port)}`,
    'offset.flush.interval.ms': '5000',
    // A stack that was killed is started again soon; its members must not keep the group waiting for 45 s.
    'consumer.session.timeout.ms': '10000',
    'offset.storage.partitions': '1',
    'status.storage.partitions': '1',
    ...Object.fromEntries(topics),
  };
}

/** The database's HTTP API as a service of the worker, for this machine alone. */
function databaseApiProperties(databaseAddress: string, port: number): Record<string, string> {
  return {
    services: 'database-http',
    'database.http.listeners': `https://127.0.0.1:${String(port)}`,
    'database.http.connection.url': `jdbc:db://${databaseAddress}`,
    'database.http.default.database': SAMPLE,
    'database.http.tls.directory': tlsFolder(),
    // Ctrl-C ends everything within 5 s.
    'database.http.shutdown.grace.ms': '2000',
  };
}

/** Where the development certificate of the database's HTTP API and its authority are. */
export function tlsFolder(): string {
  return join(stateFolder(), 'tls');
}

/** Connectors of an earlier run are there already; the database may be on another port now, then they are changed. */
async function createConnectors(worker: Worker, databaseUrl: string): Promise<void> {
  const existing = worker.herder.directory.names();
  for (const { name, config } of await sampleConnectors(databaseUrl)) {
    const wanted = { ...config, name };
    if (
      existing.includes(name) &&
      worker.herder.directory.config(name)['connection.url'] === config['connection.url']
    ) {
      continue;
    }
    const valid = await worker.validation.requireValid(wanted);
    await worker.herder.requests.putConnector(name, valid, { replace: true });
  }
}
