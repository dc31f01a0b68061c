import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { LocalKafka, type KafkaOptions } from '../../src/dev/kafka.ts';
import { LocalPostgres, type PostgresOptions } from '../../src/dev/postgres.ts';
import { containerBroker, containerPostgres, inContainers } from './containers.ts';
import { everyRole, PgBouncer, pgBouncerPath, type PoolMode } from './pgbouncer.ts';
import { askServiceDoor } from './service-door.ts';
import type { ServerAccess, TestDatabase } from './test-database.ts';

export type { ServerAccess, TestDatabase } from './test-database.ts';

export interface TestBroker {
  readonly bootstrapServers: string;
}

/** Services that are stopped at the end of the run, in the order in which they were started. */
const endings: (() => Promise<unknown>)[] = [];
const databases: TestDatabase[] = [];
let sharedBroker: Promise<TestBroker> | undefined;
let sharedServer: Promise<ServerAccess> | undefined;
let sharedProcessCount = 0;

/**
 * Returns the broker that all tests share: that of `BOOTSTRAP_SERVERS` if it is set, or else one that is started at the
 * first call and stopped at the end of the run. It does not create topics automatically.
 */
export async function broker(): Promise<TestBroker> {
  sharedBroker ??= askServiceDoor<TestBroker>('/broker', startBroker);
  return sharedBroker;
}

/**
 * Returns a new empty database on the server that all tests share. If `PGHOST` is set, this is the server of `PGHOST`,
 * `PGPORT`, `PGUSER` and `PGPASSWORD`; otherwise it is started at the first call. The database is dropped at the end of
 * the run.
 */
export async function database(name = 'test'): Promise<TestDatabase> {
  const server = await databaseServer();
  const created = onServer(server, uniqueName(name.toLowerCase()).replaceAll('-', '_'));
  await maintain(server, `CREATE DATABASE ${pg.escapeIdentifier(created.database)}`);
  databases.push(created);
  return created;
}

/**
 * Returns the server that all tests share, for `database` and for tests that need no database of their own. If
 * `SLUICE_TEST_POOLER` is `session` or `transaction`, a pgbouncer in this mode is in front of it.
 */
export async function databaseServer(): Promise<ServerAccess> {
  sharedServer ??= askServiceDoor<ServerAccess>('/server', async () => behindPooler(await startServer()));
  return sharedServer;
}

/**
 * Returns true if each transaction of a connection to the shared server may run in another backend. Then prints `why` a
 * test cannot run, in the form that `.ci/matrix` reads.
 */
export function sharesBackends(why: string): boolean {
  if (process.env['SLUICE_TEST_POOLER'] !== 'transaction') return false;
  process.stdout.write(`    (skipped: ${why})\n`);
  return true;
}

/** Returns `name` with a random suffix, for topics, groups, databases and connectors that other tests must not use. */
export function uniqueName(name: string): string {
  return `${name}-${randomBytes(5).toString('hex')}`;
}

/** Starts a broker for one test, which may kill, stop and restart it. The test must discard it. */
export async function ownBroker(options: KafkaOptions = {}): Promise<LocalKafka> {
  const kafka = await LocalKafka.start(options);
  endings.push(() => kafka.discard());
  return kafka;
}

/** Starts a PostgreSQL for one test, which may kill, stop and restart it. The test must discard it. */
export async function ownPostgres(options: PostgresOptions = {}): Promise<LocalPostgres> {
  const postgres = await LocalPostgres.start(options);
  endings.push(() => postgres.discard());
  return postgres;
}

/** Returns the access to a database of a server. */
export function onServer(server: ServerAccess, name: string): TestDatabase {
  const { host, port, user, password } = server;
  const login = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`;
  const url = `postgresql://${login}@${host}:${String(port)}/${encodeURIComponent(name)}`;
  return { host, port, user, password, database: name, url };
}

/** Returns the number of processes that run for all tests together and therefore are not leaks. */
export function sharedProcesses(): number {
  return sharedProcessCount;
}

/** Changes the number of processes that run for several tests together; a negative number removes them. */
export function countShared(processes: number): void {
  sharedProcessCount += processes;
}

/** Registers a function that ends something at the end of the run. */
export function atEndOfRun(end: () => Promise<unknown>): void {
  endings.push(end);
}

/** Drops the databases and ends the services that were started in this process. */
export async function endServices(): Promise<void> {
  const server = await sharedServer?.catch(() => undefined);
  for (const { database: name } of databases.splice(0)) {
    if (server !== undefined)
      await maintain(server, `DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`);
  }
  await Promise.all(endings.splice(0).map((end) => end()));
}

/**
 * If the broker assigns partitions (KIP-848), members are notified of changes in heartbeats. The broker sets their
 * interval, by default to 5 s.
 */
const QUICK_GROUPS = {
  'group.consumer.min.heartbeat.interval.ms': '100',
  'group.consumer.heartbeat.interval.ms': '200',
};

async function startBroker(): Promise<TestBroker> {
  const given = process.env['BOOTSTRAP_SERVERS'] ?? '';
  if (given !== '') return { bootstrapServers: given };
  if (inContainers()) return keep(await containerBroker());
  const kafka = await LocalKafka.start({ onProgress: say, extras: { properties: QUICK_GROUPS } });
  sharedProcessCount += 1;
  endings.push(() => kafka.discard());
  return kafka;
}

async function startServer(): Promise<ServerAccess> {
  const { PGHOST = '', PGPORT = '5432', PGUSER = 'postgres', PGPASSWORD = '' } = process.env;
  if (PGHOST !== '') return { host: PGHOST, port: Number(PGPORT), user: PGUSER, password: PGPASSWORD };
  if (inContainers()) return keep(await containerPostgres());
  const postgres = await LocalPostgres.start({ onProgress: say });
  sharedProcessCount += 1;
  endings.push(() => postgres.discard());
  return postgres;
}

async function behindPooler(server: ServerAccess): Promise<ServerAccess> {
  const mode = process.env['SLUICE_TEST_POOLER'] ?? '';
  if (mode === '') return server;
  const program = pgBouncerPath();
  if (program === undefined) throw new Error('SLUICE_TEST_POOLER needs pgbouncer, which is not installed');
  const settings = { ...everyRole(server), max_client_conn: '1000', default_pool_size: '20', server_idle_timeout: '5' };
  const bouncer = await PgBouncer.start(program, onServer(server, 'postgres'), { mode: mode as PoolMode, settings });
  sharedProcessCount += 1;
  endings.push(() => bouncer.discard());
  const { host, port } = bouncer.database;
  return { ...server, host, port };
}

function keep<T extends { end(): Promise<unknown> }>(service: T): T {
  endings.push(() => service.end());
  return service;
}

async function maintain(server: ServerAccess, sql: string): Promise<void> {
  const client = new pg.Client({ ...server, database: 'postgres' });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function say(message: string, passing = false): void {
  if (passing) return;
  process.stdout.write(`    (${message})\n`);
}
