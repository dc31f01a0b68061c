import type { Scope } from './data/fault.ts';

/**
 * The base class of errors that end or retry a task or a request. A fault describes an invalid row without an exception (see
 * data/fault.ts). `scope` tells the caller whether a retry can help. `javaName` is the Java class name that stack traces show
 * to Connect's users.
 */
export class SluiceError extends Error {
  readonly scope: Scope;
  /** First word of the stack trace in a FAILED status, and `exception.class.name` in dead-letter records. */
  readonly javaName: string;

  constructor(message: string, options: { scope?: Scope; javaName?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.scope = options.scope ?? 'infrastructure';
    this.javaName = options.javaName ?? 'org.apache.kafka.connect.errors.ConnectException';
  }
}

/** Connect's ConnectException: the task or connector cannot continue and fails. */
export class ConnectError extends SluiceError {}

/** Connect's RetriableException: the same call may succeed later. docs/plugins.md#errors lists the calls that are repeated. */
export class RetriableError extends SluiceError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, {
      ...options,
      scope: 'infrastructure',
      javaName: 'org.apache.kafka.connect.errors.RetriableException',
    });
  }
}

/**
 * A service that every record needs, such as a schema registry, is unavailable. A retry may help, but skipping records does
 * not, so `errors.tolerance` does not apply.
 */
export class UnavailableError extends RetriableError {}

/** Connect's DataException: this record is invalid. `errors.tolerance` determines how it is handled. */
export class DataError extends SluiceError {
  /** The table into which the record was to be written, if known. */
  readonly table: string | undefined;
  readonly column: string | undefined;

  constructor(
    message: string,
    { cause, table, column }: { cause?: unknown; table?: string | undefined; column?: string | undefined } = {},
  ) {
    super(message, { cause, scope: 'record', javaName: 'org.apache.kafka.connect.errors.DataException' });
    this.table = table;
    this.column = column;
  }
}

/** A configuration key or value is invalid (org.apache.kafka.common.config.ConfigException). */
export class ConfigError extends SluiceError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { ...options, scope: 'caller', javaName: 'org.apache.kafka.common.config.ConfigException' });
  }
}

/** The database rejected a request or is unreachable. `sqlstate` is absent if no server responded. */
export class DatabaseError extends SluiceError {
  readonly sqlstate: string | undefined;
  readonly table: string | undefined;
  readonly column: string | undefined;

  constructor(
    message: string,
    options: {
      scope: Scope;
      sqlstate?: string | undefined;
      table?: string | undefined;
      column?: string | undefined;
      cause?: unknown;
    },
  ) {
    super(message, { scope: options.scope, javaName: 'java.sql.SQLException', cause: options.cause });
    this.sqlstate = options.sqlstate;
    this.table = options.table;
    this.column = options.column;
  }
}

/** Returns any thrown value as an Error. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/**
 * Extracts the reason from an OpenSSL message, without error numbers and source locations. Returns all other messages
 * unchanged.
 */
export function withoutOpenssl(message: string): string {
  return /^[0-9A-F]+:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):/.exec(message)?.[1] ?? message;
}

/**
 * Returns the message. If it ends with a colon, the message of the cause is appended, because Connect's converters leave the
 * reason to the cause.
 */
export function messageWithCause(thrown: unknown): string {
  const { message, cause } = toError(thrown);
  return cause instanceof Error ? joinedMessage(message, messageWithCause(cause)) : message;
}

/** Appends `cause` to `message` if `message` ends with a colon. */
export function joinedMessage(message: string, cause: string | undefined): string {
  return cause !== undefined && message.trimEnd().endsWith(':') ? `${message.trimEnd()} ${cause}` : message;
}

/** Returns the error at the end of the chain of causes. */
export function firstCause(thrown: unknown): Error {
  let cause = toError(thrown);
  while (cause.cause instanceof Error && cause.cause !== cause) cause = cause.cause;
  return cause;
}

/**
 * Formats an error like a Java stack trace: `class: message`, the stack frames, then the chain of causes with `Caused by:`
 * (docs/compatibility.md#life-cycle). Clients display the trace, or look for the class name in its first line.
 */
export function javaTrace(error: unknown): string {
  const lines: string[] = [];
  let current: unknown = error;
  for (let depth = 0; current !== undefined && current !== null && depth < 10; depth++) {
    const failure = toError(current);
    const javaName = failure instanceof SluiceError ? failure.javaName : `java.lang.RuntimeException`;
    lines.push(`${depth === 0 ? '' : 'Caused by: '}${javaName}: ${failure.message}`);
    const frames = (failure.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
    for (const frame of frames.slice(0, 12)) lines.push(`\t${frame.trim()}`);
    if (frames.length > 12) lines.push(`\t... ${String(frames.length - 12)} more`);
    current = failure.cause;
  }
  return `${lines.join('\n')}\n`;
}

/** The failure of a management request, with its HTTP status. */
export class RequestError extends SluiceError {
  readonly status: 400 | 403 | 404 | 409 | 500 | 503;

  constructor(status: RequestError['status'], message: string, options: { cause?: unknown } = {}) {
    super(message, { ...options, scope: 'caller' });
    this.status = status;
  }
}
