import type { IncomingHttpHeaders } from 'node:http';
import {
  component,
  literalOf,
  objectOf,
  TEXT,
  type Content,
  type JsonSchema,
  type Logger,
  type QueryParameter,
  type ShapeOf,
} from '../../src/index.ts';
import type { Executor } from '../database/index.ts';
import type { RequestClock } from './transport/request-clock.ts';

/** The caller: a role of the database, authenticated by password or token. */
export interface Login {
  readonly user: string;
  /** Whether the user is a superuser or a member of the role `admin`. */
  isAdministrator(): Promise<boolean>;
}

/** A request as it is passed to a route. It is within the limits, and authenticated unless `access` is `anyone`. */
export interface ApiRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The user; `guest` on routes with `access: 'anyone'`, which have no executor either. */
  readonly login: Login;
  /** The database that a query parameter names (`databaseParameters`), otherwise the default one; case-sensitive. */
  readonly database: string;
  /**
   * The user's executor on `database`. It is lent for this request and must not be closed. It connects with its first call, so a
   * missing database is reported then (SQLSTATE 3D000).
   */
  readonly executor: Executor;
  /** The user's executor on any database, for example the one that `USE` names. It is also lent for this request. */
  readonly executorOn: (database: string) => Executor;
  /**
   * Time zone of the request in PostgreSQL's spelling: `tz`, otherwise
   * `server.restful_service.default_request_timezone`, otherwise UTC. Only its form has been checked; PostgreSQL may
   * still reject it (SQLSTATE 22023).
   */
  readonly timeZone: string;
  /**
   * The body in chunks, decompressed if it was sent as gzip or deflate. It can be read only once. Reading throws an ApiFailure
   * with status 400 if the body exceeds `max.body.bytes` (decompressed), cannot be decompressed or is truncated.
   */
  body(): AsyncIterable<Buffer>;
  /** The whole body as UTF-8; a byte order mark is dropped. */
  text(): Promise<string>;
  /**
   * Aborted when the client disconnects, when the user may no longer log in, and when the service shuts down and the
   * request takes too long.
   */
  readonly signal: AbortSignal;
  /** Milliseconds that a statement may take (`statement.timeout.ms`); `undefined` for no limit. */
  readonly statementTimeoutMs: number | undefined;
  /** Whether the database server accepts connections. The result may be a second old. */
  databaseAnswers(): Promise<boolean>;
  /** Id of the request in the answer and in log lines. */
  readonly requestId: string;
  /** Address of the client, from the header of a trusted proxy if there is one. */
  readonly address: string;
  /** Measures the request. Its times are sent as `Server-Timing`, unless the answer sets that header. */
  readonly clock: RequestClock;
  readonly logger: Logger;
}

export type ApiBody = string | Buffer | AsyncIterable<string | Buffer>;

/** Counts of a request, for the metrics. */
export interface Tally {
  /** Rows that were read or stored. */
  readonly rows: number;
  /** Lines, points and statements that could not be stored or run. */
  readonly faults: number;
}

export interface ApiAnswer {
  readonly status: number;
  /** Additional headers. `Content-Type: application/json` is set unless it is included here. */
  readonly headers?: Readonly<Record<string, string>>;
  /** If absent, the answer has neither a body nor a Content-Type (204). */
  readonly body?: ApiBody;
  /** Returns the trailers of a streamed body; called when the body has ended. */
  readonly trailers?: () => Readonly<Record<string, string>>;
  /** Returns counts for the metrics; called when the request has ended. */
  readonly tally?: () => Tally;
  /**
   * Called when the answer was sent, or when it is clear that it will not be sent. Memory is reserved for the answer until then, so
   * the client must read it within a time limit.
   */
  readonly sent?: () => void;
}

/** Credentials that a route accepts; see `MethodRoute.credentials`. */
export type CredentialForms = 'basic' | 'any';

/**
 * Form of a route's failures. It applies to wrong methods, missing or wrong credentials, exceeded limits other than
 * that of connections, ApiFailures of `handle` and unexpected errors.
 */
export interface FailureForm {
  /** The body of the answer. */
  readonly schema: JsonSchema;
  answer(failure: ApiFailure): ApiAnswer;
}

/**
 * A method of a path. The OpenAPI description is generated from the routes. All routes of a path have the same form of
 * failures.
 */
export interface MethodRoute {
  /** HTTP method. A GET route that needs no credentials also answers HEAD. */
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Exact path, without trailing slash or parameters. */
  readonly path: string;
  readonly summary: string;
  readonly tag: 'sessions' | 'SQL' | 'rows' | 'InfluxDB' | 'OpenTSDB' | 'QuestDB' | 'API';
  /** Query parameters. */
  readonly query?: Readonly<Record<string, QueryParameter>>;
  /** Bodies by content type. */
  readonly body?: Readonly<Record<string, JsonSchema>>;
  /** Answers by status. */
  readonly answers: Readonly<Record<number, Content>>;
  /** Form of failures; `PLAIN_FAILURE` by default. */
  readonly failure?: FailureForm;
  /** Whether the route is a login: the password is always checked by the database, and tokens are not accepted. */
  readonly isLogin?: boolean;
  /** Users who may call the route; `anyone` means that no credentials are needed. Default: `users`. */
  readonly access?: 'users' | 'anyone';
  /**
   * Accepted credentials. `any` also accepts the forms of other systems: `Token` or `Bearer` with `user:password` or a
   * token, the session cookie of InfluxDB 2, and the query parameters `u` and `p`. Default: `basic`.
   */
  readonly credentials?: CredentialForms;
  /** Query parameters that may name the database; the first one that is not empty is used. Default: `['db']`. */
  readonly databaseParameters?: readonly string[];
  /** Whether the parameter `tz` is used. If false, it is ignored and not checked. Default: true. */
  readonly takesTimeZone?: boolean;
  handle(request: ApiRequest): Promise<ApiAnswer>;
}

/** All paths that begin with `prefix` and have no route. They return 404 in the form of another system. */
export interface UnknownPaths {
  readonly prefix: string;
  readonly failure: FailureForm;
}

export type Route = MethodRoute | UnknownPaths;

/** Failures for which other systems have a special status. */
export type FailureKind = 'body-too-large' | 'database-missing';

/** SQLSTATE and position of the error for which the database refused a statement. */
export interface StatementFault {
  readonly sqlstate: string | undefined;
  /** Position in the request's SQL, in characters from 1; `undefined` if it was not reported or the statement was translated. */
  readonly position: number | undefined;
}

/** The failure of a request, as it is reported to the client. */
export class ApiFailure extends Error {
  readonly status: 400 | 401 | 404 | 413 | 500 | 503;
  readonly kind: FailureKind | undefined;
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;
  readonly fault: StatementFault | undefined;

  constructor(
    status: ApiFailure['status'],
    message: string,
    options: {
      readonly retryAfterSeconds?: number | undefined;
      readonly kind?: FailureKind | undefined;
      readonly fault?: StatementFault | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ApiFailure';
    this.status = status;
    this.kind = options.kind;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.fault = options.fault;
  }
}

/** An answer with a JSON body. Keys keep their order. The body must not contain a `bigint`. */
export function jsonAnswer<T = unknown>(
  status: number,
  body: T,
  headers: Readonly<Record<string, string>> = {},
): ApiAnswer {
  return { status, headers, body: JSON.stringify(body) };
}

const FAILURE = component('Failure', objectOf({ code: literalOf(-1), desc: TEXT }));

/** The form `{code: -1, desc}`. */
export const PLAIN_FAILURE: FailureForm = {
  schema: FAILURE,
  answer: ({ status, message }) => jsonAnswer<ShapeOf<typeof FAILURE>>(status, { code: -1, desc: message }),
};
