import { ConnectError } from '../../src/index.ts';
import { connectWithAttempts, DatabaseError, ReplicationConnection, type Executor } from '../database/index.ts';
import { readServerLog, type ServerLog } from './log-identity.ts';
import type { LogSettings } from './settings.ts';

/** SQLSTATE for a syntax error. */
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
 * Opens a replication connection, and reads the identity and the end of the server's log.
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
 * Returns the error to report if a pooler caused this error, otherwise `undefined`. pgbouncer refuses unknown startup parameters such as
 * `replication`. If pgbouncer is configured to ignore them, the connection is an ordinary one, in which commands of the replication
 * protocol are syntax errors.
 */
export function poolerError(error: unknown, { connection, names }: LogSettings): ConnectError | undefined {
  if (!(error instanceof DatabaseError)) return undefined;
  if (error.sqlstate !== SYNTAX_ERROR && !error.message.includes('unsupported startup parameter')) return undefined;
  const servers = connection.servers.map(({ host, port }) => `${host}:${String(port)}`).join(', ');
  const message = `${servers} is a pooler, such as pgbouncer, which does not pass on replication connections: set ${names.address} to the address of the PostgreSQL server itself`;
  return new ConnectError(message, { cause: error });
}
