import { createHash } from 'node:crypto';
import type { DatabaseError } from '../../../src/errors.ts';
import type { Logger } from '../../../src/observe/logger.ts';
import type { Executor } from './api.ts';
import { BatchWriter } from './batch-writer.ts';
import { Catalogue } from './catalogue.ts';
import { connect } from './connect.ts';
import type { ConnectionSettings } from './connection-url.ts';
import { Database } from './database.ts';
import { PooledExecutor } from './executor.ts';
import { Pool } from './pool.ts';
import { toDatabaseError } from './sqlstate.ts';

export { beginWithAttempts, connectWithAttempts, unavailableReason, type ConnectAttempts } from './connect.ts';
export { databaseText, type ConnectionSettings, parseConnectionUrl, type UrlOverrides } from './connection-url.ts';

export interface ExecutorOptions {
  readonly logger: Logger;
  /**
   * Number of concurrent connections that this executor needs; default 4. The numbers of all executors that share a
   * pool are added up.
   */
  readonly poolSize?: number;
  /**
   * Idle connections are closed after this time; default 30,000. In a shared pool, the value of the executor that was
   * opened first applies.
   */
  readonly idleTimeoutMs?: number;
  /**
   * A statement without data from the server for this long is checked; default 30,000. In a shared pool, the value of
   * the executor that was opened first applies.
   */
  readonly silenceMs?: number;
  /** Called after each attempt to open a connection to the database; `failure` is set if it failed. */
  readonly onConnect?: OnConnect;
}

type OnConnect = (failure: DatabaseError | undefined) => void;

/**
 * Number of connections that all pools of one user and database in this thread share in proportion to their needs. Many
 * pools may exceed it, because each pool gets at least MIN_POOL_SIZE connections, or fewer if it needs fewer.
 * PostgreSQL allows 100 connections for all clients by default.
 */
const MAX_CONNECTIONS = 32;
/** Terminating a backend that blocks a statement takes a second connection. */
const MIN_POOL_SIZE = 2;
const DEFAULT_POOL_SIZE = 4;
const DEFAULT_IDLE_TIMEOUT_MS = 30_000;
const DEFAULT_SILENCE_MS = 30_000;

interface SharedDatabase {
  readonly database: Database;
  /** Equal for pools that share MAX_CONNECTIONS. Such pools differ only in the application name. */
  readonly budget: string;
  readonly shares: number[];
  readonly listeners: Set<OnConnect>;
}

const sharedDatabases = new Map<string, SharedDatabase>();

/** Executors with equal settings share connections and catalogue. No connection is opened before the first call. */
export function openExecutor(settings: ConnectionSettings, options: ExecutorOptions): Executor {
  const key = identity(settings);
  const shared = sharedDatabases.get(key) ?? createShared(settings, options);
  sharedDatabases.set(key, shared);
  const share = options.poolSize ?? DEFAULT_POOL_SIZE;
  shared.shares.push(share);
  // Each executor has its own function, so that it removes only its own listener.
  const listener: OnConnect = (failure) => options.onConnect?.(failure);
  shared.listeners.add(listener);
  setLimits(shared.budget);
  return new PooledExecutor(shared.database, async () => {
    shared.listeners.delete(listener);
    shared.shares.splice(shared.shares.indexOf(share), 1);
    const isLast = shared.shares.length === 0;
    if (isLast && sharedDatabases.get(key) === shared) sharedDatabases.delete(key);
    setLimits(shared.budget);
    if (!isLast) return;
    await shared.database.pool.close();
  });
}

function createShared(settings: ConnectionSettings, options: ExecutorOptions): SharedDatabase {
  const listeners = new Set<OnConnect>();
  const notify = (failure: DatabaseError | undefined): void => {
    for (const listener of listeners) listener(failure);
  };
  const budget = identity({ ...settings, applicationName: '' });
  return { database: createDatabase(settings, options, notify), budget, shares: [], listeners };
}

function createDatabase(settings: ConnectionSettings, options: ExecutorOptions, onConnect: OnConnect): Database {
  const pool = new Pool({
    limit: DEFAULT_POOL_SIZE,
    idleTimeoutMs: options.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
    logger: options.logger,
    silenceMs: options.silenceMs ?? DEFAULT_SILENCE_MS,
    connect: async (signal, server) => {
      try {
        const connection = await connect(server === undefined ? settings : { ...settings, servers: [server] }, signal);
        onConnect(undefined);
        return connection;
      } catch (error) {
        onConnect(toDatabaseError(error));
        throw error;
      }
    },
  });
  return new Database(pool, (source) => {
    const catalogue = new Catalogue(source);
    const { namedStatements } = settings;
    return { catalogue, writer: new BatchWriter(pool, catalogue, source, { namedStatements }) };
  });
}

function setLimits(budget: string): void {
  const pools = [...sharedDatabases.values()].filter((each) => each.budget === budget);
  const all = sum(pools.flatMap(({ shares }) => shares));
  for (const { database, shares } of pools) {
    const wanted = sum(shares);
    const fair = Math.max(MIN_POOL_SIZE, Math.floor((wanted * MAX_CONNECTIONS) / all));
    database.pool.limit = Math.min(wanted, fair);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/**
 * Includes the passwords, so that an executor with a wrong password cannot use connections opened with the right one.
 */
function identity(settings: ConnectionSettings): string {
  const password = createHash('sha256')
    .update(settings.password?.reveal() ?? '')
    .digest('hex');
  const keyPassword = createHash('sha256')
    .update(settings.tls.keyPassword?.reveal() ?? '')
    .digest('hex');
  return JSON.stringify([settings, password, keyPassword]);
}
