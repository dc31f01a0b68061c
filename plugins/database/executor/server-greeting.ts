import { ConfigError, DatabaseError } from '../../../src/errors.ts';
import { qualifiedStatement } from '../sql/own-statement.ts';
import { quoteIdentifier, quoteLiteral } from '../sql/quote.ts';
import type { Connection } from './connection.ts';
import type { ConnectionSettings } from './connection-url.ts';
import { LATE } from './last-refusals.ts';
import { isCancelled } from './sqlstate.ts';

/** The oldest supported release. Sluice uses CREATE OR REPLACE TRIGGER, which earlier releases do not have. */
const MIN_MAJOR_VERSION = 14;

/** Set for every session, so that the text format of values does not depend on the server's configuration. */
const FORMATS = {
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
} as const;

/**
 * These two settings are also sent as separate startup parameters, because poolers track them but may drop `options`.
 */
export const STARTUP_PARAMETERS = { TimeZone: FORMATS.TimeZone, DateStyle: FORMATS.DateStyle } as const;

const SERVER_AND_SETTINGS = `SELECT pg_catalog.pg_backend_pid(), pg_catalog.version(),
  pg_catalog.current_setting('search_path'),
  ${Object.keys(FORMATS)
    .map((name) => `pg_catalog.current_setting('${name}')`)
    .join(', ')}`;
/** The second statement is for relatives of PostgreSQL that lack a function of the first one. */
const GREETINGS = [
  qualifiedStatement(
    'connect: server, settings and start',
    `${SERVER_AND_SETTINGS}, pg_catalog.pg_postmaster_start_time(), pg_catalog.pg_is_in_recovery()`,
  ),
  qualifiedStatement('connect: server and settings', SERVER_AND_SETTINGS),
];

const instances = new WeakMap<Connection, string>();

/** Formats the settings of a session as `-c name=value …`, with escaped blanks and backslashes (libpq, "options"). */
export function startupOptions({ searchPath }: Pick<ConnectionSettings, 'searchPath'>): string {
  const all = Object.entries({ ...FORMATS, ...(searchPath === undefined ? {} : { search_path: searchPath }) });
  return all.map(([name, value]) => `-c ${`${name}=${value}`.replace(/[\\\s]/g, '\\$&')}`).join(' ');
}

/**
 * Whether an error comes from a pooler that refuses the startup parameter `options`, because it only accepts parameters
 * that it tracks.
 */
export function refusesOptions({ sqlstate, message }: DatabaseError): boolean {
  return sqlstate === '08P01' && message.includes('unsupported startup parameter');
}

/**
 * Verifies a new connection in one round trip: the release of the server, and whether a pooler is in between. A pooler
 * reports a process ID at the start that is not that of the backend. Behind a pooler, the settings of the session must
 * have been passed on. Throws ConfigError for a server that cannot be used.
 */
export async function greet(connection: Connection, settings: ConnectionSettings): Promise<void> {
  const [row] = await ask(connection, settings.connectTimeoutMs);
  if (row === undefined) {
    connection.sharesBackends();
    return;
  }
  const [pid, version, searchPath, ...formats] = row;
  instances.set(connection, [version, ...formats.splice(Object.keys(FORMATS).length)].join(' '));
  const release = /^PostgreSQL (\d+)\S*/.exec(version ?? '');
  if (release !== null && Number(release[1]) < MIN_MAJOR_VERSION) {
    throw new ConfigError(`the server is ${release[0]}; PostgreSQL ${String(MIN_MAJOR_VERSION)} or later is required`);
  }
  if (Number(pid) === connection.processId) return;
  connection.sharesBackends();
  for (const [index, [name, wanted]] of Object.entries(FORMATS).entries()) {
    if (!isSetTo(wanted, formats[index] ?? '')) throw notPassedOn(name, wanted, settings);
  }
  const { searchPath: path } = settings;
  if (path !== undefined && normalized(path) !== normalized(searchPath ?? '')) {
    throw notPassedOn('search_path', path, settings);
  }
}

/**
 * Identifies the server that answered the first query of a connection: its release, when it was started, and whether it
 * is a standby. A server that was restarted or promoted has another identity. Empty if the server did not answer.
 */
export function serverInstance(connection: Connection): string {
  return instances.get(connection) ?? '';
}

/**
 * Reads release, process ID and settings of the server. Returns no row if the queries fail because a database derived
 * from PostgreSQL lacks a function; the connection is then treated like one behind a pooler.
 */
async function ask(connection: Connection, timeoutMs: number): Promise<readonly (readonly (string | null)[])[]> {
  for (const text of GREETINGS) {
    try {
      return (await connection.run({ text }, { timeoutMs })).rows;
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      if (error.scope !== 'infrastructure') continue;
      if (!isCancelled(error)) throw error;
      // A pooler accepts logins even if the database behind it is unavailable. The login then succeeds, and this query
      // times out.
      throw new DatabaseError(LATE, { scope: 'infrastructure', cause: error });
    }
  }
  return [];
}

/**
 * Compares a setting. The server reports DateStyle together with the order of day and month (`ISO, MDY`), which is
 * ignored.
 */
function isSetTo(wanted: string, actual: string): boolean {
  return actual.toLowerCase().split(',')[0] === wanted.toLowerCase();
}

function normalized(path: string): string {
  return path.replaceAll(/[\s"]/g, '');
}

function notPassedOn(name: string, value: string, { user, database }: ConnectionSettings): ConfigError {
  const text = name === 'search_path' ? value : quoteLiteral(value);
  const cure = `ALTER ROLE ${quoteIdentifier(user)} IN DATABASE ${quoteIdentifier(database)} SET ${name} = ${text}`;
  return new ConfigError(`a connection pooler does not pass on the setting ${name}=${value}; run ${cure}`);
}
