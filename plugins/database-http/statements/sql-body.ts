import type { ErrorObject } from 'ajv';
import {
  ANY,
  arrayOf,
  enumOf,
  integerBetween,
  limited,
  nullable,
  objectOf,
  TEXT,
  validatorOf,
  withKeywords,
  type JsonSchema,
  type QueryParameter,
} from '../../../src/index.ts';
import { json, plainText } from '../open-api/shared-schemas.ts';
import { ApiFailure, type ApiRequest } from '../route.ts';
import { TEXTS } from '../texts.ts';

/** The content of a request with SQL. */
export interface SqlBody {
  readonly sql: string;
  /** Values of `$1`, `$2` … in PostgreSQL's text format; null for NULL. */
  readonly parameters: readonly (string | null)[];
  /** Maximum number of rows in a page. */
  readonly limit: number | undefined;
  readonly continuation: string | undefined;
}

/** PostgreSQL's protocol has a 16-bit number of parameters. */
const MAX_PARAMETERS = 65_535;
const MAX_LIMIT = 1_000_000_000;
const LIMIT = integerBetween(1, MAX_LIMIT);

const SQL_AND_PARAMETERS = {
  sql: withKeywords(TEXT, { minLength: 1, description: 'One statement, with $1, $2 …' }),
  'params?': limited(arrayOf(ANY), MAX_PARAMETERS),
};

/** A statement in a body of type JSON. */
export const STATEMENT = objectOf(SQL_AND_PARAMETERS);

/** A statement whose result has pages. On routes without pages, the keys for pages are accepted and ignored. */
export const PAGED_STATEMENT = objectOf({
  ...SQL_AND_PARAMETERS,
  'limit?': nullable(LIMIT),
  'continuation?': nullable(TEXT),
});
const KEYS = ['sql', 'params', 'limit', 'continuation'];

/** Query parameters for pages and for the form of values. */
export const PAGING: Readonly<Record<string, QueryParameter>> = {
  limit: { description: 'Maximum number of rows in a page', schema: LIMIT },
  continuation: { description: 'The token from the answer with the previous page', schema: TEXT },
  int64: { description: '`string`: 64-bit integers are texts', schema: enumOf(['string']) },
};

/** A statement in the query of a URL. */
export const SQL_IN_QUERY: Readonly<Record<string, QueryParameter>> = {
  q: { description: 'The statement', schema: withKeywords(TEXT, { examples: ['select 1'] }) },
  params: { description: 'The values of $1, $2 … as a JSON list', schema: TEXT },
};

/** The bodies of requests with SQL, which are text or JSON with this schema. */
export function sqlBody(statement: JsonSchema, example: string): Readonly<Record<string, JsonSchema>> {
  return { ...plainText(example), ...json(statement) };
}

const isLimit = validatorOf(LIMIT);
const isStatement = validatorOf(PAGED_STATEMENT);

/**
 * Reads the SQL of a request. The body is text, or an object `{"sql", "params"}` if the content type is
 * `application/json`; `GET` has the statement in `q`. A body that does not begin with `{` is SQL regardless of its
 * content type, since SQL never begins with a brace. A blank text contains no statement, which is not an error here.
 * Throws an ApiFailure with status 400 for an invalid body or parameter, and with status 404 for `GET` without `q`.
 */
export async function readSqlBody(request: ApiRequest, maxLength: number): Promise<SqlBody> {
  const { query } = request;
  const paging = { limit: readLimit(query.get('limit')), continuation: query.get('continuation') ?? undefined };
  if (request.method === 'GET') {
    // All paths that require a body return this failure for GET.
    if (!query.has('q')) throw new ApiFailure(404, TEXTS.onlyPost);
    const params = query.get('params') ?? '';
    const { sql, parameters } = checked({
      sql: query.get('q'),
      ...(params === '' ? {} : { params: parse(params, 'params') }),
    });
    return { sql, parameters, ...paging };
  }
  const text = await request.text();
  if (text === '') throw new ApiFailure(400, TEXTS.emptyBody);
  if (!isJson(request) || !/^\s{0,100}\{/.test(text)) return { sql: text, parameters: [], ...paging };
  if (text.length > maxLength) throw new ApiFailure(400, TEXTS.longStatement(maxLength));
  const { sql, parameters, limit, continuation } = checked(parse(text, 'the body'));
  return { sql, parameters, limit: limit ?? paging.limit, continuation: continuation ?? paging.continuation };
}

/** Throws an ApiFailure with status 400 if a body does not match the schema. */
function checked(body: unknown) {
  if (!isStatement(body)) throw new ApiFailure(400, problemOf(isStatement.errors?.[0], body));
  const { params = [], ...rest } = body;
  return { ...rest, parameters: params.map((value, index) => parameterText(value, `params[${String(index)}]`)) };
}

/** Describes the first error of a body to the user. */
function problemOf(error: ErrorObject | undefined, body: unknown): string {
  switch (`${error?.instancePath ?? ''} ${error?.keyword ?? ''}`) {
    case ' additionalProperties': {
      const { additionalProperty: key } = error?.params as { readonly additionalProperty: string };
      return `the body has the unknown key "${key.slice(0, 64)}"; there are ${KEYS.join(', ')}`;
    }
    case '/sql minLength':
      return TEXTS.emptyBody;
    case '/params type':
      return 'params must be a list, with a value for each of $1, $2 …';
    case '/params maxItems':
      return `params has at most ${String(MAX_PARAMETERS)} values`;
    case '/continuation type':
      return 'continuation must be a text';
    case '/limit type':
    case '/limit minimum':
    case '/limit maximum':
      return limitProblem(JSON.stringify((body as { readonly limit: unknown }).limit));
    default:
      return 'sql must be a text: {"sql": "select $1::int", "params": [1]}';
  }
}

function isJson({ headers }: ApiRequest): boolean {
  return /^application\/json(?:\s*;|$)/i.test((headers['content-type'] ?? '').trim());
}

function readLimit(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  const limit = Number(text);
  if (/^\d{1,10}$/.test(text) && isLimit(limit)) return limit;
  throw new ApiFailure(400, limitProblem(text));
}

function limitProblem(given: string): string {
  return `limit takes a whole number from 1 to ${String(MAX_LIMIT)}, not ${given.slice(0, 32)}`;
}

function parse(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ApiFailure(400, `${what} is not JSON: ${(error as Error).message.slice(0, 200)}`, { cause: error });
  }
}

/** Converts a JSON value to PostgreSQL's text format. A list becomes an array, an object becomes JSON text. */
function parameterText(value: unknown, place: string): string | null {
  switch (typeof value) {
    case 'string':
      if (value.includes('\0'))
        throw new ApiFailure(400, `${place} has a NUL character, which PostgreSQL does not store`);
      return value;
    case 'number':
      if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
        throw new ApiFailure(400, `${place} has more digits than a JSON number keeps here: send it as a text`);
      }
      return String(value);
    case 'boolean':
      return String(value);
    default:
      if (value === null) return null;
      return Array.isArray(value) ? arrayText(value, place, 0) : JSON.stringify(value);
  }
}

/** PostgreSQL has at most 6 dimensions. */
const MAX_DIMENSIONS = 6;

function arrayText(values: readonly unknown[], place: string, depth: number): string {
  if (depth >= MAX_DIMENSIONS) throw new ApiFailure(400, `${place} has more than ${String(MAX_DIMENSIONS)} dimensions`);
  const texts = values.map((value) => {
    if (Array.isArray(value)) return arrayText(value, place, depth + 1);
    const text = parameterText(value, place);
    return text === null ? 'NULL' : `"${text.replace(/["\\]/g, '\\$&')}"`;
  });
  return `{${texts.join(',')}}`;
}
