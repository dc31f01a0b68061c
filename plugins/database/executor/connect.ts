import type { ConnectionOptions } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { DatabaseError, toError } from '../../../src/errors.ts';
import { MAX_IDENTIFIER_BYTES } from '../sql/quote.ts';
import type { Executor } from './api.ts';
import { cancelled, Connection, TEXT_VALUES } from './connection.ts';
import type { ConnectionSettings, ServerAddress } from './connection-url.ts';
import { LATE, withLastRefusal } from './last-refusals.ts';
import { passwordFromFile } from './password-file.ts';
import { RowTap } from './row-tap.ts';
import { greet, refusesOptions, STARTUP_PARAMETERS, startupOptions } from './server-greeting.ts';
import { isUnavailable, toDatabaseError } from './sqlstate.ts';
import { tlsOptions } from './tls-options.ts';

/**
 * Idle time before keepalive probes. The system's default of two hours is too long to notice a dead connection, and
 * routers drop idle connections sooner. Node repeats the probe every second, ten times.
 */
const KEEP_ALIVE_AFTER_MS = 30_000;

/**
 * Connects to the first server of the list that accepts the connection. Rejects with DatabaseError: scope
 * `infrastructure` if none was reachable, `caller` if one rejected user, password, database or TLS. Rejects with
 * ConfigError if a certificate or key cannot be used.
 */
export async function connect(settings: ConnectionSettings, signal?: AbortSignal): Promise<Connection> {
  return connectToAny({ ...settings, openTap: (options) => new RowTap(options) }, signal);
}

/** Opens a connection for the streaming replication protocol; otherwise like `connect`. */
export async function connectReplication<T>(
  settings: ConnectionSettings,
  openTap: (options: object) => T,
  signal?: AbortSignal,
): Promise<{ readonly client: pg.Client; readonly tap: T }> {
  let tap: T | undefined;
  const open = (options: object): T => (tap = openTap(options));
  const { client } = await connectToAny({ ...settings, openTap: open, replication: 'database' }, signal);
  if (tap === undefined) throw new Error('The driver has no connection');
  return { client, tap };
}

interface ConnectRequest extends ConnectionSettings {
  /** Creates the driver's connection object with these options. */
  readonly openTap: (options: object) => unknown;
  readonly replication?: 'database';
}

async function connectToAny(settings: ConnectRequest, signal: AbortSignal | undefined): Promise<Connection> {
  refuseLongName(`role "${settings.user}" does not exist`, settings.user, '28000');
  refuseLongName(`database "${settings.database}" does not exist`, settings.database, '42622');
  const tls = await tlsOptions(settings.tls);
  const failures: { server: ServerAddress; error: DatabaseError }[] = [];
  for (const server of settings.servers) {
    try {
      return await connectTo(server, settings, tls, signal);
    } catch (thrown) {
      const login = JSON.stringify([server, settings.user, settings.database]);
      const error = withLastRefusal(login, toDatabaseError(thrown));
      failures.push({ server, error });
      // Another server of the list may be available.
      if (!isUnavailable(error)) break;
    }
  }
  throw connectFailure(settings, failures);
}

/**
 * Throws for a user or database name that is too long. At startup, the server truncates such a name, and would accept a
 * role with the shorter name.
 */
function refuseLongName(consequence: string, name: string, sqlstate: string): void {
  const bytes = Buffer.byteLength(name);
  if (bytes <= MAX_IDENTIFIER_BYTES) return;
  const limit = String(MAX_IDENTIFIER_BYTES);
  throw new DatabaseError(`${consequence}: its name has ${String(bytes)} bytes; PostgreSQL allows at most ${limit}`, {
    scope: 'caller',
    sqlstate,
  });
}

async function connectTo(
  server: ServerAddress,
  settings: ConnectRequest,
  tls: ConnectionOptions | undefined,
  signal: AbortSignal | undefined,
): Promise<Connection> {
  const [first, next] = settings.tls.mode === 'allow' ? [undefined, tls] : [tls, undefined];
  try {
    return await handshake(server, settings, first, signal);
  } catch (thrown) {
    const error = toDatabaseError(thrown);
    const { mode } = settings.tls;
    if ((mode !== 'allow' && mode !== 'prefer') || !shouldTryOtherWay(error)) throw error;
    try {
      return await handshake(server, settings, next, signal);
    } catch (other) {
      // A missing entry and missing support for TLS are the least informative reasons. If pg_hba.conf has no entry for
      // either attempt, the error of the attempt with TLS is thrown: the cause may be a missing client certificate.
      const second = toDatabaseError(other);
      const isOtherReason = first === undefined ? !lacksTls(second) : second.sqlstate !== NO_ENTRY || lacksTls(error);
      throw isOtherReason ? other : error;
    }
  }
}

/** SQLSTATE of the error if pg_hba.conf has no entry that matches: entries may require TLS, or exclude it. */
const NO_ENTRY = '28000';

function lacksTls({ message }: DatabaseError): boolean {
  return message.includes('does not support SSL');
}

/** As in libpq, a refusal without TLS is followed by an attempt with TLS, and vice versa. */
function shouldTryOtherWay(error: DatabaseError): boolean {
  return error.sqlstate === NO_ENTRY || lacksTls(error);
}

/** A member of the driver's client that its types omit. */
interface StartingClient {
  getStartupConf(): Readonly<Record<string, string>>;
}

/** Adds the parameters by overriding a method, because the driver has no option for further startup parameters. */
function addStartupParameters(client: StartingClient): void {
  const given = client.getStartupConf.bind(client);
  client.getStartupConf = () => ({ ...given(), ...STARTUP_PARAMETERS });
}

async function handshake(
  server: ServerAddress,
  settings: ConnectRequest,
  tls: ConnectionOptions | undefined,
  signal: AbortSignal | undefined,
): Promise<Connection> {
  try {
    return await logIn(server, settings, { tls, signal, options: startupOptions(settings) });
  } catch (error) {
    if (!refusesOptions(toDatabaseError(error))) throw error;
    return logIn(server, settings, { tls, signal });
  }
}

interface Login {
  readonly tls: ConnectionOptions | undefined;
  readonly signal: AbortSignal | undefined;
  /** Settings of the session in the form of libpq. */
  readonly options?: string;
}

async function logIn(
  server: ServerAddress,
  settings: ConnectRequest,
  { tls, signal, options }: Login,
): Promise<Connection> {
  const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS };
  const config = {
    host: server.host,
    port: server.port,
    user: settings.user,
    database: settings.database,
    // If the password is a function, the driver reads neither the environment nor a password file that the URL does not
    // name.
    password: () => passwordFor(server, settings),
    ssl: tls ?? false,
    connectionTimeoutMillis: settings.connectTimeoutMs,
    application_name: settings.applicationName,
    options,
    connection: settings.openTap({ ssl: tls ?? false, ...keepAlive }),
    replication: settings.replication,
    types: TEXT_VALUES,
  };
  const client = new pg.Client(config);
  addStartupParameters(client as unknown as StartingClient);
  const connection = new Connection(client, { ...server, tls });
  let readOnly = false;
  client.connection.on('parameterStatus', (status: { parameterName: string; parameterValue: string }) => {
    const isRelevant =
      status.parameterName === 'in_hot_standby' || status.parameterName === 'default_transaction_read_only';
    if (isRelevant && status.parameterValue === 'on') readOnly = true;
  });
  const onAbort = (): unknown => client.connection.stream.destroy(new Error('aborted'));
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    if (signal?.aborted === true) throw cancelled(signal);
    await client.connect();
    if (settings.replication === undefined) await greet(connection, settings);
  } catch (error) {
    client.connection.stream.destroy();
    throw signal?.aborted === true ? cancelled(signal) : error;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
  if (readOnly && settings.target === 'primary') {
    await connection.close();
    throw new DatabaseError('the server is read-only', { scope: 'infrastructure', sqlstate: '25006' });
  }
  return connection;
}

async function passwordFor(
  server: ServerAddress,
  { password, passwordFile, database, user }: ConnectionSettings,
): Promise<string> {
  if (password !== undefined || passwordFile === undefined) return password?.reveal() ?? '';
  return passwordFromFile(passwordFile, { ...server, database, user });
}

class NotConnectedError extends DatabaseError {
  /** Describes the failure without the name and address of the database. */
  readonly why: string;

  constructor(message: string, why: string, options: ConstructorParameters<typeof DatabaseError>[1]) {
    super(message, options);
    this.why = why;
  }
}

const MAX_CAUSES = 10;

/** Returns the reason why a database is unavailable, for messages that already contain its name and address. */
export function unavailableReason(error: unknown): string {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth++) {
    if (cause instanceof NotConnectedError) return cause.why;
    ({ cause } = cause);
  }
  return toError(error).message;
}

function connectFailure(
  settings: ConnectionSettings,
  failures: readonly { server: ServerAddress; error: DatabaseError }[],
): DatabaseError {
  const refusal = failures.find((failure) => failure.error.scope === 'caller' || failure.error.sqlstate !== undefined);
  const reported = refusal === undefined ? failures : [refusal];
  const reasons = reported.map(({ server, error }) => {
    const address = `${server.host}:${String(server.port)}`;
    return { address, text: reason(error, settings) };
  });
  const list = reasons.map(({ address, text }) => `${address}: ${text}`).join('; ');
  const [only] = reasons;
  const why = settings.servers.length === 1 && only !== undefined ? only.text : list;
  const first = reported[0]?.error;
  return new NotConnectedError(
    `cannot connect to database "${settings.database}" as user "${settings.user}" at ${list}`,
    why,
    { scope: first?.scope ?? 'infrastructure', sqlstate: first?.sqlstate, cause: first },
  );
}

function reason(error: DatabaseError, settings: ConnectionSettings): string {
  const isAsked = error.sqlstate === '28P01' || error.message.startsWith('SASL');
  if (settings.password === undefined && settings.passwordFile === undefined && isAsked) {
    return 'the server requires a password: set connection.password';
  }
  if (error.message !== LATE) return error.message;
  return `no response within ${String(settings.connectTimeoutMs)} ms`;
}

export interface ConnectAttempts {
  readonly attempts: number;
  readonly backoffMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Called after each failed attempt that will be followed by another. */
  readonly onFailure?: (error: DatabaseError, attempt: number) => void;
}

/**
 * Verifies that the database responds. While it is unreachable, up to `attempts` attempts are made. Errors that waiting
 * cannot fix (password, unknown database, certificate) reject immediately.
 */
export async function connectWithAttempts(executor: Pick<Executor, 'query'>, policy: ConnectAttempts): Promise<void> {
  await beginWithAttempts(executor, policy, () => Promise.resolve());
}

/**
 * Like `connectWithAttempts`, followed by `begin`, which is repeated from the start if the database becomes unreachable
 * meanwhile. Other errors of `begin` are passed on.
 */
export async function beginWithAttempts<T>(
  executor: Pick<Executor, 'query'>,
  policy: ConnectAttempts,
  begin: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      await verifyConnection(executor, policy);
      return await begin();
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.scope !== 'infrastructure') throw error;
      if (attempt >= policy.attempts) throw exhausted(error, policy);
      policy.onFailure?.(error, attempt);
    }
    try {
      await delay(policy.backoffMs, undefined, policy.signal === undefined ? {} : { signal: policy.signal });
    } catch (error) {
      throw policy.signal?.aborted === true ? cancelled(policy.signal) : error;
    }
  }
}

async function verifyConnection(executor: Pick<Executor, 'query'>, { signal }: ConnectAttempts): Promise<void> {
  try {
    await executor.query('SELECT 1', [], { signal });
  } catch (error) {
    throw toDatabaseError(error);
  }
}

function exhausted(error: DatabaseError, policy: ConnectAttempts): DatabaseError {
  if (policy.attempts <= 1) return error;
  const tried = ` (${String(policy.attempts)} attempts, ${String(policy.backoffMs)} ms apart)`;
  const { scope, sqlstate, cause } = error;
  return new NotConnectedError(error.message + tried, unavailableReason(error) + tried, { scope, sqlstate, cause });
}
