import type { IncomingMessage } from 'node:http';
import type { DatabasePlace } from '../../data/database-place.ts';
import { toError, RequestError } from '../../errors.ts';
import { enumOf, integerBetween, objectOf, TEXT, withKeywords, type Typed } from '../../json/open-api.ts';
import { validatorOf } from '../../json/validator.ts';
import { checkBody, readPlainJson } from '../../rest/request-body.ts';
import { answer, type Context, type Route } from '../../rest/resource.ts';
import { goneSignal } from '../../rest/client-gone.ts';
import { readBody, type HttpAnswer } from '../../http/http-client.ts';
import { NOTHING, SQL_AVAILABLE, SQL_LOGIN, SQL_RESULT, type SqlFailure } from './console-answers.ts';
import { pinnedResponse, type OwnService, type PinnedRequest } from './pinned-request.ts';

const MAX_FAILURE = 20_000;
const LOGIN_MS = 30_000;
const STATEMENT_MS = 3_600_000;
const MAX_RUNNING = 50;
const MAX_ROWS = 5000;
/** Maximum number of failed statements that are described. */
const MAX_DESCRIBED = 20;
const NOT_RUNNING =
  "The database's HTTP API does not run on this worker: set services=database-http and database.http.connection.url in its properties";

const text = (maxLength: number): Typed<string> => ({ type: 'string', minLength: 1, maxLength });
const TOKEN = withKeywords(TEXT, { pattern: '^[0-9a-f]{1,128}$' });

const isLogin = validatorOf(
  objectOf({
    user: withKeywords(text(1000), { pattern: '^[^:]+$' }),
    password: withKeywords(TEXT, { maxLength: 10_000 }),
  }),
);
const isLogout = validatorOf(objectOf({ token: TOKEN }));
const isStatement = validatorOf(
  objectOf({
    token: TOKEN,
    sql: text(4_194_304),
    kind: enumOf(['query', 'insert', 'ddl']),
    'database?': text(1000),
    'limit?': integerBetween(1, MAX_ROWS),
  }),
);

/** The database's HTTP API, and the database in which it runs statements by default. */
interface SqlService extends OwnService {
  readonly place?: DatabasePlace | undefined;
}

/** Returns the database's HTTP API, or `undefined` if the API is not a service of this worker. */
export type DatabaseApi = () => Promise<SqlService | undefined>;

/**
 * `/ui/sql`: statements for the database's HTTP API, if the API is a service of this worker. Browsers cannot send them
 * to the API themselves, because it has another origin and often a certificate that they do not trust. Users log in as
 * users of the database. Later requests have the token of the login in their body, not in a cookie, so that pages of
 * other sites cannot send such requests. The worker does not store the token.
 */
export function sqlResource(databaseApi: DatabaseApi, isReadOnly: boolean): readonly Route[] {
  let running = 0;

  return [
    {
      method: 'GET',
      path: '/ui/sql',
      answers: { 200: SQL_AVAILABLE },
      handle: async (context) => {
        answer(context, 200, { available: (await databaseApi()) !== undefined });
      },
    },
    {
      method: 'POST',
      path: '/ui/sql/login',
      answers: { 200: SQL_LOGIN },
      handle: async (context) => {
        const { user, password } = checkBody(isLogin, await readPlainJson(context.req));
        const credentials = Buffer.from(`${user}:${password}`).toString('base64');
        const { status, body } = await ask(context, databaseApi, LOGIN_MS, {
          method: 'GET',
          path: '/restapi/login',
          headers: { Authorization: `Basic ${credentials}` },
        });
        const { token, desc } = answered(body);
        if (status === 200 && token !== undefined) answer(context, 200, { token });
        else answer(context, 200, { failure: { status, message: shortened(descText(desc)) } });
      },
    },
    {
      method: 'POST',
      path: '/ui/sql/logout',
      answers: { 200: NOTHING },
      handle: async (context) => {
        const { token } = checkBody(isLogout, await readPlainJson(context.req));
        const headers = { Authorization: `Basic ${token}` };
        await ask(context, databaseApi, LOGIN_MS, { method: 'DELETE', path: '/restapi/session', headers });
        answer(context, 200, {});
      },
    },
    {
      method: 'POST',
      path: '/ui/sql/run',
      answers: { 200: SQL_RESULT },
      handle: async (context) => {
        const { token, sql, kind, database, limit } = checkBody(isStatement, await readPlainJson(context.req));
        if (kind !== 'query' && isReadOnly) {
          throw new RequestError(403, 'The console is read only (console.read.only): it runs statements that read');
        }
        if (running >= MAX_RUNNING)
          throw new RequestError(503, `This worker runs ${String(running)} statements of consoles already`);
        const parameters = new URLSearchParams(database === undefined ? {} : { db: database });
        if (kind === 'query') parameters.set('int64', 'string');
        running += 1;
        const ended = (): void => {
          running -= 1;
        };
        let response: IncomingMessage | undefined;
        try {
          response = await respond(context, databaseApi, STATEMENT_MS, {
            method: 'POST',
            path: `/restapi/${kind}?${parameters.toString()}`,
            headers: { Authorization: `Basic ${token}`, 'Content-Type': 'application/json' },
            body: JSON.stringify({ sql, ...(kind === 'query' && limit !== undefined ? { limit } : {}) }),
          });
        } finally {
          if (response === undefined) ended();
          else if (response.closed) ended();
          else response.once('close', ended);
        }
        if (response.statusCode === 200) answerStream(context, response);
        else answer(context, 200, { failure: failureOf(await whole(context, response)) });
      },
    },
  ];
}

async function ask(context: Context, databaseApi: DatabaseApi, timeoutMs: number, request: Asked): Promise<HttpAnswer> {
  return whole(context, await respond(context, databaseApi, timeoutMs, request));
}

type Asked = Omit<PinnedRequest, 'signal' | 'timeoutMs'>;

/** Sends a request to the API. If the browser disconnects, the statement is cancelled. */
async function respond(
  context: Context,
  databaseApi: DatabaseApi,
  timeoutMs: number,
  request: Asked,
): Promise<IncomingMessage> {
  const gone = goneSignal(context);
  const service = await databaseApi();
  if (service === undefined) throw new RequestError(404, NOT_RUNNING);
  return reached(gone, () => {
    // The API delays logins from addresses with failed logins. It uses the address in this header if its
    // database.http.trusted.proxies lists this worker.
    const headers = { ...request.headers, 'X-Forwarded-For': context.req.socket.remoteAddress ?? '' };
    return pinnedResponse(service, { ...request, headers, timeoutMs, signal: gone });
  });
}

/** Reads the whole answer. Successful answers to statements are streamed instead. */
function whole(context: Context, response: IncomingMessage): Promise<HttpAnswer> {
  return reached(goneSignal(context), async () => ({
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: await readBody(response),
  }));
}

async function reached<T>(gone: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (gone.aborted) throw new RequestError(409, 'The client no longer waits for the answer');
    throw new RequestError(503, `The database's HTTP API does not answer: ${toError(error).message}`, { cause: error });
  }
}

/** Streams the answer, so that only bytes that the browser has not read yet are in memory. */
function answerStream(context: Context, response: IncomingMessage): void {
  context.status = 200;
  context.set('Content-Type', 'application/json');
  context.body = response;
}

function failureOf({ status, headers, body }: HttpAnswer): SqlFailure {
  const position = Number(headers['x-sql-position'] ?? NaN);
  return {
    status,
    message: shortened(descText(answered(body).desc)),
    ...(headers['x-sql-state'] === undefined ? {} : { sqlstate: String(headers['x-sql-state']) }),
    ...(Number.isSafeInteger(position) ? { position } : {}),
  };
}

/** Parses an answer of the API. A body that is not JSON becomes its `desc`. */
function answered(body: Buffer): { readonly token?: string; readonly desc?: unknown } {
  try {
    return JSON.parse(body.toString()) as { readonly token?: string; readonly desc?: unknown };
  } catch {
    return { desc: body.toString().slice(0, 500) };
  }
}

function shortened(text: string): string {
  return text.length > MAX_FAILURE ? `${text.slice(0, MAX_FAILURE)}…` : text;
}

/** The reason of a failure. For several statements, the reasons of the first `MAX_DESCRIBED` that failed. */
function descText(desc: unknown): string {
  if (Array.isArray(desc)) {
    if (desc.length === 1) return String(desc[0]);
    const failed = desc.flatMap((each, index) =>
      each === 'success' ? [] : [`statement ${String(index + 1)}: ${String(each).replace(/^pq: /, '')}`],
    );
    return failed.length > MAX_DESCRIBED
      ? `${failed.slice(0, MAX_DESCRIBED).join('; ')} and ${String(failed.length - MAX_DESCRIBED)} more`
      : failed.join('; ');
  }
  return typeof desc === 'string' ? desc : 'no reason was given';
}
