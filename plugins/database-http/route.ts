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
  /** Superuser, or member of the role `admin`. */
  isAdministrator(): Promise<boolean>;
}

/** One request after authentication and limits, as a route sees it. */
export interface ApiRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** `guest` on routes with `access: 'anyone'`, which have no executor either. */
  readonly login: Login;
  /** The parameter `db`, or the default database; case-sensitive. */
  readonly database: string;
  /**
   * The user's own executor on `database`; it is lent for this request and must not be closed. Nothing is connected before
   * its first call, so a missing database shows there (SQLSTATE 3D000).
   */
  readonly executor: Executor;
  /** The same user's executor on another database (`USE`, `?db=` under another name). Lent as well. */
  readonly executorOn: (database: string) => Executor;
  /**
   * Time zone of the request in PostgreSQL's spelling: `tz`, otherwise
   * `server.restful_service.default_request_timezone`, otherwise UTC. Only its form has been checked; PostgreSQL may
   * still reject it (SQLSTATE 22023).
   */
  readonly timeZone: string;
  /**
   * The body in chunks, decompressed if it was sent as gzip or deflate. It can be read only once. Reading throws
   * ApiFailure 400 if the body exceeds `max.body.bytes` (decompressed), cannot be decompressed or is truncated.
   */
  body(): AsyncIterable<Buffer>;
  /** The whole body as UTF-8; a byte order mark is dropped. */
  text(): Promise<string>;
  /** Aborted when the client disconnects, or when the service shuts down and the request takes too long. */
  readonly signal: AbortSignal;
  /** Milliseconds a statement may take (`statement.timeout.ms`); `undefined` for no limit. */
  readonly statementTimeoutMs: number | undefined;
  /** Whether the database server accepts connections. The result may be a second old. */
  databaseAnswers(): Promise<boolean>;
  /** In the answer and in lines of the log. */
  readonly requestId: string;
  /** Address of the client, from the header of a trusted proxy if there is one. */
  readonly address: string;
  /** Its times are sent as `Server-Timing`, unless the answer has times of its own. */
  readonly clock: RequestClock;
  readonly logger: Logger;
}

export type ApiBody = string | Buffer | AsyncIterable<string | Buffer>;

/** Counts of a request, for the metrics. */
export interface Tally {
  /** Read or stored. */
  readonly rows: number;
  /** Lines, points and statements that could not be stored or run. */
  readonly faults: number;
}

export interface ApiAnswer {
  readonly status: number;
  /** Additional headers. `Content-Type: application/json` is set unless it is included here. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent: no body and no Content-Type (204). */
  readonly body?: ApiBody;
  /** Trailers of a streamed body; called when the body has ended. */
  readonly trailers?: () => Readonly<Record<string, string>>;
  /** Called when the answer was sent. */
  readonly tally?: () => Tally;
  /**
   * Called when the answer was sent or will not be sent. Until then memory is reserved for it, so the client must read
   * it in time.
   */
  readonly sent?: () => void;
}

/** Credentials that a route accepts in addition to `Authorization: Basic`. */
export type CredentialForms = 'basic' | 'any';

/** How a route answers a request that it cannot serve: wrong method, credentials, limits, an ApiFailure of `handle`, an unexpected error. */
export interface FailureForm {
  /** The body of the answer. */
  readonly schema: JsonSchema;
  answer(failure: ApiFailure): ApiAnswer;
}

/**
 * One method of one path, in full: the OpenAPI description is made of it, and bodies are checked against its schemas. All routes of a path
 * have the same form of failures.
 */
export interface MethodRoute {
  /** A GET route that needs no credentials answers HEAD as well. */
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Paths are exact: no trailing slash, no parameters. */
  readonly path: string;
  readonly summary: string;
  readonly tag: 'sessions' | 'SQL' | 'rows' | 'InfluxDB' | 'OpenTSDB' | 'QuestDB' | 'API';
  /** Query parameters. */
  readonly query?: Readonly<Record<string, QueryParameter>>;
  /** Bodies by content type. */
  readonly body?: Readonly<Record<string, JsonSchema>>;
  /** Answers by status. */
  readonly answers: Readonly<Record<number, Content>>;
  /** Default: `PLAIN_FAILURE`. */
  readonly failure?: FailureForm;
  /** True: the password is checked again, and tokens are not accepted. */
  readonly isLogin?: boolean;
  /** `anyone`: answered without credentials. Default `users`. */
  readonly access?: 'users' | 'anyone';
  /**
   * `any` also accepts what clients of other systems send: `Token user:password`, `Token <token>`, `Bearer <token>` and the
   * query parameters `u` and `p`. Default `basic`.
   */
  readonly credentials?: CredentialForms;
  /** Names of the query parameters that mean database, first match counts. Default `['db']`. */
  readonly databaseParameters?: readonly string[];
  /** False: a `tz` parameter is ignored, not checked. Default true. */
  readonly takesTimeZone?: boolean;
  handle(request: ApiRequest): Promise<ApiAnswer>;
}

/** All paths that begin with `prefix` and have no route: they are answered with 404 in the form of another system. */
export interface UnknownPaths {
  readonly prefix: string;
  readonly failure: FailureForm;
}

export type Route = MethodRoute | UnknownPaths;

/** Failures that clients of other systems know by a status of their own. */
export type FailureKind = 'body-too-large' | 'database-missing';

/** Where and why the database has refused a statement. */
export interface StatementFault {
  readonly sqlstate: string | undefined;
  /** Position of a character in the request's SQL, from 1; `undefined`: not reported, or the statement was translated. */
  readonly position: number | undefined;
}

/** Why a request cannot be served, as it is reported to the client. */
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

/** A JSON answer. Keys keep their order; `bigint` is not JSON: render it before. */
export function jsonAnswer<T = unknown>(
  status: number,
  body: T,
  headers: Readonly<Record<string, string>> = {},
): ApiAnswer {
  return { status, headers, body: JSON.stringify(body) };
}

const FAILURE = component('Failure', objectOf({ code: literalOf(-1), desc: TEXT }));

/** `{code: -1, desc}` */
export const PLAIN_FAILURE: FailureForm = {
  schema: FAILURE,
  answer: ({ status, message }) => jsonAnswer<ShapeOf<typeof FAILURE>>(status, { code: -1, desc: message }),
};
