import { DatabaseError, isUnavailable, ownStatement, quoteIdentifier, translate } from '../../../src/index-database.ts';
import { databaseFailure, databaseText } from '../database-failure.ts';
import { INFLUX_HEADERS } from './influx.ts';
import { ApiFailure, jsonAnswer, type ApiRequest, type Route } from '../route.ts';

/** What clients of InfluxDB 1 ask at their start. */
type Asked = { readonly kind: 'show-databases' } | { readonly kind: 'create-database'; readonly name: string };

interface Series {
  readonly name: string;
  readonly columns: readonly string[];
  readonly values: readonly (readonly (string | null)[])[];
}

const NOT_HERE = 'only SHOW DATABASES and CREATE DATABASE are answered here; send SQL to POST /restapi/query';

/**
 * `/query` of InfluxDB 1, as far as its clients and Telegraf need it before they write: `SHOW DATABASES` and `CREATE DATABASE`,
 * which is no error when the database is there. Errors of a statement come with status 200, as InfluxDB has it.
 */
export function influxQueryAlias(): Route {
  return {
    methods: ['GET', 'POST'],
    path: '/query',
    credentials: 'any',
    // `db` may be what is to be created.
    databaseParameters: [],
    handle: async (request) => {
      const statements = await readStatements(request);
      const results: unknown[] = [];
      for (const [index, asked] of statements.entries()) {
        results.push({ statement_id: index, ...(await answerOne(asked, request)) });
      }
      return jsonAnswer(200, { results }, INFLUX_HEADERS);
    },
    failure: ({ status, message }) => jsonAnswer(status, { error: message }, INFLUX_HEADERS),
  };
}

/** `q` in the URL or in a form, as clients send either. */
async function readStatements(request: ApiRequest): Promise<readonly Asked[]> {
  const form = request.method === 'POST' ? new URLSearchParams(await request.text()) : undefined;
  const text = request.query.get('q') ?? form?.get('q') ?? '';
  if (text.trim() === '') throw new ApiFailure(400, 'missing required parameter "q"');
  return splitStatements(text).map(readStatement);
}

/** At semicolons that are not between quotes, inside which a backslash takes away the meaning of the next character. */
function splitStatements(text: string): string[] {
  const statements: string[] = [];
  let start = 0;
  let quote = '';
  for (let at = 0; at <= text.length; at++) {
    const char = text.charAt(at);
    if (quote !== '' && char === '\\') at++;
    else if (quote !== '' && char === quote) quote = '';
    else if (quote === '' && (char === '"' || char === "'")) quote = char;
    else if (at === text.length || (char === ';' && quote === '')) {
      statements.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return statements.filter((statement) => statement !== '');
}

/** Longer ones cannot be the statements that are answered here: names have at most 63 bytes. */
const MAX_STATEMENT_LENGTH = 1_000;

const CREATE = /^create\s+database\s+(?:"((?:[^"\\]|\\.)+)"|([a-z_]\w*))(?:\s+with\s.+)?$/is;

function readStatement(text: string): Asked {
  if (text.length > MAX_STATEMENT_LENGTH) throw new ApiFailure(400, NOT_HERE);
  if (/^show\s+databases$/i.test(text)) return { kind: 'show-databases' };
  const [, quoted, bare] = CREATE.exec(text) ?? [];
  const name = quoted?.replace(/\\(.)/g, '$1') ?? bare;
  if (name === undefined) throw new ApiFailure(400, NOT_HERE);
  return { kind: 'create-database', name };
}

async function answerOne(asked: Asked, request: ApiRequest): Promise<{ series?: readonly Series[]; error?: string }> {
  try {
    if (asked.kind === 'create-database') return await createDatabase(asked.name, request);
    return { series: [{ name: 'databases', columns: ['name'], values: await databaseNames(request) }] };
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    if (isUnavailable(error)) throw databaseFailure(error);
    return { error: databaseText(error) };
  }
}

const DATABASES = ownStatement(
  'influx: databases',
  `SELECT datname FROM pg_catalog.pg_database WHERE datallowconn AND NOT datistemplate
    AND has_database_privilege(oid, 'CONNECT') ORDER BY datname`,
);
const FIND_DATABASE = ownStatement(
  'influx: look for a database',
  'SELECT 1 FROM pg_catalog.pg_database WHERE datname = $1',
);

async function databaseNames({ executor, clock, signal }: ApiRequest): Promise<Series['values']> {
  return (await clock.database(() => executor.ask(DATABASES, [], { signal }))).rows;
}

/** As a database for time series, by the rights of the user. */
async function createDatabase(name: string, request: ApiRequest): Promise<{ error?: string }> {
  const { executor, clock, signal, database } = request;
  if ((await clock.database(() => executor.ask(FIND_DATABASE, [name], { signal }))).rows.length > 0) return {};
  const translation = translate(`CREATE TS DATABASE ${quoteIdentifier(name)}`, { database, table: () => undefined });
  if (translation.kind !== 'run') throw new TypeError('CREATE TS DATABASE was not translated');
  for (const statement of translation.statements) {
    await clock.database(() => executor.query(statement, [], { signal }));
  }
  return {};
}
