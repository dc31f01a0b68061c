import type { Scope } from '../../../src/data/fault.ts';
import { ConfigError, DatabaseError, firstCause, toError, withoutOpenssl } from '../../../src/errors.ts';
import { lookupTable } from '../../../src/data/lookup-table.ts';
import { sqlstateOfPooler } from './pooler-refusal.ts';

/**
 * Scope of a failure by SQLSTATE class (PostgreSQL documentation, appendix A). Unknown classes are `infrastructure`, so
 * that they are retried and their records are never discarded as invalid.
 */
const SCOPE_BY_CLASS: ReadonlyMap<string, Scope> = new Map([
  ['03', 'caller'], // statement not yet complete
  ['08', 'infrastructure'], // connection
  ['09', 'record'], // triggered action
  ['0A', 'caller'], // feature not supported
  ['0B', 'caller'], // transaction initiation
  ['0F', 'record'], // locator
  ['0L', 'caller'], // grantor
  ['0P', 'caller'], // role specification
  ['0Z', 'caller'], // diagnostics
  ['10', 'record'], // XQuery
  ['20', 'record'], // CASE without a match
  ['21', 'record'], // cardinality: one key twice in a statement
  ['22', 'record'], // data
  ['23', 'record'], // integrity constraints
  ['24', 'caller'], // cursor state
  ['25', 'caller'], // transaction state
  ['26', 'infrastructure'], // prepared statement does not exist: a pooler switched to another server connection
  ['27', 'record'], // triggered data change
  ['28', 'caller'], // authentication
  ['2B', 'caller'], // dependent privileges
  ['2D', 'caller'], // transaction termination
  ['2F', 'record'], // SQL routine: triggers and functions that fail on a row
  ['34', 'caller'], // cursor name
  ['38', 'record'], // external routine
  ['39', 'record'], // external routine invocation
  ['3B', 'caller'], // savepoint
  ['3D', 'caller'], // database does not exist
  ['3F', 'table'], // schema does not exist
  ['40', 'infrastructure'], // rolled back by the server; retried in place first
  ['42', 'table'], // syntax, names, types
  ['44', 'record'], // WITH CHECK OPTION
  ['53', 'infrastructure'], // resources
  ['54', 'record'], // limits: an index row too large, for instance
  ['55', 'infrastructure'], // object not in the needed state: locked, in use
  ['57', 'infrastructure'], // operator intervention
  ['58', 'infrastructure'], // system
  ['72', 'infrastructure'], // snapshot too old
  ['F0', 'infrastructure'], // configuration file
  ['HV', 'infrastructure'], // foreign data wrapper
  ['P0', 'record'], // PL/pgSQL: RAISE in a trigger
  ['XX', 'infrastructure'], // internal
]);

/** SQLSTATEs whose scope differs from that of their class. */
const SCOPE_BY_CODE: ReadonlyMap<string, Scope> = new Map([
  ['25006', 'infrastructure'], // read-only transaction: a standby responded, or the primary changed
  ['25P03', 'infrastructure'], // idle-in-transaction timeout: the connection is lost
  ['25P04', 'infrastructure'], // transaction timeout
  ['40002', 'record'], // a constraint, not a conflict
  ['42501', 'caller'], // missing privilege: neither waiting nor another row helps
  ['42601', 'caller'], // syntax
  ['42P05', 'infrastructure'], // prepared statement already exists: a pooler again
  ['54001', 'caller'], // statement too complex
  ['54011', 'table'], // too many columns
  ['54023', 'caller'], // too many arguments
  ['55000', 'table'], // when writing: a view that is not updatable
  ['55P02', 'caller'], // parameter cannot be changed now
]);

/**
 * State of the server according to an infrastructure failure, independent of the statement:
 * - unreachable: no response (not reached, lost, starting, stopping, or a pooler switched to another server
 *   connection);
 * - full: no connection is available;
 * - unable: the server responds, but cannot do the work now (read-only, or out of disk or memory).
 *
 * Failures of a single statement have no such state.
 */
export type Availability = 'unreachable' | 'full' | 'unable';

const AVAILABILITY_BY_CLASS: ReadonlyMap<string, Availability> = new Map([
  ['08', 'unreachable'],
  ['26', 'unreachable'],
  ['53', 'unable'],
  ['57', 'unreachable'],
  ['58', 'unable'],
]);

/** SQLSTATEs whose state differs from that of their class; `undefined` if only the statement failed. */
const AVAILABILITY_BY_CODE: ReadonlyMap<string, Availability | undefined> = new Map([
  ['25006', 'unable'], // a standby responded
  ['25P03', 'unreachable'],
  ['25P04', 'unreachable'],
  ['42P05', 'unreachable'],
  ['53300', 'full'], // too many connections
  ['53400', undefined], // a configured limit, for instance of temporary files: the statement is too large
  ['57014', undefined], // timeout of the statement
]);

/** Routines of the server that report exhausted transaction ids as 54000; the rows are not the cause. */
const WRAPAROUND_ROUTINES: ReadonlySet<string> = new Set(['GetNewTransactionId', 'GetNewMultiXactId']);

/**
 * Routine of the server that reports a mismatch of statement and parameters as 08P01; the connection is intact then.
 */
const BIND_ROUTINE = 'exec_bind_message';

/** Node's codes of certificates that TLS rejects, which waiting does not fix. */
const CALLER_CODES: ReadonlySet<string> = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Codes of TLS alerts: the server rejected our certificate, or our TLS versions and ciphers. */
const TLS_ALERT =
  /^ERR_SSL_\w+_ALERT_(?:\w*CERTIFICATE\w*|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE|PROTOCOL_VERSION|INSUFFICIENT_SECURITY)$/;

/** Fields of the driver's errors. */
interface ServerFields {
  readonly code?: unknown;
  readonly routine?: unknown;
  readonly detail?: unknown;
  readonly column?: unknown;
}

/**
 * Returns the scope of a failure. `routine` is the function of the server that reported it.
 * @internal
 */
export function scopeOfSqlstate(sqlstate: string, routine?: string): Scope {
  if (sqlstate === '54000' && routine !== undefined && WRAPAROUND_ROUTINES.has(routine)) return 'infrastructure';
  if (sqlstate === '08P01' && routine === BIND_ROUTINE) return 'table';
  return SCOPE_BY_CODE.get(sqlstate) ?? SCOPE_BY_CLASS.get(sqlstate.slice(0, 2)) ?? 'infrastructure';
}

/** Converts errors of the driver or socket to a DatabaseError with its scope. */
export function toDatabaseError(thrown: unknown): DatabaseError {
  if (thrown instanceof DatabaseError) return thrown;
  if (thrown instanceof ConfigError) return new DatabaseError(thrown.message, { scope: 'caller', cause: thrown });
  const error = toError(thrown);
  const fields = error as ServerFields;
  const code = text(fields.code);
  if (code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E')) {
    const detail = text(fields.detail);
    const routine = text(fields.routine);
    // Unlike a pooler, the server names the routine that reports the error.
    const isOfPooler = code === '08P01' && routine === undefined;
    const sqlstate = (isOfPooler ? sqlstateOfPooler(error.message) : undefined) ?? code;
    return new DatabaseError(detail === undefined ? error.message : `${error.message}: ${detail}`, {
      scope: scopeOfSqlstate(sqlstate, routine),
      sqlstate,
      column: text(fields.column),
      cause: error,
    });
  }
  const scope: Scope = isCallerFailure(code, error.message) ? 'caller' : 'infrastructure';
  return new DatabaseError(socketMessage(error, code), { scope, cause: error });
}

/**
 * Returns true if the server rolled back because of other transactions (deadlock, serialization); the same statement
 * may succeed.
 */
export function isRollback(error: DatabaseError): boolean {
  return error.scope === 'infrastructure' && (error.sqlstate?.startsWith('40') ?? false);
}

/** Returns the state of the server; `undefined` if the failure concerns only the statement, its rows or its caller. */
function availabilityOf({ scope, sqlstate }: DatabaseError): Availability | undefined {
  if (scope !== 'infrastructure') return undefined;
  if (sqlstate === undefined) return 'unreachable';
  if (AVAILABILITY_BY_CODE.has(sqlstate)) return AVAILABILITY_BY_CODE.get(sqlstate);
  return AVAILABILITY_BY_CLASS.get(sqlstate.slice(0, 2));
}

/** Returns true if the server does not respond. This excludes servers that are full or read-only. */
export function isUnreachable(error: DatabaseError): boolean {
  return availabilityOf(error) === 'unreachable';
}

/**
 * Returns true if no statement can run now. The same statement may succeed on another server, or later on this server.
 */
export function isUnreachableOrFull(error: DatabaseError): boolean {
  const availability = availabilityOf(error);
  return availability === 'unreachable' || availability === 'full';
}

/** Returns true if the server is unreachable, full or unable, so that the same request may succeed later. */
export function isUnavailable(error: DatabaseError): boolean {
  return availabilityOf(error) !== undefined;
}

/**
 * Returns true if the server rejected the user or password (class 28), or if the failure has no SQLSTATE and waiting
 * does not fix it, such as a rejected certificate.
 */
export function isLoginRefused({ scope, sqlstate }: DatabaseError): boolean {
  return sqlstate?.startsWith('28') ?? scope === 'caller';
}

/** Returns true if the cause is TLS or a file named in the connection URL, not the user or password. */
export function isCausedByConnectionUrl(error: DatabaseError): boolean {
  const cause = firstCause(error);
  return cause instanceof ConfigError || isTlsRefusal(text((cause as ServerFields).code) ?? '');
}

/** Returns true if the login succeeded, but the database does not exist or does not accept this user's connections. */
export function isDatabaseRefused({ sqlstate = '' }: DatabaseError): boolean {
  return DATABASE_REFUSED.has(sqlstate);
}

export function isDatabaseMissing({ sqlstate }: DatabaseError): boolean {
  return sqlstate === '3D000';
}

/** Returns true if the table, a column or a type may differ from the cached definition, which must be read again. */
export function isTableChanged({ scope, sqlstate }: DatabaseError): boolean {
  // 0A000: the columns of a prepared statement's result have changed.
  return scope === 'table' || sqlstate === '0A000';
}

/** Returns true if the failure concerns only one table, its rows, or the user's privileges on it (42501, a view). */
export function isLimitedToTable({ scope, sqlstate = '' }: DatabaseError): boolean {
  if (scope === 'table' || scope === 'record') return true;
  return scope === 'caller' && ONE_TABLE_CLASSES.has(sqlstate.slice(0, 2));
}

/**
 * Returns true if another process created the object first (duplicate table, type or object, unique index of the
 * catalogue).
 */
export function alreadyExists({ sqlstate = '' }: DatabaseError): boolean {
  return EXISTS_NOW.has(sqlstate);
}

/** Returns true if the user lacks a privilege. */
export function isDenied({ sqlstate }: DatabaseError): boolean {
  return sqlstate === '42501';
}

/**
 * Returns true if the server or an extension does not support the operation on this relation (a view, row-level
 * security).
 */
export function isUnsupported({ sqlstate }: DatabaseError): boolean {
  return sqlstate === '0A000' || sqlstate === '42809';
}

/** Returns true if the client cancelled the statement or it timed out. */
export function isCancelled({ sqlstate }: DatabaseError): boolean {
  return sqlstate === '57014';
}

export function isUniqueViolation({ sqlstate }: DatabaseError): boolean {
  return sqlstate === '23505';
}

const DATABASE_REFUSED: ReadonlySet<string> = new Set(['3D000', '42501', '55000']);
const ONE_TABLE_CLASSES: ReadonlySet<string> = new Set(['42', '0A', '54']);
const EXISTS_NOW: ReadonlySet<string> = new Set(['42P07', '42710', '23505']);

function isTlsRefusal(code: string): boolean {
  return CALLER_CODES.has(code) || TLS_ALERT.test(code);
}

function isCallerFailure(code: string | undefined, message: string): boolean {
  if (code !== undefined && isTlsRefusal(code)) return true;
  return /^(?:SASL|SCRAM)|does not support SSL/.test(message);
}

const SOCKET_REASONS: Readonly<Record<string, string>> = lookupTable({
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection closed',
  ETIMEDOUT: 'timed out',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'network unreachable',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name cannot be resolved now',
});

/** Node reports failures of several addresses as an AggregateError without a message. */
function socketMessage(error: Error, code: string | undefined): string {
  const reason = code === undefined ? undefined : SOCKET_REASONS[code];
  if (reason !== undefined) return `${reason} (${code ?? ''})`;
  if (error instanceof AggregateError && error.errors.length > 0) return toDatabaseError(error.errors[0]).message;
  return error.message === '' ? (code ?? error.name) : withoutOpenssl(error.message.trim());
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
