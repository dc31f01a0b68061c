import { join } from 'node:path';
import { within } from '../async/within.ts';
import { Password } from '../config/password.ts';
import { loadWorkerConfig } from '../config/worker-config.ts';
import {
  openExecutor,
  parseConnectionUrl,
  quoteIdentifier,
  quoteLiteral,
  type Executor,
} from '../../plugins/database/index.ts';
import { ConnectError } from '../errors.ts';
import { createKafkaClient } from '../kafka/client/client.ts';
import type { KafkaClient } from '../kafka/api.ts';
import { requireBroker } from '../kafka/client/first-contact.ts';
import type { Logger } from '../observe/logger.ts';
import { startWorker, type Worker } from '../worker/worker.ts';
import { noteBroker } from './addresses.ts';
import { LocalKafka } from './kafka.ts';
import { LocalPostgres } from './postgres.ts';
import { startOnFreePorts } from './ports.ts';
import type { OnProgress } from './progress.ts';
import { sampleConnectors } from './sample-connectors.ts';
import { createSampleTopics, HOST_TABLES } from './sample-data.ts';
import { ServiceKeeper, type KeptService } from './service-keeper.ts';

/** Name, user and password of the sample database, which only listens on this machine. */
const SAMPLE = 'sluice';
/** Ports of the stack, unless other processes use them. */
const POSTGRES_PORT = 5432;
const KAFKA_PORT = 9092;
const REST_PORT = 8083;
const DATABASE_API_PORT = 8080;
/** Settings that the log source needs. */
const POSTGRES_SETTINGS = { wal_level: 'logical' };
/** Maximum time for a worker to join its group on a reachable cluster. */
const WORKER_START_MS = 60_000;

/** Four times the graceful stop timeout of tasks. */
const WORKER_STOP_MS = 20_000;

export interface StackOptions {
  /** The folder for the data of the services, which must exist. */
  readonly state: string;
  readonly bootstrapServers: string | undefined;
  readonly onProgress: OnProgress;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly logFile: string;
}

export interface Stack {
  readonly bootstrapServers: string;
  readonly databaseUrl: string;
  readonly psqlUrl: string;
  /** File with the CA certificate of the database API. */
  readonly authorityFile: string;
  readonly worker: Worker;
  readonly kafka: KafkaClient;
  readonly executor: Executor;
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL and, unless a broker is given, Kafka; then the worker, while the database is prepared; then the
 * sample connectors. If one part fails, the others are stopped.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { state } = options;
  const endings: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const ending of endings.splice(0).reverse()) {
      await ending().catch((error: unknown) =>
        options.logger.warn({ err: error }, 'A step of the shutdown of the stack failed'),
      );
    }
  };
  try {
    const { postgres, bootstrapServers } = await startServices(options, endings);
    const address = `${postgres.host}:${String(postgres.port)}`;
    const databaseUrl = `jdbc:db://${address}/${SAMPLE}`;
    const [executor, { kafka, worker }] = await bothOf(
      prepareDatabase(postgres, databaseUrl, options.logger, endings),
      startWithTopics(bootstrapServers, address, options, endings),
    );
    await createConnectors(worker, databaseUrl);
    endings.push(await noteBroker(state, bootstrapServers));
    const psqlUrl = `postgresql://${SAMPLE}:${SAMPLE}@${address}/${SAMPLE}`;
    const authorityFile = join(tlsFolder(state), 'ca.pem');
    return { bootstrapServers, databaseUrl, psqlUrl, authorityFile, worker, kafka, executor, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startServices(options: StackOptions, endings: (() => Promise<unknown>)[]) {
  const { onProgress, signal, state } = options;
  const started: KeptService[] = [];
  const startPostgres = async () => {
    const dataDir = join(state, 'postgres');
    const postgres = await startOnFreePorts([POSTGRES_PORT], ([port = 0]) =>
      LocalPostgres.start({ dataDir, port, settings: POSTGRES_SETTINGS, onProgress, signal }),
    );
    endings.push(() => postgres.stop());
    started.push(postgres);
    return postgres;
  };
  const startKafka = async () => {
    const given = options.bootstrapServers ?? process.env['BOOTSTRAP_SERVERS'];
    if (given !== undefined && given !== '') {
      await requireBroker({ 'bootstrap.servers': given, 'client.id': 'sluice-dev' }, options.logger);
      return given;
    }
    const dataDir = join(state, 'kafka');
    const kafka = await startOnFreePorts([KAFKA_PORT], ([port = 0]) =>
      LocalKafka.start({ dataDir, port, onProgress, signal }),
    );
    endings.push(() => kafka.stop());
    started.push(kafka);
    return kafka.bootstrapServers;
  };
  const [postgres, servers] = await bothOf(startPostgres(), startKafka());
  const keeper = new ServiceKeeper(started, onProgress);
  endings.push(() => keeper.stop());
  return { postgres, bootstrapServers: servers };
}

/** Waits until both have settled, so that everything that was started is known, and rejects with the first failure. */
async function bothOf<A, B>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([one, other]);
  return Promise.all([one, other]);
}

/** Creates the sample user, database and tables if they are missing. */
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
    // Clients such as Telegraf create their own database, and the log source replicates. Earlier versions created the
    // role without these attributes.
    await admin.query(`ALTER ROLE ${name} CREATEDB REPLICATION`);
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
  const { logger, state, signal } = options;
  const kafka = createKafkaClient({ 'bootstrap.servers': bootstrapServers, 'client.id': 'sluice-dev' }, logger);
  await createSampleTopics(kafka, { signal });
  const worker = await startOnFreePorts([REST_PORT, DATABASE_API_PORT], ([restPort = 0, apiPort = 0]) => {
    const properties = {
      ...workerProperties(bootstrapServers, restPort),
      ...databaseApiProperties(databaseAddress, apiPort, state),
    };
    return startWorker(loadWorkerConfig({ mode: 'distributed', properties }), { logger });
  });
  endings.push(async () => {
    if (await within(worker.stop(), WORKER_STOP_MS)) return;
    logger.warn(`The worker did not stop within ${String(WORKER_STOP_MS / 1000)} s and was abandoned`);
  });
  if (!(await within(worker.started, WORKER_START_MS))) {
    throw new ConnectError(
      `The worker was not ready within ${String(WORKER_START_MS / 1000)} s; see ${options.logFile}`,
    );
  }
  return { kafka, worker };
}

/** The worker properties of this stack. */
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
    'offset.storage.partitions': '1',
    'status.storage.partitions': '1',
    ...Object.fromEntries(topics),
  };
}

/** Properties of the database's HTTP API as a service of the worker. The API only listens on this machine. */
function databaseApiProperties(databaseAddress: string, port: number, state: string): Record<string, string> {
  return {
    services: 'database-http',
    'database.http.listeners': `https://127.0.0.1:${String(port)}`,
    'database.http.connection.url': `jdbc:db://${databaseAddress}`,
    'database.http.default.database': SAMPLE,
    'database.http.tls.directory': tlsFolder(state),
    // Short enough for Ctrl-C to end the whole stack within 5 s.
    'database.http.shutdown.grace.ms': '2000',
  };
}

/** The folder of the development certificate of the database's HTTP API and of its CA. */
function tlsFolder(state: string): string {
  return join(state, 'tls');
}

/** Creates the connectors, or updates those of an earlier run if the port of the database has changed. */
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
