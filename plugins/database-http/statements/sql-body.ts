import { ApiFailure, type ApiRequest } from '../route.ts';
import { TEXTS } from '../texts.ts';

/** What a request with SQL asks for. */
export interface SqlBody {
  readonly sql: string;
  /** Values of `$1`, `$2` … as PostgreSQL reads their texts. */
  readonly parameters: readonly (string | null)[];
  /** Rows of a page. */
  readonly limit: number | undefined;
  readonly continuation: string | undefined;
}

const KEYS = ['sql', 'params', 'limit', 'continuation'];
/** As PostgreSQL counts them, in 16 bits. */
const MAX_PARAMETERS = 65_535;
const MAX_LIMIT = 1_000_000_000;

/**
 * The SQL of a request: the body as text, or with `Content-Type: application/json` an object `{"sql", "params"}`; `GET` has `q`. Text that
 * does not begin with `{` is SQL whatever its type is called: SQL never begins so. ApiFailure 400 for anything else.
 */
export async function readSqlBody(request: ApiRequest, maxLength: number): Promise<SqlBody> {
  const { query } = request;
  const paging = { limit: readLimit(query.get('limit')), continuation: query.get('continuation') ?? undefined };
  if (request.method === 'GET') {
    // As every path that takes a body answers GET.
    if (!query.has('q')) throw new ApiFailure(404, TEXTS.onlyPost);
    return { sql: notEmpty(query.get('q') ?? ''), parameters: readParameters(query.get('params')), ...paging };
  }
  const text = await request.text();
  if (!isJson(request) || !/^\s{0,100}\{/.test(text)) return { sql: notEmpty(text), parameters: [], ...paging };
  if (text.length > maxLength) throw new ApiFailure(400, TEXTS.longStatement(maxLength));
  const body = parse(text, 'the body') as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(body)) {
    if (!KEYS.includes(key))
      throw new ApiFailure(400, `the body has the unknown key "${key.slice(0, 64)}"; there are ${KEYS.join(', ')}`);
  }
  const { sql, params = [], limit, continuation } = body;
  if (typeof sql !== 'string')
    throw new ApiFailure(400, 'sql must be a text: {"sql": "select $1::int", "params": [1]}');
  if (continuation !== undefined && continuation !== null && typeof continuation !== 'string') {
    throw new ApiFailure(400, 'continuation must be a text');
  }
  return {
    sql: notEmpty(sql),
    parameters: parameterTexts(params),
    limit: limit === undefined || limit === null ? paging.limit : readLimit(JSON.stringify(limit)),
    continuation: continuation ?? paging.continuation,
  };
}

/** An empty body is refused; one of blanks holds no statement, which is no failure. */
function notEmpty(text: string): string {
  if (text === '') throw new ApiFailure(400, TEXTS.emptyBody);
  return text;
}

function isJson({ headers }: ApiRequest): boolean {
  return /^application\/json(?:\s*;|$)/i.test((headers['content-type'] ?? '').trim());
}

function readLimit(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  const limit = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new ApiFailure(400, `limit takes a whole number from 1 to ${String(MAX_LIMIT)}, not ${text.slice(0, 32)}`);
}

function readParameters(text: string | null): readonly (string | null)[] {
  return text === null || text === '' ? [] : parameterTexts(parse(text, 'params'));
}

function parse(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ApiFailure(400, `${what} is not JSON: ${(error as Error).message.slice(0, 200)}`, { cause: error });
  }
}

function parameterTexts(parameters: unknown): readonly (string | null)[] {
  if (!Array.isArray(parameters)) throw new ApiFailure(400, 'params must be a list, with a value for each of $1, $2 …');
  if (parameters.length > MAX_PARAMETERS)
    throw new ApiFailure(400, `params has at most ${String(MAX_PARAMETERS)} values`);
  return parameters.map((value: unknown, index) => parameterText(value, `params[${String(index)}]`));
}

/** Lists become arrays of PostgreSQL, objects JSON. */
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
