import { DatabaseError, quoteIdentifier, translate } from '../../../src/index.ts';
import { databaseFailure, databaseText, isUnavailable } from '../database-failure.ts';
import { INFLUX_HEADERS } from './influx-headers.ts';
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
  const statements = (text.match(/(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^;])+/g) ?? [])
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
  return statements.map(readStatement);
}

const CREATE = /^create\s+database\s+(?:"((?:[^"\\]|\\.)+)"|([a-z_]\w*))(?:\s+with\s.+)?$/is;

function readStatement(text: string): Asked {
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

async function databaseNames({ executor, clock, signal }: ApiRequest): Promise<Series['values']> {
  const sql = `SELECT datname FROM pg_catalog.pg_database WHERE datallowconn AND NOT datistemplate
    AND pg_catalog.has_database_privilege(oid, 'CONNECT') ORDER BY datname`;
  return (await clock.database(() => executor.query(sql, [], { signal }))).rows;
}

/** As a database for time series, by the rights of the user. */
async function createDatabase(name: string, request: ApiRequest): Promise<{ error?: string }> {
  const { executor, clock, signal, database } = request;
  const exists = 'SELECT 1 FROM pg_catalog.pg_database WHERE datname = $1';
  if ((await clock.database(() => executor.query(exists, [name], { signal }))).rows.length > 0) return {};
  const translation = translate(`CREATE TS DATABASE ${quoteIdentifier(name)}`, { database, table: () => undefined });
  if (translation.kind !== 'run') throw new TypeError('CREATE TS DATABASE was not translated');
  for (const statement of translation.statements) {
    await clock.database(() => executor.query(statement, [], { signal }));
  }
  return {};
}
