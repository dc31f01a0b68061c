import type { Scope } from '../../../src/data/fault.ts';
import { ConfigError, DatabaseError, firstCause, toError, withoutOpenssl } from '../../../src/errors.ts';
import { lookupTable } from '../../../src/data/lookup-table.ts';

/**
 * How far a failure reaches, by SQLSTATE class (PostgreSQL documentation, appendix A). Classes that are not here are
 * `infrastructure`: what is not understood is retried, and never thrown away as a bad record.
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
  ['26', 'infrastructure'], // a prepared statement is gone: a pooler gave another server connection
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

/** Codes that reach further, or less far, than their class. */
const SCOPE_BY_CODE: ReadonlyMap<string, Scope> = new Map([
  ['25006', 'infrastructure'], // read-only transaction: a standby answered, or the primary moved
  ['25P03', 'infrastructure'], // idle-in-transaction timeout: the connection is gone
  ['25P04', 'infrastructure'], // transaction timeout
  ['40002', 'record'], // a constraint, not a conflict
  ['42501', 'caller'], // privilege missing: neither waiting nor another row helps
  ['42601', 'caller'], // syntax
  ['42P05', 'infrastructure'], // prepared statement exists already: a pooler again
  ['54001', 'caller'], // statement too complex
  ['54011', 'table'], // too many columns
  ['54023', 'caller'], // too many arguments
  ['55000', 'table'], // for writes: a view that takes none
  ['55P02', 'caller'], // parameter cannot be changed now
]);

/**
 * What a failure of the infrastructure says about the server, whatever was asked of it. away: nobody answers (not reached, lost,
 * starting, stopping, or a pooler gave another server connection); full: it has no connection left; unable: it answers, and
 * cannot do this work now (it only reads, or lacks disk or memory). A failure of one statement alone is none of these.
 */
export type Availability = 'away' | 'full' | 'unable';

const AVAILABILITY_BY_CLASS: ReadonlyMap<string, Availability> = new Map([
  ['08', 'away'],
  ['26', 'away'],
  ['53', 'unable'],
  ['57', 'away'],
  ['58', 'unable'],
]);

/** Codes that say something else than their class; `undefined`: the statement alone failed. */
const AVAILABILITY_BY_CODE: ReadonlyMap<string, Availability | undefined> = new Map([
  ['25006', 'unable'], // a standby answered
  ['25P03', 'away'],
  ['25P04', 'away'],
  ['42P05', 'away'],
  ['53300', 'full'], // too many connections
  ['53400', undefined], // a configured limit, of temporary files for instance: the statement is too large
  ['57014', undefined], // timeout of the statement
]);

/** Routines of the server that report exhausted transaction ids under 54000; the rows are fine then. */
const WRAPAROUND_ROUTINES: ReadonlySet<string> = new Set(['GetNewTransactionId', 'GetNewMultiXactId']);

/** Reports under 08P01 that a statement has other parameters than were sent; the connection is fine then. */
const BIND_ROUTINE = 'exec_bind_message';

/** Codes of TLS and protocol failures that no waiting mends. */
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

/** The server refused the certificate of this side, or its versions and ciphers of TLS. */
const TLS_ALERT =
  /^ERR_SSL_\w+_ALERT_(?:\w*CERTIFICATE\w*|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE|PROTOCOL_VERSION|INSUFFICIENT_SECURITY)$/;

/** What the driver's error objects may carry beside their message. */
interface ServerFields {
  readonly code?: unknown;
  readonly routine?: unknown;
  readonly detail?: unknown;
  readonly column?: unknown;
}

/** @internal */
export function scopeOfSqlstate(sqlstate: string, routine?: string): Scope {
  if (sqlstate === '54000' && routine !== undefined && WRAPAROUND_ROUTINES.has(routine)) return 'infrastructure';
  if (sqlstate === '08P01' && routine === BIND_ROUTINE) return 'table';
  return SCOPE_BY_CODE.get(sqlstate) ?? SCOPE_BY_CLASS.get(sqlstate.slice(0, 2)) ?? 'infrastructure';
}

/** Anything that the driver or a socket threw, as a DatabaseError with its scope. */
export function toDatabaseError(thrown: unknown): DatabaseError {
  if (thrown instanceof DatabaseError) return thrown;
  if (thrown instanceof ConfigError) return new DatabaseError(thrown.message, { scope: 'caller', cause: thrown });
  const error = toError(thrown);
  const fields = error as ServerFields;
  const code = text(fields.code);
  if (code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E')) {
    const detail = text(fields.detail);
    return new DatabaseError(detail === undefined ? error.message : `${error.message}: ${detail}`, {
      scope: scopeOfSqlstate(code, text(fields.routine)),
      sqlstate: code,
      column: text(fields.column),
      cause: error,
    });
  }
  const scope: Scope = isCallerFailure(code, error.message) ? 'caller' : 'infrastructure';
  return new DatabaseError(socketMessage(error, code), { scope, cause: error });
}

/** The server undid the statement for the sake of others (deadlock, serialization): the same statement may succeed. */
export function isRollback(error: DatabaseError): boolean {
  return error.scope === 'infrastructure' && (error.sqlstate?.startsWith('40') ?? false);
}

/** What the failure says about the server; `undefined` when it concerns the statement, its rows or its caller alone. */
function availabilityOf({ scope, sqlstate }: DatabaseError): Availability | undefined {
  if (scope !== 'infrastructure') return undefined;
  if (sqlstate === undefined) return 'away';
  if (AVAILABILITY_BY_CODE.has(sqlstate)) return AVAILABILITY_BY_CODE.get(sqlstate);
  return AVAILABILITY_BY_CLASS.get(sqlstate.slice(0, 2));
}

/** Nobody answers; a server that is full, or only reads, is there. */
export function isAway(error: DatabaseError): boolean {
  return availabilityOf(error) === 'away';
}

/** No statement can be answered now, whatever it asks; another server, or this one later, may answer it. */
export function isUnreachable(error: DatabaseError): boolean {
  const availability = availabilityOf(error);
  return availability === 'away' || availability === 'full';
}

/** The same request may succeed later, without any change of it. */
export function isUnavailable(error: DatabaseError): boolean {
  return availabilityOf(error) !== undefined;
}

/** The server, or TLS before it, refused user or password. */
export function isLoginRefused({ scope, sqlstate }: DatabaseError): boolean {
  return sqlstate?.startsWith('28') ?? scope === 'caller';
}

/** The reason is TLS, or a file that the connection URL names, and neither the user nor the password. */
export function isOfConnectionUrl(error: DatabaseError): boolean {
  const cause = firstCause(error);
  return cause instanceof ConfigError || isTlsRefusal(text((cause as ServerFields).code) ?? '');
}

/** The server took user and password, and refused the database: it is missing, closed, or not for this user. */
export function isDatabaseRefused({ sqlstate = '' }: DatabaseError): boolean {
  return DATABASE_REFUSED.has(sqlstate);
}

export function isDatabaseMissing({ sqlstate }: DatabaseError): boolean {
  return sqlstate === '3D000';
}

/** The table, a column or a type is not what it was taken for: it is to be looked at again. */
export function isTableChanged({ scope, sqlstate }: DatabaseError): boolean {
  // 0A000: the columns of a prepared statement's result have changed.
  return scope === 'table' || sqlstate === '0A000';
}

/** It concerns one table, its rows, or this user's rights on it (42501, a view in the way), and no other table. */
export function isOfOneTable({ scope, sqlstate = '' }: DatabaseError): boolean {
  if (scope === 'table' || scope === 'record') return true;
  return scope === 'caller' && ONE_TABLE_CLASSES.has(sqlstate.slice(0, 2));
}

/** What was to be created is there: others were faster (duplicate table, type or object, unique index of the catalogue). */
export function existsNow({ sqlstate = '' }: DatabaseError): boolean {
  return EXISTS_NOW.has(sqlstate);
}

/** The user lacks a right. */
export function isDenied({ sqlstate }: DatabaseError): boolean {
  return sqlstate === '42501';
}

/** The server, or an extension, does not do this with such a relation (a view, row-level security). */
export function isUnsupported({ sqlstate }: DatabaseError): boolean {
  return sqlstate === '0A000' || sqlstate === '42809';
}

/** The statement was given up by whoever sent it, or was not done in time. */
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
  ETIMEDOUT: 'no answer in time',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'network unreachable',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name cannot be resolved now',
});

/** Node joins the attempts over several addresses in an AggregateError without a message. */
function socketMessage(error: Error, code: string | undefined): string {
  const reason = code === undefined ? undefined : SOCKET_REASONS[code];
  if (reason !== undefined) return `${reason} (${code ?? ''})`;
  if (error instanceof AggregateError && error.errors.length > 0) return toDatabaseError(error.errors[0]).message;
  return error.message === '' ? (code ?? error.name) : withoutOpenssl(error.message.trim());
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
