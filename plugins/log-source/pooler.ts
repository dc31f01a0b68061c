import { ConnectError } from '../../src/index.ts';
import { connectWithAttempts, DatabaseError, ReplicationConnection, type Executor } from '../database/index.ts';
import { readServerLog, type ServerLog } from './log-identity.ts';
import type { LogSettings } from './settings.ts';

/** SQLSTATE of a syntax error. */
const SYNTAX_ERROR = '42601';

/** Waits for the first ordinary connection. @throws ConnectError if a pooler refuses it; DatabaseError */
export async function connectPool(executor: Executor, settings: LogSettings, signal: AbortSignal): Promise<void> {
  try {
    await connectWithAttempts(executor, { ...settings.attempts, signal });
  } catch (error) {
    throw poolerError(error, settings) ?? error;
  }
}

/**
 * Opens a replication connection, and reads which log it leads to.
 * @throws ConnectError if a pooler is in between; DatabaseError
 */
export async function connectToServer(
  settings: LogSettings,
  signal?: AbortSignal,
): Promise<{ readonly connection: ReplicationConnection; readonly server: ServerLog }> {
  let connection: ReplicationConnection | undefined;
  try {
    connection = await ReplicationConnection.open(settings.connection, signal);
    return { connection, server: await readServerLog(connection) };
  } catch (error) {
    connection?.close();
    throw poolerError(error, settings) ?? error;
  }
}

/**
 * The error to report if a pooler caused this one: pgbouncer refuses parameters of a connection that it does not know, such as
 * `replication`. If it is configured to ignore them, the connection is an ordinary one, and commands of the replication protocol are
 * syntax errors.
 */
export function poolerError(error: unknown, { connection, names }: LogSettings): ConnectError | undefined {
  if (!(error instanceof DatabaseError)) return undefined;
  if (error.sqlstate !== SYNTAX_ERROR && !error.message.includes('unsupported startup parameter')) return undefined;
  const servers = connection.servers.map(({ host, port }) => `${host}:${String(port)}`).join(', ');
  const message = `${servers} is a pooler, such as pgbouncer, which does not pass on replication connections: set ${names.address} to the address of the PostgreSQL server itself`;
  return new ConnectError(message, { cause: error });
}
