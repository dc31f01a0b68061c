import type { Scope } from './data/fault.ts';

/**
 * The error families. An error is for the unexpected (faults are data, see data/fault.ts); each carries its scope, so
 * that the caller knows whether waiting helps, and the Java class name that traces show to Connect's users.
 */
export class SluiceError extends Error {
  readonly scope: Scope;
  /** First word of the trace in a FAILED status, and `exception.class.name` in dead letters. */
  readonly javaName: string;

  constructor(message: string, options: { scope?: Scope; javaName?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.scope = options.scope ?? 'infrastructure';
    this.javaName = options.javaName ?? 'org.apache.kafka.connect.errors.ConnectException';
  }
}

/** Connect's ConnectException: the task or connector cannot continue and FAILS. */
export class ConnectError extends SluiceError {}

/** Connect's RetriableException: the same call may succeed later. docs/plugins.md#errors says which calls are repeated. */
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
 * A service that every record needs, such as a schema registry, does not answer. Waiting may help, skipping records does not:
 * `errors.tolerance` does not apply.
 */
export class UnavailableError extends RetriableError {}

/** Connect's DataException: something is wrong with this record. `errors.tolerance` decides what happens to it. */
export class DataError extends SluiceError {
  /** Where the record was to go, if that is known. */
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

/** A configuration key or value is wrong (org.apache.kafka.common.config.ConfigException). */
export class ConfigError extends SluiceError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { ...options, scope: 'caller', javaName: 'org.apache.kafka.common.config.ConfigException' });
  }
}

/** The database refused or could not be reached. `sqlstate` is absent when no server answered. */
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

/** Anything thrown, as an Error. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The reason in a message of OpenSSL, without its numbers and the place in its sources; another message as it is. */
export function withoutOpenssl(message: string): string {
  return /^[0-9A-F]+:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):/.exec(message)?.[1] ?? message;
}

/** The message, followed by that of the cause where it ends with a colon: Connect's converters leave the reason to the cause. */
export function messageWithCause(thrown: unknown): string {
  const { message, cause } = toError(thrown);
  return cause instanceof Error ? joinedMessage(message, messageWithCause(cause)) : message;
}

/** `message`, followed by `cause` where it ends with a colon. */
export function joinedMessage(message: string, cause: string | undefined): string {
  return cause !== undefined && message.trimEnd().endsWith(':') ? `${message.trimEnd()} ${cause}` : message;
}

/** The error at the end of the chain of causes. */
export function firstCause(thrown: unknown): Error {
  let cause = toError(thrown);
  while (cause.cause instanceof Error && cause.cause !== cause) cause = cause.cause;
  return cause;
}

/**
 * A Java-shaped trace: `class: message`, the stack's frames, then the cause chain with `Caused by:`
 * (docs/compatibility.md#life-cycle). Clients show it or search for the first line.
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

/** Failures of management requests, each with its HTTP status; the message is Connect's text. */
export class RequestError extends SluiceError {
  readonly status: 400 | 403 | 404 | 409 | 500 | 503;

  constructor(status: RequestError['status'], message: string, options: { cause?: unknown } = {}) {
    super(message, { ...options, scope: 'caller' });
    this.status = status;
  }
}
