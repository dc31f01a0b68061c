import { Password } from '../config/password.ts';
import { openExecutor, parseConnectionUrl, type Executor } from '../../plugins/database/index.ts';
import { ConnectError } from '../errors.ts';
import { httpRequest } from '../http/http-client.ts';
import { createKafkaClient } from '../kafka/client/client.ts';
import { createLogger, type Logger } from '../observe/logger.ts';
import { sampleConnectors } from './sample-connectors.ts';
import { createSampleTopics, HOST_TABLES, produceSampleData } from './sample-data.ts';

/** Longer than the longest request of a worker, 90 s. */
const REQUEST_MS = 100_000;

/** A stack that runs elsewhere, such as the one of docker-compose.yml. */
export interface RunningStack {
  readonly bootstrapServers: string;
  /** URL of the worker's REST API. */
  readonly connectUrl: string;
  /** In the form of `connection.url`; also used by the sample connectors. */
  readonly databaseUrl: string;
  readonly user: string;
  readonly password: string;
}

/**
 * Creates missing sample topics and tables, creates or reconfigures the sample connectors, and then produces the sample
 * data until `signal` aborts.
 */
export async function feed(stack: RunningStack, signal: AbortSignal, logger: Logger): Promise<void> {
  const kafka = createKafkaClient({ 'bootstrap.servers': stack.bootstrapServers, 'client.id': 'sluice-feed' }, logger);
  const settings = parseConnectionUrl(stack.databaseUrl, { user: stack.user, password: new Password(stack.password) });
  const executor = openExecutor(settings, { logger, poolSize: 1 });
  try {
    await Promise.all([createSampleTopics(kafka), createTables(executor)]);
    await createConnectors(stack, signal, logger);
    await produceSampleData({ kafka, executor }, signal, logger);
  } finally {
    await executor.close();
  }
}

async function createConnectors(stack: RunningStack, signal: AbortSignal, logger: Logger): Promise<void> {
  for (const { name, config } of await sampleConnectors(stack.databaseUrl)) {
    const url = new URL(`${stack.connectUrl}/connectors/${encodeURIComponent(name)}/config`);
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'PUT', url, headers, body: JSON.stringify(config), timeoutMs: REQUEST_MS, signal };
    const { status, body } = await httpRequest(request);
    if (status >= 300) throw new ConnectError(`PUT ${url.href}: ${String(status)} ${body.toString()}`);
    logger.info(`Connector ${name} is configured`);
  }
}

async function createTables(executor: Executor): Promise<void> {
  for (const table of HOST_TABLES) for (const statement of table.split(';\n')) await executor.query(statement);
}

function required(name: string): string {
  const value = process.env[name] ?? '';
  if (value === '') throw new ConnectError(`${name} is not set`);
  return value;
}

async function main(): Promise<void> {
  const logger = await createLogger({ level: 'info', format: 'json' });
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
  const stack: RunningStack = {
    bootstrapServers: required('BOOTSTRAP_SERVERS'),
    connectUrl: required('CONNECT_URL'),
    databaseUrl: required('DATABASE_URL'),
    user: process.env['DATABASE_USER'] ?? 'sluice',
    password: process.env['DATABASE_PASSWORD'] ?? 'sluice',
  };
  try {
    await feed(stack, ending.signal, logger);
  } catch (error) {
    if (ending.signal.aborted) return;
    logger.error(error);
    process.exitCode = 1;
  }
}

if (import.meta.filename === process.argv[1]) await main();
