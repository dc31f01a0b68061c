import { toError, RequestError } from '../../errors.ts';
import { ajv, checkBody, readPlainJson } from '../request-body.ts';
import { answer, answerText, type Context, type Resource, type ResourceDependencies } from '../resource.ts';
import { pinnedRequest, type PinnedAnswer, type PinnedRequest } from './pinned-request.ts';

/** What the database's HTTP API answers statements with at most, 5 MB by default. */
const MAX_ANSWER_BYTES = 33_554_432;
const LOGIN_MS = 30_000;
const STATEMENT_MS = 3_600_000;
const MAX_RUNNING = 50;
const MAX_ROWS = 5000;
/** Statements whose failures are spelled out. */
const MAX_TOLD = 20;
const NOT_RUNNING =
  "The database's HTTP API does not run on this worker: set services=database-http and database.http.connection.url in its properties";

const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength }) as const;
const TOKEN = { type: 'string', pattern: '^[0-9a-f]{1,128}$' } as const;

interface Statement {
  readonly token: string;
  readonly sql: string;
  readonly kind: 'query' | 'insert' | 'ddl';
  readonly database?: string;
  readonly limit?: number;
}

const isLogin = ajv.compile<{ readonly user: string; readonly password: string }>({
  type: 'object',
  properties: { user: { ...text(1000), pattern: '^[^:]+$' }, password: { type: 'string', maxLength: 10_000 } },
  required: ['user', 'password'],
  additionalProperties: false,
});
const isLogout = ajv.compile<{ readonly token: string }>({
  type: 'object',
  properties: { token: TOKEN },
  required: ['token'],
  additionalProperties: false,
});
const isStatement = ajv.compile<Statement>({
  type: 'object',
  properties: {
    token: TOKEN,
    sql: text(4_194_304),
    kind: { type: 'string', enum: ['query', 'insert', 'ddl'] },
    database: text(1000),
    limit: { type: 'integer', minimum: 1, maximum: MAX_ROWS },
  },
  required: ['token', 'sql', 'kind'],
  additionalProperties: false,
});

/**
 * `/ui/sql`: statements for the database's HTTP API, where that is a service of this worker. They are handed on inside the machine,
 * as the API has an origin and often a certificate of its own, which browsers do not accept. Who logs in is a user of the database;
 * the token is in the body of each request, so that no other page can use it, and is kept by nobody here.
 */
export const sqlResource: Resource = (router, dependencies) => {
  let running = 0;

  router.get('/ui/sql', async (context) => {
    answer(context, 200, { available: (await dependencies.databaseApi()) !== undefined });
  });

  router.post('/ui/sql/login', async (context) => {
    const { user, password } = checkBody(isLogin, await bodyOf(context));
    const credentials = Buffer.from(`${user}:${password}`).toString('base64');
    const { status, body } = await ask(context, dependencies, LOGIN_MS, {
      method: 'GET',
      path: '/restapi/login',
      headers: { Authorization: `Basic ${credentials}` },
    });
    const { token, desc } = answered(body);
    if (status === 200 && token !== undefined) answer(context, 200, { token });
    else answer(context, 200, { failure: { status, message: descText(desc) } });
  });

  router.post('/ui/sql/logout', async (context) => {
    const { token } = checkBody(isLogout, await bodyOf(context));
    const headers = { Authorization: `Basic ${token}` };
    await ask(context, dependencies, LOGIN_MS, { method: 'DELETE', path: '/restapi/session', headers });
    answer(context, 200, {});
  });

  router.post('/ui/sql/run', async (context) => {
    const { token, sql, kind, database, limit } = checkBody(isStatement, await bodyOf(context));
    if (kind !== 'query' && dependencies.console?.readOnly === true) {
      throw new RequestError(403, 'The console is read only (console.read.only): it runs statements that read');
    }
    if (running >= MAX_RUNNING)
      throw new RequestError(503, `This worker runs ${String(running)} statements of consoles already`);
    running += 1;
    try {
      const parameters = new URLSearchParams(database === undefined ? {} : { db: database });
      if (kind === 'query') parameters.set('int64', 'string');
      const outcome = await ask(context, dependencies, STATEMENT_MS, {
        method: 'POST',
        path: `/restapi/${kind}?${parameters.toString()}`,
        headers: { Authorization: `Basic ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ sql, ...(kind === 'query' && limit !== undefined ? { limit } : {}) }),
      });
      if (outcome.status === 200) answerText(context, 200, outcome.body.toString());
      else answer(context, 200, { failure: failureOf(outcome) });
    } finally {
      running -= 1;
    }
  });
};

function bodyOf(context: Context): Promise<unknown> {
  return readPlainJson(context.req);
}

/** A browser that goes away ends its statement. */
async function ask(
  context: Context,
  { databaseApi }: ResourceDependencies,
  timeoutMs: number,
  request: Omit<PinnedRequest, 'maxBytes' | 'signal'>,
): Promise<PinnedAnswer> {
  const service = await databaseApi();
  if (service === undefined) throw new RequestError(404, NOT_RUNNING);
  const gone = new AbortController();
  const onClose = (): void => {
    gone.abort();
  };
  context.res.once('close', onClose);
  try {
    // The API slows down guesses by address, where its database.http.trusted.proxies says that this worker may tell it.
    const headers = { ...request.headers, 'X-Forwarded-For': context.req.socket.remoteAddress ?? '' };
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(timeoutMs)]);
    return await pinnedRequest(service, { ...request, headers, maxBytes: MAX_ANSWER_BYTES, signal });
  } catch (error) {
    throw new RequestError(503, `The database's HTTP API does not answer: ${toError(error).message}`, { cause: error });
  } finally {
    context.res.off('close', onClose);
  }
}

function failureOf({ status, headers, body }: PinnedAnswer): object {
  const position = Number(headers['x-sql-position'] ?? NaN);
  return {
    status,
    message: descText(answered(body).desc),
    ...(headers['x-sql-state'] === undefined ? {} : { sqlstate: headers['x-sql-state'] }),
    ...(Number.isSafeInteger(position) ? { position } : {}),
  };
}

/** What is no JSON is its own description. */
function answered(body: Buffer): { readonly token?: string; readonly desc?: unknown } {
  try {
    return JSON.parse(body.toString()) as { readonly token?: string; readonly desc?: unknown };
  } catch {
    return { desc: body.toString().slice(0, 500) };
  }
}

/** One reason for each statement; of several, which have failed. */
function descText(desc: unknown): string {
  if (Array.isArray(desc)) {
    if (desc.length === 1) return String(desc[0]);
    const failed = desc.flatMap((each, index) =>
      each === 'success' ? [] : [`statement ${String(index + 1)}: ${String(each).replace(/^pq: /, '')}`],
    );
    return failed.length > MAX_TOLD
      ? `${failed.slice(0, MAX_TOLD).join('; ')} and ${String(failed.length - MAX_TOLD)} more`
      : failed.join('; ');
  }
  return typeof desc === 'string' ? desc : 'no reason was given';
}
